// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// As Copies.cpp, on the fake runtime and on a real one: what is page-locked tells the driver.

#include "../../support/ChildOfFork.hpp"
#include "../../support/DeviceWork.hpp"
#include "Program.hpp"

#include <memory>
#include <new>
#include <string>
#include <thread>

#include <cuda.h>
#include <dlfcn.h>

using namespace Program;

namespace {

constexpr std::size_t bytes = 8 * MiB;

bool is_locked(void const* pointer) {
  auto* const ask =
      DeviceWork::driver_function<decltype(cuPointerGetAttributes)>("cuPointerGetAttributes");
  unsigned type       = 0;
  void* to            = &type;
  auto what           = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  CUresult const told = ask(1, &what, &to, reinterpret_cast<CUdeviceptr>(pointer));
  return told == CUDA_SUCCESS && type == CU_MEMORYTYPE_HOST;
}

void copy(void* dst, void const* src, cudaStream_t stream) {
  REQUIRE(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, stream) == cudaSuccess);
}

void kept_memory_is_locked() {
  OnDevice const device(bytes);
  View view(bytes);
  for (char tag = 1; tag < 6; ++tag) {
    view.fill(tag);
    to_device(device, view);
    view.fill(0);
    to_host(view, device);
    REQUIRE(view.holds(tag));
  }
  REQUIRE(is_locked(view.data()) && is_locked(view.data() + bytes - 1));
  REQUIRE(type_of(view.data()) == cudaMemoryTypeUnregistered);
  REQUIRE(cudaHostUnregister(view.data()) == cudaErrorHostMemoryNotRegistered);
  REQUIRE(cudaGetLastError() == cudaErrorHostMemoryNotRegistered);
  REQUIRE(cudaFreeHost(view.data()) != cudaSuccess && cudaGetLastError() != cudaSuccess);
  REQUIRE(cudaHostRegister(view.data(), bytes, cudaHostRegisterDefault) == cudaSuccess);
  REQUIRE(type_of(view.data()) == cudaMemoryTypeHost);
  REQUIRE(cudaHostUnregister(view.data()) == cudaSuccess);
  REQUIRE(is_locked(view.data()));
}

// Beside work that does not end before it has: nothing waits for the device.
void memory_of_each_step_is_locked() {
  OnDevice const device(bytes);
  DeviceWork::Stream own, other;
  DeviceWork::Gate gate;
  View source(bytes);
  source.fill(9);
  to_device(device, source);
  other.run(gate.hold());
  char* memory = nullptr;
  for (int step = 0; step < 10; ++step) {
    View view(bytes);
    copy(view.data(), device.data(), own.get());
    REQUIRE(view.holds(9));
    REQUIRE(step < 2 || (view.data() == memory && is_locked(memory)));
    memory = view.data();
  }
}

void a_strict_copy_is_over_when_it_returns() {
  OnDevice const device(bytes);
  View view(bytes), source(bytes);
  source.fill(4);
  to_device(device, source);
  for (int i = 0; i < 2; ++i) to_host(view, device);
  REQUIRE(is_locked(view.data()));
  for (int i = 0; i < 3; ++i) {
    view.fill(0);
    DeviceWork::Stream stream;
    DeviceWork::Gate gate;
    stream.run(gate.hold());
    std::thread opener([&] { gate.open(); });
    copy(view.data(), device.data(), stream.get());
    REQUIRE(view.holds(4));
    opener.join();
  }
}

// The stream waits for the host, as where a kernel waits for a flag.
void a_small_copy_to_the_device_takes_its_source() {
  OnDevice const device(bytes);
  View view(bytes), back(bytes);
  for (int i = 0; i < 2; ++i) to_device(device, view);
  REQUIRE(is_locked(view.data()));
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  std::memset(view.data(), 1, 4096);
  stream.run(gate.hold());
  REQUIRE(cudaMemcpyAsync(device.data(), view.data(), 4096, cudaMemcpyDefault, stream.get()) ==
          cudaSuccess);
  std::memset(view.data(), 2, 4096);
  gate.open();
  stream.wait();
  to_host(back, device);
  REQUIRE(back.data()[0] == 1 && back.data()[4095] == 1);
}

