// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A program that makes Views and copies them, as one case of those below, whose name it is given. It knows
// nothing of the library that is preloaded; what that does shows in the fake runtime.

#include "../../support/ChildOfFork.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "Program.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace Program;

void call_before_next(std::function<void()> function);  // of the fake runtime
int copy_with_attributes(void* dst, void const* src, std::size_t bytes, void*,
                         cudaStream_t stream) asm("cudaMemcpyWithAttributesAsync");
#ifdef KOKKOS_HOST_SPACES_CUDA_12
int batch_of_cuda_12(void** dsts, void** srcs, std::size_t* bytes, std::size_t count, void*,
                     std::size_t*, std::size_t, std::size_t* failure,
                     cudaStream_t stream) asm("cudaMemcpyBatchAsync");
#endif

namespace {

// The page of the self-test of forks stays locked.
std::size_t locked() {
  std::size_t const all = FakeCuda::outstanding().registrations;
  return all == 0 ? 0 : all - 1;
}
std::size_t unlocked() { return FakeCuda::calls("cudaHostUnregister"); }

// The host waits for a copy behind work that ends when the host waits, or when it does not.
template <class Copy>
bool waits_in(Copy copy) {
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  std::size_t const before = FakeCuda::calls("cudaStreamSynchronize");
  std::atomic<bool> returned{false}, waited{false};
  std::thread opener([&] {
    while (!returned && FakeCuda::calls("cudaStreamSynchronize") == before)
      std::this_thread::yield();
    waited = !returned;
    gate.open();
  });
  copy(stream.get());
  returned = true;
  opener.join();
  cudaStreamSynchronize(stream.get());
  return waited;
}

// As a batch, where there are batches.
void batch(View const& view, OnDevice const& device, cudaStream_t stream) {
  void *dst = view.data(), *src = device.data();
  std::size_t bytes = view.bytes(), index = 0;
#ifdef KOKKOS_HOST_SPACES_CUDA_12
  std::size_t failure = 0;
  batch_of_cuda_12(&dst, &src, &bytes, 1, nullptr, &index, 1, &failure, stream);
#elif CUDART_VERSION >= 13000
  void const* const from          = src;
  cudaMemcpyAttributes attributes = {};
  cudaMemcpyBatchAsync(&dst, &from, &bytes, 1, &attributes, &index, 1, stream);
#else
  static_cast<void>(index);
  cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, stream);
#endif
}

void locks_at_the_second_copy() {
  OnDevice device(MiB);
  View view(MiB);
  view.fill(3);
  to_device(device, view);
  REQUIRE(locked() == 0);
  view.fill(0);
  to_host(view, device);
  REQUIRE(locked() == 1);
  REQUIRE(view.holds(3));
  View other(MiB);  // of the same size, and kept as well
  to_host(other, device);
  REQUIRE(locked() == 1);
  to_host(other, device);
  REQUIRE(locked() == 2);
  View never(MiB);
  never.fill(1);
  View half(MiB / 2);
  std::memcpy(half.data(), view.data(), MiB / 2);
  REQUIRE(cudaMemcpy(half.data(), view.data(), MiB / 2, cudaMemcpyDefault) == cudaSuccess);
  REQUIRE(cudaMemcpy(half.data(), view.data(), MiB / 2, cudaMemcpyHostToHost) == cudaSuccess);
  REQUIRE(locked() == 2);
}

