// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies by slabs, one or two at a time. Many: SlabCopyTraffic.cpp.

#include "../../../backend/Error.hpp"
#include "TurnedArrays.hpp"

#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace SlabCopyTests {

TEST_CASE("a side that is dense on the host is cut along its longest steps, in whole tiles",
          "[slabs]") {
  Extents const extents{1000, 300}, rows{300, 1}, columns{1, 1000};
  LinkWay const in = LinkWay::to_device, out = LinkWay::to_host;
  auto const slabs = cut_into_slabs(plan_of(extents, rows, columns), in, 8000 * 100);
  REQUIRE(slabs);
  CHECK(slabs->at_once == 96);
  CHECK(plan_of(extents, rows, columns).extent[std::size_t(slabs->loop)] == 300);
  CHECK(cut_into_slabs(plan_of(extents, rows, columns), in, 8000 * 7)->at_once == 7);
  CHECK(cut_into_slabs(plan_of(extents, rows, columns), in, 1 << 30)->at_once == 300);
  CHECK_FALSE(cut_into_slabs(plan_of(extents, rows, columns), in, 7999));
  // With gaps, and of a broadcast.
  CHECK_FALSE(cut_into_slabs(plan_of(extents, rows, {1, 1001}), in, 1 << 20));
  CHECK_FALSE(cut_into_slabs(plan_of(extents, rows, {2, 2000}), in, 1 << 20));
  CHECK_FALSE(cut_into_slabs(plan_of(extents, rows, {1, 0}), in, 1 << 20));
  CHECK_FALSE(cut_into_slabs(plan_of(extents, rows, rows), in, 1 << 20));
  // On its way to the host the destination is what counts.
  CHECK(cut_into_slabs(plan_of(extents, columns, {300, 1}), out, 8000 * 100)->at_once == 96);
  CHECK(cut_into_slabs(plan_of(extents, columns, {400, 1}), out, 8000 * 100));
  CHECK_FALSE(cut_into_slabs(plan_of(extents, {1, 1001}, rows), out, 1 << 20));
}

TEST_CASE("large copies over the link that turn a dense array go by slabs, others in place",
          "[slabs]") {
  std::size_t const side = 2560;
  CopySides sides{.same_type                = true,
                  .pageable_source          = false,
                  .pageable_destination     = false,
                  .both_page_locked         = false,
                  .device_reads_host_memory = true,
                  .link_way                 = LinkWay::to_device};
  CopyPlan const large = plan_of({side, side}, {side, 1}, {1, side});
  REQUIRE(large.bytes() >= copy_thresholds.slabs_from_bytes);
  CHECK(choose_way(large, sides) == CopyWay::tiled_slabs);
  CHECK(choose_way(plan_of({100, 100}, {100, 1}, {1, 100}), sides) == CopyWay::tiled_kernel);
  CHECK(choose_way(plan_of({side, side}, {side, 1}, {1, side + 1}), sides) ==
        CopyWay::tiled_kernel);
  sides.link_way = LinkWay::none;
  CHECK(choose_way(large, sides) == CopyWay::tiled_kernel);
  sides.device_reads_host_memory = false;
  CHECK(choose_way(large, sides) == CopyWay::tiled_kernel);
  sides.link_way = LinkWay::to_host;
  REQUIRE(large.bytes() >= copy_thresholds.slabs_to_host_from_bytes);
  CHECK(choose_way(large, sides) == CopyWay::tiled_slabs);
  CHECK(choose_way(plan_of({side, side}, {side, 1}, {1, side + 1}), sides) == CopyWay::tiled_slabs);
  CHECK(choose_way(plan_of({side, side}, {side + 1, 1}, {1, side}), sides) ==
        CopyWay::tiled_kernel);
}

TEST_CASE("copies by slabs are right, one behind the other and of any shape", "[slabs]") {
  FakeCuda::reset();
  std::mt19937 random(5);
  SlabCopies copies(limits);
  DeviceWork::Stream stream;
  int wrong = 0, slabs = 0;
  for (int round = 0; round < 90; ++round) {
    Extents extents(2 + random() % 3), order(extents.size());
    for (std::size_t& extent : extents) extent = 1 + random() % 12;
    extents.back() += random() % 60;
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::shuffle(order.begin(), order.end(), random);
    LinkWay const way = round % 2 == 0 ? LinkWay::to_device : LinkWay::to_host;
    Turned first(extents, order, way),
        second(extents, order, round % 3 == 0 ? LinkWay::to_device : LinkWay::to_host);
    if (!cut_into_slabs(first.plan, way, limits.least_slab)) continue;
    REQUIRE(first.enqueue(copies, stream));
    REQUIRE(second.enqueue(copies, stream));
    stream.wait();
    wrong += first.target != first.expected;
    wrong += second.target != second.expected;
    slabs += first.slabs;
  }
  CHECK(wrong == 0);
  CHECK(slabs > 100);
  CHECK(FakeCuda::outstanding().device_allocations == 1);
  copies.release();
  CHECK(FakeCuda::nothing_leaked());
  CHECK(FakeCuda::outstanding().device_allocations == 0);
}

