// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The audit as Kokkos calls it, and what it writes.

#ifndef KOKKOS_HOST_SPACES_TESTS_AUDITED_HPP
#define KOKKOS_HOST_SPACES_TESTS_AUDITED_HPP

#include "../../perf/tools/audit/Interface.hpp"
#include "../backend/CapturedStderr.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

namespace KokkosHostSpaces::Audit {

// As Kokkos does it, which leaves the last character as it was.
inline SpaceHandle space(char const* name) {
  SpaceHandle handle;
  std::memset(&handle, 'x', sizeof handle);
  std::strncpy(handle.name, name, 63);
  return handle;
}

// What is written to stderr and to the file by all between init and finalize.
struct Audited {
  std::string text, file;
};

template <class Program>
Audited audited(Program const& program) {
  auto const file =
      std::filesystem::temp_directory_path() / ("khs_audit_" + std::to_string(getpid()) + ".txt");
  for (char const* name : {"OMPI_COMM_WORLD_RANK", "PALS_RANKID", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                           "PMIX_RANK", "FLUX_TASK_RANK", "SLURM_PROCID"})
    unsetenv(name);
  setenv("KOKKOS_HOST_SPACES_AUDIT", file.c_str(), 1);
  Audited result;
  {
    CapturedStderr const captured;
    kokkosp_init_library(0, 20240906, 0, nullptr);
    program();
    kokkosp_finalize_library();
    result.text = captured.text();
  }
  std::ifstream in(file);
  result.file = {std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(file);
  unsetenv("KOKKOS_HOST_SPACES_AUDIT");
  return result;
}

}  // namespace KokkosHostSpaces::Audit

#endif
