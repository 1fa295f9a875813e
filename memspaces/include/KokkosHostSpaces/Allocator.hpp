// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Standard allocators for the memory of a space: C++ containers, buffers for MPI and other
// libraries.

#ifndef KOKKOS_HOST_SPACES_ALLOCATOR_HPP
#define KOKKOS_HOST_SPACES_ALLOCATOR_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>

#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces {

/// Alignment in bytes of memory that a space or an allocator hands out. The elements of a View begin behind
/// Kokkos' header, and are aligned to 128 bytes.
inline constexpr std::size_t memory_alignment = 256;

/// Thrown by the allocators of containers where a space throws OutOfPinnedMemory: users of containers catch
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

/// \cond
namespace Impl {

template <class Space>
void* allocate_for_container(Space const& space, char const* label, std::size_t bytes) {
  try {
    return space.allocate(label, bytes);
  } catch (OutOfPinnedMemory const& reason) {
    throw BadAlloc(reason);
  }
}

}  // namespace Impl
/// \endcond

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
    static_assert(alignof(T) <= memory_alignment);
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw BadAlloc(OutOfPinnedMemory(
          "KokkosHostSpaces::Allocator cannot allocate " + std::to_string(n) + " elements of " +
          std::to_string(sizeof(T)) + " bytes (the size overflows size_t): ask for fewer"));
    return static_cast<T*>(
        Impl::allocate_for_container(m_space, "KokkosHostSpaces::Allocator", n * sizeof(T)));
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

/// A polymorphic memory resource: `std::pmr::vector<double> v(&resource)` lies in `Space`. Throws
/// BadAlloc as Allocator does, and for alignments beyond `memory_alignment`.
template <class Space = PinnedSpace>
class MemoryResource : public std::pmr::memory_resource {
 public:
  /// Memory near the device of `space`.
  /// \param label name in messages and in tools
  explicit MemoryResource(Space const& space = Space(),
                          std::string label  = "KokkosHostSpaces::MemoryResource")
      : m_space(space), m_label(std::move(label)) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (alignment > memory_alignment)
      throw BadAlloc(OutOfPinnedMemory(
          "'" + m_label + "' cannot have memory aligned to " + std::to_string(alignment) +
          " bytes (the spaces align to " + std::to_string(memory_alignment) +
          "): ask for less, or for more bytes, and align the address in them"));
    return Impl::allocate_for_container(m_space, m_label.c_str(), bytes > 0 ? bytes : 1);
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t) override {
    m_space.deallocate(m_label.c_str(), pointer, bytes > 0 ? bytes : 1);
  }
  bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override {
#ifdef __cpp_rtti
    return dynamic_cast<MemoryResource const*>(&other) != nullptr;
#else
    return this ==
           &other;  // containers with another one copy their elements, instead of moving them
#endif
  }

  Space m_space;
  std::string m_label;
};

}  // namespace KokkosHostSpaces

#endif
