// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_CORES_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_CORES_HPP

#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

/// A set of cores (processing units), by their OS index.
class Cores {
 public:
  Cores() = default;  ///< none

  /// The cores to which the threads of this process are bound now (taskset, MPI, OpenMP): the union
  /// of their affinity masks.
  static Cores allowed();

  void add(unsigned core);
  int count() const noexcept;
  Cores operator&(Cores const& other) const;  ///< those in both

  /// Binds the calling thread to these cores; false if there are none or the system refuses. Does not
  /// allocate, because the first allocation of a new thread maps an arena for it.
  bool bind_this_thread() const noexcept;

 private:
  std::vector<unsigned long> m_mask;  // as sched_setaffinity wants it
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
