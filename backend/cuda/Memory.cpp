// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime: page-locking, memory of devices, kinds of pointers.

#include "../os/Pages.hpp"
#include "Runtime.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

// Names the limit of locked memory only where there is one.
std::string advice_on(cudaError_t refused) {
  if (refused == cudaErrorHostMemoryAlreadyRegistered)
    return "other code, as MPI libraries do, has a part of the range page-locked already: leave "
           "that part out, or end that registration first";
  std::string const raise_limit = raise_limit_of_locked();
  return "ask for fewer bytes, " + (raise_limit.empty() ? "" : raise_limit + ", ") +
         "or free page-locked memory";
}

void lock(char* pointer, std::size_t bytes) {
  cudaError_t const error =
      cudaHostRegister(pointer, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (error != cudaSuccess) check(error, "cudaHostRegister", advice_on(error).c_str());
}

StillLocked still_locked(std::string const& why) {
  return {why + "; a part stays page-locked, because it cannot be unlocked either: do not free it",
          cudaErrorUnknown};
}

bool has_attribute(cudaDeviceAttr attribute, int device) noexcept {
  int value = 0;
  return succeeded(cudaDeviceGetAttribute(&value, attribute, device)) && value != 0;
}

unsigned flags_of(MemoryKind kind) noexcept {
  unsigned const flags = cudaHostAllocPortable | cudaHostAllocMapped;
  switch (kind) {
    case MemoryKind::page_locked: return flags;
    case MemoryKind::write_combined: return flags | cudaHostAllocWriteCombined;
  }
  return flags;
}

}  // namespace

void lock_in_chunks(void* pointer, std::size_t bytes, std::size_t chunk) {
  Runtime& r = require_runtime();
  ContextInUse const context(r);
  CaptureTolerance const tolerance(r);
  auto* const begin = static_cast<char*>(pointer);
  std::size_t done  = 0;
  try {
    while (done < bytes) {
      std::size_t const piece = std::min(to_chunk_end(begin + done, chunk), bytes - done);
      lock(begin + done, piece);
      done += piece;
    }
  } catch (std::exception const& error) {
    //~ failure 12a
    if (!unlock_in_chunks(pointer, done, chunk)) throw still_locked(error.what());
    throw;
  }
}

bool unlock_in_chunks(void* pointer, std::size_t bytes, std::size_t chunk) noexcept {
  Runtime* const r = runtime_with_handles();
  if (r == nullptr) return bytes == 0;
  ContextInUse const context(*r);
  CaptureTolerance const tolerance(*r);
  auto* const begin = static_cast<char*>(pointer);
  bool unlocked     = true;
  for (std::size_t done = 0; done < bytes; done += to_chunk_end(begin + done, chunk))
    unlocked = succeeded(cudaHostUnregister(begin + done)) && unlocked;
  return unlocked;
}

//~ failure 12b
void lock_pages(void* pointer, std::size_t bytes) { lock_in_chunks(pointer, bytes, largest_chunk); }

bool unlock_pages(void* pointer, std::size_t bytes) noexcept {
  return unlock_in_chunks(pointer, bytes, largest_chunk);
}

bool registered_memory_keeps_address() noexcept {
  for (int device = 0; device < device_count(); ++device)
    if (!has_attribute(cudaDevAttrCanUseHostPointerForRegisteredMem, device)) return false;
  return true;
}

bool reaches_pageable_memory(int device) noexcept {
  return runtime() != nullptr &&
         has_attribute(cudaDevAttrPageableMemoryAccessUsesHostPageTables, device);
}

void* allocate_pinned(std::size_t bytes, MemoryKind kind) {
  Runtime& r = require_runtime();
  ContextInUse const context(r);
  CaptureTolerance const tolerance(r);
  void* pointer             = nullptr;
  cudaError_t const refused = cudaHostAlloc(&pointer, bytes, flags_of(kind));
  if (refused == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(refused, "cudaHostAlloc", look_for_failed_work);
  // The memory spaces need the same address on host and device. CUDA promises that, except for
  // write-combined memory; Linux on x86 and Arm keeps it there too.
  void* on_device            = nullptr;
  cudaError_t const unmapped = cudaHostGetDevicePointer(&on_device, pointer, 0);
  if (unmapped == cudaSuccess && on_device == pointer) return pointer;
  succeeded(unmapped);
  std::string const why =
      "write-combined or mapped memory cannot be used (its address on the device differs): use "
      "PinnedSpace here";
  if (!succeeded(cudaFreeHost(pointer))) throw still_locked(why);
  throw DeviceError(why, unmapped == cudaSuccess ? cudaErrorNotSupported : unmapped);
}

bool free_pinned(void* pointer) noexcept {
  Runtime* const r = runtime_with_handles();
  if (r == nullptr) return false;
  ContextInUse const context(*r);
  CaptureTolerance const tolerance(*r);
  return succeeded(cudaFreeHost(pointer));
}

void* allocate_on_device(int device, std::size_t bytes) {
  Runtime& r = require_runtime();
  ContextOfDevice const context(r, device);
  CaptureTolerance const tolerance(r);
  void* memory            = nullptr;
  cudaError_t const error = cudaMalloc(&memory, bytes);
  if (error != cudaErrorMemoryAllocation) check(error, "cudaMalloc", look_for_failed_work);
  return succeeded(error) ? memory : nullptr;
}

void free_on_device(void* pointer) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr || pointer == nullptr) return;
  ContextInUse const context(*r);
  CaptureTolerance const tolerance(*r);
  succeeded(cudaFree(pointer));
}

// Asks the driver, because the runtime does not tell where an allocation begins and ends.
Extent extent_of(void const* pointer) noexcept {
  Runtime* const r = runtime();
  if (r == nullptr) return {};
  ContextInUse const context(*r);
  auto const address = reinterpret_cast<CUdeviceptr>(pointer);
  unsigned type = 0, is_managed = 0;
  int device        = -1;
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  std::array what   = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                       CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  std::array<void*, what.size()> to = {&type, &is_managed, &device, &begin, &bytes};
  if (r->pointer_attributes(what.size(), what.data(), to.data(), address) != CUDA_SUCCESS)
    return {};
  bool const on_device = type == CU_MEMORYTYPE_DEVICE || is_managed != 0;
  if (!on_device && type != CU_MEMORYTYPE_HOST) return {};
  // The attributes tell of a reserved range of addresses as a whole; several devices can have memory
  // there.
  if (on_device && r->address_range(&begin, &bytes, address) != CUDA_SUCCESS)
    return {.device = device};
  auto const* const first = reinterpret_cast<char const*>(begin);
  return {on_device ? device : -1, first, first + bytes};
}

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