void a_relaxed_copy_is_not_waited_for() {
  OnDevice const device(bytes);
  auto view = std::make_unique<View>(bytes);
  for (int i = 0; i < 2; ++i) to_host(*view, device);
  char* const memory = view->data();
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  copy(memory, device.data(), stream.get());
  view.reset();
  {
    View const early(bytes);
    REQUIRE(early.data() != memory);
  }
  gate.open();
  stream.wait();
  View const first(bytes), second(bytes), third(bytes);
  REQUIRE(first.data() == memory || second.data() == memory || third.data() == memory);
}

void a_captured_copy_is_replayed() {
  OnDevice const device(bytes);
  View view(bytes), source(bytes);
  for (int i = 0; i < 2; ++i) to_host(view, device);
  DeviceWork::Stream stream;
  stream.begin_capture();
  copy(view.data(), device.data(), stream.get());
  cudaGraph_t const graph = stream.end_capture_with_graph();
  REQUIRE(graph != nullptr);
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  source.fill(6);
  to_device(device, source);
  REQUIRE(cudaGraphLaunch(executable, stream.get()) == cudaSuccess);
  stream.wait();
  REQUIRE(view.holds(6));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

void the_device_keeps_the_parent_s_pages() {
  OnDevice const device(bytes);
  View view(bytes);
  view.fill(1);
  for (int i = 0; i < 2; ++i) to_device(device, view);
  REQUIRE(is_locked(view.data()));
  int go[2];
  REQUIRE(pipe(go) == 0);
  pid_t const child = fork();
  if (child == 0) {
    char byte      = 0;
    bool const may = read(go[0], &byte, 1) == 1;  // after the parent has written
    std::_Exit(may && view.holds(1) ? 0 : 1);
  }
  view.fill(2);
  REQUIRE(write(go[1], "x", 1) == 1);
  to_device(device, view);
  view.fill(0);
  to_host(view, device);
  REQUIRE(view.holds(2));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void memory_of_cuda_host_alloc_is_reused() {
  void *first = nullptr, *second = nullptr, *on_device = nullptr;
  REQUIRE(cudaHostAlloc(&first, bytes, cudaHostAllocDefault) == cudaSuccess);
  std::memset(first, 3, bytes);
  REQUIRE(is_locked(first) && type_of(first) == cudaMemoryTypeHost);
  REQUIRE(cudaHostGetDevicePointer(&on_device, first, 0) == cudaSuccess && on_device == first);
  REQUIRE(cudaFreeHost(first) == cudaSuccess);
  REQUIRE(cudaHostAlloc(&second, bytes, cudaHostAllocDefault) == cudaSuccess);
  REQUIRE(second == first);
  REQUIRE(cudaFreeHost(second) == cudaSuccess);
}

constexpr Case cases[] = {CASE(kept_memory_is_locked),
                          CASE(memory_of_each_step_is_locked),
                          CASE(a_strict_copy_is_over_when_it_returns),
                          CASE(a_small_copy_to_the_device_takes_its_source),
                          CASE(a_relaxed_copy_is_not_waited_for),
                          CASE(a_captured_copy_is_replayed),
                          CASE(the_device_keeps_the_parent_s_pages),
                          CASE(memory_of_cuda_host_alloc_is_reused)};

}  // namespace

// Some compilers link libstdc++ into each program, and nothing can be adopted.
bool has_operators_of_its_own() {
  void* (*const volatile anew)(std::size_t, std::align_val_t, std::nothrow_t const&) =
      &operator new;
  Dl_info of_new = {}, of_this = {};
  return dladdr(reinterpret_cast<void*>(anew), &of_new) != 0 &&
         dladdr(reinterpret_cast<void*>(&is_locked), &of_this) != 0 &&
         of_new.dli_fbase == of_this.dli_fbase;
}

int main(int argc, char** argv) {
  if (has_operators_of_its_own()) {
    std::puts("skipped: libstdc++ is linked into this program");
    return 4;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no GPU");
    return 4;
  }
  return run_case(argc, argv, cases);
}
