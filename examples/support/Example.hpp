// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What every example does besides its subject: command line, Kokkos' lifetime, verdict, exit code.

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_EXAMPLE_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_EXAMPLE_HPP

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace Example {

/// `--name=value`, with its default and what it means.
struct Option {
  std::string name, value, meaning;
};

/// Sizes may end in K, M or G (powers of 1024).
inline std::size_t parse_size(std::string const& name, std::string const& text) {
  std::size_t count         = 0;
  auto const [end, error]   = std::from_chars(text.data(), text.data() + text.size(), count);
  std::string const unit    = text.substr(std::size_t(end - text.data()));
  std::size_t const shift   = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  std::size_t const largest = std::numeric_limits<std::size_t>::max() >> shift;
  if (error == std::errc() && count > 0 && count <= largest && (shift > 0 || unit.empty()))
    return count << shift;
  throw std::runtime_error("--" + name + "=" + text +
                           " is not a size: write a positive number, alone or with K, M or G");
}

class Options {
 public:
  Options(int argc, char** argv, std::vector<Option> known) : m_options(std::move(known)) {
    for (int i = 1; i < argc; ++i) read(argv[i]);
  }

  std::string const& text(std::string const& name) const {
    for (Option const& option : m_options)
      if (option.name == name) return option.value;
    throw std::logic_error("the example has no option --" + name + ": declare it");
  }
  std::size_t size(std::string const& name) const { return parse_size(name, text(name)); }

  /// A size in bytes as a number of elements, at least one.
  template <class Element>
  std::size_t elements(std::string const& name) const {
    return std::max<std::size_t>(1, size(name) / sizeof(Element));
  }
  double positive_number(std::string const& name) const {
    std::size_t end     = 0;
    double const number = parse_number(text(name), end);
    if (end == text(name).size() && number > 0 && std::isfinite(number)) return number;
    throw std::runtime_error("--" + name + "=" + text(name) + " is not a positive number");
  }

  /// All options, with their values now.
  std::string usage() const {
    if (m_options.empty()) return " none";
    std::string usage;
    for (Option const& option : m_options)
      usage += "\n  --" + option.name + "=" + option.value + "  " + option.meaning;
    return usage;
  }

 private:
  static double parse_number(std::string const& text, std::size_t& end) {
    try {
      return std::stod(text, &end);
    } catch (std::logic_error const&) {
      return -1;
    }
  }

  void read(std::string const& argument) {
    for (Option& option : m_options) {
      std::string const prefix = "--" + option.name + "=";
      if (argument.starts_with(prefix)) {
        option.value = argument.substr(prefix.size());
        return;
      }
    }
    throw std::runtime_error(argument + " is not an option of this example: use" + usage());
  }

  std::vector<Option> m_options;
};

/// Whether data cross a link to reach kernels. Without one, the memory spaces differ in nothing
/// that an example could show by its times.
inline constexpr bool across_a_link =
    !Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace,
                                Kokkos::DefaultExecutionSpace::memory_space>::accessible;

inline constexpr int passed = 0, failed = 1, skipped = 4;

/// Runs `body`, which prints what it shows and returns whether its results are right, inside
/// Kokkos' lifetime. Reports what `body` throws. Without a GPU, a program built for one skips with
/// code 4.
inline int run(int argc, char** argv, std::vector<Option> options, bool (*body)(Options const&)) {
  if (std::find(argv, argv + argc, std::string("--help")) != argv + argc) {
    std::printf("Options, with their defaults:%s\n", Options(1, argv, options).usage().c_str());
    return passed;
  }
  std::optional<Kokkos::ScopeGuard> kokkos;
  try {
    kokkos.emplace(argc, argv);
  } catch (std::exception const& error) {
    bool const no_device = std::string(error.what()).starts_with("cudaGetDeviceCount");
    std::fprintf(stderr, "%s: %s\n", no_device ? "SKIPPED, there is no GPU to run on" : "ERROR",
                 error.what());
    return no_device ? skipped : failed;
  }
  try {
    std::printf("Kernels run on %s%s.\n\n", Kokkos::DefaultExecutionSpace::name(),
                across_a_link ? "" : ": host code, so all memory is equally far from them");
    bool const right = body(Options(argc, argv, std::move(options)));
    std::printf("\n%s\n", right ? "PASSED: all results are right" : "FAILED: a result is wrong");
    return right ? passed : failed;
  } catch (std::exception const& error) {
    std::fflush(stdout);  // what was printed before comes first
    std::fprintf(stderr, "ERROR: %s\n", error.what());
    return failed;
  }
}

/// Number of elements of a View that the host can read which are not `expected(index)`.
template <class View, class Expected>
std::size_t count_wrong(View const& view, Expected const& expected) {
  std::size_t wrong = 0;
  Kokkos::parallel_reduce(
      "count_wrong", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, view.extent(0)),
      [=](std::size_t i, std::size_t& sum) { sum += view(i) != expected(i) ? 1 : 0; }, wrong);
  return wrong;
}

/// Sets every element of a View that the host can write to `value(index)`, by all host threads.
template <class View, class Value>
void fill(View const& view, Value const& value) {
  Kokkos::parallel_for("fill",
                       Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, view.extent(0)),
                       [=](std::size_t i) { view(i) = value(i); });
  Kokkos::DefaultHostExecutionSpace().fence("Example::fill");
}

}  // namespace Example

#endif
