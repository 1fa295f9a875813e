// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Tables of the groups transport and idioms: a row for each operation and size, a column for each form.

#include "../plain/Platform.hpp"
#include "../support/Format.hpp"
#include "Groups.hpp"

#include <algorithm>
#include <map>
#include <ostream>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr char const* about_idioms = R"(
What codes do, in stock Kokkos with pageable memory, with CudaHostPinnedSpace, with pageable memory in a process
that kokkos_host_spaces_run adopts, and with this library. Times are medians of a run; gain: the best form by ours
that is not adopted, above 1 ours is faster.
)";

constexpr char const* about_triads = R"(
A triad on arrays of each size. pageable: HostSpace, copied to the device and back; pinned: PinnedSpace, copied
likewise; mapped: MappedSpace, used in place; stock: CudaHostPinnedSpace, likewise; resident: on the device already
(small arrays stay in its cache). Without a device all are used in place. Rate: bytes of all three arrays by time,
transfers included. Ratio: time of the same in plain CUDA or C++ by time of Kokkos; above 1 Kokkos is faster.
)";

struct Table {
  using Forms = std::map<std::string, Result>;
  std::vector<std::string> forms;
  std::vector<std::pair<std::string, Forms>> rows;

  void add(std::string const& row, std::string const& form, Result const& result) {
    if (std::ranges::find(forms, form) == forms.end()) forms.push_back(form);
    auto found = std::ranges::find(rows, row, &std::pair<std::string, Forms>::first);
    if (found == rows.end()) found = rows.insert(rows.end(), {row, {}});
    found->second[form] = result;
  }

  template <class Cell, class Tail>
  void write(std::ostream& out, char const* about, char const* heading, Cell cell,
             Tail tail) const {
    if (rows.empty()) return;
    out << about << format("\n%-36s", "");
    for (std::string const& form : forms) out << format("%20s", form.c_str());
    out << "    " << heading << '\n';
    for (auto const& [name, row] : rows) {
      out << format("%-36s", name.c_str());
      for (std::string const& form : forms)
        out << format("%20s", row.contains(form) ? cell(row.at(form)).c_str() : "-");
      out << "    " << tail(row) << '\n';
    }
  }

  std::string ratios(Forms const& row) const {
    std::string text;
    for (std::string const& form : forms)
      if (row.contains(form))
        text += format("%s%.2f", text.empty() ? "" : " / ", row.at(form).ratio);
    return text;
  }
};

std::string time_of(double seconds) {
  return seconds < 1e-3 ? format("%.1f us", seconds * 1e6) : format("%.2f ms", seconds * 1e3);
}

std::string time_and_gain(Table::Forms const& row) {
  double ours = 1e300, stock = 1e300;
  for (auto const& [form, result] : row) {
    ours = std::min(ours, result.seconds);
    if (form != "adopted") stock = std::min(stock, result.seconds * result.ratio);
  }
  return format("%12s", time_of(ours).c_str()) +
         (stock < 1e300 ? format("%8.1fx", stock / ours) : "        -");
}

}  // namespace

void write_summary(std::ostream& out, std::vector<Result> const& results) {
  Table idioms, triads;
  for (Result const& result : results) {
    std::vector<std::string> words;  // such as transport/triad/PinnedSpace/pinned/bytes:4096
    std::istringstream name = words_of(result.name);
    for (std::string word; std::getline(name, word, '/');) words.push_back(word);
    if (words.size() != 5) continue;
    std::string const size =
        words[4].starts_with("bytes:") ? size_name(std::stoul(words[4].substr(6))) : words[4];
    std::string const form = words[3].substr(words[3].find(':') + 1);
    if (words[0] == "idioms" && form != "own_copy" && form != "alone")
      idioms.add(words[1] + ", " + size, form, result);
    if (words[0] == "transport" && words[1] == "triad") triads.add(size, form, result);
  }
  idioms.write(
      out, about_idioms, "        ours     gain",
      [](Result const& one) { return time_of(one.seconds * one.ratio); }, time_and_gain);
  triads.write(
      out, about_triads, "ratios",
      [](Result const& one) { return format("%.1f GB/s", one.bytes / one.seconds * 1e-9); },
      [&](Table::Forms const& row) { return triads.ratios(row); });
}

}  // namespace KokkosHostSpaces::Perf
