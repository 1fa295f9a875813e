// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Settings.hpp"

#include "../Config.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

// The place of a variable's value among words; 0 if it is not set. Says so if it is none of them.
int place_of(char const* name, std::initializer_list<char const*> words, bool& sensible) {
  auto const value = environment_variable(name);
  if (!value) return 0;
  std::string all;
  int place = 0;
  for (char const* word : words) {
    if (*value == word) return place;
    all += (place++ > 0 ? ", " : "") + std::string(word);
  }
  std::fprintf(stderr,
               "KokkosHostSpaces: adopt: %s is '%.100s' (which makes no sense): "
               "set it to one of %s; nothing is adopted\n",
               name, value->c_str(), all.c_str());
  sensible = false;
  return 0;
}

Settings read() {
  enum { strict, relaxed, check, off };
  Settings read;
  int const mode =
      place_of("KOKKOS_HOST_SPACES_ADOPT", {"strict", "relaxed", "check", "off"}, read.on);
  read.strict       = mode == strict;
  read.check        = mode == check;
  read.skip_in_fork = place_of("KOKKOS_HOST_SPACES_ADOPT_FORK", {"copy", "skip"}, read.on) == 1;
  // As `env` becomes the program, for scripts whose first line is "#!/usr/bin/env python3".
  read.children = place_of("KOKKOS_HOST_SPACES_ADOPT_CHILDREN", {"off", "on"}, read.on) == 1 ||
                  std::strcmp(program_invocation_short_name, "env") == 0;
  read.on          = read.on && mode != off;
  read.tells       = std::getenv("KOKKOS_HOST_SPACES_ADOPT_TELLS") != nullptr;
  read.without_gpu = std::getenv("KOKKOS_HOST_SPACES_TEST_ADOPT") != nullptr;
  read.report      = std::getenv("KOKKOS_HOST_SPACES_ADOPT_REPORT");
  if (read.report != nullptr && *read.report == '\0') read.report = nullptr;
  if (read.check) setenv("KOKKOS_HOST_SPACES_GUARD", "on", 1);  // backend/guard/ reads it
  return read;
}

}  // namespace

Settings const& settings() noexcept {
  static Settings const of_this_process = read();
  return of_this_process;
}

// In place: a program may have a setenv of its own, which knows no environment yet (bash).
void leave_preload() {
  std::string const variable = "LD_PRELOAD=";
  char** at                  = environ;
  while (*at != nullptr && !std::string_view(*at).starts_with(variable)) ++at;
  if (*at == nullptr) return;
  std::string others = variable;
  char* rest         = nullptr;
  for (char* path = strtok_r(*at + variable.size(), ": ", &rest); path != nullptr;
       path       = strtok_r(nullptr, ": ", &rest)) {
    char const* const slash = std::strrchr(path, '/');
    if (std::strcmp(slash != nullptr ? slash + 1 : path, "libkokkos_host_spaces_adopt.so") != 0)
      others += (others == variable ? "" : ":") + std::string(path);
  }
  if (others != variable) std::strcpy(*at, others.c_str());  // not longer than before
  while (others == variable && (*at = at[1]) != nullptr) ++at;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
