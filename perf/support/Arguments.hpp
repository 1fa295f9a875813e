// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUPPORT_ARGUMENTS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUPPORT_ARGUMENTS_HPP

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Exit codes of the programs here; skipped: there is no device.
enum ExitCode { success = 0, wrong_result = 1, failure = 2, skipped = 4 };

/// Exit code of a program whose main is `run`. Exceptions, and a standard output that cannot be written to
/// the end, become a message and `failure`.
int exit_code_of(int (*run)(int, char**), int argc, char** argv);

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the command line option by option, and skips Kokkos' own flags. All functions \throw UsageError.
class Arguments {
 public:
  Arguments(int argc, char const* const* argv) : m_argc(argc), m_argv(argv) {}

  /// Advances to the next option. \return false if there is none
  bool next();

  std::string const& option() const { return m_option; }

  /// The value behind the option; an option there is an error.
  std::string value();
  std::vector<std::string> values();  ///< one or more, separated by commas
  std::size_t number();               ///< not negative

  [[noreturn]] void refuse() const;

 private:
  int m_argc;
  char const* const* m_argv;
  int m_position = 0;
  std::string m_option;
};

}  // namespace KokkosHostSpaces::Perf

#endif
