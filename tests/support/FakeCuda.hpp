// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A CUDA runtime without a GPU. It defines the cuda* functions which backend/cuda/ calls, so that
// the real sources link against it and run under sanitizers: a stream is a queue run by a thread of
// its own, a kernel is a function on that thread. This header controls what a test cannot ask of a
// real runtime; work for streams that runs on both is in DeviceWork.hpp.

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAKE_CUDA_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAKE_CUDA_HPP

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace FakeCuda {

/// A new machine: no streams, no allocations, no failures planned, counts at zero. Device 0, if there is
/// one, has a context and is current in this thread, unless `used` is false: no context is made. Waits
/// for the queued work of the old one. Also makes the library forget what it learnt of the old one. No
/// other thread may use the runtime meanwhile, and memory of the old machine must not be used again.
void reset(int device_count = 1, bool used = true);

/// A cudaError_t that stands for "out of memory" (also in the driver API).
inline constexpr int out_of_memory = 2;

/// Makes the n-th call from now of `function` fail, once. "*" counts every function that the
/// library may call, not those which tests alone call (cudaLaunchHostFunc, captures, cudaMalloc,
/// ...). The driver API has its own names: "cuCtxRecordEvent", "cuEventQuery", "cuEventCreate".
void fail_nth_call(std::string const& function, std::size_t n, int error = out_of_memory);

/// Makes every n-th call of anything fail (as "*" counts them) until n is 0 or the next reset.
void fail_every(std::size_t n, int error = out_of_memory);

/// Forgets planned failures.
void fail_no_more();

/// Calls of `function` since the last reset; "*" as for fail_nth_call.
std::size_t calls(std::string const& function);

/// No more than so many bytes can be page-locked at once; 0, and after a reset: no limit.
void pin_at_most(std::size_t bytes);

/// Makes cuCtxRecordEvent wait while memory is registered or unregistered, as the real one, and
/// registering take so long, or until this is called with 0; other threads see its effect before it
/// returns. 0, and after a reset: neither.
void registering_takes(std::chrono::milliseconds time);

/// Until the next reset, no other device reaches this one; all others reach each other by links of their own.
/// A copy between two devices is refused before one may reach the other.
void set_apart(int device);

/// What cudaEventElapsedTime tells of events that are done; 0 after a reset.
void events_are_apart(std::chrono::microseconds time);

/// The copies between host and devices that were enqueued since the last reset, but those of batches and graphs.
struct Copied {
  void const* dst;
  void const* src;
  std::size_t bytes;
};
std::vector<Copied> copied();

/// From now on, also after a reset, copies of at most 64 KiB from pageable memory to a device take it
/// before they return, as the real ones, and wait for nothing. Else they wait for their stream.
void stage_small_copies();

/// A driver older than CUDA 12.5: no cuCtxRecordEvent, and no cuMemcpyBatchAsync.
void use_old_driver();

/// Registered memory has another address on the device
/// (cudaDevAttrCanUseHostPointerForRegisteredMem 0).
void registered_memory_moves();

/// Devices reach pageable memory coherently (cudaDevAttrPageableMemoryAccessUsesHostPageTables 1).
void reaches_pageable_memory();

/// Memory of devices is that of pools (cudaMallocAsync), to which cudaDeviceEnablePeerAccess opens no way.
void device_memory_is_of_pools();

/// As cudaDeviceReset: the device has no context, and all streams, events and memory of CUDA are gone.
void reset_device(int device);

/// From now on every call fails as after the end of main, when the runtime has unloaded.
void shut_down();

/// What was made and not given back.
struct Outstanding {
  std::size_t registrations;
  std::size_t pinned_allocations;
  std::size_t device_allocations;
  std::size_t events;
  std::size_t streams;
  std::size_t pinned_bytes;  ///< of registrations and allocations
};
Outstanding outstanding();

/// True if nothing that the library gives back is outstanding: registrations, pinned memory,
/// events, objects that it gave to no graph.
bool nothing_leaked();

/// True if all pages that are registered are mapped.
bool registrations_are_mapped();

/// True if the device has a context, that is, was used.
bool has_context(int device);

}  // namespace FakeCuda

#endif
