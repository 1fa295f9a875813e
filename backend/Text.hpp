// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streams and decimals that look the same in whatever locale the program has set.

#ifndef KOKKOS_HOST_SPACES_BACKEND_TEXT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_TEXT_HPP

#include <charconv>
#include <locale>
#include <sstream>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// Is written to.
struct OutText : std::ostringstream {
  OutText() { imbue(std::locale::classic()); }
};

/// Is read from.
struct InText : std::istringstream {
  explicit InText(std::string const& text) : std::istringstream(text) {
    imbue(std::locale::classic());
  }
};

/// As "%.*f" in the locale "C".
inline std::string with_decimals(double value, int decimals) {
  char text[400];  // the largest number has 309 digits
  auto const [end, error] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals);
  return error == std::errc() ? std::string(text, end) : std::string();
}

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
