// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Findings.hpp"

#include "../../support/Format.hpp"
#include "../../../backend/Json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace KokkosHostSpaces::Audit {
namespace {

using Impl::Backend::Json;
using Perf::format;

constexpr std::size_t most_rows = 30, most_advice = 10;

std::string or_dash(std::optional<double> value, char const* pattern, double unit = 1) {
  return value ? format(pattern, *value / unit) : "–";
}

// Pads by characters, where printf counts bytes.
std::string right(std::string const& text, std::size_t width) {
  auto const characters = std::size_t(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned>(c) & 0xc0) != 0x80; }));
  return std::string(width > characters ? width - characters : 1, ' ') + text;
}

std::string line_of(Row const& row) {
  Pair const& pair = row.pair;
  std::string why;
  for (Finding const& finding : row.findings)
    why.append(why.empty() ? ": " : ", ").append(name_of(finding.reason));
  return right(format("%.4f", row.seconds), 10) + right(std::to_string(pair.copies()), 10) +
         right(Perf::size_name(pair.bytes()), 11) + right(std::to_string(pair.blocked), 10) +
         right(format("%.4f", pair.seconds()), 10) + right(or_dash(row.rate, "%.2f", 1e9), 8) +
         right(or_dash(row.share, "%.2f"), 6) + "  " + arrow(pair) + why + "\n";
}

std::string memory_advice(Allocations::Result const& memory) {
  std::string text;
  if (std::uint64_t const most = memory.most_page_locked; most > 0)
    text += "Page-locked at once: at most " + Perf::size_name(most) +
            "; reserve it at the start (khs::pool::reserve), and set no " +
            format("KOKKOS_HOST_SPACES_POOL_LIMIT below %.0fM\n",
                   std::ceil(2.5 * double(most) / (1 << 20)));
  if (memory.remade.empty()) return text;
  text += "Made and freed again and again; PinnedSpace keeps the memory for the next one:\n";
  std::size_t const shown_ones = std::min(most_advice, memory.remade.size());
  for (std::size_t i = 0; i != shown_ones; ++i) {
    Allocations::Remade const& view = memory.remade[i];
    text += right(std::to_string(view.made), 10) + " times" +
            right(Perf::size_name(view.bytes), 11) + " in all  " + quoted(view.label) + " (" +
            shown(view.space) + ")\n";
  }
  if (memory.remade.size() > shown_ones)
    text += format("     and %zu more\n", memory.remade.size() - shown_ones);
  return text;
}

std::string advice_of(Findings const& findings, double run_seconds) {
  if (findings.advice.empty()) return findings.memory.remade.empty() ? "Nothing to mend.\n" : "";
  std::string text             = "To mend, with the time that it spares at most:\n";
  std::size_t const shown_ones = std::min(most_advice, findings.advice.size());
  for (std::size_t i = 0; i != shown_ones; ++i) {
    Advice const& advice = findings.advice[i];
    text += format("%3zu. ", i + 1) + advice.text +
            format(": %.3g s of %.3g s\n", advice.seconds, run_seconds);
  }
  if (findings.advice.size() > shown_ones)
    text += format("     and %zu more\n", findings.advice.size() - shown_ones);
  return text;
}

void write_side(Json& json, char const* key, Pair::Side const& side) {
  json.open('{', key);
  json.value("label", as_utf8(side.label));
  json.value("space", as_utf8(side.space));
  json.close('}');
}

void write_or_null(Json& json, char const* key, std::optional<double> value) {
  json.value(key, value.value_or(std::numeric_limits<double>::infinity()));
}

std::optional<double> number_of(std::string const& digits) {
  return digits.empty() ? std::nullopt : std::optional<double>(double(std::stoull(digits)));
}

