// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The heat equation in a box, on one process or many: see README.md. simulate() has the order of events.

#include "Simulation.hpp"

#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace Heat {
namespace {

struct Options {
  int n           = 128;
  bool n_is_local = false;  ///< n along each axis of a process's part, not of the whole grid
  int steps       = 200;
  std::array<int, 3> grid = {0, 0, 0};
  std::string json;
  bool help        = false;
  bool plant_error = false;  ///< for tests
};

char const* const usage = R"(Usage: [mpirun -n P] heat [options] [--kokkos-...]
  --n N            cells along each axis of the whole grid (default 128)
  --n-local N      cells along each axis of the part of one process, instead of --n
  --steps N        time steps (default 200)
  --grid X,Y,Z     processes along each axis; 0, the default, is chosen
  --json FILE      write figures to FILE
Exit code: 0 if the result is right, 1 if it is wrong, 2 on an error, 4 if there is no GPU.
)";

int integer(std::string const& option, std::string const& text, int least) {
  int value             = 0;
  auto const [end, err] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (err != std::errc() || end != text.data() + text.size() || value < least)
    throw std::invalid_argument("bad value \"" + text + "\" of " + option + " (a number from " +
                                std::to_string(least) + " on is needed): see --help");
  return value;
}

std::array<int, 3> grid(std::string const& option, std::string const& text) {
  std::array<int, 3> result{};
  std::istringstream list(text);
  for (int& processes : result) {
    std::string item;
    std::getline(list, item, ',');
    processes = integer(option, item, 0);
  }
  if (list.good()) throw std::invalid_argument(option + " takes three numbers: see --help");
  return result;
}

/// Ignores Kokkos' own flags. \throw std::invalid_argument
Options parse_options(int argc, char const* const* argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string const option = argv[i];
    auto const value         = [&]() -> std::string {
      if (i + 1 >= argc) throw std::invalid_argument(option + " needs a value: see --help");
      return argv[++i];
    };
    if (option == "--n" || option == "--n-local") {
      options.n          = integer(option, value(), 8);
      options.n_is_local = option == "--n-local";
    } else if (option == "--steps") {
      options.steps = integer(option, value(), 1);
    } else if (option == "--grid") {
      options.grid = grid(option, value());
    } else if (option == "--json") {
      options.json = value();
    } else if (option == "--help") {
      options.help = true;
    } else if (option == "--plant-error") {
      options.plant_error = true;
    } else if (!option.starts_with("--kokkos-")) {
      throw std::invalid_argument("unknown option " + option + ": see --help");
    }
  }
  return options;
}

/// Median time in seconds of `repeats` calls of `work`, which must wait for what it submits; of the
/// slowest process. All processes call it.
template <class Work>
double median_seconds(Processes const& processes, int repeats, Work const& work) {
  std::vector<double> seconds;
  processes.barrier();
  for (int i = 0; i < repeats; ++i) {
    Kokkos::Timer const timer;
    work(i);
    seconds.push_back(timer.seconds());
  }
  auto const middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return processes.maximum(*middle);
}

/// Seconds, by process as above.
struct Timings {
  double step;           ///< of the simulation
  double compute_only;   ///< one without neighbours
  double exchange_only;  ///< only the halo

  /// What is left to see of the exchange, and of cutting the work in two for it.
  double exposed() const { return std::max(0.0, step - compute_only); }
};

/// What a run has shown.
struct Report {
  Options const& options;
  Decomposition const& decomposition;
  int processes;
  double largest_halo;  ///< bytes that a process sends in a step
  Timings timings;
  Verification verification;

  double cells() const {
    Index3 const global = decomposition.global();
    return double(global[0]) * global[1] * global[2];
  }
};

void print(Report const& report) {
  Index3 const n = report.decomposition.global(), grid = report.decomposition.processes();
  Timings const& t      = report.timings;
  Verification const& v = report.verification;
  std::printf("%d x %d x %d cells on %d x %d x %d processes (%s), a halo of %.0f KiB a process\n",
              n[0], n[1], n[2], grid[0], grid[1], grid[2], Device::name(),
              report.largest_halo / 1024);
  std::printf("  %.3f ms a step: %.3f Gcells/s\n", 1e3 * t.step, 1e-9 * report.cells() / t.step);
  std::printf("  %.3f ms to compute only, %.3f ms to exchange only: %.3f ms are not hidden\n",
              1e3 * t.compute_only, 1e3 * t.exchange_only, 1e3 * t.exposed());
  std::printf(
      "  error %.2e (at most %.2e) to the discrete solution, %.2e (%.2e) to the exact one\n",
      v.discrete_error, v.discrete_bound, v.exact_error, v.exact_bound);
  std::printf("  checksum %016" PRIx64 "\n", v.checksum);
  std::printf("%s\n", v.passed() ? "PASSED: the result is right" : "FAILED: the result is WRONG");
}

