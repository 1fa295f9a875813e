// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_CHILD_PROCESS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_CHILD_PROCESS_HPP

#include <sys/types.h>

#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// kokkos_host_spaces_run beside this program, or where it was built; empty if there is none, or if it would leave this
/// program as it is.
std::string adopting_launcher();

/// Whether the library that adopts is in this process.
bool is_adopted();

/// This program once more, adopted: it reads words line by line, and answers each with a line.
class ChildProcess {
 public:
  /// \param mode whose idioms it runs \param device of Kokkos; below 0: its own choice
  /// \throw std::system_error if it cannot be started
  ChildProcess(std::string const& mode, int device);
  ChildProcess(ChildProcess const&)            = delete;
  ChildProcess& operator=(ChildProcess const&) = delete;
  ~ChildProcess();

  /// \throw std::runtime_error if it ended
  std::string ask(std::string const& word);

 private:
  pid_t m_process = -1;
  int m_socket    = -1;
};

}  // namespace KokkosHostSpaces::Perf

#endif
