// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

// Returns whether the variable has the second of two words; the first is what it means if unset.
bool is_second(char const* name, char const* first, char const* second, bool& sensible) {
  char const* const value = std::getenv(name);
  if (value == nullptr || std::strcmp(value, first) == 0) return false;
  if (std::strcmp(value, second) == 0) return true;
  char text[400];
  int const length = std::snprintf(
      text, sizeof text,
      "KokkosHostSpaces: adopt: %s is '%.100s' (which makes no sense): set it to %s or "
      "%s; nothing is adopted\n",
      name, value, first, second);
  sensible = false;
  if (write(2, text, static_cast<std::size_t>(length)) < 0) return false;
  return false;
}

Settings read() {
  Settings read;
  char const* const mode = std::getenv("KOKKOS_HOST_SPACES_ADOPT");
  bool const off         = mode != nullptr && std::strcmp(mode, "off") == 0;
  bool sensible          = true;
  if (!off) read.strict = !is_second("KOKKOS_HOST_SPACES_ADOPT", "strict", "relaxed", sensible);
  read.skip_in_fork        = is_second("KOKKOS_HOST_SPACES_ADOPT_FORK", "copy", "skip", sensible);
  read.children            = is_second("KOKKOS_HOST_SPACES_ADOPT_CHILDREN", "off", "on", sensible);
  read.without_gpu         = std::getenv("KOKKOS_HOST_SPACES_TEST_ADOPT") != nullptr;
  char const* const report = std::getenv("KOKKOS_HOST_SPACES_ADOPT_REPORT");
  if (report != nullptr && *report != '\0') read.report = report;
  read.process = getpid();
  read.on      = sensible && !off;
  return read;
}

bool names_this_library(char const* path, std::size_t length) {
  static constexpr char name[] = "libkokkos_host_spaces_adopt.so";
  constexpr std::size_t bytes  = sizeof name - 1;
  return length >= bytes && std::memcmp(path + length - bytes, name, bytes) == 0 &&
         (length == bytes || path[length - bytes - 1] == '/');
}

}  // namespace

Settings const& settings() noexcept {
  static Settings const of_this_process = read();
  return of_this_process;
}

// Shortens the text where it lies, so that main's own list of variables changes too.
void leave_preload() noexcept {
  char* const value = std::getenv("LD_PRELOAD");
  if (value == nullptr) return;
  char* to = value;
  for (char const* from = value; *from != '\0';) {
    std::size_t const length = std::strcspn(from, ": ");
    if (length > 0 && !names_this_library(from, length)) {
      if (to != value) *to++ = ':';
      std::memmove(to, from, length);
      to += length;
    }
    from += length + (from[length] != '\0' ? 1 : 0);
  }
  *to = '\0';
  if (to == value) unsetenv("LD_PRELOAD");
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
