// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Explain.hpp>
#include <KokkosHostSpaces/impl/copy/Tiling.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

namespace KokkosHostSpaces::Impl {

namespace {

std::string text(std::size_t number) { return std::to_string(number); }

std::string boxes(CopyPlan const& plan) {
  std::size_t rows = 1;
  for (int i = 0; i < plan.loops; ++i) rows *= plan.extent[i];
  std::size_t const calls = plan.engine_calls();
  bool const has_planes   = calls * plan.extent[0] < rows;
  return (calls == 1 ? "one " : text(calls) + " ") + (has_planes ? "3-D" : "2-D") + " memcpy, " +
         text(rows) + " rows of " + text(plan.run_bytes) + " bytes";
}

std::string tiles(ExplainedCopy const& copy) {
  auto const tiling =
      make_tiling(copy.plan, copy.sides.addresses, !copy.sides.device_reads_host_memory);
  return "a kernel through the mapped address, tile by tile (the two differ in the order of "
         "dimensions; tiles of " +
         text(tiling->side_dst) + " x " + text(tiling->side_src) + " words of " +
         text(tiling->word) + " bytes)";
}

std::string elements(ExplainedCopy const& copy) {
  std::string const runs = "runs of " + text(copy.plan.run_bytes) + " bytes";
  std::string const why =
      !copy.sides.same_type ? "element types differ"
      : copy.plan.engine_calls() > copy_thresholds_in_use().few_calls
          ? runs + " need " + text(copy.plan.engine_calls()) + " memcpys"
      : !copy.plan.suits_copy_engine() ? "elements of a side share memory, as those of a broadcast"
      : copy.plan.planes() > copy_thresholds_in_use().most_planes
          ? "a memcpy of " + text(copy.plan.planes()) + " planes makes the host wait"
      : copy.sides.both_page_locked
          ? "for memory of the host alone a memcpy makes the host wait"
          : runs + ": a memcpy of less than " + text(copy_thresholds_in_use().equal_run_bytes) +
                " is slower";
  return "a kernel through the mapped address, element by element (" + why + ")";
}

std::string way(ExplainedCopy const& copy) {
  switch (choose_way(copy.plan, copy.sides)) {
    case CopyWay::nothing: return "nothing to do";
    case CopyWay::one_copy: return "one memcpy";
    case CopyWay::boxes: return boxes(copy.plan);
    case CopyWay::byte_kernel:
      return "a kernel through the mapped address, as one run of bytes (for memory of the host "
             "alone a memcpy makes the host wait)";
    case CopyWay::tiled_kernel: return tiles(copy);
    case CopyWay::element_kernel: return elements(copy);
    case CopyWay::staged: break;
  }
  std::string const most = " page-locked memory, " + text(copy_thresholds_in_use().staging_bytes) +
                           " bytes of it at most at a time: ";
  return copy.sides.pageable_source
             ? "through" + most + "memcpys of pageable \"" + copy.src + "\", and a copy from there"
             : "through" + most + "a copy to there, and memcpys to pageable \"" + copy.dst + "\"";
}

std::string asynchrony(ExplainedCopy const& copy) {
  if (!copy.by_device_instance)
    return "done on return (a host instance waits for it): pass a device instance to go on "
           "meanwhile";
  bool const pageable = copy.sides.pageable_source || copy.sides.pageable_destination;
  if (!pageable) return "asynchronous on the instance";
  return "not asynchronous (the driver may let the host wait for pageable memory): put \"" +
         (copy.sides.pageable_source ? copy.src : copy.dst) + "\" into PinnedSpace";
}

}  // namespace

std::string explain(ExplainedCopy const& copy) {
  std::string const begin = copy.pair + ", " + text(copy.bytes) + " bytes: ";
  if (!copy.refusal.empty()) return begin + "refused: " + copy.refusal;
  if (!copy.is_needed) return begin + "nothing to do (empty, or the same memory)";
  if (copy.is_ours) return begin + way(copy) + "; " + asynchrony(copy);
  if (copy.has_device || copy.by_device_instance) return begin + "by Kokkos' own deep_copy";
  return begin + "by the host, " +
         (copy.sides.same_type && copy.plan.contiguous()
              ? "one memcpy by all its threads"
              : "element by element (the two differ in layout or type)") +
         "; done on return";
}

}  // namespace KokkosHostSpaces::Impl
