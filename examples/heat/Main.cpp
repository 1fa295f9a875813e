// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The heat equation in a box, on one process or many: see README.md.

#include "Options.hpp"
#include "Report.hpp"
#include "Simulation.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>

namespace Heat {
namespace {

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

template <class HaloSpace>
bool simulate(Options const& options, Processes& processes) {
  Decomposition const decomposition = decompose(options, processes);
  Solution const solution(decomposition.global());
  Simulation<HaloSpace> simulation(decomposition, processes, make_instances());

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
      processes.maximum(double(sizeof(double)) * decomposition.to_send().size()),
      timings,
      verify(simulation.field(), decomposition, solution, options.steps, processes)};
  if (processes.rank() == 0) {
    print(report);
    if (!options.json.empty()) write_json(report, options.json);
  }
  return report.verification.passed();
}

// Those of stock Kokkos are for comparison.
bool simulate_with(Options const& options, Processes& processes) {
  if (options.halo == "mapped") return simulate<KokkosHostSpaces::MappedSpace>(options, processes);
  if (options.halo == "pinned") return simulate<KokkosHostSpaces::PinnedSpace>(options, processes);
  if (options.halo == "pageable") return simulate<Kokkos::HostSpace>(options, processes);
#ifdef KOKKOS_ENABLE_CUDA
  return simulate<Kokkos::CudaHostPinnedSpace>(options, processes);
#else
  throw std::invalid_argument("--halo cuda_pinned needs a Kokkos with CUDA: use pinned");
#endif
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
  return simulate_with(options, processes) ? success : wrong_result;
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
