// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../perf/tools/info/Findings.hpp"
#include "../support/Tests.hpp"

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

using Change = void (*)(Findings&);

struct Case {
  char const *machine, *warnings;
  Change change;
};

void without_gpus(Findings& f) {
  f.with_cuda = false;
  f.gpus.clear();
}

void copies_at(Findings& f, double rate) {
  f.gpus[0].rates->to_device = f.gpus[0].rates->to_host = rate;
}

constexpr std::size_t GiB = std::size_t(1) << 30;

Case const cases[] = {
    {"nothing is wrong", "", [](Findings&) {}},
    {"it tells nothing", "", [](Findings& f) { f = Findings(); }},
    {"no GPU, with CUDA", "no_gpu", [](Findings& f) { f.gpus.clear(); }},
    {"no GPU, without CUDA", "", without_gpus},
    {"huge pages off", "huge_pages", [](Findings& f) { f.huge_pages = "never"; }},
    {"huge pages not wanted", "huge_pages", [](Findings& f) { f.huge_pages_asked = false; }},
    {"huge pages always", "", [](Findings& f) { f.huge_pages = "always"; }},
    {"huge pages not told", "", [](Findings& f) { f.huge_pages = ""; }},
    {"memory on a node far from the GPU", "wrong_node",
     [](Findings& f) { f.gpus[0].rates->buffer_node = 0; }},
    {"memory on several nodes, or not known", "",
     [](Findings& f) { f.gpus[0].rates->buffer_node = -1; }},
    {"a far node by the system's word, where hwloc knows no near one", "wrong_node",
     [](Findings& f) { f.gpus[0].near_node = -1, f.gpus[0].rates->buffer_node = 0; }},
    {"the near node is not known", "",
     [](Findings& f) {
       f.gpus[0].near_node = f.gpus[0].node = -1;
       f.gpus[0].rates->buffer_node         = 0;
     }},
    {"the near node is not allowed", "near_node_not_allowed",
     [](Findings& f) {
       f.nodes = {{0, 16}}, f.gpus[0].near_node = -1;
     }},
    {"nor measured", "near_node_not_allowed",
     [](Findings& f) {
       f.nodes             = {{0, 16}};
       f.gpus[0].near_node = -1;
       f.gpus[0].rates.reset();
     }},
    {"nodes not known", "",
     [](Findings& f) {
       f.nodes.clear();
       f.gpus[0].near_node = f.gpus[0].rates->buffer_node = -1;
     }},
    {"a slow link under load", "slow_link",
     [](Findings& f) {
       f.gpus[0].rates->link = {16, 16};
     }},
    {"a narrow link under load", "slow_link",
     [](Findings& f) {
       f.gpus[0].rates->link = {32, 8};
     }},
    {"a link that sleeps at rest", "",
     [](Findings& f) {
       f.gpus[0].link = {2.5, 16};
     }},
    {"a link not known under load", "", [](Findings& f) { f.gpus[0].rates->link = {}; }},
    {"a link of which the best is not known", "", [](Findings& f) { f.gpus[0].max_link = {}; }},
    {"copies far below the rate of the link", "slow_copies",
     [](Findings& f) { copies_at(f, 30e9); }},
    {"copies near the rate of the link", "", [](Findings& f) { copies_at(f, 45e9); }},
    {"data takes another way than PCIe", "",
     [](Findings& f) {
       f.gpus[0].rates->to_device = 350e9, f.gpus[0].rates->link = {2.5, 1};
     }},
    {"an IOMMU that translates", "iommu", [](Findings& f) { f.gpus[0].iommu_domain = "DMA"; }},
    {"the same, lazily", "iommu", [](Findings& f) { f.gpus[0].iommu_domain = "DMA-FQ"; }},
    {"an IOMMU not known", "", [](Findings& f) { f.gpus[0].iommu_domain = ""; }},
    {"little memory may be locked", "locked_memory",
     [](Findings& f) { f.locked_memory_limit = 8 << 20; }},
    {"much may be locked", "", [](Findings& f) { f.locked_memory_limit = 4 * GiB; }},
    {"little may be locked, without a GPU", "",
     [](Findings& f) { without_gpus(f), f.locked_memory_limit = 8 << 20; }},
    {"a container with less memory", "container_limit",
     [](Findings& f) { f.container_limit = 16 * GiB; }},
    {"a container with all memory", "", [](Findings& f) { f.container_limit = 64 * GiB; }},
    {"few of many cores", "few_cores", [](Findings& f) { f.cores_allowed = 1; }},
    {"some of many cores", "", [](Findings& f) { f.cores_allowed = 4; }},
    {"all of few cores", "", [](Findings& f) { f.cores_online = f.cores_allowed = 2; }},
    {"two GPUs, each with its own", "iommu wrong_node",
     [](Findings& f) {
       f.gpus.push_back(f.gpus[0]);
       f.gpus[0].iommu_domain       = "DMA";
       f.gpus[1].rates->buffer_node = 0;
     }},
    {"a node's limit that is not divided among ranks", "ranks_of_node",
     [](Findings& f) {
       f.node_share = {64 << 20, 1, ""};
     }},
    {"a node's limit that is divided", "", [](Findings& f) {
       f.node_share = {64 << 20, 4, "MPI_LOCALNRANKS"};
     }}};

}  // namespace

TEST_CASE("a machine is warned of what is wrong with it, each with a remedy, and of nothing else") {
  for (Case const& machine : cases) {
    CAPTURE(machine.machine);
    CHECK(warned_of(machine.change) == machine.warnings);
  }
}
