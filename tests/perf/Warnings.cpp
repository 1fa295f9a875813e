// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../perf/tools/info/Findings.hpp"

#include <algorithm>
#include <functional>

#include <catch2/catch_test_macros.hpp>

using namespace KokkosHostSpaces::Perf;

namespace {

constexpr Link full_link = {32, 16};

// Nothing is wrong with this machine.
Findings good_machine() {
  GpuRates rates;
  rates.to_device   = 55e9;
  rates.to_host     = 54e9;
  rates.buffer_node = 1;
  rates.link        = full_link;
  rates.verified    = true;

  Gpu gpu;
  gpu.max_link     = full_link;
  gpu.iommu_domain = "identity";
  gpu.node         = 1;
  gpu.near_node    = 1;
  gpu.rates        = rates;

  Findings findings;
  findings.with_cuda              = true;
  findings.gpus                   = {gpu};
  findings.nodes                  = {{0, 16}, {1, 16}};
  findings.huge_pages             = "madvise";
  findings.cores_online           = 32;
  findings.cores_allowed          = 32;
  findings.memory_bytes           = std::size_t(64) << 30;
  findings.memory_available_bytes = std::size_t(60) << 30;
  return findings;
}

// The names of the warnings about the good machine after a change, each with a remedy.
std::string warned_of(std::function<void(Findings&)> const& change) {
  Findings findings = good_machine();
  change(findings);
  std::string names;
  for (Warning const& warning : warnings_of(findings)) {
    CHECK_FALSE(warning.problem.empty());
    CHECK_FALSE(warning.remedy.empty());
    names += (names.empty() ? "" : " ") + warning.name;
  }
  return names;
}

}  // namespace

TEST_CASE("a good machine gives no warning") {
  CHECK(warned_of([](Findings&) {}) == "");
}

TEST_CASE("a machine that tells nothing gives no warning") {
  CHECK(warnings_of(Findings()).empty());
}

TEST_CASE("no GPU is a problem for a build with CUDA alone") {
  CHECK(warned_of([](Findings& f) { f.gpus.clear(); }) == "no_gpu");
  CHECK(warned_of([](Findings& f) {
          f.gpus.clear();
          f.with_cuda = false;
        }) == "");
}

TEST_CASE("huge pages that the system or the environment switches off are warned of") {
  CHECK(warned_of([](Findings& f) { f.huge_pages = "never"; }) == "huge_pages");
  CHECK(warned_of([](Findings& f) { f.huge_pages_asked = false; }) == "huge_pages");
  CHECK(warned_of([](Findings& f) { f.huge_pages = "always"; }) == "");
  CHECK(warned_of([](Findings& f) { f.huge_pages = ""; }) == "");
}

TEST_CASE("memory on another node than the GPU's is warned of") {
  CHECK(warned_of([](Findings& f) { f.gpus[0].rates->buffer_node = 0; }) == "wrong_node");
  // Several nodes, or not known.
  CHECK(warned_of([](Findings& f) { f.gpus[0].rates->buffer_node = -1; }) == "");
  // Where hwloc knows no near node, the system's word counts.
  CHECK(warned_of([](Findings& f) {
          f.gpus[0].near_node          = -1;
          f.gpus[0].rates->buffer_node = 0;
        }) == "wrong_node");
  CHECK(warned_of([](Findings& f) {
          f.gpus[0].near_node = f.gpus[0].node = -1;
          f.gpus[0].rates->buffer_node         = 0;
        }) == "");
}

TEST_CASE("a near node that is not allowed is warned of, measured or not") {
  CHECK(warned_of([](Findings& f) {
          f.nodes             = {{0, 16}};
          f.gpus[0].near_node = -1;
        }) == "near_node_not_allowed");
  CHECK(warned_of([](Findings& f) {
          f.nodes             = {{0, 16}};
          f.gpus[0].near_node = -1;
          f.gpus[0].rates.reset();
        }) == "near_node_not_allowed");
}

