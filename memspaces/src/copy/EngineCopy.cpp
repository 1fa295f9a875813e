// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/copy/EngineCopy.hpp>

#include "../../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// Loops over the dimensions beyond the three that one call of the copy engine takes.
void copy_boxes(char* dst, char const* src, CopyPlan const& plan, int loop, Driver::Stream stream) {
  if (loop >= 2) {
    for (std::size_t i = 0; i < plan.extent[loop]; ++i)
      copy_boxes(dst + i * plan.dst_stride[loop], src + i * plan.src_stride[loop], plan, loop - 1,
                 stream);
    return;
  }
  Driver::Box box{.run_bytes       = plan.run_bytes,
                  .rows            = 1,
                  .planes          = 1,
                  .row_pitch_dst   = plan.run_bytes,
                  .plane_pitch_dst = plan.run_bytes,
                  .row_pitch_src   = plan.run_bytes,
                  .plane_pitch_src = plan.run_bytes};
  if (plan.loops > 0) {
    box.rows          = plan.extent[0];
    box.row_pitch_dst = plan.dst_stride[0];
    box.row_pitch_src = plan.src_stride[0];
  }
  box.plane_pitch_dst = box.rows * box.row_pitch_dst;
  box.plane_pitch_src = box.rows * box.row_pitch_src;
  if (plan.loops > 1) {
    box.planes          = plan.extent[1];
    box.plane_pitch_dst = plan.dst_stride[1];
    box.plane_pitch_src = plan.src_stride[1];
  }
  Driver::copy(dst, src, box, stream);
}

}  // namespace

void copy_async(void* dst, void const* src, CopyPlan const& plan, StreamHandle stream) {
  if (plan.contiguous()) return copy_async(dst, src, plan.run_bytes, stream);
  copy_boxes(static_cast<char*>(dst), static_cast<char const*>(src), plan, plan.loops - 1, stream);
}

}  // namespace KokkosHostSpaces::Impl
