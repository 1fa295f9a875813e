// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The ways to copy without a device: boxes, tiles and staging, carried out by the host, equal a
// loop.

#include "RandomCopies.hpp"
#include "../Rounds.hpp"
#include "../KokkosTest.hpp"

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/copy/Staging.hpp>
#include <KokkosHostSpaces/impl/copy/TiledCopy.hpp>

namespace PlannedCopies {

using namespace KokkosHostSpaces::Impl;
using RandomCopies::Case;
using RandomCopies::Numbers;

// Bytes at a multiple of 16.
struct Bytes {
  explicit Bytes(std::size_t bytes) : words(bytes / sizeof(LongWord) + 1) {}
  unsigned char* data() { return reinterpret_cast<unsigned char*>(words.data()); }
  std::vector<LongWord> words;
};

struct Copy {
  Case shape;
  std::size_t element;  // bytes
  Numbers to, from;     // strides
  unsigned char *dst, *src;
};

enum class Way { boxes, tiles, staged_source, staged_destination };

bool copy_by_tiles(Copy const& c, CopyPlan const& plan) {
  auto const addresses =
      reinterpret_cast<std::uintptr_t>(c.dst) | reinterpret_cast<std::uintptr_t>(c.src);
  auto const tiling = make_tiling(plan, addresses, c.element > 2);
  if (!tiling) return false;
  run_tiled_copy(Kokkos::DefaultHostExecutionSpace(), *tiling, c.dst, c.src, 1);
  Kokkos::fence();
  return true;
}

void copy_staged(Copy const& c, bool is_source, std::size_t most) {
  std::size_t const rank = c.to.size();
  PageableSide side{.element_bytes = c.element, .rank = int(rank), .is_source = is_source};
  std::copy_n(c.shape.extents.begin(), rank, side.extent.begin());
  std::copy_n((is_source ? c.from : c.to).begin(), rank, side.stride.begin());
  for (StagedBox const& box : cut_for_staging(side, most)) {
    Numbers const first(box.first.begin(), box.first.begin() + rank),
        extent(box.extent.begin(), box.extent.begin() + rank),
        stride(box.stride.begin(), box.stride.begin() + rank);
    CHECK((box.bytes <= most || box.bytes == c.element));
    Bytes staging(box.bytes);
    auto* const to   = c.dst + RandomCopies::at(first, c.to) * c.element;
    auto* const from = c.src + RandomCopies::at(first, c.from) * c.element;
    if (is_source) copy_async(staging.data(), from, box.plan, nullptr);
    RandomCopies::for_each_index(extent, [&](Numbers const& index) {
      std::size_t const here = RandomCopies::at(index, stride) * c.element;
      if (here + c.element > box.bytes) FAIL("outside of staging memory");
      if (is_source)
        std::memcpy(to + RandomCopies::at(index, c.to) * c.element, staging.data() + here,
                    c.element);
      else
        std::memcpy(staging.data() + here, from + RandomCopies::at(index, c.from) * c.element,
                    c.element);
    });
    if (!is_source) copy_async(to, staging.data(), box.plan, nullptr);
  }
}

TEST_CASE("boxes, tiles and staging equal a loop on the host", "[random_copies]") {
  std::mt19937 random(20251122);
  int const count = rounds(200);
  int by_tiles    = 0;
  for (int round = 0; round < count; ++round) {
    std::size_t const element = random() % 8 == 0 ? 12 : std::size_t(1) << random() % 5;
    std::size_t const most    = 1 + random() % (random() % 2 == 0 ? 100 : 20000);
    auto const way            = Way(random() % 4);
    auto const fails          = [&](Case const& c) {
      std::size_t const bytes = c.span(c.dst) * element + 64;
      Bytes src(c.span(c.src) * element), dst(bytes), wanted(bytes);
      for (std::size_t i = 0; i < c.span(c.src) * element; ++i)
        src.data()[i] = static_cast<unsigned char>(i * 2654435761u >> 16);
      std::memset(wanted.data(), 0xee, bytes);
      std::memset(dst.data(), 0xee, bytes);
      c.for_each_element([&](std::size_t to, std::size_t from) {
        std::memcpy(wanted.data() + to * element, src.data() + from * element, element);
      });
      Copy const copy{c,
                      element,
                      c.strides(c.dst),
                      c.strides(c.src),
                      dst.data() + c.dst.offset * element,
                      src.data() + c.src.offset * element};
      CopyPlan const plan = make_copy_plan(element, int(c.extents.size()), c.extents.data(),
                                                    copy.to.data(), copy.from.data());
      if (way == Way::staged_source || way == Way::staged_destination)
        copy_staged(copy, way == Way::staged_source, most);
      else if (way == Way::tiles && copy_by_tiles(copy, plan))
        ++by_tiles;
      else
        copy_async(copy.dst, copy.src, plan, nullptr);
      return std::memcmp(wanted.data(), dst.data(), bytes) != 0;
    };
    Case const c = RandomCopies::make_case(random, random() % 9, 3000);
    if (fails(c))
      FAIL("round " << round << ", way " << int(way) << ", elements of " << element
                    << " bytes, at most " << most
                    << " staged: " << RandomCopies::shrink(c, fails).text());
  }
  CHECK(by_tiles > count / 40);
}

}  // namespace PlannedCopies
