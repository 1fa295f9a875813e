// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Carries out Kokkos::deep_copy for pairs of spaces that include one of ours: what the overloads in
// impl/copy/CopyOverloads.hpp call.

#ifndef KOKKOS_HOST_SPACES_IMPL_DEEP_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_DEEP_COPY_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/copy/CopyOverloads.hpp>
#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>
#include <KokkosHostSpaces/impl/core/UnmanagedView.hpp>
#include <KokkosHostSpaces/impl/copy/Staging.hpp>
#include <KokkosHostSpaces/impl/copy/TiledCopy.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

template <class View>
std::string shape_of(View const& view) {
  std::string text = "\"";
  text.append(view.label()).append("\" (");
  for (std::size_t r = 0; r != View::rank; ++r) {
    if (r > 0) text += ',';
    text += std::to_string(view.extent(r));
  }
  return text.append(") in ").append(View::memory_space::name());
}

template <class Dst, class Src>
constexpr void check_types() {
  static_assert(std::is_same_v<typename Dst::value_type, typename Dst::non_const_value_type>,
                "deep_copy requires non-const destination type");
  static_assert(unsigned(Dst::rank) == unsigned(Src::rank),
                "deep_copy requires Views of equal rank");
}

// Functions of their own keep the messages out of check_views, which each copy calls.
template <class Dst, class Src>
[[noreturn]] void refuse_extents(Dst const& dst, Src const& src) {
  throw Error("Kokkos::deep_copy extents of views don't match: " + shape_of(dst) + " <- " +
              shape_of(src));
}

template <class Dst, class Src>
[[noreturn]] void refuse_overlap(Dst const& dst, Src const& src) {
  throw Error("Kokkos::deep_copy of overlapping views: " + shape_of(dst) + " <- " + shape_of(src) +
              ": copy through a third View");
}

/// Kokkos refuses two arguments that are one object, not only the same memory (kokkos/kokkos#9033).
#if KOKKOS_VERSION >= 50200 && !defined(KOKKOS_ENABLE_DEPRECATED_CODE_5)
inline constexpr bool refuses_one_object = true;
#else
inline constexpr bool refuses_one_object = false;
#endif

/// Checks a copy as Kokkos does: equal extents, and no overlap except of the same memory.
///
/// \return false if there is nothing to copy: an empty View, or both sides are the same memory
/// \throw Error for different extents, or for an overlap of contiguous Views
template <class Dst, class Src>
inline bool check_views(Dst const& dst, Src const& src) {
  if (refuses_one_object && static_cast<void const*>(&dst) == static_cast<void const*>(&src))
    Kokkos::abort("Kokkos::deep_copy of a View to itself: copy to another View, or not at all");
  for (std::size_t r = 0; r != Dst::rank; ++r)
    if (dst.extent(r) != src.extent(r)) refuse_extents(dst, src);
  auto const begin = [](auto const& v) { return reinterpret_cast<char const*>(v.data()); };
  auto const end = [](auto const& v) { return reinterpret_cast<char const*>(v.data() + v.span()); };
  if (dst.data() == nullptr || src.data() == nullptr || dst.size() == 0) return false;
  bool const both_contiguous = dst.span_is_contiguous() && src.span_is_contiguous();
  if (begin(dst) == begin(src) && end(dst) == end(src) && both_contiguous) return false;
  if (begin(dst) < end(src) && begin(src) < end(dst) && both_contiguous) refuse_overlap(dst, src);
  return true;
}

/// Plans a copy between two Views of equal extents.
template <class Dst, class Src>
CopyPlan plan_for(Dst const& dst, Src const& src) {
  std::size_t extents[8] = {}, dst_strides[9] = {}, src_strides[9] = {};
  for (std::size_t r = 0; r != Dst::rank; ++r) {
    extents[r]     = dst.extent(r);
    dst_strides[r] = dst.stride(r);
    src_strides[r] = src.stride(r);
  }
  return make_copy_plan(sizeof(typename Dst::value_type), int(Dst::rank), extents, dst_strides,
                        src_strides);
}

/// Returns the properties of a pair of Views by which choose_way decides.
template <class Dst, class Src>
CopySides sides_of(Dst const& dst, Src const& src) {
  using DstSpace = typename Dst::memory_space;
  using SrcSpace = typename Src::memory_space;
  constexpr bool both_page_locked =
      drives_device && is_page_locked_v<DstSpace> && is_page_locked_v<SrcSpace>;
  return {.same_type = std::is_same_v<typename Dst::value_type, typename Src::non_const_value_type>,
          .pageable_source          = is_pageable_v<SrcSpace>,
          .pageable_destination     = is_pageable_v<DstSpace>,
          .both_page_locked         = both_page_locked,
          .device_reads_host_memory = !is_used_by_device_v<SrcSpace>,
          .addresses                = reinterpret_cast<std::uintptr_t>(dst.data()) |
                       reinterpret_cast<std::uintptr_t>(src.data())};
}

