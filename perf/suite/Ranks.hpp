// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_RANKS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_RANKS_HPP

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// The processes that measure at the same time: the ranks of MPI, or this process alone. Initialises MPI;
/// construct one before Kokkos is initialised, which then gives each rank of a node its own device.
class Ranks {
 public:
  Ranks(int* argc, char*** argv);
  ~Ranks();
  Ranks(Ranks const&)            = delete;
  Ranks& operator=(Ranks const&) = delete;

  int rank() const { return m_rank; }
  int size() const { return m_size; }
  int local_rank() const { return m_local_rank; }  ///< among the ranks of this node
  int local_size() const { return m_local_size; }

  void barrier() const;
  double sum(double value) const;  ///< collective
  double greatest(double value) const;
  double least(double value) const { return -greatest(-value); }

  /// Gathers the value of each rank on all ranks.
  std::vector<double> of_all(double value) const;
  std::vector<std::string> of_all(std::string const& text) const;

  /// Ends all ranks with the exit code `failure`. Call it if this rank alone cannot go on.
  [[noreturn]] void abort(std::string const& why) const;

  /// The first text in the order of ranks that is not empty, on all ranks.
  std::string first_of(std::string const& text) const;

 private:
  int m_rank = 0, m_size = 1, m_local_rank = 0, m_local_size = 1;
};

}  // namespace KokkosHostSpaces::Perf

#endif
