// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_JSON_HPP
#define KOKKOS_HOST_SPACES_BACKEND_JSON_HPP

#include "Text.hpp"

#include <cmath>
#include <concepts>
#include <cstdio>
#include <locale>
#include <ostream>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// A streaming JSON writer, in the classic locale.
class Json {
 public:
  /// \param between the values of an array or an object
  explicit Json(std::ostream& out, char const* between = ",\n") : m_out(out), m_between(between) {
    m_out.imbue(std::locale::classic());
    m_out.precision(9);
  }

  /// '{' or '[', with a key inside an object; closed by close('}') or close(']').
  void open(char bracket, std::string const& key = "") {
    begin_value(key);
    m_out << bracket;
    m_first = true;
  }
  void close(char bracket) {
    m_out << bracket;
    m_first = false;
  }

  void value(std::string const& key, std::string const& text) {
    begin_value(key);
    quote(text);
  }
  void value(std::string const& key, char const* text) { value(key, std::string(text)); }
  void value(std::string const& key, bool truth) { raw(key, truth ? "true" : "false"); }
  void value(std::string const& key, std::integral auto number) { raw(key, number); }
  void value(std::string const& key, double number) {
    if (std::isfinite(number)) return raw(key, number);
    raw(key, "null");  // JSON has no infinity
  }

 private:
  void raw(std::string const& key, auto const& text) {
    begin_value(key);
    m_out << text;
  }
  void begin_value(std::string const& key) {
    if (!m_first) m_out << m_between;
    m_first = false;
    if (key.empty()) return;
    quote(key);
    m_out << ": ";
  }
  void quote(std::string const& text) {
    m_out << '"';
    for (char c : text) {
      char escaped[8] = {c};
      if (c == '"' || c == '\\') std::snprintf(escaped, sizeof escaped, "\\%c", c);
      if (static_cast<unsigned char>(c) < 0x20)
        std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(c));
      m_out << escaped;
    }
    m_out << '"';
  }

  std::ostream& m_out;
  char const* m_between;
  bool m_first = true;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
