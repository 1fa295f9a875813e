// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Settings.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

// The place of a variable's value among words; 0 if it is not set. Says so if it is
// none of them.
int place_of(char const* name, std::initializer_list<char const*> words, bool& sensible) {
  char const* const value = std::getenv(name);
  int place               = 0;
  std::array<char, 400> all{};
  if (value == nullptr) return 0;
  for (char const* word : words) {
    if (std::strcmp(value, word) == 0) return place;
    std::strcat(std::strcat(all.data(), place++ > 0 ? ", " : ""), word);
  }
  std::array<char, 600> text{};
  int const length =
      std::snprintf(text.data(), text.size(),
                    "KokkosHostSpaces: adopt: %s is '%.100s' (which makes no sense): "
                    "set it to one of %s; nothing is adopted\n",
                    name, value, all.data());
  [[maybe_unused]] auto const written = write(2, text.data(), static_cast<std::size_t>(length));
  sensible                            = false;
  return 0;
}

Settings read() {
  enum { strict, relaxed, check, off };
  bool sensible = true;
  int const mode =
      place_of("KOKKOS_HOST_SPACES_ADOPT", {"strict", "relaxed", "check", "off"}, sensible);
  Settings read;
  read.strict       = mode == strict;
  read.check        = mode == check;
  read.skip_in_fork = place_of("KOKKOS_HOST_SPACES_ADOPT_FORK", {"copy", "skip"}, sensible) == 1;
  read.children     = place_of("KOKKOS_HOST_SPACES_ADOPT_CHILDREN", {"off", "on"}, sensible) == 1;
  read.without_gpu  = std::getenv("KOKKOS_HOST_SPACES_TEST_ADOPT") != nullptr;
  char const* const report = std::getenv("KOKKOS_HOST_SPACES_ADOPT_REPORT");
  if (report != nullptr && *report != '\0') read.report = report;
  read.process = getpid();
  read.on      = sensible && mode != off;
  if (read.check) setenv("KOKKOS_HOST_SPACES_GUARD", "on", 1);  // backend/guard/ reads it
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
