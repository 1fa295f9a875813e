// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <algorithm>

namespace KokkosHostSpaces::Impl {

TransportChoice choose_transport(StreamShape const& shape, bool coherent) {
  if (shape.stages.size() > 1)
    return {false, "several passes over the data, which cross the link once"};
  if (coherent) return {true, "the device reaches all memory of the host coherently"};
  std::size_t largest = 0;
  double all = 0, touched = 0;
  for (StreamStage const& stage : shape.stages)
    for (StreamAccess const& access : stage.accesses) {
      StreamBuffer const& buffer = shape.buffers[at(access.buffer)];
      if (buffer.fixed) continue;
      if (access.halo > 0)
        return {false, "elements are read several times, by a halo, and cross the link once"};
      std::size_t const bytes =
          std::size_t(StreamRows{stage.begin, stage.end}.count()) * buffer.row_bytes;
      largest = std::max(largest, bytes);
      all += double(bytes);
      touched += double(bytes) * std::clamp(buffer.touched, 0., 1.);
    }
  std::string const bytes   = std::to_string(largest) + " bytes";
  double const part         = all > 0 ? touched / all : 1;
  std::string const percent = std::to_string(int(part * 100)) + " %";
  if (largest <= in_place_bytes)
    return {true, "no array has more than 8 MiB: the largest has " + bytes};
  if (part <= in_place_part) return {true, "at most half of the elements is touched: " + percent};
  return {false, "more than 8 MiB of an array, and more than half of the elements, are touched: " +
                     bytes + ", " + percent};
}

}  // namespace KokkosHostSpaces::Impl