/// \throw std::runtime_error
void write_json(Report const& report, std::string const& file) {
  auto const list = [](Index3 const& values) {
    return "[" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
           std::to_string(values[2]) + "]";
  };
  Timings const& t      = report.timings;
  Verification const& v = report.verification;
  char checksum[17];
  std::snprintf(checksum, sizeof checksum, "%016" PRIx64, v.checksum);

  std::ofstream out(file);
  out.precision(17);
  out << "{\"backend\": \"" << Device::name() << "\", \"halo\": \"exchange\",\n \"mode\": \""
      << (report.options.n_is_local ? "weak" : "strong") << "\", \"n\": " << report.options.n
      << ", \"steps\": " << report.options.steps << ", \"processes\": " << report.processes
      << ", \"grid\": " << list(report.decomposition.processes())
      << ", \"cells\": " << list(report.decomposition.global())
      << ",\n \"halo_bytes\": " << report.largest_halo << ", \"step_seconds\": " << t.step
      << ", \"compute_seconds\": " << t.compute_only
      << ", \"exchange_seconds\": " << t.exchange_only << ", \"exposed_seconds\": " << t.exposed()
      << ",\n \"cells_per_second\": " << report.cells() / t.step
      << ",\n \"discrete_error\": " << v.discrete_error
      << ", \"discrete_bound\": " << v.discrete_bound << ", \"exact_error\": " << v.exact_error
      << ", \"exact_bound\": " << v.exact_bound << ",\n \"checksum\": \"" << checksum
      << "\", \"passed\": " << (v.passed() ? "true" : "false") << "}\n";
  out.close();
  if (!out) throw std::runtime_error("writing " + file + " failed: name another file by --json");
}

enum ExitCode { success = 0, wrong_result = 1, failure = 2, skipped = 4 };

Decomposition decompose(Options const& options, Processes const& processes) {
  int free = processes.count();  // for the axes that are not given
  for (int const wanted : options.grid) {
    if (wanted == 0) continue;
    if (free % wanted != 0) free = 0;
    free /= wanted;
  }
  bool const all_given = std::ranges::count(options.grid, 0) == 0;
  if (free == 0 || (all_given && free != 1))
    throw std::invalid_argument("--grid does not fit " + std::to_string(processes.count()) +
                                " processes (their number is the product): see --help");
  auto const [x, y, z] = processes.grid(options.grid);
  int const n          = options.n;
  Index3 const cells   = options.n_is_local ? Index3{n * x, n * y, n * z} : Index3{n, n, n};
  return Decomposition(cells, {x, y, z}, processes.rank());
}

bool simulate(Options const& options, Processes& processes) {
  Decomposition const decomposition = decompose(options, processes);
  Table const sines                 = make_sines(decomposition.global());
  Solution const solution(decomposition.global(), sines.view());
  Simulation simulation(decomposition, make_instances());

  // The parts of a step alone, which also warms up.
  simulation.reset(solution);
  int const repeats = std::min(options.steps, 30);
  Timings timings{};
  timings.compute_only =
      median_seconds(processes, repeats, [&](int) { simulation.compute_only(); });
  timings.exchange_only =
      median_seconds(processes, repeats, [&](int) { simulation.exchange_only(); });

  simulation.reset(solution);
  timings.step = median_seconds(processes, options.steps, [&](int step) {
    if (options.plant_error && step == options.steps / 2)
      simulation.step_with_stale_halo();
    else
      simulation.step();
  });
  Report const report{
      options,
      decomposition,
      processes.count(),
      processes.maximum(double(sizeof(double)) * decomposition.cells_to_send()),
      timings,
      verify(simulation.field(), decomposition, solution, options.steps, processes)};
  if (processes.rank() == 0) {
    print(report);
    if (!options.json.empty()) write_json(report, options.json);
  }
  return report.verification.passed();
}

ExitCode run(int argc, char** argv, Processes& processes) {
  Options const options = parse_options(argc, argv);
  if (options.help) {
    if (processes.rank() == 0) std::cout << usage;
    return success;
  }
  // Kokkos finds out by the variables of the common launchers which process of its machine this is,
  // and takes the GPU of that number.
  std::optional<Kokkos::ScopeGuard> kokkos;
  try {
    kokkos.emplace(argc, argv);
  } catch (std::exception const& error) {
    if (!std::string(error.what()).starts_with("cudaGetDeviceCount")) throw;
    if (processes.rank() == 0)
      std::cerr << "heat: skipped (there is no GPU): " << error.what() << '\n';
    return skipped;
  }
  return simulate(options, processes) ? success : wrong_result;
}

}  // namespace
}  // namespace Heat

int main(int argc, char** argv) {
  Heat::Processes processes(argc, argv);
  try {
    return Heat::run(argc, argv, processes);
  } catch (std::invalid_argument const& error) {  // all processes find the same
    if (processes.rank() == 0) std::cerr << "heat: " << error.what() << '\n';
    return Heat::failure;
  } catch (std::exception const& error) {
    std::cerr << "heat: process " << processes.rank() << ": " << error.what() << '\n';
    processes.abort(Heat::failure);
  }
}
