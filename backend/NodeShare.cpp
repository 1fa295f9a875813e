// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "NodeShare.hpp"

#include "Text.hpp"
#include "os/MemoryLimit.hpp"
#include "os/Pages.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constexpr int any = INT_MAX;

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

// Reads Slurm's list of the tasks of nodes: "4(x2),3" are 4, 4 and 3. Returns the tasks of one node;
// the most of a node if it is not in the list, for then shares are rather too small.
std::optional<int> tasks_of_node(std::string_view list, std::optional<int> node) {
  int most        = 0;
  long long first = 0;
  std::optional<int> of_this;
  do {
    auto const tasks    = take_number(list, 1, any);
    bool const repeated = take(list, "(x");
    auto const nodes    = repeated ? take_number(list, 1, any) : std::optional(1);
    if (!tasks || !nodes || (repeated && !take(list, ")"))) return std::nullopt;
    most = std::max(most, *tasks);
    if (node && *node >= first && *node - first < *nodes) of_this = tasks;
    first += *nodes;
  } while (take(list, ","));
  if (!list.empty()) return std::nullopt;
  return of_this ? of_this : most;
}

constexpr char const* flux = "FLUX_JOB_SIZE";

// Reads what the launcher says; passes over a value that makes no sense.
std::optional<int> ranks_by(std::string const& variable, Lookup const& lookup) {
  auto const value = lookup(variable);
  if (!value) return std::nullopt;
  std::optional<int> node;
  if (auto const id = variable.starts_with("SLURM_") ? lookup("SLURM_NODEID") : std::nullopt) {
    std::string_view text = *id;
    node                  = take_number(text, 0, any);
  }
  return tasks_of_node(*value, node);
}

// Flux tells tasks and nodes of the job: as many as the fullest node has, if they are spread evenly.
std::optional<int> ranks_by_flux(Lookup const& lookup) {
  auto const number = [&](char const* variable) {
    auto const value      = lookup(variable);
    std::string_view text = value ? std::string_view(*value) : std::string_view();
    auto const taken      = take_number(text, 1, any);
    return text.empty() ? taken : std::nullopt;
  };
  auto const tasks = number("FLUX_JOB_SIZE");
  auto const nodes = number("FLUX_JOB_NNODES");
  if (!tasks || !nodes) return std::nullopt;
  return *tasks / *nodes + (*tasks % *nodes > 0 ? 1 : 0);
}

}  // namespace

pool::NodeShare share_of_node(Config const& config, Lookup const& lookup, std::size_t node_memory) {
  pool::NodeShare share;
  if (config.node_ranks > 0) {
    share.ranks  = config.node_ranks;
    share.source = "KOKKOS_HOST_SPACES_NODE_RANKS";
  }
  // Slurm comes last: other launchers run within its jobs.
  for (char const* const variable :
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
        "PALS_LOCAL_SIZE", "PMI_LOCAL_SIZE", flux, "SLURM_STEP_TASKS_PER_NODE",
        "SLURM_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE"}) {
    if (!share.source.empty()) break;
    auto const ranks = variable == flux ? ranks_by_flux(lookup) : ranks_by(variable, lookup);
    if (!ranks) continue;
    share.ranks  = *ranks;
    share.source = variable;
  }
  auto const [bytes, percent] = config.node_limit;
  std::size_t const of_node   = percent > 0 ? node_memory / 100 * std::size_t(percent) : bytes;
  if (of_node > 0) share.bytes = std::max(of_node / std::size_t(share.ranks), std::size_t(1));
  return share;
}

pool::NodeShare share_of_node() {
  std::size_t const memory =
      config().node_limit.percent > 0 ? std::min(physical_memory(), memory_of_cgroups().limit) : 0;
  return share_of_node(config(), environment_variable, memory);
}

void tell_if_assumed(pool::NodeShare const& share) noexcept {
  static std::atomic<bool> told{false};
  if (share.bytes == 0 || !share.source.empty() || told.exchange(true)) return;
  std::fputs(
      "KokkosHostSpaces: KOKKOS_HOST_SPACES_NODE_LIMIT is not divided (no launcher tells how many "
      "ranks share the node, so each may have all of it): set KOKKOS_HOST_SPACES_NODE_RANKS\n",
      stderr);
}

std::size_t bounded_by(pool::NodeShare const& share, std::size_t limit) noexcept {
  return limit == 0 || share.bytes == 0 ? std::max(limit, share.bytes)
                                        : std::min(limit, share.bytes);
}

bool decides(pool::NodeShare const& share, std::size_t limit) noexcept {
  return share.bytes > 0 && limit == share.bytes;
}

std::string ranks_in_words(pool::NodeShare const& share) {
  return "1 of " + std::to_string(share.ranks) + (share.ranks == 1 ? " rank (" : " ranks (") +
         (share.source.empty() ? "assumed: set KOKKOS_HOST_SPACES_NODE_RANKS" : share.source) + ")";
}

}  // namespace KokkosHostSpaces::Impl::Backend
