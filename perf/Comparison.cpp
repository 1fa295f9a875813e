// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Comparison.hpp"

#include "Contents.hpp"
#include "KokkosSide.hpp"
#include "Names.hpp"
#include "Progress.hpp"
#include "twins/Platform.hpp"
#include "twins/Stopwatch.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr std::size_t MiB = std::size_t(1) << 20;

struct Step {
  Operation operation;
  std::size_t bytes;
};

// Sizes from 4 KiB to 1 GiB by factors of 8.
std::vector<Step> kernel_steps(std::size_t max_bytes) {
  std::vector<Step> steps;
  for (Operation op : {Operation::add, Operation::scale, Operation::triad})
    for (std::size_t bytes = 4096; bytes <= max_bytes; bytes *= 8) steps.push_back({op, bytes});
  return steps;
}

std::vector<Step> transfer_steps(std::size_t max_bytes) {
  std::vector<Step> steps;
  for (Operation op : {Operation::to_device, Operation::to_host}) {
    for (std::size_t bytes : {64 * MiB, 256 * MiB, 1024 * MiB})
      if (bytes <= max_bytes) steps.push_back({op, bytes});
    if (max_bytes < 64 * MiB) steps.push_back({op, max_bytes / sizeof(double) * sizeof(double)});
  }
  return steps;
}

// Both sides for one transport. The arrays are made once in the largest size, and smaller
// measurements use their beginning: making page-locked memory takes longer than most of what is
// measured.
class Bench {
 public:
  Bench(Transport transport, std::size_t max_bytes)
      : m_transport(transport),
        m_kokkos(make_kokkos_side(transport, max_bytes / sizeof(double), m_stopwatch.stream())),
        m_twin(make_twin(transport, max_bytes / sizeof(double), m_stopwatch.stream())) {}

  Comparison measure(Step step, Options const& options, bool plant_error) {
    std::size_t const n = step.bytes / sizeof(double);
    Operation const op  = step.operation;
    for (Side* side : {m_kokkos.get(), m_twin.get()}) {
      // The first run loads kernels, which waits for the device: it must not be behind a blocking
      // kernel.
      prepare(*side, m_transport, op, n);
      m_stopwatch.time_with_host_clock([&] { side->enqueue(op, n); });
      prepare(*side, m_transport, op, n);
    }

    // Interleaved, so that a change of clocks or a noisy neighbour meets both sides.
    std::vector<double> kokkos, twin, ratio;
    for (int repetition = 0; repetition < options.repetitions; ++repetition) {
      kokkos.push_back(sample(*m_kokkos, step));
      twin.push_back(sample(*m_twin, step));
      ratio.push_back(twin.back() / kokkos.back());
    }
    if (plant_error) damage(*m_kokkos, m_transport, op, n);
    return {op,
            m_transport,
            step.bytes,
            summarize(kokkos),
            summarize(twin),
            summarize(ratio),
            count_wrong(*m_kokkos, m_transport, op, n),
            count_wrong(*m_twin, m_transport, op, n)};
  }

 private:
  // Seconds of one operation. Small ones are timed several at once, because events resolve about
  // half a microsecond; all of them together must fit into the launch queue.
  double sample(Side& side, Step step) {
    std::size_t const batch = std::clamp<std::size_t>(4 * MiB / step.bytes, 1, 32);
    auto const work         = [&] {
      for (std::size_t i = 0; i < batch; ++i)
        side.enqueue(step.operation, step.bytes / sizeof(double));
    };
    double const seconds = m_transport == Transport::pageable
                               ? m_stopwatch.time_with_host_clock(work)
                               : m_stopwatch.time_queued(work);
    return seconds / double(batch);
  }

  Transport m_transport;
  Stopwatch m_stopwatch;
  std::unique_ptr<Side> m_kokkos, m_twin;
};

}  // namespace

std::vector<Comparison> run_comparisons(Options const& options) {
  std::vector<Transport> transports = {Transport::pageable, Transport::pinned, Transport::mapped};
  if (twins_use_cuda) transports.push_back(Transport::resident);
  std::vector<Step> const kernels = kernel_steps(options.max_bytes);
  std::vector<Step> const transfers =
      twins_use_cuda ? transfer_steps(options.max_bytes) : std::vector<Step>();

  std::vector<Comparison> results;
  bool plant_error = options.plant_error;
  Progress progress(int(transports.size() * kernels.size() + transfers.size()));
  for (Transport transport : transports) {
    Bench bench(transport, options.max_bytes);
    std::vector<Step> steps = kernels;
    if (transport == Transport::pinned)
      steps.insert(steps.end(), transfers.begin(), transfers.end());
    for (Step const& step : steps) {
      progress.step(name(step.operation) + ", " + name(transport) + ", " + size_name(step.bytes));
      results.push_back(bench.measure(step, options, plant_error));
      plant_error = false;
    }
  }
  return results;
}

}  // namespace KokkosHostSpaces::Perf
