// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Text in the locale "C": the program that loads the audit may have another one.

#ifndef KOKKOS_HOST_SPACES_PERF_SUPPORT_FORMAT_HPP
#define KOKKOS_HOST_SPACES_PERF_SUPPORT_FORMAT_HPP

#include <cstdarg>
#include <cstdio>
#include <cstddef>
#include <locale>
#include <sstream>
#include <string>

#include <locale.h>

namespace KokkosHostSpaces::Perf {

/// One line of a table, at most 255 characters.
[[gnu::format(printf, 1, 2)]] inline std::string format(char const* pattern, ...) {
  char line[256];
  static locale_t const classic = newlocale(LC_ALL_MASK, "C", nullptr);
  va_list values;
  va_start(values, pattern);
  locale_t const before = uselocale(classic);
  std::vsnprintf(line, sizeof line, pattern, values);
  uselocale(before);
  va_end(values);
  return line;
}

/// A stream to read from.
inline std::istringstream words_of(std::string const& text) {
  std::istringstream words(text);
  words.imbue(std::locale::classic());
  return words;
}

/// Bytes with a unit, as in "64 KiB"; with a decimal if no unit divides them, as in "139.8 GiB".
inline std::string size_name(std::size_t bytes) {
  char const* const units[] = {"B", "KiB", "MiB", "GiB"};
  int unit                  = 0;
  double value              = double(bytes);
  for (; unit < 3 && value >= 1024; ++unit) value /= 1024;
  bool const whole = bytes % (std::size_t(1) << (10 * unit)) == 0;
  return format(whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

/// Such as "40 s", "3 min" or "2.5 h".
inline std::string duration_name(double seconds) {
  if (seconds < 99.5) return format("%.0f s", seconds);
  if (seconds < 99.5 * 60) return format("%.0f min", seconds / 60);
  return format("%.1f h", seconds / 3600);
}

}  // namespace KokkosHostSpaces::Perf

#endif
