// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kokkos::deep_copy between Views for the pairs of spaces that one contiguous copy cannot serve, or
// that stock Kokkos serves only with a fence or not at all. KokkosGlue.hpp routes the calls here.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_VIEWS_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_VIEWS_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/MappedView.hpp>
#include <KokkosHostSpaces/impl/CopyPlan.hpp>

#include <string>
#include <type_traits>

#ifdef KOKKOS_ENABLE_CUDA

namespace KokkosHostSpaces::Impl {

template <class View>
std::string shape_of(View const& view) {
  std::string text = "\"";
  text.append(view.label()).append("\" (");
  for (std::size_t r = 0; r < View::rank; ++r) {
    if (r > 0) text += ',';
    text += std::to_string(view.extent(r));
  }
  return text.append(") in ").append(View::memory_space::name());
}

// Kokkos' own conditions, in its order: equal extents, the same memory (nothing to do), no overlap.
// Returns whether there is something to copy.
template <class Dst, class Src>
bool check_views(Dst const& dst, Src const& src) {
  for (std::size_t r = 0; r < Dst::rank; ++r)
    if (dst.extent(r) != src.extent(r))
      throw Error("Kokkos::deep_copy extents of views don't match: " + shape_of(dst) + " <- " +
                  shape_of(src));
  auto const begin = [](auto const& v) { return reinterpret_cast<char const*>(v.data()); };
  auto const end = [](auto const& v) { return reinterpret_cast<char const*>(v.data() + v.span()); };
  if (dst.data() == nullptr || src.data() == nullptr || dst.size() == 0) return false;
  bool const both_contiguous = dst.span_is_contiguous() && src.span_is_contiguous();
  if (begin(dst) == begin(src) && end(dst) == end(src) && both_contiguous) return false;
  if (begin(dst) < end(src) && begin(src) < end(dst) && both_contiguous)
    throw Error("Kokkos::deep_copy of overlapping views: " + shape_of(dst) + " <- " +
                shape_of(src) + ": copy through a third View");
  return true;
}

template <class Dst, class Src>
CopyPlan plan_for(Dst const& dst, Src const& src) {
  std::size_t extents[8] = {}, dst_strides[9] = {}, src_strides[9] = {};
  for (std::size_t r = 0; r < Dst::rank; ++r) {
    extents[r]     = dst.extent(r);
    dst_strides[r] = dst.stride(r);
    src_strides[r] = src.stride(r);
  }
  return make_copy_plan(sizeof(typename Dst::value_type), int(Dst::rank), extents, dst_strides,
                        src_strides);
}

// The same memory in a space that kernels may access.
template <class View>
auto reachable_by_kernels(View const& view) {
  if constexpr (std::is_same_v<typename View::memory_space, PinnedSpace>)
    return mapped_view(view);
  else
    return view;
}

// A dense View that kernels reach, of the shape and element type of a View on pageable memory.
// Its memory goes back to the pool on return, and is not used again before the copy is done.
template <class View>
auto staging_for(View const& view) {
  using layout = std::conditional_t<std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>,
                                    Kokkos::LayoutLeft, Kokkos::LayoutRight>;
  layout dense;
  for (std::size_t r = 0; r < View::rank; ++r) dense.dimension[r] = view.extent(r);
  return Kokkos::View<typename View::non_const_data_type, layout, MappedSpace>(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, view.label() + "_staging"), dense);
}

template <class View>
inline constexpr bool is_pageable_v =
    std::is_same_v<typename View::memory_space, Kokkos::HostSpace>;

// Enqueues the copy on `instance` and returns: by the copy engine where it can do it and is not
// slower, else by a kernel; what is pageable goes through dense staging memory then. Between
// page-locked host memory always by a kernel, for which the calling thread does not have to wait.
template <class Dst, class Src>
void enqueue_copy(Kokkos::Cuda const& instance, Dst const& dst, Src const& src) {
  constexpr bool same_type =
      std::is_same_v<typename Dst::value_type, typename Src::non_const_value_type>;
  if constexpr (same_type) {
    CopyPlan const plan          = plan_for(dst, src);
    constexpr bool needs_staging = is_pageable_v<Dst> || is_pageable_v<Src>;
    constexpr bool host_is_read  = !is_used_by_cuda_v<typename Src::memory_space>;
    if constexpr (is_page_locked_v<typename Dst::memory_space> &&
                  is_page_locked_v<typename Src::memory_space>) {
      if (plan.contiguous())
        return enqueue_byte_copy(instance, dst.data(), src.data(), plan.run_bytes);
    } else if (needs_staging ? plan.suits_copy_engine()
                             : copy_engine_is_faster(plan, host_is_read)) {
      return copy_async(dst.data(), src.data(), plan, instance.cuda_stream());
    }
  }
  if constexpr (is_pageable_v<Src>) {
    auto staging = staging_for(src);
    copy_async(staging.data(), src.data(), plan_for(staging, src), instance.cuda_stream());
    enqueue_copy(instance, dst, staging);
  } else if constexpr (is_pageable_v<Dst>) {
    auto staging = staging_for(dst);
    enqueue_copy(instance, staging, src);
    copy_async(dst.data(), staging.data(), plan_for(dst, staging), instance.cuda_stream());
  } else {
    enqueue_copy_kernel(instance, reachable_by_kernels(dst), reachable_by_kernels(src));
  }
}

// deep_copy(instance, dst, src)
template <class ExecutionSpace, class Dst, class Src>
void copy_views(ExecutionSpace const& instance, Dst const& dst, Src const& src) {
  static_assert(std::is_same_v<typename Dst::value_type, typename Dst::non_const_value_type>,
                "deep_copy requires non-const destination type");
  static_assert(unsigned(Dst::rank) == unsigned(Src::rank),
                "deep_copy requires Views of equal rank");
  DeepCopyEvent const event(dst, src);
  if (!check_views(dst, src)) return;
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>) {
    enqueue_copy(instance, dst, src);
  } else {
    instance.fence("Kokkos::deep_copy: fence of the host instance before the copy");
    Kokkos::Cuda const cuda;
    enqueue_copy(cuda, dst, src);
    cuda.fence("Kokkos::deep_copy: fence after a copy ordered by a host instance");
  }
}

// deep_copy(dst, src): all work before, the copy, and nothing after it has begun.
template <class Dst, class Src>
void copy_views(Dst const& dst, Src const& src) {
  Kokkos::fence("Kokkos::deep_copy: copy between views, pre copy fence");
  copy_views(Kokkos::Cuda(), dst, src);
  Kokkos::fence("Kokkos::deep_copy: copy between views, post copy fence");
}

}  // namespace KokkosHostSpaces::Impl

#endif  // KOKKOS_ENABLE_CUDA

#endif
