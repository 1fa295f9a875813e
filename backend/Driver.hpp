// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam between this library and the device runtime. cuda/ and host/Driver.cpp implement it, the
// build links one of them. Functions throw CudaError (with the pending CUDA error cleared) unless
// they are noexcept. In the child of a fork, and after the runtime has shut down, noexcept
// functions do nothing.

#ifndef KOKKOS_HOST_SPACES_BACKEND_DRIVER_HPP
#define KOKKOS_HOST_SPACES_BACKEND_DRIVER_HPP

#include "Error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace KokkosHostSpaces::Impl::Backend::Driver {

/// A cudaStream_t of the caller; nullptr is the legacy default stream. Ignored by the host driver.
using Stream = void*;

/// The handles 0, 1 and 2 are those of the legacy default stream, and of that of a thread.
inline bool is_default_stream(Stream stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

/// A cudaEvent_t owned by the caller: made by record_*, given back by release_event.
using Event = void*;

// --- Devices -----------------------------------------------------------------------------------

/// More devices than this are not looked at.
inline constexpr int max_devices = 64;
using Devices                    = std::array<int, max_devices>;

/// Number of devices that can be used now; 0 on the host backend and on a machine without a GPU.
int device_count() noexcept;

/// Devices whose primary context exists, or for which that cannot be told: only these can have work
/// that touches our memory. Never creates a context. Fills `out` and returns how many.
int devices_in_use(Devices& out) noexcept;

/// The device that is current in the calling thread; -1: none. Does not make its context.
int current_device() noexcept;

/// Makes a device current in the calling thread, unless it is not in use, but others are. -1: none.
void use_device(int device) noexcept;

/// PCI bus id of a device as "0000:17:00.0".
std::string pci_bus_id(int device);

/// True if memory locked with lock_pages has the same address on every device as on the host.
bool registered_memory_keeps_address() noexcept;

// --- Page-locking ------------------------------------------------------------------------------

/// Page-locks [pointer, pointer + bytes) for all devices and maps it into their address space: all
/// of it, or nothing if it throws. Does not wait for running kernels.
/// \throw StillLocked if it failed, and could not undo what it had done.
void lock_pages(void* pointer, std::size_t bytes);

/// Part of a range is locked, and will stay so: its pages must stay mapped.
class StillLocked : public CudaError {
 public:
  using CudaError::CudaError;
};

/// Undoes lock_pages of the same range; waits for running kernels. False if the runtime refused (a
/// part is not locked, or the runtime has shut down): the pages must then stay mapped.
bool unlock_pages(void* pointer, std::size_t bytes) noexcept;

/// Page-locked and mapped memory made by the runtime itself: the way to write-combined memory, and
/// the fallback where lock_pages does not keep addresses. Returns nullptr when out of memory. Below
/// 2 MiB the address need not be that of a page.
void* allocate_pinned(std::size_t bytes, bool write_combined);

/// Gives back what allocate_pinned returned; waits for running kernels. False as for unlock_pages.
bool free_pinned(void* pointer) noexcept;

/// Memory of a device; nullptr if it has not so much left: other errors are thrown, as that an earlier
/// kernel failed. Breaks no capture of another thread.
void* allocate_on_device(int device, std::size_t bytes);

/// Gives back what allocate_on_device returned; waits for running kernels.
void free_on_device(void* pointer) noexcept;

/// What the runtime knows of an address.
enum class PointerKind { pageable, pinned, device, managed };
PointerKind inspect(void const* pointer) noexcept;

/// The device whose memory (managed memory too) an address is in; -1 for memory of the host.
int device_of(void const* pointer) noexcept;

// --- Copies ------------------------------------------------------------------------------------

/// A box of `rows` x `planes` runs of `run_bytes` bytes; pitches are the distances in bytes between
/// the beginnings of neighbouring rows and planes.
struct Box {
  std::size_t run_bytes, rows, planes;
  std::size_t row_pitch_dst, plane_pitch_dst;
  std::size_t row_pitch_src, plane_pitch_src;
};

/// Copy on `stream`, in any direction (cudaMemcpyAsync; the host driver copies at once).
/// Asynchronous between page-locked and device memory. From host to host, CUDA makes the calling
/// thread wait for the stream, as it may for pageable memory. Large ranges are locked in pieces and
/// the runtime refuses a copy that spans two: it is cut where they end.
void copy(void* dst, void const* src, std::size_t bytes, Stream stream);

/// Asynchronous strided copy on `stream` (cudaMemcpy2DAsync or cudaMemcpy3DAsync).
void copy(void* dst, void const* src, Box const& box, Stream stream);

/// Is there a call for several copies (cuMemcpyBatchAsync, since CUDA 12.8), which `stream` takes?
/// The legacy default stream does not.
bool takes_batches(Stream stream) noexcept;

/// Several copies by that call, in no order: false, and nothing is done, where there is none, or if
/// it refuses: single copies then do it, or name the error. Not while `stream` captures.
bool copy_batch(void* const* dsts, void const* const* srcs, std::size_t const* bytes,
                std::size_t count, Stream stream);

/// A stream of the library's own on a device (-1: the current one), which does not synchronise with
/// the legacy default stream. For copies that a host thread waits for.
Stream private_stream(int device = -1);

/// Waits until all work of `stream` is done.
void fence(Stream stream);

/// Calls a function in a thread of the runtime when `stream` has come so far; without a device at
/// once. It must not call the runtime. Never called if earlier work of the stream has failed.
void call_behind(Stream stream, void (*function)(void*), void* data);

/// Does the stream capture? True as well if that cannot be told.
bool is_capturing(Stream stream) noexcept;

// --- Kernels -----------------------------------------------------------------------------------

/// Is a kernel compiled for a device (of compute capability 9.0 or more, which becomes the current
/// one) so that it can wait by itself for earlier work of its stream? Another device may run another
/// code. Not while a stream captures.
bool can_start_early(void const* kernel, int device) noexcept;

/// A CUfunction: what the driver names a kernel of a device by.
using EarlyFunction = void*;

/// That of a kernel that can start early, nullptr of others; nothing if that could not be learnt. As
/// above.
std::optional<EarlyFunction> early_function(void const* kernel, int device) noexcept;

/// Launches a kernel of one argument, each thread of which waits by itself for all earlier work of
/// `stream` before it does anything: its blocks may start when those of the kernel before have
/// ended, and not only when all that it wrote has arrived (programmatic dependent launch). By the
/// driver, which takes 0.35 us less of the host than the runtime. False, and nothing is done, if it
/// refuses.
bool launch_early(EarlyFunction kernel, unsigned blocks, unsigned threads, void* argument,
                  Stream stream, int device) noexcept;

/// What launches name the kernel of a node of a graph by; nullptr if the node is none.
void const* kernel_of(void* node) noexcept;

/// Lets kernels of a graph that is not instantiated yet start as launch_early() does: a node with one
/// node before it, if `may` says so of both kernels, each of which is told by what launches name it
/// by. Others stay as they are; all do before CUDA 12.3.
/// \throw CudaError if a node has lost what it waits for: the graph shall not be used
void start_nodes_early(void* graph, bool (*may)(void const* before, void const* kernel));

// --- Streams that wait for each other ----------------------------------------------------------

/// A new stream on a device, which does not synchronise with the legacy default stream.
Stream make_stream(int device);

/// Gives a stream back that make_stream made. Work on it goes on; never waits.
void release_stream(Stream stream) noexcept;

/// Records in `event` what `stream`, of `device`, was given so far; makes the event if it is
/// nullptr, else records it again.
void record(Event& event, Stream stream, int device);

/// What `stream`, of `device`, is given from now on waits for what `event` recorded.
void make_wait(Stream stream, Event event, int device);

/// As without a device, on `stream`, of `device`: the handle of a default stream is that of the
/// current device's, whichever that is.
void copy(void* dst, void const* src, std::size_t bytes, Stream stream, int device);
void fence(Stream stream, int device);

// --- Captures ----------------------------------------------------------------------------------

/// Does `stream` capture? False if that cannot be told.
bool captures(Stream stream) noexcept;

/// Gives `object` to the graph into which `stream` captures: release(object) is called when that
/// graph, its copies and what was instantiated from them are destroyed and their launches are done,
/// in any thread, where CUDA must not be called; or before this throws.
void give_to_capture(Stream stream, void* object, void (*release)(void*));

// --- Events of all work of a device's context --------------------------------------------------

enum class Recorded {
  yes,          ///< `event` completes when all work submitted before the call is done
  idle,         ///< nothing to wait for (no device, no context, or the runtime has shut down)
  capturing,    ///< a stream captures: recording now would break the capture; try again later
  unsupported,  ///< no such event (CUDA < 12.5): fence_device before the memory is used again
  failed        ///< the runtime reported another error: nothing is known, try again later
};

/// Records all work of `device` submitted so far, from every stream and library of this process, in
/// `event`; makes the event if it is nullptr, else records it again. Waits for no work, but for the
/// driver while another thread registers memory or gives it back (seen: 1.6 s). Does not serialise
/// streams. Detects captures of blocking streams; CUDA has no way to ask for those of
/// non-blocking streams, which must be announced.
Recorded record_all_work(int device, Event& event) noexcept;

/// Has the event completed? `capturing` while a stream captures (asking would break the capture).
enum class EventState { done, pending, capturing, failed };
EventState query(Event event) noexcept;

/// Waits for the event; false if the runtime refused.
bool wait(Event event) noexcept;

/// Gives the event back. Never waits.
void release_event(Event event) noexcept;

/// Waits until all work of `device` is done; false if the runtime refused (a stream captures).
bool fence_device(int device) noexcept;

/// Does `work`, which would break captures, if `device` has nothing to do and nobody captures, as
/// far as can be known. Whoever announces a capture meanwhile waits until it is done. Returns
/// whether it was done.
bool do_if_idle(int device, void (*work)()) noexcept;

/// A capture of a non-blocking stream begins, or has ended. Announcements are counted: until the
/// last one has ended, everything above behaves as while a blocking stream captures. Announcing
/// waits for recordings, fences and work as above that other threads are making, as long as the driver lets them
/// wait.
void announce_capture() noexcept;
void end_announced_capture() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Driver

#endif
