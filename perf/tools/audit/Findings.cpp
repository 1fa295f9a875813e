// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Findings.hpp"

#include <algorithm>
#include <map>

namespace KokkosHostSpaces::Audit {
namespace {

bool is_tiny_loop(Pair const& pair) {
  bool const of_device_only = pair.is_fill() && pair.to.memory != Memory::device;
  return !of_device_only && pair.calls[Pair::tiny].count >= tiny_loop;
}

// Seconds of the smallest copy that the host waits for.
constexpr double fixed_seconds = 10e-6;

// Number of copies from which on a View may be a message: one in each of a few steps.
constexpr std::uint64_t often_sent = 10;

// Seconds by which copies of pageable memory exceed the time that the link needs.
double too_slow(Pair const& pair, Copies const& waiting, Link const& link) {
  Direction const direction = pair.direction();
  if (!pair.is_pageable() || direction == directions || link[direction] <= 0) return 0;
  double const fixed = fixed_seconds * double(waiting.count);
  return std::max(0., waiting.seconds - fixed - double(waiting.timed_bytes) / link[direction]);
}

// Seconds of all calls except one.
double spared_by_one_copy(Pair const& pair) {
  auto const& calls = pair.calls[Pair::tiny];
  double waited     = 0;
  for (auto const& waiting : pair.waiting[Pair::tiny]) waited += waiting.seconds;
  return std::max(waited, calls.seconds) * double(calls.count - 1) / double(calls.count);
}

std::vector<Finding> findings_of(Pair const& pair, Link const& link) {
  std::array<Finding, reasons> found{};
  for (int r = 0; r != reasons; ++r) found[std::size_t(r)].reason = Reason(r);
  bool const loop = is_tiny_loop(pair);
  for (auto const size : {Pair::larger, Pair::tiny}) {
    bool const counted_as_tiny = size == Pair::tiny && loop;
    for (int r = 0; r != reasons; ++r) {
      auto const& waiting = pair.waiting[size][std::size_t(r)];
      if (waiting.copies.count == 0) continue;
      double const slow = r == pageable || r == host_to_host
                              ? 0
                              : std::min(too_slow(pair, waiting.copies, link), waiting.seconds);
      found[std::size_t(r)].copies += waiting.copies.count;
      if (pair.is_pageable() && pair.direction() != directions && r != pageable &&
          waiting.copies.timed_bytes > 0)
        found[pageable].copies += waiting.copies.count;
      if (counted_as_tiny) continue;
      found[std::size_t(r)].seconds += waiting.seconds - slow;
      found[pageable].seconds += slow;
    }
  }
  if (loop) {
    found[tiny_copies].copies  = pair.calls[Pair::tiny].count;
    found[tiny_copies].seconds = spared_by_one_copy(pair);
  }
  std::vector<Finding> result;
  for (Finding const& finding : found)
    if (finding.copies > 0) result.push_back(finding);
  std::ranges::stable_sort(result, std::greater(), &Finding::seconds);
  return result;
}

Pair::Side const& device_side(Pair const& pair) {
  return pair.to.memory == Memory::device ? pair.to : pair.from;
}

std::string advice_for(Pair const& pair, Reason reason) {
  std::string const both = arrow(pair);
  switch (reason) {
    case tiny_copies:
      if (pair.is_fill()) return both + ": set it in a kernel, not by one deep_copy after another";
      if (pair.to.is_value() && is_host(pair.from.memory))
        return "read " + quoted(pair.from.label) + " itself, which is host memory";
      if (pair.to.is_value())
        return "read " + quoted(pair.from.label) +
               " less often, or on an instance into a View in PinnedSpace";
      return both + ": gather these tiny copies into one";
    case pageable:
      if (pair.of_dual_view)
        return "make the DualView " + quoted(device_side(pair).label) + " a PinnedDualView";
      if (pair.to.is_value())
        return "copy " + quoted(pair.from.label) + " to a View in PinnedSpace, not to a variable";
      return "put " + quoted(pair.to.memory == Memory::pageable ? pair.to.label : pair.from.label) +
             " into PinnedSpace" +
             (pair.copies() >= often_sent && this_process().is_one_of_several()
                  ? " (if it is a message: khs::exchange)"
                  : "");
    case host_to_host:
      if (pair.is_within_label()) return both + ": host memory of one label: read it where it lies";
      return both + ": both are host memory: let one do for both";
    case host_instance: return both + ": copy on an instance of the device, not of the host";
    case instance_fence:
      if (pair.is_fill()) return both + ": fill it on an instance that reaches it";
      return both + ": give both the same layout, or one of them a space of Kokkos Host Spaces";
    case device_fence:
      if (pair.of_dual_view)
        return "sync the DualView " + quoted(device_side(pair).label) +
               " on an instance, and fence that instance alone, where data is used";
      return both + ": deep_copy(instance, ...), and fence that instance alone, where data is used";
    case reasons: break;
  }
  return both;
}

Row row_of(Pair const& pair, Link const& link) {
  Row row;
  row.pair     = pair;
  row.findings = findings_of(pair, link);
  for (Finding const& finding : row.findings) row.seconds += finding.seconds;
  if (double const rate = pair.blocked.rate(); rate > 0) row.rate = rate;
  Direction const direction = pair.direction();
  if (row.rate && direction != directions && link[direction] > 0)
    row.share = *row.rate / link[direction];
  return row;
}

}  // namespace

char const* name_of(Reason reason) {
  switch (reason) {
    case tiny_copies: return "tiny copies";
    case pageable: return "pageable memory";
    case host_to_host: return "host to host";
    case host_instance: return "host instance";
    case instance_fence: return "fence of the instance";
    case device_fence: return "device-wide fence";
    case reasons: break;
  }
  return "";
}

Findings findings_of(Recorder::Result const& result, Link const& link) {
  Findings all;
  all.link       = link;
  all.copies     = result.copies;
  all.has_device = result.has_device;
  std::map<std::string, double> advice;  // a buffer may take part in many pairs
  for (Pair const& pair : result.pairs) {
    all.rows.push_back(row_of(pair, link));
    Row const& row = all.rows.back();
    all.seconds_in_calls += pair.seconds();
    all.seconds += row.seconds;
    bool const loop = is_tiny_loop(pair);
    for (Finding const& finding : row.findings)
      // Without a device, copies to and from it are between host Views, too, and no mistake.
      if ((finding.seconds > 0 || !loop) &&
          (finding.reason != host_to_host || result.has_device ||
           pair.is_within_label()))  // all else that is wrong with it goes with the loop
        advice[advice_for(pair, finding.reason)] += finding.seconds;
  }
  for (auto const& [text, seconds] : advice) all.advice.push_back({text, seconds});
  std::ranges::stable_sort(all.advice, std::greater(), &Advice::seconds);
  std::ranges::stable_sort(all.rows, [](Row const& a, Row const& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.pair.seconds() > b.pair.seconds();
  });
  return all;
}

}  // namespace KokkosHostSpaces::Audit