TEST_CASE("where the nodes are not known, none is said to be forbidden") {
  CHECK(warned_of([](Findings& f) {
          f.nodes.clear();
          f.gpus[0].near_node = f.gpus[0].rates->buffer_node = -1;
        }) == "");
}

TEST_CASE("a link below its best under load is warned of") {
  CHECK(warned_of([](Findings& f) { f.gpus[0].rates->link = {16, 16}; }) == "slow_link");
  CHECK(warned_of([](Findings& f) { f.gpus[0].rates->link = {32, 8}; }) == "slow_link");
  // At rest it may sleep.
  CHECK(warned_of([](Findings& f) { f.gpus[0].link = {2.5, 16}; }) == "");
  CHECK(warned_of([](Findings& f) { f.gpus[0].rates->link = {}; }) == "");
  CHECK(warned_of([](Findings& f) { f.gpus[0].max_link = {}; }) == "");
}

TEST_CASE("copies far below the rate of the link are warned of") {
  auto const at_rate = [](double rate) {
    return warned_of(
        [=](Findings& f) { f.gpus[0].rates->to_device = f.gpus[0].rates->to_host = rate; });
  };
  CHECK(at_rate(30e9) == "slow_copies");
  CHECK(at_rate(45e9) == "");
}

TEST_CASE("data that takes another way than PCIe gives no warning of the link") {
  CHECK(warned_of([](Findings& f) {
          f.gpus[0].rates->to_device = 350e9;
          f.gpus[0].rates->link      = {2.5, 1};
        }) == "");
}

TEST_CASE("an IOMMU that translates is warned of") {
  CHECK(warned_of([](Findings& f) { f.gpus[0].iommu_domain = "DMA"; }) == "iommu");
  CHECK(warned_of([](Findings& f) { f.gpus[0].iommu_domain = "DMA-FQ"; }) == "iommu");
  CHECK(warned_of([](Findings& f) { f.gpus[0].iommu_domain = ""; }) == "");
}

TEST_CASE("a small limit of locked memory is warned of where there is a GPU") {
  CHECK(warned_of([](Findings& f) { f.locked_memory_limit = 8 << 20; }) == "locked_memory");
  CHECK(warned_of([](Findings& f) { f.locked_memory_limit = std::size_t(4) << 30; }) == "");
  CHECK(warned_of([](Findings& f) {
          f.with_cuda = false;
          f.gpus.clear();
          f.locked_memory_limit = 8 << 20;
        }) == "");
}

TEST_CASE("a container with less memory than the machine is warned of") {
  CHECK(warned_of([](Findings& f) { f.container_limit = std::size_t(16) << 30; }) ==
        "container_limit");
  CHECK(warned_of([](Findings& f) { f.container_limit = std::size_t(64) << 30; }) == "");
}

TEST_CASE("few of many cores are warned of") {
  CHECK(warned_of([](Findings& f) { f.cores_allowed = 1; }) == "few_cores");
  CHECK(warned_of([](Findings& f) { f.cores_allowed = 4; }) == "");
  // All that there are.
  CHECK(warned_of([](Findings& f) { f.cores_online = f.cores_allowed = 2; }) == "");
}

TEST_CASE("each GPU is warned of for itself") {
  CHECK(warned_of([](Findings& f) {
          f.gpus.push_back(f.gpus[0]);
          f.gpus[0].iommu_domain       = "DMA";
          f.gpus[1].rates->buffer_node = 0;
        }) == "iommu wrong_node");
}

TEST_CASE(
    "a warning tells that the number of ranks, by which the node's limit is divided, is unknown") {
  CHECK(warned_of([](Findings& f) { f.node_share = {64 << 20, 1, ""}; }) == "ranks_of_node");
  CHECK(warned_of([](Findings& f) { f.node_share = {64 << 20, 4, "MPI_LOCALNRANKS"}; }).empty());
}
