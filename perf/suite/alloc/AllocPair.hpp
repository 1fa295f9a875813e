// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_ALLOC_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_ALLOC_PAIR_HPP

#include "../../support/Statistics.hpp"
#include "Ways.hpp"
#include "../Pair.hpp"

#include <stdexcept>

namespace KokkosHostSpaces::Perf {

/// One sample of a way.
struct Latencies {
  std::vector<double> seconds;
  bool verified = true;  ///< blocks are page-locked, and keep what is written to their ends
};

/// Takes a sample of a way. \param damage corrupts the memory before it is verified
using Measure = std::function<Latencies(bool damage)>;

/// Compares two ways to allocate. The time of a sample is the median of its latencies.
class AllocPair final : public Pair {
 public:
  AllocPair(Measure ours, Measure baseline)
      : m_ours{std::move(ours)}, m_baseline{std::move(baseline)} {
    forget_kept_memory();  // of earlier benchmarks
    m_ours.take();
    m_baseline.take();
  }
  ~AllocPair() override { forget_kept_memory(); }

  double time_ours() override { return m_ours.take(); }
  double time_baseline() override { return m_baseline.take(); }

  std::string find_error() override {
    if (m_ours.verified && m_baseline.verified) return "";
    return std::string("a block of ") + (m_ours.verified ? "the baseline" : "ours") +
           " is not page-locked, or lost what was written into it";
  }

  void damage() override { m_ours.take(true); }

 private:
  struct Side {
    Measure measure;
    bool verified = true;

    double take(bool damage = false) {
      Latencies const latencies = measure(damage);
      verified &= latencies.verified;
      if (latencies.seconds.empty())
        throw std::runtime_error("the kernel ended too early to measure");
      return summarize(latencies.seconds).median;
    }
  };

  Side m_ours, m_baseline;
};

}  // namespace KokkosHostSpaces::Perf

#endif
