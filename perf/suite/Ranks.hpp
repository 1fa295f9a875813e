// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_RANKS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_RANKS_HPP

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// The processes that measure at the same time: those of MPI, or this one alone. One at most at a
/// time; made before Kokkos is initialised, so that each rank of a node can take a device of its
/// own.
class Ranks {
 public:
  Ranks(int* argc, char*** argv);
  ~Ranks();
  Ranks(Ranks const&)            = delete;
  Ranks& operator=(Ranks const&) = delete;

  int rank() const { return m_rank; }
  int size() const { return m_size; }
  int local_rank() const { return m_local_rank; }  ///< among those of this node
  int local_size() const { return m_local_size; }

  void barrier() const;
  double sum(double value) const;  ///< over all ranks, on all ranks
  double greatest(double value) const;
  double least(double value) const { return -greatest(-value); }

  /// That of each rank, on all ranks.
  std::vector<double> of_all(double value) const;
  std::vector<std::string> of_all(std::string const& text) const;

  /// Ends all ranks, with the exit code `failure`: one that cannot go on would be waited for for ever.
  [[noreturn]] void abort(std::string const& why) const;

  /// The text of the lowest rank that has one; empty if none has.
  std::string first_of(std::string const& text) const;

 private:
  int m_rank = 0, m_size = 1, m_local_rank = 0, m_local_size = 1;
};

}  // namespace KokkosHostSpaces::Perf

#endif
