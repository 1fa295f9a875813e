// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Conclusions from the records. Times that could be saved are upper bounds: a program that needs the data
// at once must wait for it.

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_FINDINGS_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_FINDINGS_HPP

#include "Allocations.hpp"
#include "Recorder.hpp"
#include "Text.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Audit {

/// Bytes per second of the link; 0: not known.
using Link = std::array<double, directions>;

struct Finding {
  Reason reason;
  std::uint64_t copies;
  double seconds;  ///< that could be saved
};

struct Row {
  Pair pair;
  std::vector<Finding> findings;  ///< the most expensive first
  double seconds = 0;             ///< that could be saved
  std::optional<double> rate;     ///< bytes per second of copies that the host waited for
  std::optional<double> share;    ///< of the link's rate
};

struct Advice {
  std::string text;
  double seconds;
};

struct Findings {
  std::vector<Row> rows;       ///< the most expensive first
  std::vector<Advice> advice;  ///< the same
  Allocations::Result memory;
  Link link{};
  bool has_device         = false;  ///< the program used one
  std::uint64_t copies    = 0;
  double seconds_in_calls = 0, seconds = 0;  ///< in calls of deep_copy; that could be saved
};

/// Number of copies of at most Pair::tiny_bytes between two labels from which on they are reported.
constexpr std::uint64_t tiny_loop = 100;

Findings findings_of(Recorder::Result const& result, Link const& link);

/// Names those of the tables that several of the first 64 ranks have in files of these last seconds.
std::string advice_to_share(std::set<std::string> const& tables, std::string const& file,
                            Process process, double seconds);

/// A word or two for a reason.
char const* name_of(Reason reason);

/// Text for people: the most expensive copies, and advice, or `all` of them.
std::string table_of(Findings const& findings, Process const& process, double run_seconds,
                     bool all = false);

}  // namespace KokkosHostSpaces::Audit

#endif
