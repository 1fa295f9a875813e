// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The elements of a View as a dense row in page-locked memory, the leftmost index fastest.

#ifndef KOKKOS_HOST_SPACES_IMPL_PACK_HPP
#define KOKKOS_HOST_SPACES_IMPL_PACK_HPP

#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/core/Device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// Where the elements of a View are, by their number.
template <class Value, std::size_t Rank>
struct NumberedElements {
  Value* data;
  Kokkos::Array<std::int64_t, Rank> extents, strides;

  template <class View>
  explicit NumberedElements(View const& view) : data(view.data()) {
    for (std::size_t r = 0; r != Rank; ++r) {
      extents[r] = std::int64_t(view.extent(r));
      strides[r] = std::int64_t(view.stride(r));
    }
  }

  KOKKOS_FUNCTION Value& operator()(std::int64_t n) const {
    std::int64_t offset = 0;
    for (std::size_t r = 0; r != Rank; ++r) {
      offset += n % extents[r] * strides[r];
      n /= extents[r];
    }
    return data[offset];
  }

  /// Number of elements from the first one on that are neighbours in memory.
  std::int64_t run() const {
    std::int64_t run = 1;
    for (std::size_t r = 0; r != Rank && (extents[r] == 1 || strides[r] == run); ++r)
      run *= extents[r];
    return run;
  }
};

template <class From, class To>
struct CopyElements {
  From from;
  To to;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const { to(n) = from(n); }
};

template <class View>
auto as_row(View const& view) {
  return Kokkos::View<typename View::value_type*, typename View::memory_space,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(view.data(), view.size());
}

/// True if the elements lie in memory as in a message.
template <class View>
bool is_dense(View const& view) {
  return std::size_t(NumberedElements<typename View::value_type, View::rank()>(view).run()) ==
         view.size();
}

/// Copies the elements of `from` to those of `to`, of equal extents, one of them dense and page-locked.
/// Asynchronous on `instance`. Copy engines take runs of some length; a kernel that follows the order of
/// the dense side writes, or reads, page-locked memory in whole lines.
template <class ExecutionSpace, class To, class From>
void copy_elements(ExecutionSpace const& instance, To const& to, From const& from) {
  NumberedElements<typename From::value_type, From::rank()> const source(from);
  NumberedElements<typename To::value_type, From::rank()> const target(to);
  std::int64_t const size = std::int64_t(from.size()), run = std::min(source.run(), target.run());
  if (run < size) {
    bool const has_long_run = run * std::int64_t(sizeof(*from.data())) >= 128;
    if constexpr (is_driven_v<ExecutionSpace>)
      if (has_long_run) return Kokkos::deep_copy(instance, to, from);
    return Kokkos::parallel_for(
        "KokkosHostSpaces::exchange: a message",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(instance, 0, size),
        CopyElements<decltype(source), decltype(target)>{source, target});
  }
  Kokkos::deep_copy(instance, as_row(to), as_row(from));
}

}  // namespace KokkosHostSpaces::Impl

#endif
