// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../support/Format.hpp"
#include "../Groups.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Perf {
namespace {

// The codes in whose public sources an idiom was seen.
std::map<std::string, char const*> const codes = {
    {"dual_view_sync", "SPARTA, LAMMPS"},       {"bounce_buffer", "LAMMPS atom_vec"},
    {"bounce_buffer_grows", "LAMMPS atom_vec"}, {"exchange_buffers", "SPARTA irregular"},
    {"output_blocks", "AthenaK output"},        {"regridding", "Parthenon, AMReX"},
    {"output_each_step", "Parthenon, SeisSol"}, {"run_beside_output", "Parthenon, SeisSol"},
    {"blocked_by_output", "Parthenon, SeisSol"}};

struct Row {
  std::string operation, size;
  double ours = 0, pageable = 0, pinned = 0, adopted = 0;
};

std::string time_of(double seconds) {
  if (seconds == 0) return "-";
  return seconds < 1e-3 ? format("%.1f us", seconds * 1e6) : format("%.2f ms", seconds * 1e3);
}

// Names are idioms/<operation>/PinnedSpace/baseline:<stock>/<key>:<number>. Other baselines have no
// column.
void add(std::vector<Row>& rows, Result const& result) {
  std::map<std::string, double Row::*> const columns = {{"pageable", &Row::pageable},
                                                        {"CudaHostPinnedSpace", &Row::pinned},
                                                        {"adopted", &Row::adopted}};
  std::size_t const at                               = result.name.find("/baseline:") + 10;
  auto const column = columns.find(result.name.substr(at, result.name.find('/', at) - at));
  if (column == columns.end()) return;
  std::size_t const end       = result.name.find('/', 7);
  std::size_t const last      = result.name.rfind('/') + 1;
  std::string const operation = result.name.substr(7, end - 7), number = result.name.substr(last);
  std::string const size =
      number.starts_with("bytes:") ? size_name(std::stoul(number.substr(6))) : number;
  auto found = std::ranges::find_if(
      rows, [&](Row const& row) { return row.operation == operation && row.size == size; });
  if (found == rows.end()) found = rows.insert(rows.end(), {operation, size});
  (*found).*column->second = result.seconds * result.ratio;
  found->ours = found->ours == 0 ? result.seconds : std::min(found->ours, result.seconds);
}

}  // namespace

void write_idioms_table(std::ostream& out, std::vector<Result> const& results) {
  std::vector<Row> rows;
  for (Result const& result : results)
    if (result.name.starts_with("idioms/")) add(rows, result);
  if (rows.empty()) return;
  out << R"(
What codes do, in stock Kokkos with pageable memory, with CudaHostPinnedSpace, with pageable memory in a process
that kokkos_host_spaces_run adopts, and with this library. Times are medians of a run; gain: the best form by ours
that is not adopted, above 1 ours is faster.

)"
      << format("%-21s%-19s%13s%13s%13s%13s%13s%8s\n", "idiom", "code", "size", "pageable",
                "pinned", "adopted", "ours", "gain");
  for (Row const& row : rows) {
    double const best = row.pinned == 0     ? row.pageable
                        : row.pageable == 0 ? row.pinned
                                            : std::min(row.pageable, row.pinned);
    auto const code   = codes.find(row.operation);
    out << format("%-21s%-19s%13s%13s%13s%13s%13s%8s\n", row.operation.c_str(),
                  code == codes.end() ? "" : code->second, row.size.c_str(),
                  time_of(row.pageable).c_str(), time_of(row.pinned).c_str(),
                  time_of(row.adopted).c_str(), time_of(row.ours).c_str(),
                  best == 0 ? "-" : format("%.1fx", best / row.ours).c_str());
  }
}

}  // namespace KokkosHostSpaces::Perf
