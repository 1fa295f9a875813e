// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Limits.hpp"

#include "../plain/Platform.hpp"
#include "../plain/PlainBuffer.hpp"
#include "../plain/Stopwatch.hpp"
#include "copy/CopyTwin.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace KokkosHostSpaces::Perf {
namespace {

class Links {
 public:
  explicit Links(Ranks const& ranks) : m_ranks(ranks) {
    // Memory of malloc that nobody has written is no memory so far.
    if (!twins_use_cuda) std::memset(m_device[1].get(), 1, bytes);
  }

  // Of `copies` blocks that `enqueue` copies. The best of some, but of the slowest rank: a limit is
  // what all of them can do together.
  double rate(int copies, Stopwatch::Work const& enqueue) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 6; ++i) {  // the first one wakes the link up
      m_ranks.barrier();
      least = std::min(least, m_ranks.greatest(m_stopwatch.time_queued_on_both(enqueue)));
    }
    return double(copies) * double(m_ranks.size()) * double(bytes) / least;
  }

  void to_device() { copy(m_device[0], m_host[0], m_stopwatch.stream()); }
  void to_host() { copy(m_host[1], m_device[1], m_stopwatch.other_stream()); }
  void on_device() { copy(m_device[0], m_device[1], m_stopwatch.stream()); }

 private:
  void copy(PlainBuffer const& to, PlainBuffer const& from, Stream stream) const {
    make_copy_twin({CopyLayout::contiguous, 1, bytes / sizeof(double)}, CopyDirection::to_device,
                   stream)
        ->enqueue(static_cast<double*>(to.get()), static_cast<double const*>(from.get()));
  }

  // As nvbandwidth.
  std::size_t const bytes = std::size_t(twins_use_cuda ? 512 : 64) << 20;

  Ranks const& m_ranks;
  Stopwatch m_stopwatch;
  PlainBuffer m_host[2]   = {make_plain_buffer(PlainKind::pinned, bytes),
                             make_plain_buffer(PlainKind::pinned, bytes)};
  PlainBuffer m_device[2] = {make_plain_buffer(PlainKind::device, bytes),
                             make_plain_buffer(PlainKind::device, bytes)};
};

}  // namespace

std::vector<Limit> measure_limits(Ranks const& ranks) {
  Links links(ranks);
  // A copy on the device reads and writes its memory.
  double const on_device = links.rate(2, [&] { links.on_device(); });
  if (!twins_use_cuda) return {{"host_memory", on_device}};
  double const to_device = links.rate(1, [&] { links.to_device(); });
  double const to_host   = links.rate(1, [&] { links.to_host(); });
  double const both      = links.rate(2, [&] {
    links.to_device();
    links.to_host();
  });
  return {
      {"to_device", to_device}, {"to_host", to_host}, {"both", both}, {"device_memory", on_device}};
}

}  // namespace KokkosHostSpaces::Perf
