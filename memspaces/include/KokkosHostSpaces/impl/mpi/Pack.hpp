// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The elements of a View as a dense row in page-locked memory, the leftmost index fastest.

#ifndef KOKKOS_HOST_SPACES_IMPL_PACK_HPP
#define KOKKOS_HOST_SPACES_IMPL_PACK_HPP

#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>
#include <KokkosHostSpaces/impl/core/Device.hpp>

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

/// A dense View of page-locked memory, of the shape of `view`.
template <class View>
auto dense_view(char* data, View const& view) {
  using Value = typename View::non_const_value_type;
  Kokkos::LayoutLeft layout;
  for (std::size_t r = 0; r != View::rank(); ++r) layout.dimension[r] = view.extent(r);
  return Kokkos::View<typename View::non_const_data_type, Kokkos::LayoutLeft, PinnedSpace,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(reinterpret_cast<Value*>(data),
                                                               layout);
}

/// Copies the elements of `from` to those of `to`, of equal extents, one of them dense and page-locked.
/// Asynchronous on `instance`. Copy engines take runs of some length; a kernel that follows the order of
/// the dense side writes, or reads, page-locked memory in whole lines.
template <class ExecutionSpace, class To, class From>
void copy_elements(ExecutionSpace const& instance, To const& to, From const& from) {
  CopyPlan const plan = plan_for(to, from);
  if (plan.contiguous()) return Kokkos::deep_copy(instance, as_row(to), as_row(from));
  if constexpr (is_driven_v<ExecutionSpace>)
    if (plan.run_bytes >= 128) return Kokkos::deep_copy(instance, to, from);
  NumberedElements<typename From::value_type, From::rank()> const source(from);
  NumberedElements<typename To::value_type, From::rank()> const target(to);
  Kokkos::parallel_for("KokkosHostSpaces::exchange: a message",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
                           instance, 0, std::int64_t(from.size())),
                       CopyElements<decltype(source), decltype(target)>{source, target});
}

}  // namespace KokkosHostSpaces::Impl

#endif
