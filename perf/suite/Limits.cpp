// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Context.hpp"

#include "../../backend/LinkProbe.hpp"
#include "../plain/Platform.hpp"
#include "../plain/PlainBuffer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace KokkosHostSpaces::Perf {
namespace {

// The size that nvbandwidth uses. A quick run's block takes 2 ms: its rate is within a percent.
constexpr std::size_t large_block = std::size_t(512) << 20, quick_block = large_block / 4;

void add_links(std::vector<int> const& devices, std::string const& prefix, std::size_t block,
               Ranks const& ranks, std::vector<Limit>& limits) {
  std::vector<PlainBuffer> host;
  std::vector<Impl::Backend::LinkProbe::Link> links;
  for (int const device : devices) {
    host.push_back(make_plain_buffer(PlainKind::pinned, 2 * block));
    links.push_back({device, host.back().get()});
  }
  Impl::Backend::LinkProbe probe(links, block);
  auto const add = [&](std::string const& name, Impl::Backend::LinkMix mix) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 8; ++i) {  // the first round wakes the links up
      ranks.barrier();
      least = std::min(least, ranks.greatest(probe.seconds(mix)));
    }
    limits.push_back({prefix + name, probe.bytes(mix) / least * ranks.size()});
  };
  add("to_device", {1, 0});
  add("to_host", {0, 1});
  add("both", {1, 1});
  add("two_to_one", {2, 1});
}

}  // namespace

std::vector<Limit> measure_limits(Ranks const& ranks, bool quick, bool of_all_devices) {
  std::size_t const block = quick ? quick_block : large_block;
  if (!baselines_use_cuda) return {};
  std::vector<Limit> limits;
  add_links({current_device()}, "", block, ranks, limits);
  int const devices = int(list_devices().size());
  if (of_all_devices && ranks.size() == 1 && devices > 1) {
    std::vector<int> all(static_cast<std::size_t>(devices));
    std::iota(all.begin(), all.end(), 0);
    add_links(all, "all_", block, ranks, limits);
  }
  return limits;
}

}  // namespace KokkosHostSpaces::Perf