void strict_waits_for_its_own_stream() {
  OnDevice device(MiB);
  View view(MiB), source(MiB);
  source.fill(5);
  to_device(device, source);
  to_host(view, device);
  to_host(view, device);
  REQUIRE(locked() == 1);
  DeviceWork::Stream other;
  DeviceWork::Gate other_gate;
  other.run(other_gate.hold());  // never waited for
  view.fill(0);
  REQUIRE(waits_in([&](cudaStream_t stream) {
    cudaMemcpyAsync(view.data(), device.data(), MiB, cudaMemcpyDefault, stream);
    REQUIRE(view.holds(5));
  }));
  REQUIRE(waits_in([&](cudaStream_t stream) {
    cudaMemcpy2DAsync(view.data(), 1024, device.data(), 1024, 1024, 1024, cudaMemcpyDeviceToHost,
                      stream);
  }));
  REQUIRE(waits_in([&](cudaStream_t stream) {
    cudaMemcpy3DParms p = {};
    p.dstPtr            = {view.data(), 1024, 1024, 1024};
    p.srcPtr            = {device.data(), 1024, 1024, 1024};
    p.extent            = {1024, 1024, 1};
    p.kind              = cudaMemcpyDefault;
    cudaMemcpy3DAsync(&p, stream);
  }));
  REQUIRE(waits_in([&](cudaStream_t stream) {
    cudaMemcpyToSymbolAsync(device.data(), view.data(), MiB, 0, cudaMemcpyHostToDevice, stream);
  }));
  REQUIRE(waits_in([&](cudaStream_t stream) {
    cudaMemcpyFromSymbolAsync(view.data(), device.data(), 64, 0, cudaMemcpyDeviceToHost, stream);
  }));
  REQUIRE(waits_in([&](cudaStream_t stream) { batch(view, device, stream); }));
  REQUIRE(waits_in([&](cudaStream_t stream) {
    copy_with_attributes(view.data(), device.data(), MiB, nullptr, stream);
  }));
  REQUIRE(cudaMemcpy3D(nullptr) == cudaErrorInvalidValue);
}

// A thread locks the memory after another has found it pageable, and before that one copies it.
template <class Copy>
void waits_beside_the_thread_that_locks(View const& view, OnDevice const& device, Copy copy) {
  DeviceWork::Stream stream, other;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  std::atomic<std::size_t> waits{~std::size_t(0)};
  std::size_t const before = locked();
  call_before_next([&] {
    std::thread([&] {
      for (int i = 0; i < 2; ++i)
        cudaMemcpyAsync(view.data(), device.data(), MiB, cudaMemcpyDefault, other.get());
    }).join();
    REQUIRE(locked() == before + 1);
    waits = FakeCuda::calls("cudaStreamSynchronize");
  });
  std::atomic<bool> returned{false}, waited{false};
  std::thread opener([&] {
    while (!returned && FakeCuda::calls("cudaStreamSynchronize") <= waits)
      std::this_thread::yield();
    waited = !returned;
    gate.open();
  });
  copy(stream.get());
  returned = true;
  opener.join();
  REQUIRE(waited);
  stream.wait();
}

void a_copy_beside_the_thread_that_locks() {
  OnDevice device(MiB);
  View first(MiB), second(MiB);
  if (CUDART_VERSION >= 13000)  // before anything is locked
    waits_beside_the_thread_that_locks(first, device,
                                       [&](auto stream) { batch(first, device, stream); });
  waits_beside_the_thread_that_locks(second, device, [&](auto stream) {
    cudaMemcpyFromSymbolAsync(second.data(), device.data(), MiB, 0, cudaMemcpyDeviceToHost, stream);
  });
}

// Other threads see the registration before the runtime returns from it.
void nothing_shows_that_a_thread_locks() {
  OnDevice device(MiB);
  View before(MiB), view(MiB);
  for (View* side : {&before, &view, &before}) to_host(*side, device);
  REQUIRE(locked() == 1);
  FakeCuda::registering_takes(std::chrono::hours(1));
  std::thread locking([&] { to_host(view, device); });
  while (locked() == 1) std::this_thread::yield();
  REQUIRE(type_of(view.data()) == cudaMemoryTypeUnregistered);
  REQUIRE(waits_in([&](cudaStream_t stream) {
    cudaMemcpyAsync(view.data(), device.data(), MiB, cudaMemcpyDefault, stream);
  }));
  std::thread opener([calls = FakeCuda::calls("cudaHostRegister")] {
    for (int i = 0; i < 1000 && FakeCuda::calls("cudaHostRegister") == calls; ++i)
      std::this_thread::yield();
    FakeCuda::registering_takes({});
  });
  REQUIRE(cudaHostRegister(view.data(), MiB, 0) == cudaSuccess);
  opener.join();
  locking.join();
  REQUIRE(locked() == 2 && type_of(view.data()) == cudaMemoryTypeHost);
  REQUIRE(cudaHostUnregister(view.data()) == cudaSuccess);
  REQUIRE(type_of(view.data()) == cudaMemoryTypeUnregistered);
  // A thread locks the memory after another was told that it is pageable, and before that one asks the runtime.
  View asked(MiB);
  to_host(asked, device);
  call_before_next([&] { std::thread([&] { to_host(asked, device); }).join(); });
  unsigned flags = 0;
  REQUIRE(cudaHostGetFlags(&flags, asked.data()) == cudaErrorInvalidValue && locked() == 3);
  // A thread tries to lock memory of which the program has a part locked.
  View partly(MiB);
  auto const copy_rest = [&] {
    return cudaMemcpy(partly.data() + 4096, device.data(), 4096, cudaMemcpyDefault);
  };
  REQUIRE(cudaHostRegister(partly.data(), 4096, 0) == cudaSuccess);
  REQUIRE(copy_rest() == cudaSuccess);
  std::size_t const calls = FakeCuda::calls("cudaHostRegister");
  FakeCuda::registering_takes(std::chrono::hours(1));
  std::thread trying(copy_rest);
  while (FakeCuda::calls("cudaHostRegister") == calls) std::this_thread::yield();
  REQUIRE(type_of(partly.data()) == cudaMemoryTypeHost);
  FakeCuda::registering_takes({});
  trying.join();
  REQUIRE(cudaHostUnregister(partly.data()) == cudaSuccess);
  REQUIRE(type_of(partly.data()) == cudaMemoryTypeUnregistered);
}

