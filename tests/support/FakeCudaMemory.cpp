// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The fake runtime's memory: page-locking is bookkeeping, device memory is the heap's.

#include "FakeCudaMachine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace FakeCuda {

namespace {

std::uintptr_t address_of(void const* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

bool is_too_much(Machine const& m, std::size_t bytes) {
  return m.told.most_pinned > 0 && m.pinned_bytes() + bytes > m.told.most_pinned;
}

cudaError_t allocate(void** pointer, std::size_t bytes, Kind kind) {
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  if (!m.allows_unsafe_call()) return finish(cudaErrorStreamCaptureUnsupported);
  int const device = m.current().device;
  if (kind == Kind::pinned && is_too_much(m, bytes)) return finish(cudaErrorMemoryAllocation);
  auto const alignment = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // As the real one's: below 2 MiB, pinned memory does not begin on a page.
  std::size_t const offset = kind == Kind::pinned && bytes < std::size_t(2) << 20 ? 512 : 0;
  void* const begin =
      std::aligned_alloc(alignment, (bytes + offset + alignment - 1) / alignment * alignment);
  if (begin == nullptr) return finish(cudaErrorMemoryAllocation);
  *pointer                            = static_cast<char*>(begin) + offset;
  m.allocations[address_of(*pointer)] = {bytes, kind, begin, device};
  if (kind == Kind::pinned) m.note_locked(*pointer);
  return cudaSuccess;
}

// Keeps whoever records waiting while it lives, if a test asked for that.
class Registering {
 public:
  explicit Registering(Machine& m) : m_machine(m) {
    std::unique_lock lock(m.mutex);
    m_time = m.told.registering;
    lock.unlock();
    if (m_time.count() > 0) m_lock = std::unique_lock(m.being_registered);
  }
  ~Registering() {
    if (m_time.count() == 0) return;
    std::unique_lock lock(m_machine.mutex);
    m_machine.changed.wait_for(lock, m_time,
                               [&] { return m_machine.told.registering.count() == 0; });
  }

 private:
  Machine& m_machine;
  std::chrono::milliseconds m_time;
  std::unique_lock<std::shared_mutex> m_lock;
};

// Waits for all work of all devices, as the real functions do.
cudaError_t deallocate(void* pointer, bool pinned) {
  if (pointer == nullptr) return cudaSuccess;
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  if (!m.allows_unsafe_call()) return finish(cudaErrorStreamCaptureUnsupported);
  m.current();
  auto const found = m.allocations.find(address_of(pointer));
  if (found == m.allocations.end() || (found->second.kind == Kind::pinned) != pinned) {
    return finish(cudaErrorInvalidValue);
  }
  m.wait_for(lock, m.pending_work(-1));
  std::free(found->second.begin);
  m.allocations.erase(found);
  m.locked_in.erase(address_of(pointer));
  return cudaSuccess;
}

// A copy that touches pageable memory returns when it is done; one that touches pinned memory only
// in part, or two registrations, is refused.
cudaError_t copy(void* dst, std::size_t dst_bytes, void const* src, std::size_t src_bytes,
                 cudaStream_t stream, std::function<void()> work) {
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  m.current();
  std::size_t const dst_known = m.known_bytes(dst, dst_bytes);
  std::size_t const src_known = m.known_bytes(src, src_bytes);
  if ((dst_known != 0 && dst_known != dst_bytes) || (src_known != 0 && src_known != src_bytes)) {
    return finish(cudaErrorInvalidValue);
  }
  int const from = m.device_of(src), to = m.device_of(dst);
  if (from >= 0 && to >= 0 && from != to && (m.told.pools || m.told.reached.count({from, to}) == 0))
    return finish(cudaErrorInvalidValue);
  std::shared_ptr<Ticket> ticket;
  if (cudaError_t const error = m.submit(stream, std::move(work), &ticket)) return finish(error);
  if (ticket && (from < 0) != (to < 0)) m.told.copied.push_back({dst, src, dst_bytes});
  if (ticket && (dst_known == 0 || src_known == 0)) m.wait_for(lock, {ticket});
  return cudaSuccess;
}

void copy_rows(char* dst, std::size_t dst_pitch, char const* src, std::size_t src_pitch,
               std::size_t width, std::size_t height) {
  for (std::size_t row = 0; row < height; ++row) {
    std::memcpy(dst + row * dst_pitch, src + row * src_pitch, width);
  }
}

constexpr std::size_t max_pitch = 2147483647;

std::atomic<bool> stages_small_copies{false};

bool is_staged(void const* dst, void const* src, std::size_t bytes) {
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  return stages_small_copies && bytes <= 65536 && m.known_bytes(src, bytes) == 0 &&
         m.known_bytes(dst, bytes) != 0;
}

}  // namespace

void stage_small_copies() { stages_small_copies = true; }

bool registrations_are_mapped() {
  std::lock_guard const lock(machine().mutex);
  auto const page           = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto const& registrations = machine().registrations;
  return std::all_of(registrations.begin(), registrations.end(), [&](auto const& range) {
    auto const [begin, bytes] = range;
    std::vector<unsigned char> resident(bytes / page + 1);
    return mincore(reinterpret_cast<void*>(begin / page * page), bytes, resident.data()) == 0;
  });
}

std::size_t Machine::pinned_bytes() const {
  std::size_t sum = 0;
  for (auto const& [address, bytes] : registrations) sum += bytes;
  for (auto const& [address, allocation] : allocations)
    sum += allocation.kind == Kind::pinned ? allocation.bytes : 0;
  return sum;
}

std::size_t Machine::known_bytes(void const* pointer, std::size_t bytes) const {
  std::uintptr_t const begin = address_of(pointer);
  auto const overlap         = [&](std::uintptr_t other, std::size_t other_bytes) -> std::size_t {
    std::uintptr_t const first = std::max(begin, other);
    std::uintptr_t const last  = std::min(begin + bytes, other + other_bytes);
    return first < last ? last - first : 0;
  };
  std::size_t most = 0;
  for (auto const& [address, size] : registrations) most = std::max(most, overlap(address, size));
  for (auto const& [address, allocation] : allocations)
    most = std::max(most, overlap(address, allocation.bytes));
  return most;
}

int Machine::device_of(void const* pointer) const {
  for (auto const& [address, allocation] : allocations)
    if (allocation.kind == Kind::device && address_of(pointer) - address < allocation.bytes)
      return allocation.device;
  return -1;
}

CUresult address_range(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr pointer) {
  if (CUresult const error = enter_driver("cuMemGetAddressRange")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  m.current();
  for (auto const& [address, allocation] : m.allocations) {
    if (pointer - address >= allocation.bytes) continue;
    *begin = address;
    *bytes = allocation.bytes;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

// As the real one: tells of memory that it does not know by zeros.
CUresult pointer_attributes(unsigned count, CUpointer_attribute* what, void** to,
                            CUdeviceptr pointer) {
  if (CUresult const error = enter_driver("cuPointerGetAttributes")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  m.current();
  CUmemorytype type = {};
  bool is_managed   = false;
  int device        = 0;
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  for (auto const& [address, size] : m.registrations) {
    if (pointer - address >= size) continue;
    type  = CU_MEMORYTYPE_HOST;
    begin = address;
    bytes = size;
  }
  for (auto const& [address, allocation] : m.allocations) {
    if (pointer - address >= allocation.bytes) continue;
    type       = allocation.kind == Kind::pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    is_managed = allocation.kind == Kind::managed;
    device     = allocation.device;
    begin      = address;
    bytes      = allocation.bytes;
  }
  for (unsigned i = 0; i < count; ++i) {
    switch (what[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *static_cast<unsigned*>(to[i]) = type; break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<unsigned*>(to[i]) = is_managed; break;
      case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *static_cast<unsigned*>(to[i]) =
            type == CU_MEMORYTYPE_DEVICE && !is_managed && !m.told.pools;
        break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(to[i]) = device; break;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *static_cast<CUdeviceptr*>(to[i]) = begin; break;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<std::size_t*>(to[i]) = bytes; break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace FakeCuda

using namespace FakeCuda;

extern "C" {

cudaError_t CUDARTAPI cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  if (cudaError_t const error = enter("cudaHostRegister")) return error;
  Machine& m = machine();
  Registering const takes_time(m);
  std::lock_guard const lock(m.mutex);
  if (!m.allows_unsafe_call()) return finish(cudaErrorStreamCaptureUnsupported);
  if (pointer == nullptr || bytes == 0 || flags > 15) return finish(cudaErrorInvalidValue);
  // As the real one: ranges may share a page, but no byte.
  std::uintptr_t const begin = address_of(pointer);
  for (auto const& [address, size] : m.registrations) {
    if (begin < address + size && address < begin + bytes) {
      return finish(cudaErrorHostMemoryAlreadyRegistered);
    }
  }
  m.current();
  if (is_too_much(m, bytes)) return finish(cudaErrorMemoryAllocation);
  m.registrations[address_of(pointer)] = bytes;
  m.note_locked(pointer);
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaHostUnregister(void* pointer) {
  if (cudaError_t const error = enter("cudaHostUnregister")) return error;
  Machine& m = machine();
  Registering const takes_time(m);
  std::unique_lock lock(m.mutex);
  if (!m.allows_unsafe_call()) return finish(cudaErrorStreamCaptureUnsupported);
  m.current();
  if (m.registrations.count(address_of(pointer)) == 0)
    return finish(cudaErrorHostMemoryNotRegistered);
  m.wait_for(lock, m.pending_work(-1));
  m.registrations.erase(address_of(pointer));
  m.locked_in.erase(address_of(pointer));
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int) {
  if (cudaError_t const error = enter("cudaHostAlloc")) return error;
  return allocate(pointer, bytes, Kind::pinned);
}

cudaError_t CUDARTAPI cudaFreeHost(void* pointer) {
  if (cudaError_t const error = enter("cudaFreeHost")) return error;
  return deallocate(pointer, true);
}

cudaError_t CUDARTAPI cudaHostGetDevicePointer(void** device, void* host, unsigned int) {
  if (cudaError_t const error = enter("cudaHostGetDevicePointer")) return error;
  *device = host;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMalloc(void** pointer, std::size_t bytes) {
  if (cudaError_t const error = enter_from_test("cudaMalloc")) return error;
  return allocate(pointer, bytes, Kind::device);
}

cudaError_t CUDARTAPI cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int) {
  if (cudaError_t const error = enter_from_test("cudaMallocManaged")) return error;
  return allocate(pointer, bytes, Kind::managed);
}

cudaError_t CUDARTAPI cudaFree(void* pointer) {
  if (cudaError_t const error = enter_from_test("cudaFree")) return error;
  return deallocate(pointer, false);
}

cudaError_t CUDARTAPI cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                               void const* pointer) {
  if (cudaError_t const error = enter("cudaPointerGetAttributes")) return error;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  m.current();
  attributes->type =
      m.known_bytes(pointer, 1) == 0 ? cudaMemoryTypeUnregistered : cudaMemoryTypeHost;
  for (auto const& [address, allocation] : m.allocations) {
    if (address_of(pointer) - address >= allocation.bytes) continue;
    attributes->device = allocation.device;
    if (allocation.kind == Kind::device) attributes->type = cudaMemoryTypeDevice;
    if (allocation.kind == Kind::managed) attributes->type = cudaMemoryTypeManaged;
  }
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemcpyAsync(void* dst, void const* src, std::size_t bytes, cudaMemcpyKind,
                                      cudaStream_t stream) {
  if (cudaError_t const error = enter("cudaMemcpyAsync")) return error;
  FailNth::Exempt const exempt;
  if (is_staged(dst, src, bytes)) {
    auto const* const begin = static_cast<char const*>(src);
    std::vector<char> const taken(begin, begin + bytes);
    return copy(dst, bytes, dst, bytes, stream, [=] { std::memcpy(dst, taken.data(), bytes); });
  }
  return copy(dst, bytes, src, bytes, stream, [=] { std::memcpy(dst, src, bytes); });
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync(void* dst, std::size_t dst_pitch, void const* src,
                                        std::size_t src_pitch, std::size_t width,
                                        std::size_t height, cudaMemcpyKind, cudaStream_t stream) {
  if (cudaError_t const error = enter("cudaMemcpy2DAsync")) return error;
  FailNth::Exempt const exempt;
  if (dst_pitch < width || src_pitch < width || dst_pitch > max_pitch || src_pitch > max_pitch) {
    return finish(cudaErrorInvalidPitchValue);
  }
  std::size_t const rows = height - 1;
  return copy(dst, rows * dst_pitch + width, src, rows * src_pitch + width, stream, [=] {
    copy_rows(static_cast<char*>(dst), dst_pitch, static_cast<char const*>(src), src_pitch, width,
              height);
  });
}

cudaError_t CUDARTAPI cudaMemcpy3DAsync(cudaMemcpy3DParms const* parameters, cudaStream_t stream) {
  if (cudaError_t const error = enter("cudaMemcpy3DAsync")) return error;
  FailNth::Exempt const exempt;
  cudaPitchedPtr const dst = parameters->dstPtr;
  cudaPitchedPtr const src = parameters->srcPtr;
  cudaExtent const extent  = parameters->extent;
  if (dst.pitch < extent.width || src.pitch < extent.width || dst.ysize < extent.height ||
      src.ysize < extent.height || dst.pitch > max_pitch || src.pitch > max_pitch) {
    return finish(cudaErrorInvalidPitchValue);
  }
  auto const span = [&](cudaPitchedPtr const& side) {
    return (side.ysize * (extent.depth - 1) + extent.height - 1) * side.pitch + extent.width;
  };
  return copy(dst.ptr, span(dst), src.ptr, span(src), stream, [=] {
    for (std::size_t plane = 0; plane < extent.depth; ++plane) {
      copy_rows(static_cast<char*>(dst.ptr) + plane * dst.ysize * dst.pitch, dst.pitch,
                static_cast<char const*>(src.ptr) + plane * src.ysize * src.pitch, src.pitch,
                extent.width, extent.height);
    }
  });
}
}

#if CUDART_VERSION >= 12080

namespace FakeCuda {

// All are checked before one is done. In the real one the legacy default stream is an invalid value,
// and a capture is broken.
CUresult copy_batch(CUdeviceptr* dsts, CUdeviceptr* srcs, std::size_t* bytes, std::size_t count,
                    CUmemcpyAttributes*, std::size_t*, std::size_t, std::size_t*, CUstream stream) {
  if (CUresult const error = enter_driver("cuMemcpyBatchAsync")) return error;
  if (stream == nullptr || stream == CU_STREAM_LEGACY || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  m.current();
  CUstream_st* const of_handle = m.find(stream);
  if (of_handle != nullptr && of_handle->capture) {
    of_handle->capture->valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  struct Piece {
    void* dst;
    void const* src;
    std::size_t bytes;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    pieces.push_back(
        {reinterpret_cast<void*>(dsts[i]), reinterpret_cast<void const*>(srcs[i]), bytes[i]});
    if (m.known_bytes(pieces[i].dst, bytes[i]) != bytes[i] ||
        m.known_bytes(pieces[i].src, bytes[i]) != bytes[i])
      return CUDA_ERROR_INVALID_VALUE;
  }
  // In no order: here the last one first.
  auto const copy = [pieces] {
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece)
      std::memcpy(piece->dst, piece->src, piece->bytes);
  };
  return m.submit(stream, copy) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace FakeCuda

#endif
