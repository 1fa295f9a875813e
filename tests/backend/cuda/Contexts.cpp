// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A context on a GPU that a process does not use costs each rank of a job half a gigabyte of it.

#include "../../../backend/cuda/Runtime.hpp"
#include "../../support/DeviceWork.hpp"
#include "../BackendTest.hpp"

#include <stdexcept>

#include <cuda_runtime_api.h>

namespace {

struct Memory {
  std::vector<char> from = std::vector<char>(100), to = std::vector<char>(100);
  Driver::Box const box = {10, 5, 1, 20, 100, 20, 100};
};

// What a thread may be the first to ask of the driver.
std::vector<std::pair<std::string, std::function<void()>>> requests(Memory& memory) {
  return {
      {"extent_of", [&] { Driver::extent_of(memory.to.data()); }},
      {"device_of", [&] { Driver::device_of(memory.to.data()); }},
      {"register",
       [&] {
         register_range(memory.to.data(), 8, "my data");
         CHECK(unregister_range(memory.to.data()).empty());
       }},
      {"lock and give back", [] { give_back(lock_fresh(1)); }},
      {"the same, of the driver", [] { give_back(lock_fresh(1, MemoryKind::write_combined)); }},
      {"a stream of any device", [] { Driver::private_stream(); }},
      {"a stream of a device in use", [] { Driver::private_stream(1); }},
      {"copies",
       [&] {
         Driver::Stream const stream = Driver::private_stream(1);
         Driver::copy(memory.to.data(), memory.from.data(), 100, stream);
         Driver::copy(memory.to.data(), memory.from.data(), memory.box, stream);
         Driver::fence(stream);
       }},
      {"a fence", [] { Driver::fence(Driver::private_stream(1)); }},
      {"streams that are made and given back",
       [] { Driver::release_stream(Driver::make_stream(1)); }},
      {"memory of a device", [] { Driver::free_on_device(Driver::allocate_on_device(1, 100)); }},
      {"a question about captures", [] { Driver::is_capturing(nullptr); }},
      {"events",
       [] {
         Driver::Event event         = nullptr;
         Driver::Stream const stream = Driver::private_stream(1);
         Driver::record(event, stream, 1);
         Driver::make_wait(stream, event, 1);
         CHECK(Driver::wait(event));
         Driver::release_event(event);
       }},
      {"a call behind a stream",
       [] {
         Driver::Stream const stream = Driver::private_stream(1);
         Driver::enqueue_host_function(
             stream, [](void*) {}, nullptr);
         Driver::fence(stream);
       }},
  };
}

bool has_context(int device) {
  Driver::Devices devices{};
  auto const* const end = devices.begin() + Driver::devices_in_use(devices);
  return std::find(devices.cbegin(), end, device) != end;
}

bool has_current_context() {
  Driver::Runtime* const runtime = Driver::runtime();
  CUcontext context              = nullptr;
  REQUIRE(runtime != nullptr);
  REQUIRE(runtime->current_context(&context) == CUDA_SUCCESS);
  return context != nullptr;
}

// A context of its own, as OptiX or PyCUDA make one; current in this thread.
class ContextOfOthers {
 public:
  explicit ContextOfOthers(CUdevice device) {
    auto const make = driver_function<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate");
    REQUIRE(make(&m_context, 0, device) == CUDA_SUCCESS);
  }
  ~ContextOfOthers() { driver_function<CUresult (*)(CUcontext)>("cuCtxDestroy")(m_context); }
  ContextOfOthers(ContextOfOthers const&)            = delete;
  ContextOfOthers& operator=(ContextOfOthers const&) = delete;

  bool is_current() const {
    CUcontext context = nullptr;
    REQUIRE(Driver::runtime()->current_context(&context) == CUDA_SUCCESS);
    return context == m_context;
  }

 private:
  template <class Function>
  static Function driver_function(char const* name) {
    void* function                         = nullptr;
    cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    cudaGetDriverEntryPointByVersion(name, &function, 4000, cudaEnableDefault, &status);
#else
    cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &status);
#endif
    if (status != cudaDriverEntryPointSuccess) throw std::runtime_error(name);
    return reinterpret_cast<Function>(function);
  }

  CUcontext m_context = nullptr;
};

int current_device() {
  int device = -1;
  DeviceWork::require(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

}  // namespace

TEST_CASE("nothing makes a context on a device that is not used, or leaves one in a thread") {
  Memory memory;
  for (auto const& [name, request] : requests(memory)) {
    for (bool const own_in_use : {false, true}) {
      CAPTURE(name, own_in_use);
      start_test(2, false);
      if (own_in_use) DeviceWork::use(0);
      DeviceWork::use(1);
      std::thread([request = request] {
        request();
        CHECK_FALSE(has_current_context());
        CHECK(current_device() == 0);
        DeviceWork::use(1);
        request();
        CHECK(current_device() == 1);
      }).join();
      CHECK(has_context(0) == own_in_use);
      CHECK(has_context(1));
    }
  }
}

TEST_CASE("a thread without a device may free what others made") {
  start_test(2, false);
  DeviceWork::use(1);
  std::vector<char> memory(100);
  register_range(memory.data(), 100, "my data");
  Region const locked   = lock_fresh(1);
  Region const combined = lock_fresh(1, MemoryKind::write_combined);
  std::thread([&] {
    CHECK(unregister_range(memory.data()).empty());
    CHECK((give_back(locked) && give_back(combined)));
  }).join();
  CHECK_FALSE(has_context(0));
}

TEST_CASE("the calling thread keeps its device, and the first use of another makes only that") {
  start_test(3, false);
  DeviceWork::use(1);
  Driver::Stream const stream = Driver::private_stream(2);
  CHECK(stream != nullptr);
  CHECK(Driver::private_stream(2) == stream);
  CHECK(current_device() == 1);
  CHECK_FALSE(has_context(0));
}

TEST_CASE("there is no stream of a device that does not exist") {
  start_test(2, false);
  for (int const device : {Driver::device_count(), 63, 64, 1000}) {
    CAPTURE(device);
    CHECK_THROWS_AS(Driver::private_stream(device), DeviceError);
  }
}

TEST_CASE("memory that is page-locked while a context of others is current outlives that context") {
  start_test(1);
  std::vector<char> mine(100);
  Region locked, combined;
  {
    ContextOfOthers const other(0);
    locked   = lock_fresh(1);
    combined = lock_fresh(1, MemoryKind::write_combined);
    register_range(mine.data(), mine.size(), "mine");
    CHECK(other.is_current());
  }
  for (void* const pointer : {locked.pointer, combined.pointer, static_cast<void*>(mine.data())})
    CHECK(is_locked(pointer));
  *static_cast<char volatile*>(combined.pointer) = 1;
  CHECK((give_back(locked) && give_back(combined)));
  CHECK(unregister_range(mine.data()).empty());
}

TEST_CASE("memory is used and given back while a context of others is current") {
  start_test(1);
  std::vector<char> mine(100);
  Region const locked   = lock_fresh(1);
  Region const combined = lock_fresh(1, MemoryKind::write_combined);
  register_range(mine.data(), mine.size(), "mine");
  ContextOfOthers const other(0);
  CHECK(is_locked(locked.pointer));
  Driver::Stream const stream = Driver::private_stream();
  Driver::copy(locked.pointer, mine.data(), mine.size(), stream);
  Driver::fence(stream);
  CHECK((give_back(locked) && give_back(combined)));
  CHECK(unregister_range(mine.data()).empty());
  CHECK(other.is_current());
}
