// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Pool.hpp>

#include "../../../backend/Json.hpp"

#include <iomanip>

namespace KokkosHostSpaces {

namespace {

using Impl::Backend::Json;

constexpr double MiB = 1 << 20;

char const* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::page_locked: return "page-locked";
    case MemoryKind::write_combined: return "write-combined";
  }
  return "unknown";
}

void json_fields(Json& json, pool::Usage const& u) {
  json.value("bytes_locked", u.bytes_locked);
  json.value("bytes_in_use", u.bytes_in_use);
  json.value("bytes_asked", u.bytes_asked);
  json.value("bytes_retired", u.bytes_retired);
  json.value("bytes_cached", u.bytes_cached);
  json.value("bytes_high_water", u.bytes_high_water);
  json.value("segments", u.segments);
  json.value("hits", u.hits);
  json.value("misses", u.misses);
  json.value("seconds_locking", u.seconds_locking);
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

std::string to_json(Statistics const& statistics) {
  Impl::Backend::OutText out;
  Json json(out, ", ");  // one line, for logs
  json.open('{');
  json.open('{', "total");
  json_fields(json, statistics.total);
  json.close('}');
  json.value("limit", statistics.limit);
  json.open('{', "node_share");
  json.value("bytes", statistics.node_share.bytes);
  json.value("ranks", statistics.node_share.ranks);
  json.value("source", statistics.node_share.source);
  json.close('}');
  json.value("bytes_node_shared", statistics.bytes_node_shared);
  json.value("registered_segments", statistics.registered_segments);
  json.value("seconds_oldest_retired", statistics.seconds_oldest_retired);
  json.open('[', "pools");
  for (PoolUsage const& p : statistics.pools) {
    json.open('{');
    json.value("kind", name_of(p.kind));
    json.value("numa_node", p.numa_node);
    json_fields(json, p.usage);
    json.close('}');
  }
  json.close(']');
  json.open('[', "spaces");
  for (SpaceUsage const& s : statistics.spaces) {
    json.open('{');
    json.value("space", s.space);
    json.value("bytes_in_use", s.bytes_in_use);
    json.value("bytes_asked", s.bytes_asked);
    json.value("blocks", s.blocks);
    json.value("allocations", s.allocations);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return out.str();
}

}  // namespace pool

}  // namespace KokkosHostSpaces
