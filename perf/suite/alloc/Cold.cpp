// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Cold.hpp"

#include "../Groups.hpp"
#include "ChildProcess.hpp"
#include "Ways.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>

namespace KokkosHostSpaces::Perf {
namespace {

template <class Way>
ColdSample take_sample(Way const& way, std::size_t bytes, bool damage) {
  auto const begin     = Clock::now();
  auto const block     = way(bytes);
  double const seconds = seconds_since(begin);
  char* const data     = begin_of(block);
  return {seconds,
          is_page_locked_throughout(data, bytes) && keeps_its_ends(data, bytes, 'c', damage)};
}

void choose_by_name(AllocTwin& twin, std::string const& variant) {
  std::vector<std::string> const all = twin.variants();
  auto const found                   = std::ranges::find(all, variant);
  if (found != all.end()) twin.choose(int(found - all.begin()));
}

}  // namespace

void sample_cold_allocation(std::string const& what, std::ostream& out) {
  ColdCase wanted;
  bool damage = false;
  std::istringstream words(what);
  words >> wanted.bytes >> damage >> wanted.way;
  std::getline(words >> std::ws, wanted.variant);
  for_each_way([&](WayInfo const& info, auto const& way) {
    if (info.name != wanted.way) return;
    if (info.twin != nullptr) choose_by_name(*info.twin, wanted.variant);
    // A small one first: what a runtime or library does once is no part of the figure.
    take_sample(way, 4096, false);
    forget_kept_memory();
    ColdSample const sample = take_sample(way, wanted.bytes, damage);
    out << sample.seconds << ' ' << sample.verified << '\n';
  });
}

ColdSample sample_in_fresh_process(ColdCase const& what, bool damage) {
  std::ostringstream words;
  words << what.bytes << ' ' << damage << ' ' << what.way << ' ' << what.variant;
  std::vector<std::string> arguments = {"--in-fresh-process", words.str(),
                                        "--kokkos-disable-warnings"};
  // Two processes of one device; under MPI it is not the one that Kokkos would choose there.
  if (int const device = Kokkos::device_id(); device >= 0)
    arguments.push_back("--kokkos-device-id=" + std::to_string(device));
  std::string const output = run_again(arguments);
  ColdSample sample;
  if (!(std::istringstream(output) >> sample.seconds >> sample.verified))
    throw std::runtime_error("a process that measures an allocation wrote something else: " +
                             output);
  return sample;
}

}  // namespace KokkosHostSpaces::Perf
