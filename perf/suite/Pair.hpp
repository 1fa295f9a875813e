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

/// One thing that is done in two ways: by Kokkos with our spaces, and by a plain program.
class Pair {
 public:
  Pair()                       = default;
  Pair(Pair const&)            = delete;
  Pair& operator=(Pair const&) = delete;
  virtual ~Pair()              = default;

  /// Each measures one sample: seconds of one run.
  virtual double time_ours()     = 0;
  virtual double time_baseline() = 0;

  /// Words about the baseline, such as the variant that was found to be the fastest.
  virtual std::string baseline_label() const = 0;

  /// Figures of the last sample of ours beside its time, such as a percentile.
  virtual std::map<std::string, double> counters() const { return {}; }

  /// What is wrong with the results of the timed runs of both ways; empty if nothing is.
  virtual std::string find_error() = 0;

  /// Makes the results of our side wrong, to show that find_error finds it.
  virtual void damage() = 0;
};

/// For find_error: numbers of wrong results in words.
inline std::string describe_wrong(std::int64_t ours, std::int64_t baseline) {
  if (ours == 0 && baseline == 0) return "";
  return std::to_string(ours) + " results of Kokkos and " + std::to_string(baseline) +
         " of the baseline are wrong";
}

/// A benchmark: `make` allocates, fills, and warms both ways up.
struct Case {
  std::string name;  ///< group/operation/space/words.../key:number
  double bytes = 0;  ///< moved by one run; 0 where that means nothing
  int repetitions;
  std::function<std::unique_ptr<Pair>()> make;
};

using Cases = std::vector<Case>;

/// Of a benchmark that was carried out.
struct Result {
  std::string name;
  double bytes, seconds;  ///< of our side, the median
  double ratio;           ///< time of the baseline by ours, the median
};

}  // namespace KokkosHostSpaces::Perf

#endif
