// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the audit concludes from events that are made up, with times that are.

#include "../../perf/tools/audit/Findings.hpp"
#include "../../perf/tools/audit/Text.hpp"
#include "../support/Tests.hpp"

#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace KokkosHostSpaces::Audit {
namespace {

using Catch::Matchers::WithinAbs;

// As Kokkos numbers them: the upper 8 bits tell the execution space, the lower 24 the instance.
constexpr std::uint32_t openmp = 1u << 24, cuda = 2u << 24, one_instance = 1, copies = 0xffffff;
constexpr std::uint64_t mib = 1 << 20;

// A program on one thread, whose clock goes on as told.
struct Program {
  Recorder recorder;
  Thread thread;
  double time = 100;
  char memory[2];

  void begin(char const* to_space, char const* to, char const* from_space, char const* from,
             std::uint64_t bytes = 64 * mib) {
    recorder.begin_copy(thread, {to_space, to, memory}, {from_space, from, memory + 1}, bytes,
                        time);
  }
  void end(double seconds) { recorder.end_copy(thread, time += seconds); }
  void fence(char const* name, std::uint32_t device, double seconds) {
    recorder.begin_fence(thread, name, device, time);
    recorder.end_fence(thread, time += seconds);
  }
  void fence_all(char const* name, double seconds) {
    fence(name, openmp, 0);
    fence(name, cuda, seconds);
  }

  // deep_copy(dst, src) of Kokkos.
  void blocking(char const* to_space, char const* to, char const* from_space, char const* from,
                double before, double copying, std::uint64_t bytes = 64 * mib) {
    begin(to_space, to, from_space, from, bytes);
    fence_all("Kokkos::deep_copy: copy between contiguous views, pre view equality check", before);
    time += copying;
    fence_all("Kokkos::deep_copy: copy between contiguous views, post deep copy fence", 0);
    end(0);
  }
  void on_instance(char const* to_space, char const* to, char const* from_space, char const* from,
                   double seconds, std::uint64_t bytes = 64 * mib) {
    begin(to_space, to, from_space, from, bytes);
    end(seconds);
  }

  Findings findings(double rate = 0) const { return findings_of(recorder.result(), {rate, rate}); }
};

double seconds_of(Row const& row, Reason reason) {
  auto const found = std::ranges::find(row.findings, reason, &Finding::reason);
  return found == row.findings.end() ? -1 : found->seconds;
}

Row only_row(Findings const& findings) {
  REQUIRE(findings.rows.size() == 1);
  return findings.rows[0];
}

}  // namespace

TEST_CASE("an asynchronous copy of page-locked memory is nothing to mend", "[audit]") {
  Program program;
  program.fence_all("Kokkos::fence: Unnamed Global Fence", 1);
  program.recorder.other_work(program.thread);
  program.on_instance("Cuda", "field", "Pinned", "halo", 2e-6);
  program.fence("Kokkos::Cuda::fence(): Unnamed Instance Fence", cuda + one_instance, 1);
  program.recorder.other_work(program.thread);
  program.fence_all("Kokkos::fence: Unnamed Global Fence", 1);
  auto const all = program.findings();
  CHECK(only_row(all).findings.empty());
  CHECK(all.rows[0].pair.blocked.count == 0);
  CHECK(all.advice.empty());
  CHECK_THAT(table_of(all, {}, 3), ContainsSubstring("Nothing to mend."));
}

TEST_CASE("pageable memory costs what its copies take on an instance", "[audit]") {
  Program program;
  program.on_instance("Cuda", "field", "Host", "halo_send", 0.4);
  program.on_instance("Cuda", "other", "Host", "halo_send", 0.01);
  program.on_instance("Host", "halo_receive", "Cuda", "field", 0.1);
  auto const all = program.findings();
  REQUIRE(all.advice.size() == 2);
  CHECK(all.advice[0].text == "put `halo_send` into PinnedSpace");
  CHECK_THAT(all.advice[0].seconds, WithinAbs(0.41, 1e-4));
  CHECK(all.advice[1].text == "put `halo_receive` into PinnedSpace");
  CHECK_THAT(table_of(all, {}, 2.3),
             ContainsSubstring("put `halo_send` into PinnedSpace: 0.41 s of 2.3 s"));
}

TEST_CASE("the time of a blocking copy of pageable memory is told from its fence", "[audit]") {
  Program program;
  program.blocking("Cuda", "field", "Host", "halo", 0.5, 0.1, 1000000000);
  auto const row = only_row(program.findings(50e9));
  CHECK_THAT(seconds_of(row, pageable), WithinAbs(0.08, 1e-4));
  CHECK_THAT(seconds_of(row, device_fence), WithinAbs(0.52, 1e-4));
  CHECK_THAT(*row.rate, WithinAbs(10e9, 1));
  CHECK_THAT(*row.share, WithinAbs(0.2, 1e-9));
  CHECK(row.pair.blocked.count == 1);
  // Who does not know the link cannot tell.
  CHECK(seconds_of(only_row(program.findings()), pageable) == 0);
}

