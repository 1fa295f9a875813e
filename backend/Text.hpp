// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Numbers and streams that look the same in whatever locale the program has set.

#ifndef KOKKOS_HOST_SPACES_BACKEND_TEXT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_TEXT_HPP

#include <charconv>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

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

/// Takes a whole number off the front of a text; nothing if none from `least` to `most` is there.
inline std::optional<int> take_number(std::string_view& text, int least, int most) {
  int number              = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < least || number > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