/// Returns true if a tool listens to copies. Calls get_callbacks(), which copies 2 KB, only if a
/// tool is loaded.
inline bool tools_see_copies() {
  return Kokkos::Profiling::profileLibraryLoaded() &&
         Kokkos::Tools::Experimental::get_callbacks().begin_deep_copy != nullptr;
}

/// Reports a deep_copy to Kokkos Tools: its begin and, on destruction, its end.
class DeepCopyEvent {
 public:
  template <class Dst, class Src>
  DeepCopyEvent(Dst const& dst, Src const& src) {
    if (!tools_see_copies()) return;
    Kokkos::Profiling::beginDeepCopy(
        Kokkos::Profiling::make_space_handle(Dst::memory_space::name()), dst.label(), dst.data(),
        Kokkos::Profiling::make_space_handle(Src::memory_space::name()), src.label(), src.data(),
        dst.size() * sizeof(typename Dst::value_type));  // bytes copied, without gaps
  }
  /// Of a value.
  template <class Dst>
  DeepCopyEvent(Dst const& dst, typename Dst::const_value_type* value) {
    if (!tools_see_copies()) return;
    Kokkos::Profiling::beginDeepCopy(
        Kokkos::Profiling::make_space_handle(Dst::memory_space::name()), dst.label(), dst.data(),
        Kokkos::Profiling::make_space_handle(Kokkos::HostSpace::name()), "Scalar", value,
        dst.span() * sizeof(typename Dst::value_type));
  }
  ~DeepCopyEvent() {
    if (Kokkos::Profiling::profileLibraryLoaded() &&
        Kokkos::Tools::Experimental::get_callbacks().end_deep_copy != nullptr)
      Kokkos::Profiling::endDeepCopy();
  }
  DeepCopyEvent(DeepCopyEvent const&)            = delete;
  DeepCopyEvent& operator=(DeepCopyEvent const&) = delete;
};

// Returns the same memory in a space that kernels may access.
template <class View>
auto reachable_by_kernels(View const& view) {
  if constexpr (std::is_same_v<typename View::memory_space, PinnedSpace>)
    return UnmanagedViewIn<View, Kokkos::Device<typename View::execution_space, MappedSpace>>(
        view.data(), view.layout());
  else
    return view;
}

template <class Dst, class Src>
void enqueue_copy(DrivenDevice const& instance, Dst const& dst, Src const& src);

// Enqueues a copy through staging memory. The stream orders the boxes, which share that memory.
template <class Dst, class Src>
void enqueue_staged_copy(DrivenDevice const& instance, Dst const& dst, Src const& src) {
  if constexpr (is_pageable_v<typename Src::memory_space>) {
    for_each_staged_box(src, true, [&](StagedBox const& box, auto const& staging) {
      // First, since it may fail: a graph must have no copy to memory that it does not keep.
      retain_for_graph(stream_of(instance), staging.data(), nullptr);
      copy_async(staging.data(), part_of(src, box).data(), box.plan, stream_of(instance));
      enqueue_copy(instance, part_of(dst, box), staging);
    });
  } else if constexpr (is_pageable_v<typename Dst::memory_space>) {
    for_each_staged_box(dst, false, [&](StagedBox const& box, auto const& staging) {
      enqueue_copy(instance, staging, part_of(src, box));
      copy_async(part_of(dst, box).data(), staging.data(), box.plan, stream_of(instance));
    });
  }
}

/// Enqueues a copy on `instance` in the way that choose_way returns. The CUDA runtime may wait for
/// pageable memory.
///
/// \throw OutOfPinnedMemory if there is no staging memory
/// \throw DeviceError
template <class Dst, class Src>
void enqueue_copy(DrivenDevice const& instance, Dst const& dst, Src const& src) {
  retain_for_graph(stream_of(instance), dst.data(), src.data());
  CopyPlan const plan   = plan_for(dst, src);
  CopySides const sides = sides_of(dst, src);
  switch (choose_way(plan, sides)) {
    case CopyWay::nothing: return;
    case CopyWay::one_copy:
    case CopyWay::boxes: return copy_async(dst.data(), src.data(), plan, stream_of(instance));
    case CopyWay::byte_kernel:
      return enqueue_byte_copy(instance, dst.data(), src.data(), plan.run_bytes);
    case CopyWay::tiled_kernel:
      return enqueue_tiled_copy(instance, dst.data(), src.data(), plan,
                                sides.device_reads_host_memory);
    case CopyWay::staged: return enqueue_staged_copy(instance, dst, src);
    case CopyWay::element_kernel: break;
  }
  if constexpr (!is_pageable_v<typename Dst::memory_space> &&
                !is_pageable_v<typename Src::memory_space>)
    enqueue_copy_kernel(instance, reachable_by_kernels(dst), reachable_by_kernels(src));
}

