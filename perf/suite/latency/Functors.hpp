// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_FUNCTORS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_FUNCTORS_HPP

#include "LatencyTwin.hpp"
#include "../Instance.hpp"

#include <KokkosHostSpaces/VectorPolicy.hpp>

namespace KokkosHostSpaces::Perf {

/// Of one iteration.
inline VectorPolicy<Execution> once(Execution const& instance) {
  return VectorPolicy<Execution>(instance, 0, 1);
}

struct AddOne {
  std::int64_t* count;
  KOKKOS_FUNCTION void operator()(int) const { ++*count; }
};

struct StoreValue {
  std::int64_t* where;
  std::int64_t value;
  KOKKOS_FUNCTION void operator()(int) const { *where = value; }
};

/// Answers so many signals; see LatencyTwin::answer. The host sets the signal and reads the answer
/// meanwhile, so that each access has to go there.
struct AnswerSignals {
  SignalAndAnswer* flags;
  int signals;

  KOKKOS_FUNCTION void operator()(int) const {
    int volatile* const signal = &flags->signal;
    int volatile* const answer = &flags->answer;
    int last                   = 0;
    for (int i = 0; i < signals; ++i) {
      int now = last;
      for (int looks = 0; now == last && looks < most_looks; ++looks) now = *signal;
      if (now == last) return;
      last    = now;
      *answer = 2 * now + 1;
    }
  }
};

}  // namespace KokkosHostSpaces::Perf

#endif
