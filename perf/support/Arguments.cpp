// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Arguments.hpp"

#include "Format.hpp"

#include <cerrno>  // and program_invocation_short_name
#include <charconv>
#include <exception>
#include <iostream>

namespace KokkosHostSpaces::Perf {

int exit_code_of(int (*run)(int, char**), int argc, char** argv) {
  try {
    int const code = run(argc, argv);
    if (std::cout.flush()) return code;
    throw std::runtime_error("cannot write all to the standard output (is the disk full?)");
  } catch (std::exception const& error) {
    // Write it by one call, since several ranks may write at the same time.
    std::cerr << std::string(program_invocation_short_name) + ": " + error.what() + "\n";
  }
  return failure;
}

bool Arguments::next() {
  do {
    if (++m_position >= m_argc) return false;
    m_option = m_argv[m_position];
  } while (m_option.starts_with("--kokkos-"));
  return true;
}

std::string Arguments::value() {
  if (m_position + 1 >= m_argc || std::string(m_argv[m_position + 1]).starts_with("--"))
    throw UsageError(m_option + " needs a value: see --help");
  return m_argv[++m_position];
}

std::vector<std::string> Arguments::values() {
  std::vector<std::string> result;
  std::istringstream list = words_of(value());
  for (std::string item; std::getline(list, item, ',');) result.push_back(item);
  if (result.empty()) throw UsageError(m_option + " needs a value: see --help");
  return result;
}

std::size_t Arguments::number() {
  std::string const text = value();
  std::size_t number     = 0;
  auto const [end, err]  = std::from_chars(text.data(), text.data() + text.size(), number);
  if (err != std::errc() || end != text.data() + text.size())
    throw UsageError("bad value \"" + text + "\" of " + m_option + " (not a number): see --help");
  return number;
}

void Arguments::refuse() const { throw UsageError("unknown option " + m_option + ": see --help"); }

}  // namespace KokkosHostSpaces::Perf