void write_row(Json& json, Row const& row) {
  json.open('{');
  write_side(json, "destination", row.pair.to);
  write_side(json, "source", row.pair.from);
  json.value("copies", row.pair.copies());
  json.value("bytes", row.pair.bytes());
  json.value("seconds_in_calls", row.pair.seconds());
  json.value("blocked", row.pair.blocked);
  json.value("blocked_bytes", row.pair.blocked_bytes);
  json.value("blocked_seconds", row.pair.blocked_seconds);
  write_or_null(json, "blocked_bytes_per_second", row.rate);
  write_or_null(json, "share_of_link", row.share);
  json.value("seconds_to_spare", row.seconds);
  json.open('[', "findings");
  for (Finding const& finding : row.findings) {
    json.open('{');
    json.value("reason", name_of(finding.reason));
    json.value("copies", finding.copies);
    json.value("seconds_to_spare", finding.seconds);
    json.close('}');
  }
  json.close(']');
  json.close('}');
}

void write_memory(Json& json, Allocations::Result const& memory) {
  json.value("most_page_locked_bytes", memory.most_page_locked);
  json.open('[', "made_again");
  for (Allocations::Remade const& view : memory.remade) {
    json.open('{');
    json.value("label", as_utf8(view.label));
    json.value("space", as_utf8(view.space));
    json.value("made", view.made);
    json.value("freed", view.freed);
    json.value("bytes", view.bytes);
    json.close('}');
  }
  json.close(']');
}

void write_link(Json& json, Link const& link) {
  json.open('{', "link");
  json.value("to_device_bytes_per_second", link.rate[to_device]);
  json.value("to_host_bytes_per_second", link.rate[to_host]);
  json.value("source", as_utf8(link.source));
  json.close('}');
}

}  // namespace

std::string table_of(Findings const& findings, Process const& process, double run_seconds) {
  std::string text = "Kokkos copy audit, " + shown(process.name()) +
                     format(": %.3g s, of these %.3g s in copies (%llu), to spare at most %.3g s\n",
                            run_seconds, findings.seconds_in_calls,
                            static_cast<unsigned long long>(findings.copies), findings.seconds);
  if (!findings.rows.empty())
    text += right("to spare s", 10) + right("copies", 10) + right("amount", 11) +
            right("waited for", 11) + right("calls s", 9) + right("GB/s", 8) + right("link", 6) +
            "  destination <- source: why not asynchronous\n";
  std::size_t const shown_ones = std::min(most_rows, findings.rows.size());
  for (std::size_t i = 0; i != shown_ones; ++i) text += line_of(findings.rows[i]);
  if (findings.rows.size() > shown_ones)
    text += format("and %zu more: all are in the file that KOKKOS_HOST_SPACES_AUDIT names\n",
                   findings.rows.size() - shown_ones);
  Link const& link = findings.link;
  if (!link.source.empty())
    text += format("The link carries %.1f GB/s to the device, %.1f to the host (",
                   link.rate[to_device] / 1e9, link.rate[to_host] / 1e9) +
            shown(link.source) + ")\n";
  text += advice_of(findings, run_seconds) + memory_advice(findings.memory);
  if (!findings.has_device && findings.copies > 0)
    text += "No device was used: which copies wait for one, a run on a GPU tells.\n";
  return text;
}

std::string json_of(Findings const& findings, Process const& process, double run_seconds) {
  Impl::Backend::OutText out;
  Json json(out);
  json.open('{');
  json.value("version", 1);
  json.value("host", as_utf8(process.host));
  json.value("process", process.id);
  write_or_null(json, "rank", number_of(process.rank));
  write_or_null(json, "ranks", number_of(process.size));
  json.value("run_seconds", run_seconds);
  json.value("seconds_in_calls", findings.seconds_in_calls);
  json.value("seconds_to_spare", findings.seconds);
  json.value("copies", findings.copies);
  write_link(json, findings.link);
  write_memory(json, findings.memory);
  json.open('[', "pairs");
  for (Row const& row : findings.rows) write_row(json, row);
  json.close(']');
  json.open('[', "advice");
  for (Advice const& advice : findings.advice) {
    json.open('{');
    json.value("text", advice.text);
    json.value("seconds_to_spare", advice.seconds);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  out << '\n';
  return out.str();
}

}  // namespace KokkosHostSpaces::Audit
