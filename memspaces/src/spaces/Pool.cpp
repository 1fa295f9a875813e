// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Pool.hpp>

#include "../../../backend/Text.hpp"

#include <iomanip>

namespace KokkosHostSpaces {

namespace {

constexpr double MiB = 1 << 20;

char const* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::page_locked: return "page-locked";
    case MemoryKind::write_combined: return "write-combined";
  }
  return "unknown";
}

void text_row(std::ostream& out, std::string const& name, pool::Usage const& u) {
  out << std::left << std::setw(24) << name << std::right << std::fixed << std::setprecision(1);
  for (std::size_t bytes :
       {u.bytes_in_use, u.bytes_retired, u.bytes_cached, u.bytes_locked, u.bytes_high_water})
    out << std::setw(11) << double(bytes) / MiB;
  out << std::setw(10) << u.segments << std::setw(10) << u.hits << std::setw(8) << u.misses
      << std::setw(11) << std::setprecision(3) << u.seconds_locking << '\n';
}

}  // namespace

namespace pool {

std::string to_text(Statistics const& statistics) {
  Impl::Backend::OutText out;
  out << std::left << std::setw(24) << "pool, MiB" << std::right;
  for (char const* column : {"in use", "retired", "cached", "locked", "high water"})
    out << std::setw(11) << column;
  out << std::setw(10) << "segments" << std::setw(10) << "hits" << std::setw(8) << "misses"
      << std::setw(11) << "locking/s" << '\n';
  for (PoolUsage const& p : statistics.pools) {
    std::string const node = p.numa_node < 0 ? "any node" : "node " + std::to_string(p.numa_node);
    text_row(out, std::string(name_of(p.kind)) + ", " + node, p.usage);
  }
  text_row(out, "total", statistics.total);
  out << std::setprecision(1);
  for (SpaceUsage const& s : statistics.spaces)
    out << s.space << ": " << double(s.bytes_in_use) / MiB << " MiB in " << s.blocks << " blocks, "
        << s.allocations << " allocations so far\n";
  if (statistics.limit > 0) out << "limit: " << double(statistics.limit) / MiB << " MiB\n";
  NodeShare const& share = statistics.node_share;
  if (share.bytes > 0)
    out << "share of the node's limit: " << double(share.bytes) / MiB << " MiB for 1 of "
        << share.ranks << " ranks (" << (share.source.empty() ? "assumed" : share.source) << ")\n";
  if (statistics.bytes_node_shared > 0)
    out << "shared with the ranks of the node, this rank's part: "
        << double(statistics.bytes_node_shared) / MiB << " MiB\n";
  out << "registered segments: " << statistics.registered_segments << '\n';
  if (statistics.seconds_oldest_retired > 0)
    out << "oldest retired memory: " << statistics.seconds_oldest_retired << " s\n";
  return out.str();
}

}  // namespace pool

}  // namespace KokkosHostSpaces
