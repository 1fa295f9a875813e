// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the CUDA runtime says and does of page-locked memory: for memory that this library has locked it
// answers as if that were pageable, unless the program locks it, too. Errors come from the runtime, which
// is asked for an address that it does not know.

#include "../Adoption.hpp"
#include "../Next.hpp"

#include <driver_types.h>

using namespace KokkosHostSpaces::Impl::Backend::Adopt;  // NOLINT
using enum Adoption::Registration;

namespace {

alignas(4096) char unknown_memory[4096];

// Asks of memory, or of memory that the runtime does not know. Other threads may lock it meanwhile.
template <class Pointer, class Ask>
int as_stock(Pointer host, Ask ask) noexcept {
  auto const is_secret = [&] { return Adoption::instance().side_of(host).secret; };
  if (!is_secret()) {
    int const error = ask(host);
    if (!is_secret()) return error;
  }
  return ask(unknown_memory);
}

}  // namespace

KHS_EXPORT int cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  bool const is_plain = (flags & ~unsigned(cudaHostAllocPortable | cudaHostAllocMapped)) == 0;
  void* const memory =
      pointer != nullptr && is_plain ? Adoption::instance().take_pinned(bytes) : nullptr;
  if (memory == nullptr) return call_next<"cudaHostAlloc">(pointer, bytes, flags);
  *pointer = memory;
  return 0;
}

KHS_EXPORT int cudaFreeHost(void* pointer) {
  return Adoption::instance().give_pinned(pointer) ? 0 : call_next<"cudaFreeHost">(pointer);
}

KHS_EXPORT int cudaDeviceReset() {
  int const error = call_next<"cudaDeviceReset">();
  Adoption::instance().forget_locks();
  return error;
}

KHS_EXPORT int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  auto const held = Adoption::instance().keep_from_locking(pointer);
  constexpr unsigned known =
      cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
  bool const is_valid = bytes > 0 && (flags & ~known) == 0;
  auto const answer   = is_valid ? Adoption::instance().register_range(pointer, bytes) : refuse;
  if (answer == done) return 0;
  // What this library has locked, the runtime refuses to lock again.
  int const error = call_next<"cudaHostRegister">(pointer, bytes, flags);
  if (error != 0 && answer == forward) Adoption::instance().unregister_range(pointer);
  return error;
}

KHS_EXPORT int cudaHostUnregister(void* pointer) {
  auto const side = Adoption::instance().side_of(pointer);
  if (settings().strict && side.locked && !side.secret)  // copies of it are waited for here alone
    if (int const error = call_next<"cudaDeviceSynchronize">()) return error;
  auto const held   = Adoption::instance().keep_from_locking(pointer);
  auto const answer = Adoption::instance().unregister_range(pointer);
  if (answer == done) return 0;
  return call_next<"cudaHostUnregister">(answer == refuse ? unknown_memory : pointer);
}

KHS_EXPORT int cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  int const error = as_stock(host, [&](void* asked) {
    return call_next<"cudaHostGetDevicePointer">(device, asked, flags);
  });
  // Where kernels reach pageable memory, the runtime tells its address.
  if (error == 0 && *device == unknown_memory) *device = host;
  return error;
}

KHS_EXPORT int cudaHostGetFlags(unsigned* flags, void* host) {
  return as_stock(host, [&](void* asked) { return call_next<"cudaHostGetFlags">(flags, asked); });
}

KHS_EXPORT int cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* pointer) {
  int const error = as_stock(pointer, [&](void const* asked) {
    return call_next<"cudaPointerGetAttributes">(attributes, asked);
  });
  for (void** address : {&attributes->devicePointer, &attributes->hostPointer})
    if (error == 0 && *address == unknown_memory) *address = const_cast<void*>(pointer);
  return error;
}
