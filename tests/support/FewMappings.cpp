// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Preloaded (LD_PRELOAD) into a test, it leaves the process 600 of the mappings that the system allows. Each thread takes
// four, and tests have up to 64.

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>

[[gnu::constructor]] static void use_up_mappings() {
  if (std::strncmp(program_invocation_short_name, "backend_tests_", 14) != 0) return;
  long most              = 0;
  std::FILE* const limit = std::fopen("/proc/sys/vm/max_map_count", "r");
  if (limit == nullptr || std::fscanf(limit, "%ld", &most) != 1) return;
  std::fclose(limit);
  constexpr std::size_t page = 4096;
  auto const bytes           = static_cast<std::size_t>(most - 600) * page;
  auto* const all =
      static_cast<char*>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  // Pages that may be read alternate with those that may not: each is a mapping.
  for (std::size_t at = 0; at < bytes; at += 2 * page) mprotect(all + at, page, PROT_READ);
}
