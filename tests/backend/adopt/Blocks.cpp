// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/adopt/Blocks.hpp"

#include "../../support/FailNth.hpp"

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

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

TEST_CASE("adopted blocks are disjoint, keep their contents, and are found by any address") {
  Blocks& all = blocks();
  std::mt19937 random(7);
  struct Owned {
    Block* block;
    std::size_t bytes;
    char tag;
  };
  std::map<char*, Owned> owned;
  auto const holds = [](Owned const& one) {
    char const* const begin = one.block->begin;
    return begin[0] == one.tag && begin[one.bytes / 2] == one.tag &&
           begin[one.bytes - 1] == one.tag;
  };
  for (int i = 0; i < 20000; ++i) {
    if (owned.size() < 40 && random() % 2 == 0) {
      bool const is_large     = random() % 16 == 0;
      std::size_t const bytes = 1 + random() % (is_large ? 80 * MiB : 3 * MiB);
      Block* const block      = all.take(bytes);
      REQUIRE(block != nullptr);
      auto const after = owned.lower_bound(block->begin);
      REQUIRE((after == owned.end() || block->begin + bytes <= after->first));
      if (after != owned.begin()) {
        auto const& before = std::prev(after)->second;
        REQUIRE(before.block->begin + before.bytes <= block->begin);
      }
      auto const tag = static_cast<char>(i);
      for (std::size_t at : {std::size_t(0), bytes / 2, bytes - 1}) block->begin[at] = tag;
      owned[block->begin] = {block, bytes, tag};
    } else if (!owned.empty()) {
      auto const one = std::next(owned.begin(), static_cast<long>(random() % owned.size()));
      REQUIRE(holds(one->second));
      for (std::size_t at : {std::size_t(0), one->second.bytes / 2, one->second.bytes - 1}) {
        REQUIRE(Blocks::contains(one->first + at));
        REQUIRE(all.find(one->first + at) == one->second.block);
      }
      char* const begin = one->first;
      all.give(*one->second.block);
      owned.erase(one);
      REQUIRE(all.find(begin) == nullptr);
    }
  }
  for (auto const& [begin, one] : owned) {
    REQUIRE(holds(one));
    all.give(*one.block);
  }
}

TEST_CASE("more than the range of addresses is refused") {
  REQUIRE(blocks().take(std::size_t(1) << 62) == nullptr);
  int const other = 0;
  REQUIRE_FALSE(Blocks::contains(&other));
  REQUIRE_FALSE(Blocks::contains(nullptr));
}
