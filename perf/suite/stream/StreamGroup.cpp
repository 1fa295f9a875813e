// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../plain/Platform.hpp"
#include "../Groups.hpp"
#include "../LatestMemory.hpp"
#include "StreamPair.hpp"
#include "StreamedLoops.hpp"

#include <KokkosHostSpaces/PinnedSpace.hpp>

#include <numeric>

namespace KokkosHostSpaces::Perf {
namespace {

using Sizes        = std::vector<std::size_t>;
using Run          = std::function<double(StreamLoop const&)>;
using MakeBaseline = std::function<std::unique_ptr<StreamBaseline>(StreamLoop const&)>;

std::string name(StreamOperation operation) {
  char const* const names[] = {"triad", "dot", "update", "stencil"};
  return names[int(operation)];
}

double arrays_moved(StreamOperation operation) {
  return operation == StreamOperation::triad ? 3 : 2;
}

LoopOptions options_of(Transport transport) {
  LoopOptions options;
  options.transport = transport;
  return options;
}

// A loop on arrays in `Space`, or some steps of a stencil in one pass.
template <class Space>
Run loop_on(LoopOptions const& options, int steps = 1) {
  return [=](StreamLoop const& loop) {
    if (loop.operation != StreamOperation::stencil) return run_streamed<Space>(loop, options);
    run_steps<Space>(loop.shape, loop.arrays.b, loop.arrays.a, steps, options);
    return 0.;
  };
}

Run staged_loop() { return loop_on<PinnedSpace>(options_of(Transport::staged)); }

// A triad in place by Kokkos' parallel_for.
double run_parallel_for(StreamLoop const& loop) {
  std::size_t const n = std::size_t(loop.shape.elements());
  StreamView<double*, MappedSpace> const a(loop.arrays.a, n);
  StreamView<double const*, MappedSpace> const b(loop.arrays.b, n), c(loop.arrays.c, n);
  Execution const instance;
  Kokkos::parallel_for(
      "triad",
      Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>(instance, 0, std::int64_t(n)),
      KOKKOS_LAMBDA(std::int64_t i) { a(i) = b(i) + 3 * c(i); });
  instance.fence();
  return 0;
}

MakeBaseline plain_loop(StreamWay way) {
  return [way](StreamLoop const& loop) { return make_stream_baseline(way, loop); };
}

MakeBaseline link_of(std::vector<int> const& devices) {
  return [devices](StreamLoop const& loop) { return make_link_baseline(devices, loop); };
}

// The best of some loops by Kokkos.
MakeBaseline loops_by_kokkos(std::vector<std::pair<std::string, Run>> const& ways) {
  return [ways](StreamLoop const& loop) { return std::make_unique<LibraryBaseline>(ways, loop); };
}

StreamShape vector_of(std::size_t bytes) { return {std::int64_t(bytes / sizeof(double))}; }

// Planes of a large cube have 2 MiB.
StreamShape cube_of(std::size_t bytes) {
  std::int64_t const side = bytes >= 256 * MiB ? 512 : bytes >= 32 * MiB ? 128 : 64;
  return {std::max<std::int64_t>(4, std::int64_t(bytes / sizeof(double)) / (side * side)), side,
          side};
}

class StreamCases {
  using enum StreamOperation;

 public:
  StreamCases(std::string group, Effort const& effort)
      : m_group(std::move(group)), m_effort(effort), m_largest(quick() ? 2 * MiB : 128 * MiB) {
    if (runs_on_device)
      m_largest = quick() ? 64 * MiB : effort.mode == Mode::full ? 8 * GiB : 2 * GiB;
    while (6 * m_largest > effort.host_bytes) m_largest /= 2;
  }

  void add_loops() {
    for (std::size_t bytes : sizes()) {
      for (auto operation : {triad, dot, update})
        add_staged(operation, bytes, "pipeline", plain_loop(StreamWay::pipeline));
      if (runs_on_device && !quick()) {
        add_staged(update, bytes, "serial", plain_loop(StreamWay::serial));
        for (auto operation : {triad, dot, update})
          add_staged(operation, bytes, "link", link_of({current_device()}));
      }
      for (auto operation : {triad, dot})
        add("MappedSpace/zero_copy", {.operation = operation,
                                      .shape     = vector_of(bytes),
                                      .run = loop_on<MappedSpace>(options_of(Transport::zero_copy)),
                                      .baseline      = "kernel",
                                      .make_baseline = plain_loop(StreamWay::in_place)});
    }
  }

  // Compare with further alternatives, at one size.
  void add_alternatives() {
    if (runs_on_device && quick()) return;
    std::size_t const bytes = sizes()[sizes().size() == 1 ? 0 : 1];
    add_staged(triad, bytes, "parallel_for",
               loops_by_kokkos({{"on MappedSpace", run_parallel_for}}));
    if (!runs_on_device) return;
    add_staged(triad, bytes, "serial", plain_loop(StreamWay::serial));
    if (4 * bytes > m_effort.device_bytes) return;
    add_staged(triad, bytes, "resident", plain_loop(StreamWay::resident));
    add_staged(triad, bytes, "managed", plain_loop(StreamWay::managed));
  }

