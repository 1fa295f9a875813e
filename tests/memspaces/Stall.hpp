// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_STALL_HPP
#define KOKKOS_HOST_SPACES_TESTS_STALL_HPP

#include <KokkosHostSpaces.hpp>

#include <atomic>
#include <chrono>

/// A kernel that runs until the host opens the gate, or for some seconds: later work of its stream waits.
class Stall {
 public:
  using Gate = Kokkos::View<int*, KokkosHostSpaces::MappedSpace>;
  struct Wait {
    Gate gate;
    KOKKOS_FUNCTION void operator()(int) const {
      int const volatile* const flag = gate.data();
      for (long long spins = 0; *flag == 0 && spins < 2000000LL; ++spins) {
      }
    }
  };

  explicit Stall(Kokkos::Cuda const& instance) {
    Kokkos::parallel_for("stall", Kokkos::RangePolicy<Kokkos::Cuda>(instance, 0, 1), Wait{m_gate});
  }
  ~Stall() { open(); }
  Stall(Stall const&)            = delete;
  Stall& operator=(Stall const&) = delete;
  void open() { std::atomic_ref<int>(m_gate(0)).store(1); }

 private:
  Gate m_gate{"gate", 1};
};

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#endif