TEST_CASE("what is left after many slabs goes in place", "[slabs]") {
  FakeCuda::reset();
  SlabCopies copies({100, 4000, 3});
  DeviceWork::Stream stream;
  Turned array({10, 1000}, {1, 0}, GENERATE(LinkWay::to_device, LinkWay::to_host));
  REQUIRE(array.enqueue(copies, stream));
  stream.wait();
  CHECK((array.slabs == 3 && array.in_place == 1));
  CHECK(array.target == array.expected);
}

TEST_CASE(
    "a copy by slabs comes after what its stream was given before, and before what comes then",
    "[slabs]") {
  FakeCuda::reset();
  SlabCopies copies(limits);
  Turned array({10, 500}, {1, 0}, GENERATE(LinkWay::to_device, LinkWay::to_host));
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  std::vector<char> const source = array.source;
  std::fill(array.source.begin(), array.source.end(), 'x');
  stream.run(gate.hold());
  stream.run([&] { array.source = source; });
  REQUIRE(array.enqueue(copies, stream));
  std::vector<char> seen;
  stream.run([&] {
    seen = array.target;
    std::fill(array.source.begin(), array.source.end(), 'y');
  });
  gate.open();
  stream.wait();
  CHECK(seen == array.expected);
}

TEST_CASE("no stream waits for the copy of another one, nor one that captures", "[slabs]") {
  FakeCuda::reset();
  SlabCopies copies(limits);
  Turned held(Extents{10, 500}, {1, 0}), other({10, 500}, {1, 0});
  DeviceWork::Stream stream, other_stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  REQUIRE(held.enqueue(copies, stream));
  CHECK_FALSE(other.enqueue(copies, other_stream));
  CHECK(held.enqueue(copies, stream));
  gate.open();
  stream.wait();
  CHECK(other.enqueue(copies, other_stream));
  other_stream.wait();
  CHECK((held.target == held.expected && other.target == other.expected));
  other_stream.begin_capture();
  CHECK_FALSE(other.enqueue(copies, other_stream));
  CHECK(other_stream.end_capture());
}

TEST_CASE(
    "memory for slabs breaks no capture of another thread, and where there is none it is told",
    "[slabs]") {
  FakeCuda::reset();
  Turned array({10, 500}, {1, 0});
  DeviceWork::Stream stream, captured;
  {
    SlabCopies copies(limits);
    captured.begin_capture();
    REQUIRE(array.enqueue(copies, stream));
    CHECK(captured.end_capture());
    stream.wait();
    CHECK(array.target == array.expected);
  }
  SlabCopies copies(limits);
  FakeCuda::fail_nth_call("cudaMalloc", 1);
  CHECK_FALSE(array.enqueue(copies, stream));
  CHECK_FALSE(array.enqueue(copies, stream));
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  copies.release();
  CHECK(array.enqueue(copies, stream));
  stream.wait();
}

TEST_CASE("a copy by slabs that fails is told, touches nothing any more, and the next one is right",
          "[slabs]") {
  auto const way = GENERATE(LinkWay::to_device, LinkWay::to_host);
  int told       = 0;
  for (std::size_t call = 1; call < 40; ++call) {
    FakeCuda::reset();
    SlabCopies copies(limits);
    Turned array({10, 500}, {1, 0}, way);
    DeviceWork::Stream stream;
    FakeCuda::fail_nth_call("*", call, cudaErrorLaunchFailure);
    try {
      array.enqueue(copies, stream);
    } catch (KokkosHostSpaces::CudaError const&) {
      ++told;
      FakeCuda::fail_no_more();
      std::vector<char> const after = array.target;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      CHECK(array.target == after);
    }
    FakeCuda::fail_no_more();
    REQUIRE(array.enqueue(copies, stream));
    stream.wait();
    CHECK(array.target == array.expected);
    copies.release();
    auto const [registrations, pinned, on_device, events, streams] = FakeCuda::outstanding();
    CHECK((on_device == 0 && events == 0 && streams == 1));
  }
  CHECK(told > 10);
}

}  // namespace SlabCopyTests