TEST_CASE("a copy on an instance of the host is found, of Kokkos and of this library", "[audit]") {
  Program program;
  program.begin("Cuda", "field", "CudaHostPinned", "halo");
  program.fence("Kokkos::Impl::DeepCopy<A, B, ExecutionSpace>::DeepCopy: fence before copy",
                openmp + one_instance, 1);
  program.fence("Kokkos::Impl::DeepCopyAsyncCuda: Deep Copy Stream Sync", cuda + copies, 2);
  program.end(0);
  CHECK_THAT(seconds_of(only_row(program.findings()), host_instance), WithinAbs(3, 1e-9));

  Program ours;
  ours.begin("Cuda", "field", "Pinned", "halo");
  ours.fence("Kokkos::deep_copy: fence of the host instance before the copy", openmp + one_instance,
             0);
  ours.end(2);
  auto const row = only_row(ours.findings());
  CHECK_THAT(seconds_of(row, host_instance), WithinAbs(2, 1e-9));
  CHECK(row.findings.size() == 1);
}

TEST_CASE("a fence of the whole device directly before or behind a copy is found", "[audit]") {
  Program program;
  program.fence_all("mine", 0.25);
  program.on_instance("Cuda", "field", "Pinned", "halo", 0);
  program.fence_all("Kokkos::fence: Unnamed Global Fence", 0.5);
  program.fence_all("Kokkos::fence: Unnamed Global Fence", 0.125);
  auto const row = only_row(program.findings());
  CHECK_THAT(seconds_of(row, device_fence), WithinAbs(0.875, 1e-9));
  CHECK(row.findings[0].copies == 1);
  CHECK(row.pair.blocked.count == 0);
}

TEST_CASE("fences that Kokkos makes for allocations are none around a copy", "[audit]") {
  Program program;
  program.on_instance("Cuda", "field", "Pinned", "halo", 0);
  program.fence_all("Kokkos::CudaUVMSpace::impl_deallocate: Pre UVM Deallocation", 1);
  CHECK(only_row(program.findings()).findings.empty());
}

TEST_CASE("the fence before a blocking copy belongs to it, and to no copy before", "[audit]") {
  Program program;
  program.on_instance("Cuda", "field", "Pinned", "halo", 0);
  program.fence_all("Kokkos::deep_copy: copy between views, pre copy fence", 1);
  program.begin("Pinned", "result", "Cuda", "field");
  program.fence_all("Kokkos::deep_copy: copy between views, post copy fence", 0);
  program.end(2);
  auto const all = program.findings();
  REQUIRE(all.rows.size() == 2);
  CHECK(all.rows[0].pair.to.label == "result");
  CHECK_THAT(seconds_of(all.rows[0], device_fence), WithinAbs(3, 1e-9));
  CHECK_THAT(*all.rows[0].rate, WithinAbs(32 * double(mib), 1));
  CHECK(all.rows[1].findings.empty());
}

TEST_CASE("copies between two host buffers are found, unless they are asynchronous", "[audit]") {
  Program program;
  program.on_instance("Host", "a", "Host", "b", 0.5);
  CHECK_THAT(seconds_of(only_row(program.findings()), host_to_host), WithinAbs(0.5, 1e-9));

  Program of_device;
  of_device.recorder.allocated("Cuda");
  of_device.on_instance("Pinned", "a", "Mapped", "b", 0);
  CHECK(only_row(of_device.findings()).findings.empty());
  of_device.on_instance("Pinned", "a", "Host", "c", 0.5);
  CHECK(of_device.findings().advice.size() == 1);
}

TEST_CASE("a layout for which Kokkos fences the instance is found", "[audit]") {
  Program program;
  program.begin("Cuda", "field", "CudaHostPinned", "halo");
  program.fence("Kokkos::deep_copy: view-to-view noncontiguous copy on space, pre copy",
                cuda + one_instance, 1);
  program.fence("Kokkos::deep_copy: view-to-view noncontiguous copy on space, post copy",
                cuda + one_instance, 1);
  program.end(0);
  CHECK_THAT(seconds_of(only_row(program.findings()), instance_fence), WithinAbs(2, 1e-9));
}

TEST_CASE("tiny copies in a loop are found, and their time is counted once", "[audit]") {
  Program program;
  for (int i = 0; i != 99; ++i) program.blocking("Cuda", "field", "Host", "a", 1, 1, 10);
  CHECK(seconds_of(only_row(program.findings(50e9)), tiny_copies) == -1);
  program.blocking("Cuda", "field", "Host", "a", 1, 1, 10);
  auto const all = program.findings(50e9);
  CHECK_THAT(seconds_of(only_row(all), tiny_copies), WithinAbs(198, 1e-6));
  CHECK_THAT(all.seconds, WithinAbs(198, 1e-6));
  REQUIRE(all.advice.size() == 1);
  CHECK_THAT(all.advice[0].text, ContainsSubstring("gather"));
}

