// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Makes the n-th call of an operation fail, alone or with all later ones, in whatever thread: the n-th
// to CUDA (FakeCuda.cpp), to the system (FailingSystem.cpp) or for host memory (AllocationHook.cpp).

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAIL_NTH_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAIL_NTH_HPP

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace FailNth {

enum class Source { cuda, system, memory };

/// Which call fails, and how.
struct Failure {
  Source source = Source::cuda;
  std::size_t n = 0;      ///< from 1; 0: none
  bool lasts    = false;  ///< the later ones fail, too
  int error     = 2;      ///< of CUDA; 2: out of memory
};

/// While it lives, the n-th call since its constructor fails.
class Planned {
 public:
  explicit Planned(Failure const& failure) noexcept;
  ~Planned();
  Planned(Planned const&)            = delete;
  Planned& operator=(Planned const&) = delete;
};

/// Counts a call of `function` (a literal); also in signal handlers. Returns the error with which it fails, or 0.
int error_of(Source source, char const* function) noexcept;

/// The functions that the latest Planned made fail, and how often each.
std::map<std::string, std::size_t> failed();

/// True if a Planned lives and has made a call fail.
bool is_met() noexcept;

/// Return addresses on the stacks (the innermost eight) of all calls to CUDA and the system that failed so far.
std::set<void*> failed_at();

/// While it lives, calls of this thread neither count nor fail: those of the fake runtime, and of tests.
class Exempt {
 public:
  Exempt() noexcept;
  ~Exempt();
  Exempt(Exempt const&)            = delete;
  Exempt& operator=(Exempt const&) = delete;
};

/// Number of allocations by operator new that were not freed (AllocationHook.cpp).
std::size_t live_allocations() noexcept;

/// Calls `run` with failures of each kind: of call 1, 1 + step, ... until it returns false, as none failed.
template <class Run>
void for_each_failure(Run const& run, std::size_t step = 1) {
  // Out of memory, invalid value, not supported, not permitted in a capture, unknown.
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