// A stream that is held stands for a copy to the device; its threads may read what is watched.
void check_tells_of_races() {
  OnDevice device(MiB);
  View view(MiB);
  to_device(device, view);
  to_device(device, view);
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  cudaMemcpyAsync(device.data(), view.data(), MiB, cudaMemcpyDefault, stream.get());
  view.data()[5] = 'x';
  gate.open();
  stream.wait();
  view.data()[6] = 'x';
}

// Neither its own copies break it, nor those of another stream, which wait.
void a_capture_is_left_alone() {
  OnDevice device(MiB);
  View view(MiB), fresh(MiB);
  to_host(view, device);
  to_host(view, device);
  DeviceWork::Stream stream, other;
  stream.begin_capture();
  for (View* side : {&view, &fresh})
    REQUIRE(cudaMemcpyAsync(side->data(), device.data(), MiB, cudaMemcpyDefault, stream.get()) ==
            cudaSuccess);
  REQUIRE(cudaMemcpyAsync(view.data(), device.data(), MiB, cudaMemcpyDefault, other.get()) ==
          cudaSuccess);
  REQUIRE(stream.end_capture());
  REQUIRE(locked() == 1);
}

void pinned_memory_comes_from_the_pool() {
  void* first = nullptr;
  REQUIRE(cudaHostAlloc(&first, 8 * MiB, cudaHostAllocDefault) == cudaSuccess);
  REQUIRE(FakeCuda::outstanding().pinned_allocations == 0);
  OnDevice device(8 * MiB);
  REQUIRE(!waits_in([&](cudaStream_t stream) {  // as stock: it is page-locked
    cudaMemcpyAsync(first, device.data(), 8 * MiB, cudaMemcpyDefault, stream);
  }));
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  std::atomic<bool> freed{false};
  std::thread opener([&] {
    for (int i = 0; i < 1000 && !freed; ++i) std::this_thread::yield();
    REQUIRE(!freed);
    gate.open();
  });
  REQUIRE(cudaFreeHost(first) == cudaSuccess);  // waits for the device
  freed = true;
  opener.join();
  void* second = nullptr;
  REQUIRE(cudaHostAlloc(&second, 8 * MiB, cudaHostAllocMapped) == cudaSuccess);
  REQUIRE(second == first);
  REQUIRE(cudaFreeHost(second) == cudaSuccess);
  REQUIRE(unlocked() == 0);
  View view(MiB);
  REQUIRE(cudaFreeHost(view.data()) != cudaSuccess);
  REQUIRE(cudaFreeHost(nullptr) == cudaSuccess);
}

