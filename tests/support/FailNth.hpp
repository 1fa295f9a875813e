// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Makes the first, second, ... call fail that an operation makes to CUDA (FakeCuda.cpp), to the
// system (FailingSystem.cpp) or for host memory (AllocationHook.cpp), in whatever thread, once or from
// there on.

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAIL_NTH_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAIL_NTH_HPP

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace FailNth {

enum class Source { cuda, system, memory };

/// Which call fails, from 1, and how.
struct Failure {
  Source source = Source::cuda;
  std::size_t n = 0;
  bool lasts    = false;  ///< the later ones fail, too
  int error     = 2;      ///< of CUDA: out of memory
};

/// While it lives, a call fails.
class Planned {
 public:
  explicit Planned(Failure const& failure) noexcept;
  ~Planned();
  Planned(Planned const&)            = delete;
  Planned& operator=(Planned const&) = delete;
};

/// The error with which a call of this function (a literal) fails now; 0: it does not. Async-signal-safe.
int error_of(Source source, char const* function) noexcept;

/// Functions that the latest Planned made fail, and how often.
std::map<std::string, std::size_t> failed();

/// True if a Planned lives and has made a call fail.
bool is_met() noexcept;

/// Addresses that calls return to which any Planned made fail, and those of the functions between.
std::set<void*> failed_at();

/// While it lives, the calling thread's calls do not count: those of the fake runtime, and of tests.
class Exempt {
 public:
  Exempt() noexcept;
  ~Exempt();
  Exempt(Exempt const&)            = delete;
  Exempt& operator=(Exempt const&) = delete;
};

/// Allocations by operator new that live.
std::size_t live_allocations() noexcept;

/// Calls `run` with each failure, or every step-th one, until it returns false: the failure was not met.
template <class Run>
void for_each_failure(Run const& run, std::size_t step = 1) {
  // Out of memory, an invalid value, not supported, a capture, unknown.
  for (int error : {2, 1, 801, 900, 999}) {
    Failure failure{Source::cuda, 1, false, error};
    while (run(failure)) failure.n += step;
  }
  for (Failure failure : {Failure{Source::cuda, 1, true}, Failure{Source::cuda, 1, true, 999},
                          Failure{Source::system, 1, false}, Failure{Source::system, 1, true},
                          Failure{Source::memory, 1, false}, Failure{Source::memory, 1, true}})
    while (run(failure)) failure.n += step;
}

}  // namespace FailNth

#endif
