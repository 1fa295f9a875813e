// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Boxes of shapes that programs have: what a copy of them costs, by its plan.

#include "PlannedCopies.hpp"

#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/copy/StagedBoxes.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

using namespace KokkosHostSpaces::Impl;

namespace StagedShapes {

using Numbers = std::vector<std::size_t>;

constexpr std::size_t most = copy_thresholds.staging_bytes;

std::vector<StagedBox> boxes_of(std::size_t element, Numbers const& extents, Numbers const& strides,
                                bool is_source) {
  PageableSide side{.element_bytes = element, .rank = int(extents.size()), .is_source = is_source};
  std::copy(extents.begin(), extents.end(), side.extent.begin());
  std::copy(strides.begin(), strides.end(), side.stride.begin());
  return cut_for_staging(side, most);
}

Numbers order_of(std::size_t rank, bool is_left) {
  Numbers order(rank);
  std::iota(order.begin(), order.end(), std::size_t(0));
  if (!is_left) std::reverse(order.begin(), order.end());
  return order;
}

std::size_t bytes_of(std::size_t element, Numbers const& extents) {
  return std::accumulate(extents.begin(), extents.end(), element, std::multiplies<>());
}

std::size_t calls(std::vector<StagedBox> const& boxes) {
  return std::accumulate(
      boxes.begin(), boxes.end(), std::size_t(0),
      [](std::size_t sum, StagedBox const& box) { return sum + box.plan.engine_calls(); });
}

// Between staging memory and the other side, which has the opposite order.
bool suits_tiles_there(StagedBox const& box, std::size_t element, Numbers const& there,
                       bool is_source) {
  auto const& dst = is_source ? there.data() : box.stride.data();
  auto const& src = is_source ? box.stride.data() : there.data();
  return suits_tiles(make_copy_plan(element, int(there.size()), box.extent.data(), dst, src),
                     element);
}

TEST_CASE("boxes of fields with short last dimensions are for tiles still", "[copy_plan]") {
  struct Field {
    std::size_t element;
    Numbers extents;
  };
  for (Field const& field : {Field{4, {48, 48, 48, 96, 4, 3, 2}},     // spinors on a lattice
                             Field{8, {64, 32, 32, 32, 4, 3, 3, 2}},  // propagators
                             Field{8, {16, 16, 16, 16, 16, 16, 4}}, Field{8, {20, 64, 64, 64, 64}},
                             Field{8, {64, 64, 64, 64, 64}},  // positions and velocities
                             Field{8, {48, 48, 48, 32, 32, 32}}})
    for (bool const is_source : {true, false})
      for (bool const is_left : {true, false}) {
        std::size_t const rank = field.extents.size();
        Numbers const here     = PlannedCopies::strides(field.extents, order_of(rank, is_left), 0),
                      there    = PlannedCopies::strides(field.extents, order_of(rank, !is_left), 0);
        auto const boxes       = boxes_of(field.element, field.extents, here, is_source);
        INFO(field.extents[0] << " x " << field.extents[1] << " x ... of rank " << rank
                              << (is_source ? ", source " : ", destination ") << is_left);
        CHECK(std::all_of(boxes.begin(), boxes.end(), [&](StagedBox const& box) {
          return suits_tiles_there(box, field.element, there, is_source);
        }));
        CHECK(calls(boxes) <= copy_thresholds.few_calls * boxes.size());
        CHECK(boxes.size() <= 2 * bytes_of(field.element, field.extents) / most + 2);
      }
}

TEST_CASE("lines with gaps in all dimensions are carried by few calls of long ones",
          "[copy_plan]") {
  // Two of four components, at 8 of 10 points, of 8 of 9 functions, in many cells: 205 MB.
  Numbers const extents = {200000, 8, 8, 2}, strides = {360, 40, 4, 1};
  auto const boxes = boxes_of(8, extents, strides, false);
  CHECK(calls(boxes) <= copy_thresholds.few_calls * boxes.size());
  // Within the memory that is allowed, too.
  auto const one = boxes_of(8, {20000, 8, 8, 2}, strides, false);
  CHECK(one.size() == 1);
  CHECK(calls(one) <= copy_thresholds.few_calls);
}

TEST_CASE("a source with gaps is not copied several times over", "[copy_plan]") {
  Numbers const extents = {64, 600, 6, 6, 6, 6}, strides = {1440600, 2401, 343, 49, 7, 1};
  std::size_t const span = extents[0] * strides[0] * 8;
  std::size_t staged     = 0;
  auto const boxes       = boxes_of(8, extents, strides, true);
  for (StagedBox const& box : boxes) staged += box.bytes;
  CHECK(staged <= span + span / 8);
  CHECK(boxes.size() <= 2 * span / most + 2);
}

TEST_CASE("short rows that are near each other are staged as one piece", "[copy_plan]") {
  auto const every = [](std::size_t row, std::size_t distance, bool is_source) {
    return boxes_of(8, {1000, row}, {distance, 1}, is_source).front();
  };
  CHECK(every(2, 4, true).plan.contiguous());
  CHECK(every(2, 8, true).plan.contiguous());
  CHECK_FALSE(every(2, 9, true).plan.contiguous());    // more than four times as long
  CHECK_FALSE(every(32, 64, true).plan.contiguous());  // long rows
  CHECK_FALSE(every(2, 4, false).plan.contiguous());  // what lies between them is not ours to write
}

TEST_CASE("boxes have whole lines where a slower dimension is long enough", "[copy_plan]") {
  for (bool const is_source : {true, false}) {
    auto const boxes = boxes_of(4, {513, 400, 400}, {1, 513, 513 * 400}, is_source);
    CHECK(std::all_of(boxes.begin(), boxes.end(),
                      [](StagedBox const& box) { return box.extent[0] == 513; }));
  }
}

}  // namespace StagedShapes
