// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam between this library and the device runtime. cuda/ and host/Driver.cpp implement it, the
// build links one of them. Functions throw DeviceError (with the pending CUDA error cleared) unless
// they are noexcept. In the child of a fork, and after the runtime has shut down, noexcept
// functions do nothing. A device stands for its primary context, which the CUDA runtime and most
// libraries use: calls are made in it, whatever context is current.

#ifndef KOKKOS_HOST_SPACES_BACKEND_DRIVER_HPP
#define KOKKOS_HOST_SPACES_BACKEND_DRIVER_HPP

#include "Error.hpp"
#include "MemoryKind.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace KokkosHostSpaces::Impl::Backend::Driver {

/// A cudaStream_t of the caller; nullptr is the legacy default stream. Ignored by the host driver.
using Stream = void*;

/// The handles 0 and 1 name the legacy default stream, 2 the default stream of a thread.
inline bool is_default_stream(Stream stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

/// A cudaEvent_t owned by the caller: made by record*, destroyed by release_event.
using Event = void*;

// --- Devices -----------------------------------------------------------------------------------

/// Devices from this number on are ignored.
inline constexpr int max_devices = 64;
using Devices                    = std::array<int, max_devices>;

/// Number of devices that can be used now; 0 on the host backend and on a machine without a GPU.
int device_count() noexcept;

/// Are there devices? `unknown`: the driver fails to tell, as it may for a while; ask again.
enum class Presence { none, some, unknown };
Presence presence() noexcept;

/// Finds the devices with a primary context, and those for which the driver fails to tell: only
/// these can have work that touches our memory. Never creates a context.
/// \param out receives their numbers \return how many
int devices_in_use(Devices& out) noexcept;

/// True if a device certainly has a primary context. Else the program has not chosen its devices yet,
/// and page-locking would make a context on device 0.
bool has_context() noexcept;

/// The device that is current in the calling thread; -1: none. Does not create its context.
int current_device() noexcept;

/// Makes a device current in the calling thread, if it has a context.
void use_device(int device) noexcept;

/// Makes a device current before work is enqueued by calls of its own language. Takes 20 ns if it is,
/// unlike cudaSetDevice (0.1 us).
void require_device(int device);

/// Call it right after such work. \throw DeviceError if it was refused
void check_enqueued();

/// PCI bus id of a device as "0000:17:00.0".
std::string pci_bus_id(int device);

/// True if memory locked with lock_pages has the same address on every device as on the host.
bool registered_memory_keeps_address() noexcept;

/// True if a device reaches all memory of the host coherently, also pageable memory, by the page
/// tables of the host: NVLink-C2C, not PCIe.
bool reaches_pageable_memory(int device) noexcept;

// --- Page-locking ------------------------------------------------------------------------------

/// Page-locks [pointer, pointer + bytes) for all devices and maps it into their address space: all
/// of it, or nothing if it throws. Does not wait for running kernels.
/// \throw StillLocked if it failed and could not undo what it had done
void lock_pages(void* pointer, std::size_t bytes);

/// A part of the range is locked and stays locked: its pages must stay mapped.
class StillLocked : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Undoes lock_pages of the same range; waits for running kernels. Returns false if the runtime
/// refused (a part is not locked, or the runtime has shut down): the pages must then stay mapped.
bool unlock_pages(void* pointer, std::size_t bytes) noexcept;

/// Allocates page-locked and mapped memory with cudaHostAlloc: the only source of write-combined
/// memory, and the fallback where lock_pages does not keep addresses. Returns nullptr when out of
/// memory. Allocations below 2 MiB need not begin on a page.
void* allocate_pinned(std::size_t bytes, MemoryKind kind);

/// Frees what allocate_pinned returned; waits for running kernels. Returns false as unlock_pages.
bool free_pinned(void* pointer) noexcept;

/// Allocates memory of a device; nullptr when that is out of memory. Breaks no capture of another
/// thread.
void* allocate_on_device(int device, std::size_t bytes);

/// Frees what allocate_on_device returned; waits for running kernels.
void free_on_device(void* pointer) noexcept;

/// The allocation or registration that contains an address: [begin, end), empty for pageable memory
/// and where the driver fails to tell.
struct Extent {
  int device        = -1;  ///< whose memory (managed memory too) it is; -1 for host memory
  char const* begin = nullptr;
  char const* end   = nullptr;

  bool contains(void const* pointer) const noexcept { return begin <= pointer && pointer < end; }
};
Extent extent_of(void const* pointer) noexcept;

inline int device_of(void const* pointer) noexcept { return extent_of(pointer).device; }

// --- Copies ------------------------------------------------------------------------------------

/// A box of `rows` x `planes` runs of `run_bytes` bytes; pitches are the distances in bytes between
/// the beginnings of neighbouring rows and planes.
struct Box {
  std::size_t run_bytes, rows, planes;
  std::size_t row_pitch_dst, plane_pitch_dst;
  std::size_t row_pitch_src, plane_pitch_src;
};

/// Copies on `stream`, in any direction (cudaMemcpyAsync; the host driver copies at once).
/// Asynchronous between page-locked and device memory. From host to host, CUDA makes the calling
/// thread wait for the stream, as it may for pageable memory. Cuts the copy where a locked piece
/// ends, because the runtime refuses a copy that spans two (see cuda/Runtime.hpp).
/// \param device of `stream`, if it may be a default stream, whose handle does not tell; -1: the current one
void copy(void* dst, void const* src, std::size_t bytes, Stream stream, int device = -1);

/// Asynchronous strided copy on `stream` (cudaMemcpy2DAsync or cudaMemcpy3DAsync).
void copy(void* dst, void const* src, Box const& box, Stream stream);

/// Copies several ranges by one call, in no order (cuMemcpyBatchAsync of CUDA 12.8; not on the legacy
/// default stream). Must not be called while `stream` captures. Returns false, and copies nothing, if it
/// cannot: make single copies then, which also report the error.
bool copy_batch(void* const* dsts, void const* const* srcs, std::size_t const* bytes,
                std::size_t count, Stream stream);

/// A stream of this library on a device (-1: the current one), which does not synchronise with the
/// legacy default stream. For copies that a host thread waits for.
Stream private_stream(int device = -1);

/// Waits until all work of `stream` is done. \param device as above
void fence(Stream stream, int device = -1);

/// Enqueues a host function (cudaLaunchHostFunc); the host driver calls it at once. It must not call
/// CUDA. CUDA does not call it if earlier work of the stream has failed.
void enqueue_host_function(Stream stream, void (*function)(void*), void* data);

// --- Streams that wait for each other ----------------------------------------------------------

/// Makes a stream on a device, which does not synchronise with the legacy default stream.
Stream make_stream(int device);

/// Destroys a stream of make_stream. Its work goes on; never waits.
void release_stream(Stream stream) noexcept;

/// Records in `event` the work that `stream`, of `device`, has so far. Makes the event if it is
/// nullptr. On the legacy default stream this breaks captures of blocking streams, as all work there.
/// \param timed with the time at which that work is done
void record(Event& event, Stream stream, int device, bool timed = false);

/// The same, unless `stream` captures or, being the legacy default stream, could break a capture that is
/// known or announced: returns false then, and records nothing.
bool record_beside_captures(Event& event, Stream stream, int device);

/// Makes later work of `stream`, of `device`, wait for the work that `event` recorded.
void make_wait(Stream stream, Event event, int device);

/// Seconds between two events with times; nothing while one is pending, or if the device failed.
std::optional<double> seconds_between(Event begin, Event end) noexcept;

// --- Devices that reach each other's memory ----------------------------------------------------

/// True if copies between two devices go by links of their own (NVLink), not by those to the host.
bool have_own_link(int device, int peer) noexcept;

/// Lets two devices reach each other's memory, for good, and makes their contexts if need be. Does nothing
/// if they do. Copies between them then go by their link, on a stream of either.
void let_reach(int device, int peer);

/// True for memory that let_reach opens to others: neither of a pool (cudaMallocAsync), nor of cuMemMap.
bool follows_let_reach(void const* memory) noexcept;

// --- Captures ----------------------------------------------------------------------------------

/// False only if `stream` certainly captures nothing. The driver fails to tell for the legacy default
/// stream while a blocking stream captures.
bool is_capturing(Stream stream) noexcept;

/// True if `stream` captures into a graph that is still valid. The legacy default stream cannot.
/// \throw DeviceError if the driver fails to tell
bool captures(Stream stream);

/// Makes the graph into which `stream` captures own `object`. Calls release(object) when that graph,
/// its copies and their executables are destroyed and their launches are done, in any thread, where
/// CUDA must not be called; or before this function throws.
void retain_in_capture(Stream stream, void* object, void (*release)(void*));

// --- Events of all work of a device's context --------------------------------------------------

enum class Recorded {
  yes,          ///< `event` completes when all work submitted before the call is done
  idle,         ///< nothing to wait for (no device, no context, or the runtime has shut down)
  capturing,    ///< a stream captures: recording now would break the capture; try again later
  unsupported,  ///< no such event (CUDA < 12.5): fence_device before the memory is used again
  failed        ///< the runtime reported another error: nothing is known, try again later
};

/// Records in `event` all work that this process has submitted to `device`, on any stream, except in
/// contexts that other code made (cuCtxCreate): who lets such a context use memory of ours fences its
/// stream before the memory is deallocated. Makes the event if it is nullptr. Does not wait for that
/// work and does not serialise streams, but waits for the driver while another thread registers or
/// unregisters memory (1.6 s were seen). Detects captures of blocking streams; CUDA cannot tell those
/// of non-blocking streams, which must be announced.
Recorded record_all_work(int device, Event& event) noexcept;

/// Has the event completed? `capturing` while a stream captures (asking would break the capture).
enum class EventState { done, pending, capturing, failed };
EventState query(Event event) noexcept;

/// Waits for the event; false if the runtime refused.
bool wait(Event event) noexcept;

/// Destroys the event. Never waits.
void release_event(Event event) noexcept;

/// Waits until all work of `device` is done; false if the runtime refused (a stream captures).
bool fence_device(int device) noexcept;

/// Calls `work`, which would break captures, if `device` is idle and no capture is known. A capture
/// that is announced meanwhile begins when `work` has returned. Returns whether it was called.
bool do_if_idle(int device, void (*work)()) noexcept;

/// Announces that a capture of a non-blocking stream begins, or has ended. Announcements are
/// counted: until the last one has ended, the functions above behave as while a blocking stream
/// captures. announce_capture waits for recordings (also of record, on the legacy default stream),
/// fences and `work` of other threads that are under way. Without events over all work of a device
/// (CUDA 12.2 to 12.4) who waits for memory fences by a thread of its own: then it waits for all work
/// of the device, however long that lasts.
void announce_capture() noexcept;
void end_announced_capture() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Driver

#endif