void the_runtime_answers_as_stock() {
  OnDevice device(MiB);
  View view(MiB), other(MiB);
  to_host(view, device);
  to_host(view, device);
  REQUIRE(locked() == 1);
  REQUIRE(type_of(view.data()) == cudaMemoryTypeUnregistered);
  REQUIRE(cudaHostUnregister(view.data()) == cudaErrorHostMemoryNotRegistered);
  REQUIRE(cudaGetLastError() == cudaErrorHostMemoryNotRegistered);
  REQUIRE(cudaHostRegister(view.data(), 0, 0) == cudaErrorInvalidValue);
  REQUIRE(cudaHostRegister(view.data(), MiB, 1u << 8) == cudaErrorInvalidValue);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
  REQUIRE(cudaHostRegister(view.data(), MiB, 0) == cudaSuccess);
  REQUIRE(type_of(view.data()) == cudaMemoryTypeHost);
  REQUIRE(cudaHostRegister(view.data(), MiB, 0) == cudaErrorHostMemoryAlreadyRegistered);
  REQUIRE(!waits_in([&](cudaStream_t stream) {  // the program has locked it
    cudaMemcpyAsync(view.data(), device.data(), MiB, cudaMemcpyDefault, stream);
  }));
  REQUIRE(cudaHostUnregister(view.data()) == cudaSuccess);
  REQUIRE(type_of(view.data()) == cudaMemoryTypeUnregistered);
  // Parts of it.
  REQUIRE(cudaHostRegister(view.data(), 4096, 0) == cudaSuccess);
  REQUIRE(cudaHostRegister(view.data() + MiB / 2, 4096, 0) == cudaSuccess);
  REQUIRE(cudaHostRegister(view.data() + 1000, 4096, 0) == cudaErrorHostMemoryAlreadyRegistered);
  REQUIRE(type_of(view.data() + MiB / 2) == cudaMemoryTypeHost);
  REQUIRE(type_of(view.data() + 8192) == cudaMemoryTypeUnregistered);
  REQUIRE(waits_in([&](cudaStream_t stream) {
    cudaMemcpyAsync(view.data() + 8192, device.data(), 4096, cudaMemcpyDefault, stream);
  }));
  REQUIRE(cudaHostUnregister(view.data()) == cudaSuccess);
  REQUIRE(cudaHostUnregister(view.data() + MiB / 2) == cudaSuccess);
  REQUIRE(cudaHostUnregister(view.data() + MiB / 2) == cudaErrorHostMemoryNotRegistered);
  // What the program locks first is left alone.
  REQUIRE(cudaHostRegister(other.data(), MiB, 0) == cudaSuccess);
  to_host(other, device);
  to_host(other, device);
  REQUIRE(cudaHostUnregister(other.data()) == cudaSuccess);
  REQUIRE(type_of(other.data()) == cudaMemoryTypeUnregistered);
}

void forked_children_have_a_copy() {
  OnDevice device(MiB);
  auto view = std::make_unique<View>(MiB);
  View pageable(MiB);
  pageable.fill(7);
  view->fill(6);
  to_device(device, *view);
  to_host(*view, device);
  REQUIRE(locked() == 1);
  REQUIRE(ChildOfFork::status([&] {
            REQUIRE(view->holds(6) && pageable.holds(7));
            view.reset();
            for (int i = 0; i < 10; ++i) View(MiB).fill(1);
            return 0;
          }) == 0);
  to_host(*view, device);
  REQUIRE(view->holds(6) && locked() == 1);
}

void forked_children_lack_what_is_skipped() {
  OnDevice device(MiB);
  auto view = std::make_unique<View>(MiB);
  to_host(*view, device);
  to_host(*view, device);
  REQUIRE(ChildOfFork::status([&] {
            unsigned char resident = 0;
            REQUIRE(mincore(view->data(), 4096, &resident) != 0);
            view.reset();
            for (int i = 0; i < 10; ++i) View(MiB).fill(1);
            return 0;
          }) == 0);
}

void the_limit_keeps_memory_pageable() {  // 4 MiB
  OnDevice device(3 * MiB);
  View first(3 * MiB), second(3 * MiB);
  for (View* view : {&first, &second, &first, &second}) to_host(*view, device);
  REQUIRE(locked() == 1);
}

void too_much_is_unlocked_on_an_idle_device() {
  OnDevice device(32 * MiB);
  for (std::size_t size = 8; size <= 32; size += 4) {
    View view(size * MiB);
    to_host(view, device);
    to_host(view, device);
  }
  REQUIRE(locked() <= 2);
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  std::size_t const before = unlocked();
  for (std::size_t size = 9; size <= 21; size += 4) {
    View view(size * MiB);
    for (int i = 0; i < 2; ++i)
      cudaMemcpy2DAsync(view.data(), 1, device.data(), 1, 1, 1, cudaMemcpyDefault, nullptr);
  }
  REQUIRE(unlocked() == before);  // it would wait for the work
}

