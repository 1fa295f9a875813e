// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A table of the group idioms: a row for each operation and size, a column for each form.

#include "../support/Format.hpp"
#include "Groups.hpp"

#include <algorithm>
#include <map>
#include <ostream>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr char const* about = R"(
What codes do, in stock Kokkos with pageable memory, with CudaHostPinnedSpace, with pageable memory in a process
that kokkos_host_spaces_run adopts, and with this library. Times are medians of a run; gain: the best form by ours
that is not adopted, above 1 ours is faster.

)";

using Forms = std::map<std::string, Result>;

std::string time_of(double seconds) {
  return seconds < 1e-3 ? format("%.1f us", seconds * 1e6) : format("%.2f ms", seconds * 1e3);
}

void write_row(std::ostream& out, std::vector<std::string> const& forms, std::string const& name,
               Forms const& row) {
  double ours = 1e300, stock = 1e300;
  out << format("%-36s", name.c_str());
  for (std::string const& form : forms) {
    auto const found = row.find(form);
    if (found == row.end()) {
      out << format("%20s", "-");
      continue;
    }
    auto const& result = found->second;
    out << format("%20s", time_of(result.seconds * result.ratio).c_str());
    ours = std::min(ours, result.seconds);
    if (form != "adopted") stock = std::min(stock, result.seconds * result.ratio);
  }
  out << format("    %12s", time_of(ours).c_str())
      << (stock < 1e300 ? format("%8.1fx\n", stock / ours) : "        -\n");
}

}  // namespace

void write_summary(std::ostream& out, std::vector<Result> const& results) {
  std::vector<std::string> forms;
  std::vector<std::pair<std::string, Forms>> rows;
  for (Result const& result : results) {
    std::vector<std::string> words;  // idioms/regridding/PinnedSpace/baseline:pageable/views:300
    std::istringstream name = words_of(result.name);
    for (std::string word; std::getline(name, word, '/');) words.push_back(word);
    if (words[0] != "idioms" || words.size() != 5) continue;
    std::string const form = words[3].substr(words[3].find(':') + 1);
    if (form == "own_copy" || form == "alone") continue;
    std::string const size =
        words[4].starts_with("bytes:") ? size_name(std::stoul(words[4].substr(6))) : words[4];
    std::string const row = words[1] + ", " + size;
    if (std::ranges::find(forms, form) == forms.end()) forms.push_back(form);
    if (rows.empty() || rows.back().first != row) rows.push_back({row, {}});
    rows.back().second[form] = result;
  }
  if (rows.empty()) return;
  out << about << format("%-36s", "");
  for (std::string const& form : forms) out << format("%20s", form.c_str());
  out << "            ours     gain\n";
  for (auto const& [name, row] : rows) write_row(out, forms, name, row);
}

}  // namespace KokkosHostSpaces::Perf
