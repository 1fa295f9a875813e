// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Cold.hpp"

#include "../ChildProcess.hpp"
#include "../Groups.hpp"
#include "Ways.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <stdexcept>

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

void choose_by_name(AllocBaseline& baseline, std::string const& variant) {
  std::vector<std::string> const all = baseline.variants();
  auto const found                   = std::ranges::find(all, variant);
  if (found != all.end()) baseline.choose(int(found - all.begin()));
}

}  // namespace

void sample_cold_allocation(std::string const& what, std::ostream& out) {
  ColdCase wanted;
  bool damage = false;
  std::istringstream words(what);
  words >> wanted.bytes >> damage >> wanted.way;
  std::getline(words >> std::ws, wanted.variant);
  ColdSample const sample = sample_from_empty_pool(wanted, damage);
  out << sample.seconds << ' ' << sample.verified << '\n';
}

ColdSample sample_from_empty_pool(ColdCase const& what, bool damage) {
  ColdSample sample{};
  for_each_way([&](WayInfo const& info, auto const& way) {
    if (info.name != what.way) return;
    if (info.baseline != nullptr) choose_by_name(*info.baseline, what.variant);
    // Allocate a small block first, so that the figure does not include initialisation.
    take_sample(way, 4096, false);
    forget_kept_memory();
    sample = take_sample(way, what.bytes, damage);
  });
  return sample;
}

ColdSample sample_in_fresh_process(ColdCase const& what, bool damage) {
  std::ostringstream words;
  words << "alloc " << what.bytes << ' ' << damage << ' ' << what.way << ' ' << what.variant;
  std::string const answer = ChildProcess(words.str(), Kokkos::device_id()).ask("sample");
  ColdSample sample;
  if (!(std::istringstream(answer) >> sample.seconds >> sample.verified))
    throw std::runtime_error("a process that measures an allocation wrote something else: " +
                             answer);
  return sample;
}

}  // namespace KokkosHostSpaces::Perf
