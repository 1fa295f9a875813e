// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/TransportRule.hpp>

#include <algorithm>

namespace KokkosHostSpaces::Impl {

std::string TransportChoice::why() const {
  switch (reason) {
    case Reason::passes: return "several passes over the data, which cross the link once";
    case Reason::coherent: return "the device reaches all memory of the host coherently";
    case Reason::halo: return "elements are read several times, by a halo, and cross the link once";
    case Reason::small:
      return "no array has more than 8 MiB: the largest has " + std::to_string(largest) + " bytes";
    case Reason::sparse:
      return "at most half of the elements is touched: " + std::to_string(int(touched * 100)) +
             " %";
    case Reason::dense: break;
  }
  return "more than 8 MiB of an array, and more than half of the elements, are touched: " +
         std::to_string(largest) + " bytes, " + std::to_string(int(touched * 100)) + " %";
}

TransportChoice choose_transport(StreamShape const& shape, bool coherent) {
  using Reason = TransportChoice::Reason;
  if (shape.stages.size() > 1) return {Reason::passes};
  if (coherent) return {Reason::coherent};
  TransportChoice choice{Reason::dense};
  double all = 0, touched = 0;
  for (StreamStage const& stage : shape.stages)
    for (StreamAccess const& access : stage.accesses) {
      StreamBuffer const& buffer = shape.buffers[at(access.buffer)];
      if (buffer.fixed) continue;
      if (access.halo > 0) return {Reason::halo};
      std::size_t const bytes =
          std::size_t(StreamRows{stage.begin, stage.end}.count()) * buffer.row_bytes;
      choice.largest = std::max(choice.largest, bytes);
      all += double(bytes);
      touched += double(bytes) * std::clamp(buffer.touched, 0., 1.);
    }
  if (all > 0) choice.touched = touched / all;
  if (choice.largest <= in_place_bytes)
    choice.reason = Reason::small;
  else if (choice.touched <= in_place_part)
    choice.reason = Reason::sparse;
  return choice;
}

}  // namespace KokkosHostSpaces::Impl
