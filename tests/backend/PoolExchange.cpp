// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What is ready and does not fit is exchanged for what fits, in turns that the fake runtime tells.

#include "../../backend/pool/Pool.hpp"
#include "../support/DeviceWork.hpp"
#include "../support/FakeCuda.hpp"
#include "Watched.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl;

namespace {

// Work that lasts until the end of the scope, or until the pool waits for it.
class LastingWork {
 public:
  explicit LastingWork(DeviceWork::Stream& stream) {
    stream.run([over = m_over, before = questions()] {
      constexpr std::size_t of_no_waiting = 20;  // questions of an allocation that only looks
      while (!*over && questions() - before < of_no_waiting)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
  }
  ~LastingWork() { *m_over = true; }
  LastingWork(LastingWork const&)            = delete;
  LastingWork& operator=(LastingWork const&) = delete;

 private:
  static std::size_t questions() { return FakeCuda::calls("cuEventQuery"); }

  std::shared_ptr<std::atomic<bool>> m_over = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

TEST_CASE("sizes in turn, given back while work runs, are soon locked no more") {
  PoolTest const test(1);
  DeviceWork::Stream stream;
  Watched watched;
  unsigned const seed     = GENERATE(0u, 1u, 2u, 3u);  // 0: all work lasts
  std::size_t const least = GENERATE(20, 50), step = GENERATE(3, 8);
  std::mt19937 random(seed);
  constexpr std::size_t rounds = 64;
  std::size_t misses           = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    if (i == rounds / 2) misses = PoolTest::usage().misses;
    std::size_t const bytes = (least + step * (i % 4)) * MiB;
    watched.deallocate(watched.allocate(bytes));
    {
      std::optional<LastingWork> work;
      if (seed == 0 || random() % 2 == 0) work.emplace(stream);
      watched.deallocate(watched.allocate_beside_work(bytes));
    }
    stream.wait();
  }
  CAPTURE(watched.needed() / MiB, watched.locked() / MiB, seed, least, step);
  CHECK(watched.excess() == 0);
  CHECK(PoolTest::usage().misses == misses);
}