TEST_CASE("a value for all elements, and a View copied to itself, are no copies", "[audit]") {
  Program program;
  program.on_instance("Cuda", "field", "Host", "(none)", 0.1);
  program.on_instance("Cuda", "field", "Host", "Scalar", 0.1);
  program.recorder.begin_copy(program.thread, {"Host", "mirror", program.memory},
                              {"Host", "mirror", program.memory}, 800, program.time);
  program.end(1);
  auto const all = program.findings();
  REQUIRE(all.rows.size() == 3);
  for (Row const& row : all.rows) CHECK(row.findings.empty());
  program.blocking("Cuda", "field", "Host", "Scalar", 1, 1);
  CHECK(program.findings().advice.size() == 1);
}

TEST_CASE("a copy that an exception ended leaves nothing behind", "[audit]") {
  Program program;
  program.begin("Cuda", "field", "Pinned", "wrong extents");
  program.on_instance("Cuda", "field", "Pinned", "halo", 0);
  program.end(5);
  auto const all = program.findings();
  CHECK(only_row(all).pair.from.label == "halo");
  CHECK(all.copies == 1);
}

TEST_CASE("generated labels take bounded memory", "[audit]") {
  Program program;
  for (int i = 0; i != 20000; ++i)
    program.on_instance("Cuda", std::to_string(i).c_str(), "Pinned", "halo", 0);
  auto const all = program.findings();
  CHECK(all.rows.size() <= 10001);
  CHECK(all.copies == 20000);
}

TEST_CASE("the link's rate is the best that was seen, if no file tells it", "[audit]") {
  Program program;
  program.blocking("Cuda", "field", "Pinned", "halo", 1, 0.5, 100 * mib);
  program.blocking("Cuda", "field", "Pinned", "halo", 1, 1, 100 * mib);
  CHECK_THAT(program.recorder.result().best[to_device], WithinAbs(200 * double(mib), 1));
  CHECK(program.recorder.result().best[to_host] == 0);
}

TEST_CASE("a fence behind a wait for the copy's instance is not one of the copy", "[audit]") {
  Program program;
  program.on_instance("Cuda", "field", "Pinned", "halo", 0);
  program.fence("Kokkos::Cuda::fence(): Unnamed Instance Fence", cuda + one_instance, 1);
  program.fence_all("Kokkos::fence: Unnamed Global Fence", 0.5);
  CHECK(only_row(program.findings()).findings.empty());
}

TEST_CASE("a View with gaps has no rate, for its span is not what was copied", "[audit]") {
  Program program;
  program.begin("Cuda", "field", "CudaHostPinned", "column", 1000 * mib);
  program.fence_all("Kokkos::deep_copy: copy between contiguous views, pre copy fence", 1);
  program.recorder.other_work(program.thread, "Kokkos::ViewCopy-1D");
  program.fence_all("Kokkos::deep_copy: copy between contiguous views, post copy fence", 0.001);
  program.end(0);
  auto const row = only_row(program.findings(50e9));
  CHECK_FALSE(row.rate);
  CHECK_FALSE(row.share);
  CHECK(row.pair.blocked.count == 1);
  CHECK(program.recorder.result().best[to_device] == 0);
  CHECK_THAT(seconds_of(row, device_fence), WithinAbs(1.001, 1e-9));
}

TEST_CASE("values that are read one by one are not to be gathered", "[audit]") {
  Program program;
  for (int i = 0; i != 100; ++i) program.on_instance("Host", "Scalar", "Host", "sum", 1, 8);
  for (int i = 0; i != 100; ++i) program.blocking("Host", "Scalar", "Cuda", "norm", 0, 2, 8);
  auto const all = program.findings();
  REQUIRE(all.advice.size() == 2);
  CHECK(all.advice[0].text ==
        "read `norm` less often, or on an instance into a View in PinnedSpace");
  CHECK(all.advice[1].text == "read `sum` itself, which is host memory");
}

TEST_CASE("what ranks copy again and again through pageable memory may be messages", "[audit]") {
  Program program;
  program.on_instance("Cuda", "field", "Host", "table", 0.1);
  for (int step = 0; step != 10; ++step)
    program.on_instance("Host", "halo_send", "Cuda", "field", 0.1);
  CHECK(program.findings().advice[0].text == "put `halo_send` into PinnedSpace");
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  auto const all = program.findings();
  unsetenv("OMPI_COMM_WORLD_RANK");
  REQUIRE(all.advice.size() == 2);
  CHECK(all.advice[0].text ==
        "put `halo_send` into PinnedSpace (if it is a message: khs::exchange)");
  CHECK(all.advice[1].text == "put `table` into PinnedSpace");
}

TEST_CASE("parts of one buffer get no advice to share a buffer", "[audit]") {
  Program program;
  program.on_instance("Host", "field", "Host", "field", 1);
  auto const all = program.findings();
  REQUIRE(all.advice.size() == 1);
  CHECK(all.advice[0].text ==
        "`field` (Host) <- `field` (Host): host memory of one label: read it where it lies");
}

}  // namespace KokkosHostSpaces::Audit
