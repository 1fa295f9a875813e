// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the CUDA runtime says and does of page-locked memory: for memory that this library has locked it
// answers as if that were pageable, unless the program locks it, too. Errors come from the runtime, which
// is asked for an address that it does not know.

#include "../Adoption.hpp"
#include "../Next.hpp"
#include "../Settings.hpp"

#include <driver_types.h>

using namespace KokkosHostSpaces::Impl::Backend::Adopt;  // NOLINT

#define KHS_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

alignas(4096) char unknown_memory[4096];

void synchronize() noexcept {
  static int (*next)() = nullptr;
  if (settings().strict) call_next(next, "cudaDeviceSynchronize");
}

}  // namespace

KHS_EXPORT int cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  static int (*next)(void**, std::size_t, unsigned) = nullptr;
  bool const is_plain = (flags & ~unsigned(cudaHostAllocPortable | cudaHostAllocMapped)) == 0;
  void* const memory =
      pointer != nullptr && is_plain ? Adoption::instance().take_pinned(bytes) : nullptr;
  if (memory == nullptr) return call_next(next, "cudaHostAlloc", pointer, bytes, flags);
  *pointer = memory;
  return 0;
}

KHS_EXPORT int cudaFreeHost(void* pointer) {
  static int (*next)(void*) = nullptr;
  return Adoption::instance().give_pinned(pointer) ? 0 : call_next(next, "cudaFreeHost", pointer);
}

KHS_EXPORT int cudaDeviceReset() {
  static int (*next)() = nullptr;
  int const error      = call_next(next, "cudaDeviceReset");
  Adoption::instance().forget_locks();
  return error;
}

KHS_EXPORT int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  static int (*next)(void*, std::size_t, unsigned) = nullptr;
  using enum Adoption::Registration;
  auto const answer =
      Adoption::contains(pointer) ? Adoption::instance().register_range(pointer, bytes) : forward;
  if (answer == done) return 0;
  int const error = call_next(next, "cudaHostRegister", pointer, bytes, flags);
  if (error == 0 && Adoption::contains(pointer))
    Adoption::instance().note_registration(pointer, bytes);
  return error;
}

KHS_EXPORT int cudaHostUnregister(void* pointer) {
  static int (*next)(void*) = nullptr;
  using enum Adoption::Registration;
  auto const answer =
      Adoption::contains(pointer) ? Adoption::instance().unregister_range(pointer) : forward;
  if (answer == done) synchronize();
  if (answer == done) return 0;
  return call_next(next, "cudaHostUnregister", answer == refuse ? unknown_memory : pointer);
}

KHS_EXPORT int cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  static int (*next)(void**, void*, unsigned) = nullptr;
  bool const secret = Adoption::contains(host) && Adoption::instance().is_secret(host);
  return call_next(next, "cudaHostGetDevicePointer", device, secret ? unknown_memory : host, flags);
}

KHS_EXPORT int cudaHostGetFlags(unsigned* flags, void* host) {
  static int (*next)(unsigned*, void*) = nullptr;
  bool const secret = Adoption::contains(host) && Adoption::instance().is_secret(host);
  return call_next(next, "cudaHostGetFlags", flags, secret ? unknown_memory : host);
}

KHS_EXPORT int cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* pointer) {
  static int (*next)(cudaPointerAttributes*, void const*) = nullptr;
  bool const secret       = Adoption::contains(pointer) && Adoption::instance().is_secret(pointer);
  void const* const asked = secret ? unknown_memory : pointer;
  int const error         = call_next(next, "cudaPointerGetAttributes", attributes, asked);
  if (secret && error == 0) {
    // Where kernels reach pageable memory, the runtime tells its address.
    for (void** address : {&attributes->devicePointer, &attributes->hostPointer})
      if (*address == unknown_memory) *address = const_cast<void*>(pointer);
  }
  return error;
}
