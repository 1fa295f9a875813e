// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime: devices and copies. PageLocking.cpp and Retirement.cpp have the
// rest.

#include "../Driver.hpp"

#include "Chunks.hpp"
#include "Runtime.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// The longest pitch that a copy engine takes (cudaDevAttrMaxPitch), the same on every device so
// far.
constexpr std::size_t max_pitch = std::numeric_limits<int>::max();

bool is_pitch(std::size_t pitch, std::size_t run_bytes) {
  return pitch >= run_bytes && pitch <= max_pitch;
}

// A 3-D copy wants planes that are a whole number of rows apart.
bool fits_3d_copy(Box const& box) {
  auto const fits = [&](std::size_t row_pitch, std::size_t plane_pitch) {
    return is_pitch(row_pitch, box.run_bytes) && plane_pitch % row_pitch == 0 &&
           plane_pitch / row_pitch >= box.rows;
  };
  return fits(box.row_pitch_dst, box.plane_pitch_dst) &&
         fits(box.row_pitch_src, box.plane_pitch_src);
}

void copy_3d(char* dst, char const* src, Box const& box, cudaStream_t stream) {
  cudaMemcpy3DParms parameters = {};
  parameters.dstPtr            = {dst, box.row_pitch_dst, box.run_bytes,
                                  box.plane_pitch_dst / box.row_pitch_dst};
  parameters.srcPtr            = {const_cast<char*>(src), box.row_pitch_src, box.run_bytes,
                                  box.plane_pitch_src / box.row_pitch_src};
  parameters.extent            = {box.run_bytes, box.rows, box.planes};
  parameters.kind              = cudaMemcpyDefault;
  check(cudaMemcpy3DAsync(&parameters, stream), "cudaMemcpy3DAsync", look_for_failed_work);
}

// Rows that end before the chunk does in which the first one begins.
std::size_t rows_in_chunk(char const* begin, std::size_t pitch, std::size_t run_bytes) {
  std::size_t const left = to_chunk_end(begin);
  return left < run_bytes ? 0 : (left - run_bytes) / pitch + 1;
}

// `rows` runs whose beginnings are a pitch apart, as many at once as lie in one chunk; run by run
// where the pitch is too long or runs overlap.
void copy_2d(char* dst, std::size_t pitch_dst, char const* src, std::size_t pitch_src,
             std::size_t run_bytes, std::size_t rows, cudaStream_t stream) {
  bool const regular = is_pitch(pitch_dst, run_bytes) && is_pitch(pitch_src, run_bytes);
  while (rows > 0) {
    std::size_t const at_once = regular ? std::min({rows, rows_in_chunk(dst, pitch_dst, run_bytes),
                                                    rows_in_chunk(src, pitch_src, run_bytes)})
                                        : 0;
    if (at_once > 0) {
      check(cudaMemcpy2DAsync(dst, pitch_dst, src, pitch_src, run_bytes, at_once, cudaMemcpyDefault,
                              stream),
            "cudaMemcpy2DAsync", look_for_failed_work);
    } else {
      copy(dst, src, run_bytes, stream);
    }
    std::size_t const done = std::max<std::size_t>(at_once, 1);
    dst += done * pitch_dst;
    src += done * pitch_src;
    rows -= done;
  }
}

}  // namespace

int device_count() noexcept {
  Runtime const* const r = runtime();
  return r != nullptr ? r->devices : 0;
}

int current_device() noexcept {
  int device = -1;
  return runtime() != nullptr && succeeded(cudaGetDevice(&device)) ? device : -1;
}

void use_device(int device) noexcept {
  Devices in_use{};
  auto const* const end = in_use.begin() + devices_in_use(in_use);
  bool const none       = end == in_use.begin();
  if (device >= 0 && (none || std::find(std::as_const(in_use).begin(), end, device) != end))
    succeeded(cudaSetDevice(device));
}

std::string pci_bus_id(int device) {
  require_runtime();
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
        "cudaDeviceGetPCIBusId", "check the number of the device");
  return text.data();
}

int device_of(void const* pointer) noexcept {
  cudaPointerAttributes attributes = {};
  Runtime* const r                 = runtime();
  if (r == nullptr) return -1;
  ContextInUse const context(*r);
  if (!succeeded(cudaPointerGetAttributes(&attributes, pointer))) return -1;
  bool const on_device =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return on_device ? attributes.device : -1;
}

void copy(void* dst, void const* src, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  ContextInUse const context(require_runtime());
  auto* to         = static_cast<char*>(dst);
  auto const* from = static_cast<char const*>(src);
  while (bytes > 0) {
    std::size_t const piece = std::min({bytes, to_chunk_end(to), to_chunk_end(from)});
    check(cudaMemcpyAsync(to, from, piece, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)),
          "cudaMemcpyAsync", look_for_failed_work);
    to += piece;
    from += piece;
    bytes -= piece;
  }
}

void copy(void* dst, void const* src, Box const& box, Stream stream) {
  if (box.run_bytes == 0 || box.rows == 0 || box.planes == 0) return;
  ContextInUse const context(require_runtime());
  auto* const to         = static_cast<char*>(dst);
  auto const* const from = static_cast<char const*>(src);
  auto const queue       = static_cast<cudaStream_t>(stream);
  if (box.rows == 1) {
    copy_2d(to, box.plane_pitch_dst, from, box.plane_pitch_src, box.run_bytes, box.planes, queue);
  } else if (box.planes > 1 && fits_3d_copy(box) &&
             box.planes * box.plane_pitch_dst <= to_chunk_end(to) &&
             box.planes * box.plane_pitch_src <= to_chunk_end(from)) {
    copy_3d(to, from, box, queue);
  } else {
    for (std::size_t plane = 0; plane < box.planes; ++plane) {
      copy_2d(to + plane * box.plane_pitch_dst, box.row_pitch_dst,
              from + plane * box.plane_pitch_src, box.row_pitch_src, box.run_bytes, box.rows,
              queue);
    }
  }
}

Stream private_stream(int device) {
  Runtime& r = require_runtime();
  ContextInUse const in_use(r);
  if (device < 0) check(cudaGetDevice(&device), "cudaGetDevice", look_for_failed_work);
  if (device >= r.devices)
    check(cudaErrorInvalidDevice, "making a stream", "check the number of the device");
  auto& slot = r.private_streams[static_cast<std::size_t>(device)];
  if (cudaStream_t const stream = slot.load(std::memory_order_acquire)) return stream;
  std::lock_guard const lock(r.mutex);
  if (cudaStream_t const stream = slot.load(std::memory_order_relaxed)) return stream;
  CUcontext context = nullptr;
  if (r.context_of(device, context, Runtime::Absent::make) != Runtime::Context::in_use)
    check(cudaErrorDevicesUnavailable, "cuDevicePrimaryCtxRetain", look_for_failed_work);
  ContextScope const scope(r, context);
  if (!scope.pushed()) check(cudaErrorInvalidValue, "cuCtxPushCurrent", look_for_failed_work);
  CaptureTolerance const tolerance(r);
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
        look_for_failed_work);
  slot.store(made, std::memory_order_release);
  return made;
}

void fence(Stream stream) {
  Runtime& r = require_runtime();
  ContextInUse const context(r);
  CaptureTolerance const tolerance(r);
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize",
        look_for_failed_work);
}

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