// Copies on a private stream of the device that owns the memory, and waits for this copy alone.
template <class Dst, class Src>
void copy_and_wait_for(Dst const& dst, Src const& src) {
  if constexpr (std::is_same_v<typename Dst::value_type, typename Src::non_const_value_type>) {
    CopyPlan const plan = plan_for(dst, src);
    if (plan.contiguous()) return copy_and_wait(dst.data(), src.data(), plan.run_bytes);
  }
  DrivenDevice const own = private_instance(device_of(dst.data(), src.data()));
  enqueue_copy(own, dst, src);
  fence(stream_of(own));
}

template <class View>
CopySide side_of(View const& view) {
  std::size_t const bytes = view.span() * sizeof(typename View::value_type);
  return {view.data(), view.span_is_contiguous() ? bytes : 0, view.label()};
}

template <class ExecutionSpace, class Dst, class Src>
void copy_plain_views(ExecutionSpace const& instance, Dst const& dst, Src const& src) {
  check_types<Dst, Src>();
  DeepCopyEvent const event(dst, src);
  if (!check_views(dst, src)) return;
  if constexpr (is_driven_v<ExecutionSpace>) {
    ScopedDevice const on_device(stream_of(instance), device_id_of(instance));
    //~ failure 22b
    enqueue_copy(instance, dst, src);
    if (guards_copies()) guard_copy(side_of(dst), side_of(src), stream_of(instance));
  } else {
    instance.fence("Kokkos::deep_copy: fence of the host instance before the copy");
    copy_and_wait_for(dst, src);
  }
}

/// Carries out deep_copy(instance, dst, src).
template <class ExecutionSpace, class Dst, class Src>
void copy_views(ExecutionSpace const& instance, Dst const& dst, Src const& src) {
  if constexpr (has_stock_device)
    with_stock_view(dst, [&](auto const& to) {
      with_stock_view(src, [&](auto const& from) { Kokkos::deep_copy(instance, to, from); });
    });
  else
    copy_plain_views(instance, dst, src);
}

template <class Dst, class Src>
void copy_plain_views(Dst const& dst, Src const& src) {
  check_types<Dst, Src>();
  Kokkos::fence("Kokkos::deep_copy: copy between views, pre copy fence");
  DeepCopyEvent const event(dst, src);
  if (!check_views(dst, src)) return;
  //~ failure 20b
  copy_and_wait_for(dst, src);
  Kokkos::fence("Kokkos::deep_copy: copy between views, post copy fence");
}

/// Carries out deep_copy(dst, src): waits for all earlier work, copies, and waits for the copy.
template <class Dst, class Src>
void copy_views(Dst const& dst, Src const& src) {
  if constexpr (has_stock_device)
    with_stock_view(dst, [&](auto const& to) {
      with_stock_view(src, [&](auto const& from) { Kokkos::deep_copy(to, from); });
    });
  else
    copy_plain_views(dst, src);
}

// Assigns a value to each element, in the order of memory as far as that is known.
template <class View>
struct FillElements {
  View view;
  typename View::non_const_value_type value;

  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    if (view.span_is_contiguous()) {
      view.data()[n] = value;
      return;
    }
    constexpr bool is_left = std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>;
    std::int64_t left      = n;
    std::int64_t offset    = 0;
    for (int k = 0; k < int(View::rank); ++k) {
      int const d       = is_left ? k : int(View::rank) - 1 - k;
      auto const extent = std::int64_t(view.extent(d));
      offset += left % extent * std::int64_t(view.stride(d));
      left /= extent;
    }
    view.data()[offset] = value;
  }
};

template <class ExecutionSpace, class Dst>
void enqueue_fill(ExecutionSpace const& instance, Dst const& dst,
                  typename Dst::const_value_type& value) {
  DeepCopyEvent const event(dst, &value);
  if (dst.data() == nullptr || dst.size() == 0) return;
  retain_for_graph(stream_of(instance), dst.data(), nullptr);
  using View = decltype(reachable_by_kernels(dst));
  Kokkos::parallel_for(
      "KokkosHostSpaces::deep_copy of a value",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          instance, 0, std::int64_t(dst.span_is_contiguous() ? dst.span() : dst.size())),
      FillElements<View>{reachable_by_kernels(dst), value});
}

/// Carries out deep_copy(instance, dst, value). Where a device is driven, not by Kokkos' own, which would tell
/// tools of the View that kernels reach, without a label.
template <class ExecutionSpace, class Dst>
void fill_view(ExecutionSpace const& instance, Dst const& dst,
               typename Dst::const_value_type& value) {
  static_assert(std::is_same_v<typename Dst::value_type, typename Dst::non_const_value_type>,
                "deep_copy requires non-const destination type");
  if constexpr (is_stock_v<ExecutionSpace>)
    with_stock_view(dst, [&](auto const& to) { Kokkos::deep_copy(instance, to, value); });
  else
    enqueue_fill(instance, dst, value);
}

}  // namespace KokkosHostSpaces::Impl

#endif