void a_reset_device_ends_locking() {
  View kept(MiB);
  {
    OnDevice device(MiB);
    View freed(MiB);
    for (View* view : {&kept, &freed, &kept, &freed}) to_host(*view, device);
    REQUIRE(locked() == 2);
  }
  REQUIRE(cudaDeviceReset() == cudaSuccess);
  OnDevice device(MiB);
  View fresh(MiB);
  for (View* view : {&kept, &fresh, &kept, &fresh}) {
    view->fill(1);
    to_device(device, *view);
    to_host(*view, device);
    REQUIRE(view->holds(1));
  }
  REQUIRE(cudaHostUnregister(kept.data()) == cudaErrorHostMemoryNotRegistered);
  void* pinned = nullptr;
  REQUIRE(cudaHostAlloc(&pinned, MiB, cudaHostAllocDefault) == cudaSuccess);
  REQUIRE(FakeCuda::outstanding().pinned_allocations == 1);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
  REQUIRE(FakeCuda::outstanding().registrations == 0);
}

void a_refusal_leaves_it_pageable() {
  OnDevice device(MiB);
  View view(MiB);
  to_host(view, device);
  FakeCuda::fail_nth_call("cudaHostRegister", 2);
  FakeCuda::fail_nth_call("cudaMalloc", 1);
  void* memory             = nullptr;
  cudaError_t const failed = cudaMalloc(&memory, 1);
  to_host(view, device);  // does not clear it
  REQUIRE(failed != cudaSuccess && cudaGetLastError() == failed);
  for (int i = 0; i < 3; ++i) to_host(view, device);
  REQUIRE(locked() == 0);
  REQUIRE(cudaGetLastError() == cudaSuccess);
}

void a_static_runtime_ends_locking() {
  OnDevice device(MiB);
  {
    View before(MiB);
    to_host(before, device);
    to_host(before, device);
    REQUIRE(locked() == 1);
  }
  REQUIRE(dlopen(KOKKOS_HOST_SPACES_STATIC_RUNTIME, RTLD_NOW) != nullptr);
  View first(MiB), second(MiB);
  for (int i = 0; i < 3; ++i) {
    to_host(first, device);
    to_host(second, device);
  }
  REQUIRE(type_of(first.data()) == cudaMemoryTypeUnregistered);
  REQUIRE(locked() == 1 && FakeCuda::calls("cudaHostRegister") == 2);
}

void a_module_copies_by_its_own_runtime() {
  void* const module  = dlopen(KOKKOS_HOST_SPACES_MODULE, RTLD_NOW | RTLD_LOCAL);
  void* const runtime = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(module != nullptr && runtime != nullptr);
  auto* const copy =
      reinterpret_cast<int (*)(void*, void const*, std::size_t)>(dlsym(module, "module_copy"));
  auto* const copies = reinterpret_cast<std::size_t (*)()>(dlsym(runtime, "fake_runtime_copies"));
  View from(MiB), to(MiB);
  from.fill(4);
  std::size_t const here = FakeCuda::calls("cudaMemcpyAsync"), there = copies();
  REQUIRE(copy(to.data(), from.data(), MiB) == 0 && to.holds(4));
  REQUIRE(FakeCuda::calls("cudaMemcpyAsync") == here && copies() == there + 1);
}

void nothing_is_adopted() {
  OnDevice device(MiB);
  View view(MiB);
  for (int i = 0; i < 3; ++i) to_host(view, device);
  REQUIRE(FakeCuda::calls("cudaHostRegister") == 0);
}

constexpr Case cases[] = {CASE(locks_at_the_second_copy),
                          CASE(a_copy_beside_the_thread_that_locks),
                          CASE(nothing_shows_that_a_thread_locks),
                          CASE(strict_waits_for_its_own_stream),
                          CASE(check_tells_of_races),
                          CASE(a_capture_is_left_alone),
                          CASE(pinned_memory_comes_from_the_pool),
                          CASE(the_runtime_answers_as_stock),
                          CASE(forked_children_have_a_copy),
                          CASE(forked_children_lack_what_is_skipped),
                          CASE(the_limit_keeps_memory_pageable),
                          CASE(too_much_is_unlocked_on_an_idle_device),
                          CASE(a_reset_device_ends_locking),
                          CASE(a_refusal_leaves_it_pageable),
                          CASE(a_static_runtime_ends_locking),
                          CASE(a_module_copies_by_its_own_runtime),
                          CASE(nothing_is_adopted)};

}  // namespace

int main(int argc, char** argv) { return run_case(argc, argv, cases); }
