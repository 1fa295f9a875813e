// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamCost.hpp>

#include <algorithm>

namespace KokkosHostSpaces::Impl {

namespace {

// Returns the bytes from the first to the last row of a buffer that stages read, or write.
std::size_t bytes_used(StreamShape const& shape, int number, bool written) {
  StreamBuffer const& buffer = shape.buffers[at(number)];
  if (buffer.fixed) return std::size_t(buffer.rows) * buffer.row_bytes;
  StreamRows rows{buffer.rows, 0};
  for (StreamStage const& stage : shape.stages) {
    for (StreamAccess const& access : stage.accesses) {
      if (access.buffer != number || (written && !access.writes) || stage.begin >= stage.end)
        continue;
      rows.begin = std::min(rows.begin, stage.begin - access.halo);
      rows.end   = std::max(rows.end, stage.end + access.halo);
    }
  }
  rows = {std::max<std::int64_t>(rows.begin, 0), std::min(rows.end, buffer.rows)};
  return std::size_t(rows.count()) * buffer.row_bytes;
}

}  // namespace

LoopCost cost_of(StreamShape const& shape) {
  LoopCost cost;
  cost.passes = int(shape.stages.size());
  for (std::size_t b = 0; b < shape.buffers.size(); ++b) {
    StreamBuffer const& buffer = shape.buffers[b];
    ArgumentCost argument;
    argument.to_device = buffer.loaded ? bytes_used(shape, int(b), false) : 0;
    argument.to_host   = buffer.stored ? bytes_used(shape, int(b), true) : 0;
    argument.fraction  = buffer.touched;
    argument.resident  = buffer.fixed;
    cost.arguments.push_back(argument);
  }
  return cost;
}

}  // namespace KokkosHostSpaces::Impl
