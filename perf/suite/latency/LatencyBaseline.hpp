// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_LATENCY_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace KokkosHostSpaces::Perf {

/// A signal of the host and the answer of a kernel, on two cache lines.
struct SignalAndAnswer {
  alignas(128) int signal;
  alignas(128) int answer;
};

/// Polls after which a kernel gives up: some seconds.
inline constexpr int most_looks = 2'000'000;

// Kernels of one thread, the same for both sides.

struct AddOne {
  std::int64_t* count;
  KOKKOS_HOST_SPACES_PERF_FUNCTION void operator()(int) const { ++*count; }
};

struct StoreValue {
  std::int64_t* where;
  std::int64_t value;
  KOKKOS_HOST_SPACES_PERF_FUNCTION void operator()(int) const { *where = value; }
};

/// Answers this many signals; a signal is a change of the value, at first from 0. Needs a device. Accesses are
/// volatile: the host sets the signal and reads the answer meanwhile.
struct AnswerSignals {
  SignalAndAnswer* flags;
  int signals;
  KOKKOS_HOST_SPACES_PERF_FUNCTION void operator()(int) const {
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

/// *end = the last of `steps` places of a chain, next[next[...[0]]].
struct Follow {
  std::int64_t const* next;
  int steps;
  std::int64_t* end;
  KOKKOS_HOST_SPACES_PERF_FUNCTION void operator()(int) const {
    std::int64_t at = 0;
    for (int i = 0; i < steps; ++i) at = next[at];
    *end = at;
  }
};

/// The smallest steps, of a plain program or of Kokkos.
class Steps {
 public:
  virtual ~Steps() = default;

  /// Enqueues a kernel.
  virtual void launch(AddOne const& kernel)        = 0;
  virtual void launch(StoreValue const& kernel)    = 0;
  virtual void launch(AnswerSignals const& kernel) = 0;
  virtual void launch(Follow const& kernel)        = 0;

  /// Enqueues a copy of a number from page-locked memory to the device.
  virtual void copy(double* destination, double const* source) = 0;

  /// Waits for the stream.
  virtual void fence() = 0;
};

/// Steps whose kernels Derived::enqueue takes.
template <class Derived>
class StepsBy : public Steps {
 public:
  void launch(AddOne const& kernel) override { self().enqueue(kernel); }
  void launch(StoreValue const& kernel) override { self().enqueue(kernel); }
  void launch(AnswerSignals const& kernel) override { self().enqueue(kernel); }
  void launch(Follow const& kernel) override { self().enqueue(kernel); }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
};

std::unique_ptr<Steps> make_plain_steps(Stream stream);

}  // namespace KokkosHostSpaces::Perf

#endif
