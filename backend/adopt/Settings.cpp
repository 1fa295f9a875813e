// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Settings.hpp"

#include "../Config.hpp"
#include "../Text.hpp"
#include "Next.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

// The place of a variable's value among words; 0 if it is not set. Says so if it is none of them.
int place_of(char const* name, char const* words, bool& sensible) {
  auto const value = environment_variable(name);
  if (!value) return 0;
  InText all(words);
  std::string word;
  for (int place = 0; std::getline(all >> std::ws, word, ','); ++place)
    if (word == *value) return place;
  std::fprintf(stderr,
               "KokkosHostSpaces: adopt: %s is '%.100s' (which makes no sense): "
               "set it to one of %s; nothing is adopted\n",
               name, value->c_str(), words);
  sensible = false;
  return 0;
}

Settings read() {
  enum { strict, relaxed, check, off };
  Settings read;
  int const mode    = place_of("KOKKOS_HOST_SPACES_ADOPT", "strict, relaxed, check, off", read.on);
  read.strict       = mode == strict;
  read.check        = mode == check;
  read.skip_in_fork = place_of("KOKKOS_HOST_SPACES_ADOPT_FORK", "copy, skip", read.on) == 1;
  // As `env` becomes the program, for scripts whose first line is "#!/usr/bin/env python3".
  read.children = place_of("KOKKOS_HOST_SPACES_ADOPT_CHILDREN", "off, on", read.on) == 1 ||
                  std::strcmp(program_invocation_short_name, "env") == 0;
  read.on          = read.on && mode != off;
  read.tells       = std::getenv("KOKKOS_HOST_SPACES_ADOPT_TELLS") != nullptr;
  read.without_gpu = std::getenv("KOKKOS_HOST_SPACES_TEST_ADOPT") != nullptr;
  read.report      = environment_variable("KOKKOS_HOST_SPACES_ADOPT_REPORT").value_or("");
  if (read.check) setenv("KOKKOS_HOST_SPACES_GUARD", "on", 1);  // backend/guard/ reads it
  return read;
}

}  // namespace

Settings const& settings() noexcept {
  static auto const& of_this_process = *new Settings(read());  // never destroyed
  return of_this_process;
}

void leave_preload() {
  std::string all = environment_variable("LD_PRELOAD").value_or(""), path, others;
  std::replace(all.begin(), all.end(), ' ', ':');
  for (InText paths(all); std::getline(paths, path, ':');)
    if (!path.empty() && !path.ends_with("libkokkos_host_spaces_adopt.so"))
      others += (others.empty() ? "" : ":") + path;
  // Of libc: bash has functions of these names, which do not know the environment yet.
  others.empty() ? call_next<"unsetenv">("LD_PRELOAD")
                 : call_next<"setenv">("LD_PRELOAD", others.c_str(), 1);
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
