// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_PROCESSES_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_PROCESSES_HPP

#include <array>
#include <cstdint>

namespace Heat {

/// What the program asks of MPI beside its halo (Ranks.hpp), from its initialisation to its end. Without MPI
/// there is a single process.
class Processes {
 public:
  Processes(int& argc, char**& argv);
  ~Processes();
  Processes(Processes const&)            = delete;
  Processes& operator=(Processes const&) = delete;

  int rank() const;
  int count() const;

  /// Processes along x, y and z, their product being count(). What is 0 in `wanted` is chosen; the
  /// rest must divide count(). More of them along z than along x, whose faces are slow to pack.
  std::array<int, 3> grid(std::array<int, 3> wanted) const;

  void barrier() const;
  double maximum(double value) const;
  std::uint64_t sum(std::uint64_t value) const;  ///< modulo 2^64

  /// Ends all processes, also those that wait for this one.
  [[noreturn]] void abort(int exit_code) const;
};

}  // namespace Heat

#endif
