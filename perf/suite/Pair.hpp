// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_PAIR_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// One operation in two implementations: Kokkos with our spaces, and a plain program (the baseline).
class Pair {
 public:
  Pair()                       = default;
  Pair(Pair const&)            = delete;
  Pair& operator=(Pair const&) = delete;
  virtual ~Pair()              = default;

  /// Takes one sample. \return seconds of one run
  virtual double time_ours()     = 0;
  virtual double time_baseline() = 0;

  /// Names the baseline, such as its fastest variant.
  std::string const& baseline_label() const { return m_label; }

  /// Further figures of the last sample, such as a percentile.
  virtual std::map<std::string, double> counters() const { return {}; }

  /// Verifies the results of the timed runs of both sides. \return what is wrong, or an empty text
  virtual std::string find_error() = 0;

  /// Corrupts our results, at the latest when they are verified, to test find_error.
  virtual void damage() { m_damaged = true; }

 protected:
  std::string m_label;
  bool m_damaged = false;
};

/// Text for find_error from the numbers of wrong results; empty if both are 0.
inline std::string describe_wrong(std::int64_t ours, std::int64_t baseline) {
  if (ours == 0 && baseline == 0) return "";
  return std::to_string(ours) + " results of Kokkos and " + std::to_string(baseline) +
         " of the baseline are wrong";
}

/// A benchmark: `make` allocates, fills and warms up both sides.
struct Case {
  std::string name;  ///< group/operation/space/words.../key:number
  double bytes = 0;  ///< moved by one run; 0 if nothing is moved
  int repetitions;
  std::function<std::unique_ptr<Pair>()> make;
};

using Cases = std::vector<Case>;

/// Medians of a finished benchmark.
struct Result {
  std::string name;
  double bytes, seconds;  ///< of our side
  double ratio;           ///< time of the baseline / ours
};

}  // namespace KokkosHostSpaces::Perf

#endif
