// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streamed loops on the streams of the fake CUDA runtime.

#ifndef KOKKOS_HOST_SPACES_TESTS_STREAM_JOBS_HPP
#define KOKKOS_HOST_SPACES_TESTS_STREAM_JOBS_HPP

#include "../FakeTest.hpp"
#include "StreamCases.hpp"

#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

namespace StreamCases {

using KokkosHostSpaces::Error;
using KokkosHostSpaces::Transport;

inline std::shared_ptr<char> allocate(int, std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) != cudaSuccess) {
    cudaGetLastError();
    throw Error("no device memory (the test said so): nothing to be done");
  }
  std::memset(memory, 0x55, bytes);
  return {static_cast<char*>(memory), [](char* pointer) { cudaFree(pointer); }};
}

/// Page-locks arrays, so that copies do not make the caller wait.
class Locked {
 public:
  explicit Locked(Case& of) {
    for (Array& array : of.arrays()) lock(array);
  }
  explicit Locked(Array& array) { lock(array); }
  ~Locked() {
    for (Array* const array : m_arrays)
      Backend::Driver::unlock_pages(array->data(), array->size() * sizeof(Number));
  }
  Locked(Locked const&)            = delete;
  Locked& operator=(Locked const&) = delete;

 private:
  void lock(Array& array) {
    Backend::Driver::lock_pages(array.data(), array.size() * sizeof(Number));
    m_arrays.push_back(&array);
  }

  std::vector<Array*> m_arrays;
};

using Streams = std::vector<DeviceWork::Stream*>;

/// A stream on each device; makes the first device current.
inline std::vector<std::unique_ptr<DeviceWork::Stream>> streams_on(int devices) {
  std::vector<std::unique_ptr<DeviceWork::Stream>> result(static_cast<std::size_t>(devices));
  for (int device = devices - 1; device >= 0; --device) {
    DeviceWork::require(cudaSetDevice(device), "cudaSetDevice");
    result[std::size_t(device)] = std::make_unique<DeviceWork::Stream>();
  }
  return result;
}

inline Streams pointers(std::vector<std::unique_ptr<DeviceWork::Stream>> const& streams) {
  Streams result;
  for (auto const& stream : streams) result.push_back(stream.get());
  return result;
}

inline StreamJob job_of(Case& random, Streams const& streams) {
  StreamJob job;
  job.label        = "test";
  job.binding      = bind_stream("test", random.loops);
  job.transport    = Transport::staged;
  job.options      = random.options;
  job.options.turn = 500;  // so that copies change their stream now and then
  for (std::size_t t = 0; t < streams.size(); ++t)
    job.targets.push_back({int(t), streams[t]->get()});
  job.save = [streams, saved = std::make_shared<std::vector<Array>>()](void const* from,
                                                                       std::size_t bytes) mutable {
    saved->emplace_back(bytes / sizeof(Number));
    char* const copy = reinterpret_cast<char*>(saved->back().data());
    streams[0]->run([=] { std::memcpy(copy, from, bytes); });
    return copy;
  };
  job.intermediate = [made = std::make_shared<std::map<int, Array>>()](int number,
                                                                       std::size_t bytes) {
    Array& array = (*made)[number];
    array.resize(bytes / sizeof(Number));
    return reinterpret_cast<char*>(array.data());
  };
  job.launch = [&random, streams](std::size_t target, StreamLaunch const& launch) {
    std::size_t const n = random.loops[std::size_t(launch.stage)].arguments.size();
    std::vector<char*> const first_rows(launch.first_rows, launch.first_rows + n);
    streams[target]->run([&random, launch, first_rows] { random.run(launch, first_rows); });
  };
  return job;
}

/// A loop over an array of ones in chunks of 50 rows, on a stream of each device. Its kernels do nothing.
struct OneArray {
  static constexpr int rows = 1000;

  struct Launch {
    std::size_t target;
    std::int64_t chunk;
    bool operator==(Launch const&) const = default;
  };

  explicit OneArray(std::vector<int> const& devices, Access access = Access::read)
      : array(rows, 1), locked(array) {
    ArgumentFacts u;
    u.label         = "u";
    u.side          = Side::page_locked;
    u.access        = access;
    u.data          = reinterpret_cast<char*>(array.data());
    u.element_bytes = sizeof(Number);
    u.extents[0]    = rows;
    LoopFacts loop;
    loop.upper[0]          = rows;
    loop.arguments         = {u};
    job.label              = "test";
    job.binding            = bind_stream("test", {loop});
    job.transport          = Transport::staged;
    job.options.chunk_rows = 50;
    job.options.memory     = std::size_t(1) << 20;
    job.launch             = [this](std::size_t target, StreamLaunch const& launch) {
      launches.push_back({target, launch.chunk});
    };
    for (int device : devices) {
      DeviceWork::require(cudaSetDevice(device), "cudaSetDevice");
      streams.push_back(std::make_unique<DeviceWork::Stream>());
      job.targets.push_back({device, streams.back()->get()});
    }
    DeviceWork::require(cudaSetDevice(0), "cudaSetDevice");
  }

  Array array;
  Locked locked;
  std::vector<std::unique_ptr<DeviceWork::Stream>> streams;
  StreamJob job;
  std::vector<Launch> launches;
};

inline bool nothing_is_left() {
  FakeCuda::Outstanding const left = FakeCuda::outstanding();
  return left.events == 0 && left.streams == 0 && left.device_allocations == 0;
}

/// The devices of a case, which must leave nothing on them.
struct FakeDevices {
  explicit FakeDevices(int count = 1) { FakeCuda::reset(count); }
  ~FakeDevices() { CHECK(nothing_is_left()); }
  FakeDevices(FakeDevices const&)            = delete;
  FakeDevices& operator=(FakeDevices const&) = delete;
};

}  // namespace StreamCases

#endif