  // The two arrays are four times as large as the device memory for the loop.
  void add_chains() {
    StreamShape const shape = cube_of(std::min(m_largest, 2 * GiB));
    LoopOptions options     = options_of(Transport::staged);
    options.device_memory   = std::size_t(shape.elements()) * sizeof(double) / 2;
    add("PinnedSpace/staged", {.operation     = stencil,
                               .shape         = shape,
                               .run           = loop_on<PinnedSpace>(options),
                               .baseline      = "pipeline",
                               .make_baseline = plain_loop(StreamWay::pipeline)});
    for (int steps = 2; steps <= 8; steps += quick() ? 6 : 1)
      add("PinnedSpace/chain",
          {.operation     = stencil,
           .shape         = shape,
           .steps         = steps,
           .run           = loop_on<PinnedSpace>(options, steps),
           .baseline      = "passes",
           .make_baseline = loops_by_kokkos({{"one step each", [=](StreamLoop const& loop) {
                                                run_passes<PinnedSpace>(loop, steps, options);
                                                return 0.;
                                              }}})});
  }

  // Compare the choice of the library with the better transport, over sizes, fractions and passes.
  void add_choices() {
    std::size_t const most = std::min(m_largest, 256 * MiB);
    // Without a device there is one transport.
    if (!runs_on_device)
      return add_choice({.operation = dot, .shape = vector_of(most), .every = 10});
    for (std::size_t bytes = 16 * KiB; bytes <= most; bytes *= quick() ? 64 : 8) {
      for (auto operation : {triad, dot, update})
        add_choice({.operation = operation, .shape = vector_of(bytes)});
      for (int every : quick() ? std::vector{10} : std::vector{2, 10, 100})
        add_choice({.operation = dot, .shape = vector_of(bytes), .every = every});
    }
    for (std::size_t bytes : quick() ? Sizes{most} : Sizes{most / 16, most})
      for (int steps : quick() ? std::vector{1, 4} : std::vector{1, 2, 4})
        add_choice({.operation = stencil, .shape = cube_of(bytes), .steps = steps});
  }

  // Compare all devices with one, and with the copies on all links.
  void add_all_devices() {
    if (m_effort.devices < 2) return;
    std::vector<int> all(static_cast<std::size_t>(m_effort.devices));
    std::iota(all.begin(), all.end(), 0);
    auto const on_all =
        [all, streams = std::shared_ptr<DeviceStreams>()](StreamLoop const& loop) mutable {
          if (!streams) streams = std::make_shared<DeviceStreams>(all);
          LoopOptions options = options_of(Transport::staged);
          options.instances   = streams->instances();
          return run_streamed<PinnedSpace>(loop, options);
        };
    for (auto operation : {triad, dot}) {
      StreamCase one{.operation = operation, .shape = vector_of(sizes().back()), .run = on_all};
      one.baseline      = "one_device";
      one.make_baseline = loops_by_kokkos({{"staged", staged_loop()}});
      add("PinnedSpace/all_devices", one);
      if (quick()) continue;
      one.baseline      = "all_links";
      one.make_baseline = link_of(all);
      add("PinnedSpace/all_devices", one);
    }
  }

  Cases take() { return std::move(m_cases); }

 private:
  bool quick() const { return m_effort.mode == Mode::quick; }

  // Sizes of an array.
  Sizes sizes() const {
    if (quick()) return {m_largest};
    if (!runs_on_device) return {m_largest / 16, m_largest};
    Sizes result = {64 * MiB, std::min(GiB, m_largest)};
    if (m_largest > 2 * GiB) result.push_back(m_largest);
    return result;
  }

  void add_staged(StreamOperation operation, std::size_t bytes, std::string const& baseline,
                  MakeBaseline const& make_baseline) {
    add("PinnedSpace/staged", {.operation     = operation,
                               .shape         = vector_of(bytes),
                               .run           = staged_loop(),
                               .baseline      = baseline,
                               .make_baseline = make_baseline});
  }

  void add_choice(StreamCase one) {
    auto const by = [&](Transport way) { return loop_on<MappedSpace>(options_of(way), one.steps); };
    one.run       = by(Transport::automatic);
    one.baseline  = "better";
    one.make_baseline = loops_by_kokkos(
        {{"staged", by(Transport::staged)}, {"zero-copy", by(Transport::zero_copy)}});
    add("MappedSpace/automatic", one);
  }

  void add(std::string const& how, StreamCase const& one) {
    std::size_t const bytes = std::size_t(one.shape.elements()) * sizeof(double);
    double const touched    = arrays_moved(one.operation) * double(bytes) * one.steps / one.every;
    std::string full_name =
        m_group + "/" + name(one.operation) + "/" + how + "/baseline:" + one.baseline;
    if (one.operation == stencil) full_name += "/steps:" + std::to_string(one.steps);
    if (one.every > 1) full_name += "/every:" + std::to_string(one.every);
    m_cases.push_back({full_name + "/bytes:" + std::to_string(bytes), touched,
                       m_effort.repetitions(touched * one.every / (runs_on_device ? 6e10 : 5e9)),
                       [=, latest = m_latest, elements = std::int64_t(m_largest / sizeof(double))] {
                         return std::make_unique<StreamPair>(one,
                                                             latest->of<StreamMemory>(elements));
                       }});
  }

  std::string m_group;
  Effort m_effort;
  std::size_t m_largest;  // bytes of an array
  std::shared_ptr<LatestMemory> m_latest = latest_memory();
  Cases m_cases;
};

}  // namespace

Cases stream_cases(Effort const& effort) {
  StreamCases cases("stream", effort);
  cases.add_loops();
  cases.add_alternatives();
  cases.add_chains();
  cases.add_all_devices();
  return cases.take();
}

Cases choice_cases(Effort const& effort) {
  StreamCases cases("transport", effort);
  cases.add_choices();
  return cases.take();
}

}  // namespace KokkosHostSpaces::Perf
