// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/adopt/Blocks.hpp"

#include "../../support/FailNth.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <malloc.h>

using namespace KokkosHostSpaces::Impl::Backend::Adopt;

namespace {

// Reserves once for all tests: the range is the process'.
Blocks& blocks() {
  static auto& made        = *new Blocks;
  static bool const usable = made.reserve();
  if (!usable) SKIP("the addresses of this process are limited");
  return made;
}

constexpr std::size_t MiB = std::size_t(1) << 20;

}  // namespace

#ifdef KOKKOS_HOST_SPACES_FAILING_SYSTEM

namespace {

// For each call that `run` makes, as long as one of them fails.
template <class Run>
void whichever_call_fails(Run const& run) {
  FailNth::for_each_failure([&](FailNth::Failure const& failure) {
    FailNth::Planned const planned(failure);
    run();
    return FailNth::is_met();
  });
}

}  // namespace

// Before another case has reserved the range.
TEST_CASE("whichever call fails, addresses are reserved or nothing is of them") {
  static auto& all = *new std::vector<std::unique_ptr<Blocks>>(1000);
  for (auto& each : all) each = std::make_unique<Blocks>();
  std::size_t next = 0;
  whichever_call_fails([&] {
    Blocks& made        = *all[next++];
    bool const reserved = made.reserve();
    int const other     = 0;
    if (Blocks::contains(&other) || (!reserved && Blocks::contains(&made))) throw next;
  });
}

TEST_CASE("whichever call fails, blocks have their memory, and the next ones are served") {
  Blocks& all = blocks();
  whichever_call_fails([&] {
    std::array<Block*, 4> taken{};
    std::array const sizes = {MiB / 16, 3 * MiB, 80 * MiB, 20 * MiB};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      try {
        taken[i] = all.take(sizes[i]);
      } catch (std::bad_alloc const&) {
        continue;
      }
      if (taken[i] != nullptr) taken[i]->begin[0] = taken[i]->begin[sizes[i] - 1] = 'x';
    }
    for (Block* const block : taken)
      if (block != nullptr) all.give(*block);
  });
  for (std::size_t size : {MiB / 16, 80 * MiB}) {
    Block* const block = all.take(size);
    REQUIRE(block != nullptr);
    block->begin[size - 1] = 'x';
    all.give(*block);
  }
}

#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * 4096;
}

// In the mean, while random memory is taken and given.
template <class Take, class Give>
double mean_of_resident(Take take, Give give) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<char*> live;
  double sum         = 0;
  constexpr int most = 8000;
  for (int i = 0; i < most; ++i) {
    if (live.size() < 40 || share(random) < (live.size() < 60 ? 0.5 : 0.)) {
      auto const bytes = static_cast<std::size_t>(65536 * std::pow(128., share(random)));
      live.push_back(take(bytes));
      for (std::size_t at = 0; at < bytes; at += 4096) live.back()[at] = 1;
    } else {
      std::swap(live[random() % live.size()], live.back());
      give(live.back());
      live.pop_back();
    }
    sum += double(resident_bytes());
  }
  for (char* const memory : live) give(memory);
  return sum / most;
}

}  // namespace

TEST_CASE("no more memory is resident than with malloc, but a twentieth") {
  Blocks& all              = blocks();
  std::size_t const before = resident_bytes();
  double const stock =
      mean_of_resident([](std::size_t bytes) { return static_cast<char*>(std::malloc(bytes)); },
                       [](char* memory) { std::free(memory); }) -
      double(before);
  malloc_trim(0);
  std::size_t const again = resident_bytes();
  double const ours = mean_of_resident([&](std::size_t bytes) { return all.take(bytes)->begin; },
                                       [&](char* memory) { all.give(*all.find(memory)); }) -
                      double(again);
  CHECK(ours < 1.05 * stock);
}

#endif
