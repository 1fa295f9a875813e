// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../plain/Platform.hpp"
#include "../../support/Format.hpp"
#include "../Groups.hpp"

#include <algorithm>
#include <map>
#include <ostream>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr char const* about_device = R"(
pageable: HostSpace, copied to the device and back; pinned: PinnedSpace, copied likewise; mapped:
MappedSpace, used in place; stock: CudaHostPinnedSpace, likewise; resident: on the device already (small arrays
stay in its cache).
Rate: bytes of all three arrays by time, transfers included. Ratio: time of the same in plain CUDA
by time of Kokkos; 1 is equally fast, above 1 Kokkos is faster.
)";

constexpr char const* about_host = R"(
There is no device: all three are host memory that is used in place, by the host's threads. Rate:
bytes of all three arrays by time. Ratio: time of a plain C++ loop on memory of malloc by time of
Kokkos.
)";

struct Table {
  std::vector<std::string> transports;
  std::map<std::size_t, std::map<std::string, Result>> rows;  // [bytes][transport]

  // Names are transport/<operation>/<space>/<transport>/bytes:<bytes>.
  void add(Result const& result) {
    std::size_t const number = result.name.rfind("/bytes:");
    std::size_t const word   = result.name.rfind('/', number - 1) + 1;
    if (number == std::string::npos || result.name.find(':') < number) return;  // another operation
    std::string const how = result.name.substr(word, number - word);
    if (std::ranges::find(transports, how) == transports.end()) transports.push_back(how);
    rows[std::stoul(result.name.substr(number + 7))][how] = result;
  }
};

}  // namespace

void write_transport_table(std::ostream& out, std::vector<Result> const& results) {
  Table table;
  for (Result const& result : results)
    if (result.name.starts_with("transport/")) table.add(result);
  if (table.rows.empty()) return;
  out << (baselines_use_cuda ? about_device : about_host) << format("\n%-18s", "triad, arrays of");
  for (std::string const& how : table.transports) out << format("%12s", how.c_str());
  out << "    ratios\n";
  for (auto const& [bytes, row] : table.rows) {
    out << format("%-18s", size_name(bytes).c_str());
    std::string ratios;
    for (std::string const& how : table.transports) {
      auto const found = row.find(how);
      if (found == row.end()) {
        out << format("%12s", "-");
        continue;
      }
      Result const& result = found->second;
      out << format("%7.1f GB/s", result.bytes / result.seconds * 1e-9);
      ratios += format("%s%.2f", ratios.empty() ? "" : " / ", result.ratio);
    }
    out << "    " << ratios << '\n';
  }
}

}  // namespace KokkosHostSpaces::Perf
