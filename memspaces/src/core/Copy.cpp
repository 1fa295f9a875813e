// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Backend.hpp>
#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>

#include "../../../backend/Driver.hpp"
#include "../../../backend/guard/Guard.hpp"
#include "../../../backend/Replays.hpp"  // has keep_for_replays, too

namespace KokkosHostSpaces::Impl {

namespace {

// Loops beyond the three dimensions that one copy engine call takes.
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

void copy_async(void* dst, void const* src, std::size_t bytes, StreamHandle stream) {
  if (bytes > 0) Driver::copy(dst, src, bytes, stream);
}

void copy_async(void* dst, void const* src, CopyPlan const& plan, StreamHandle stream) {
  if (plan.contiguous()) return copy_async(dst, src, plan.run_bytes, stream);
  copy_boxes(static_cast<char*>(dst), static_cast<char const*>(src), plan, plan.loops - 1, stream);
}

std::shared_ptr<void const> own_replayed_memory(std::function<void()> const& capture) {
  auto memory = std::make_shared<ReplayedMemory>();
  ReplayedBy const by(*memory);
  capture();
  return memory;
}

int device_of(void const* a, void const* b) {
  int const device = Driver::device_of(a);
  return device >= 0 ? device : Driver::device_of(b);
}

bool guards_copies() { return Guard::is_on(); }

void guard_copy(CopySide const& dst, CopySide const& src, StreamHandle stream) {
  Guard::watch({dst.begin, dst.bytes, dst.label}, {src.begin, src.bytes, src.label}, stream);
}

std::size_t races_found() noexcept { return Guard::races(); }

StreamHandle private_stream(int device) { return Driver::private_stream(device); }

StreamHandle make_stream(int device) { return Driver::make_stream(device); }

void copy_and_wait(void* dst, void const* src, std::size_t bytes) {
  Driver::Stream const stream = Driver::private_stream(device_of(dst, src));
  copy_async(dst, src, bytes, stream);
  Driver::fence(stream);
}

}  // namespace KokkosHostSpaces::Impl
