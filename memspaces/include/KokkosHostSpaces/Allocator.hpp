// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A standard allocator for the memory of a space: C++ containers, buffers for MPI and other libraries.

#ifndef KOKKOS_HOST_SPACES_ALLOCATOR_HPP
#define KOKKOS_HOST_SPACES_ALLOCATOR_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>

#include <cstddef>
#include <limits>
#include <new>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// Thrown by an Allocator where a space throws OutOfPinnedMemory: users of containers catch
/// std::bad_alloc. It has the same words.
class BadAlloc : public std::bad_alloc {
 public:
  /// With the words of the reason.
  explicit BadAlloc(OutOfPinnedMemory const& reason) : m_reason(reason) {}
  /// As of OutOfPinnedMemory.
  char const* what() const noexcept override { return m_reason.what(); }

 private:
  OutOfPinnedMemory m_reason;
};

/// A standard allocator: `std::vector<double, Allocator<double>>` lies in PinnedSpace. All
/// allocators of a space are equal. Works also before Kokkos is initialized and after it is
/// finalized; with HIP and SYCL it then only deallocates.
/// \tparam T may be incomplete until the first allocation, and void in an allocator that is only
/// converted
template <class T, class Space = PinnedSpace>
class Allocator {
 public:
  /// The type of the elements.
  using value_type = T;
  /// Any allocator of the space can deallocate the memory of another.
  using is_always_equal = std::true_type;

  /// Memory near Kokkos' default device.
  Allocator() = default;
  /// Memory near the device of `space`.
  explicit Allocator(Space const& space) : m_space(space) {}
  /// The same space for other elements.
  template <class U>
  Allocator(Allocator<U, Space> const& other) noexcept : m_space(other.space()) {}

  /// Memory for `n` elements, not initialised.
  /// \throw BadAlloc also if n * sizeof(T) overflows size_t
  T* allocate(std::size_t n) {
    static_assert(alignof(T) <= 256, "the spaces align memory to 256 bytes");
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw BadAlloc(OutOfPinnedMemory(
          "KokkosHostSpaces::Allocator cannot allocate " + std::to_string(n) + " elements of " +
          std::to_string(sizeof(T)) + " bytes (the size overflows size_t): ask for fewer"));
    try {
      return static_cast<T*>(m_space.allocate("KokkosHostSpaces::Allocator", n * sizeof(T)));
    } catch (OutOfPinnedMemory const& reason) {
      throw BadAlloc(reason);
    }
  }
  /// Releases the memory of allocate(n). Never waits for a device.
  void deallocate(T* pointer, std::size_t n) noexcept {
    m_space.deallocate("KokkosHostSpaces::Allocator", pointer, n * sizeof(T));
  }

  /// The space instance of the constructor.
  Space const& space() const noexcept { return m_space; }

  /// Always true.
  template <class U>
  friend bool operator==(Allocator const&, Allocator<U, Space> const&) noexcept {
    return true;
  }

 private:
  Space m_space;
};

}  // namespace KokkosHostSpaces

#endif
