// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Findings.hpp"

#include "../../support/Format.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>

namespace KokkosHostSpaces::Audit {
namespace {

using Perf::format;

std::string or_dash(std::optional<double> value, char const* pattern, double unit = 1) {
  return value ? format(pattern, *value / unit) : "-";
}

std::string right(std::string const& text, int width) {
  return format(" %*s", width - 1, text.c_str());
}

std::string line_of(Row const& row) {
  Pair const& pair = row.pair;
  std::string why;
  for (Finding const& finding : row.findings)
    why.append(why.empty() ? ": " : ", ").append(name_of(finding.reason));
  return right(format("%.4f", row.seconds), 10) + right(std::to_string(pair.copies()), 10) +
         right(Perf::size_name(pair.bytes()), 11) + right(std::to_string(pair.blocked.count), 10) +
         right(format("%.4f", pair.seconds()), 10) + right(or_dash(row.rate, "%.2f", 1e9), 8) +
         right(or_dash(row.share, "%.2f"), 6) + "  " + arrow(pair) + why + "\n";
}

// The text of each of the first `most`, and how many are left out.
template <class T, class TextOf>
std::string list_of(std::vector<T> const& all, std::size_t most, TextOf text_of) {
  std::string text;
  for (std::size_t i = 0; i != std::min(most, all.size()); ++i) text += text_of(i + 1, all[i]);
  if (all.size() > most)
    text += format("     and %zu more: all are in the file that KOKKOS_HOST_SPACES_AUDIT names\n",
                   all.size() - most);
  return text;
}

std::string memory_advice(Allocations::Result const& memory, std::size_t most) {
  std::string text;
  if (std::uint64_t const locked = memory.most_page_locked; locked > 0)
    text += "Page-locked at once: at most " + Perf::size_name(locked) +
            "; reserve it at the start (khs::pool::reserve), and set no " +
            format("KOKKOS_HOST_SPACES_POOL_LIMIT below %.0fM\n",
                   std::ceil(2.5 * double(locked) / (1 << 20)));
  if (memory.remade.empty()) return text;
  text += "Made and freed again and again; PinnedSpace keeps the memory for the next one:\n";
  return text + list_of(memory.remade, most, [](std::size_t, Allocations::Remade const& view) {
           return right(std::to_string(view.made), 10) + " times" +
                  right(Perf::size_name(view.bytes), 11) + " in all  " + quoted(view.label) + " (" +
                  shown(view.space) + ")\n";
         });
}

std::string advice_of(Findings const& findings, double run_seconds, std::size_t most) {
  if (findings.advice.empty()) return findings.memory.remade.empty() ? "Nothing to mend.\n" : "";
  return "To mend, with the time that it spares at most:\n" +
         list_of(findings.advice, most, [=](std::size_t number, Advice const& advice) {
           return format("%3zu. ", number) + advice.text +
                  format(": %.3g s of %.3g s\n", advice.seconds, run_seconds);
         });
}

}  // namespace

std::string table_of(Findings const& findings, Process const& process, double run_seconds,
                     bool all) {
  std::size_t const most_rows = all ? SIZE_MAX : 30, most_advice = all ? SIZE_MAX : 10;
  std::string text = "Kokkos copy audit, " + shown(process.name()) +
                     format(": %.3g s, of these %.3g s in copies (%llu), to spare at most %.3g s\n",
                            run_seconds, findings.seconds_in_calls,
                            static_cast<unsigned long long>(findings.copies), findings.seconds);
  if (!findings.rows.empty())
    text += right("to spare s", 10) + right("copies", 10) + right("amount", 11) +
            right("waited for", 11) + right("calls s", 9) + right("GB/s", 8) + right("link", 6) +
            "  destination <- source: why not asynchronous\n";
  text +=
      list_of(findings.rows, most_rows, [](std::size_t, Row const& row) { return line_of(row); });
  Link const& link = findings.link;
  if (link[to_device] > 0 || link[to_host] > 0)
    text += format(
        "The link carries %.1f GB/s to the device, %.1f to the host (the best that large "
        "copies reached here; the link may carry more)\n",
        link[to_device] / 1e9, link[to_host] / 1e9);
  text +=
      advice_of(findings, run_seconds, most_advice) + memory_advice(findings.memory, most_advice);
  if (!findings.has_device && findings.copies > 0)
    text += "No device was used: which copies wait for one, a run on a GPU tells.\n";
  if (all && process.is_one_of_several())
    for (std::string const& table : findings.memory.tables) text += table + "\n";
  return text;
}

// Each rank writes its file before it reads the others', so that the last one sees all.
std::string advice_to_share(std::set<std::string> const& tables, std::string const& file,
                            Process process, double seconds) {
  if (!process.is_one_of_several() || tables.empty()) return "";
  constexpr int most_ranks = 64;
  using Time               = std::filesystem::file_time_type;
  // Clocks of file systems may be coarse.
  Time const begin = Time::clock::now() - std::chrono::seconds(long(seconds) + 2);
  std::map<std::string, int> holders;
  for (int rank = 0; rank != most_ranks; ++rank) {
    process.rank = std::to_string(rank);
    std::error_code none;
    if (std::filesystem::last_write_time(file_of(file, process), none) < begin) continue;
    std::ifstream in(file_of(file, process));
    std::string line;
    if (!std::getline(in, line) || line.find(" on " + shown(process.host) + ":") == line.npos)
      continue;
    while (std::getline(in, line))
      if (tables.contains(line)) ++holders[line];
  }
  std::string text;
  for (auto const& [table, ranks] : holders)
    if (ranks > 1)
      text += "To share by khs::NodeShared, if only read, " + std::to_string(ranks) +
              " ranks have: " + table + "\n";
  return text;
}

}  // namespace KokkosHostSpaces::Audit
