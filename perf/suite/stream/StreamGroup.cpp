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

std::string name(StreamOperation operation) {
  switch (operation) {
    case StreamOperation::triad: return "triad";
    case StreamOperation::dot: return "dot";
    case StreamOperation::update: return "update";
    case StreamOperation::stencil: break;
  }
  return "stencil";
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
double run_case(StreamLoop const& loop, int count, LoopOptions const& options) {
  if (loop.operation != StreamOperation::stencil) return run_streamed<Space>(loop, options);
  run_steps<Space>(loop.shape, loop.arrays.b, loop.arrays.a, count, options);
  return 0;
}

// A loop in place by Kokkos' parallel_for.
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

class StreamCases {
 public:
  explicit StreamCases(Effort const& effort)
      : m_effort(effort), m_largest(quick() ? 2 * MiB : 128 * MiB) {
    if (runs_on_device)
      m_largest = effort.mode == Mode::quick  ? 64 * MiB
                  : effort.mode == Mode::full ? 8 * GiB
                                              : 2 * GiB;
    while (6 * m_largest > effort.host_bytes) m_largest /= 2;
  }

  void add_loops() {
    for (std::size_t bytes : sizes()) {
      for (auto operation : {StreamOperation::triad, StreamOperation::dot, StreamOperation::update})
        add_staged(operation, bytes, "pipeline", StreamWay::pipeline);
      if (runs_on_device && !quick()) {
        add_staged(StreamOperation::update, bytes, "serial", StreamWay::serial);
        for (auto operation :
             {StreamOperation::triad, StreamOperation::dot, StreamOperation::update})
          add_staged(operation, bytes, "link", StreamWay::link);
      }
      for (auto operation : {StreamOperation::triad, StreamOperation::dot})
        add_loop(
            operation, vector(bytes), "MappedSpace/zero_copy", "kernel",
            [](StreamLoop const& loop) {
              return run_streamed<MappedSpace>(loop, options_of(Transport::zero_copy));
            },
            plain(StreamWay::in_place));
    }
  }

  // Compare with further alternatives, at one size.
  void add_alternatives() {
    if (runs_on_device && quick()) return;
    std::size_t const bytes = sizes()[sizes().size() == 1 ? 0 : 1];
    add_loop(StreamOperation::triad, vector(bytes), "PinnedSpace/staged", "parallel_for", staged,
             library([](StreamLoop const& loop) {
               return LibraryBaseline::Variants{
                   {"on MappedSpace", [loop] { return run_parallel_for(loop); }}};
             }));
    if (!runs_on_device) return;
    add_staged(StreamOperation::triad, bytes, "serial", StreamWay::serial);
    if (4 * bytes > m_effort.device_bytes) return;
    add_staged(StreamOperation::triad, bytes, "resident", StreamWay::resident);
    add_staged(StreamOperation::triad, bytes, "managed", StreamWay::managed);
  }

  // The two arrays are four times as large as the device memory for the loop.
  void add_chains() {
    StreamShape const shape = cube(std::min(m_largest, 2 * GiB));
    std::size_t const bytes = std::size_t(shape.elements()) * sizeof(double);
    LoopOptions options     = options_of(Transport::staged);
    options.device_memory   = 2 * bytes / 4;
    auto const chain        = [options](int count) {
      return [options, count](StreamLoop const& loop) {
        run_steps<PinnedSpace>(loop.shape, loop.arrays.b, loop.arrays.a, count, options);
        return 0.;
      };
    };
    add_loop(StreamOperation::stencil, shape, "PinnedSpace/staged", "pipeline", chain(1),
             plain(StreamWay::pipeline));
    for (int count = 2; count <= 8; count += quick() ? 6 : 1)
      add_loop(StreamOperation::stencil, shape, "PinnedSpace/chain", "passes", chain(count),
               library([count, options](StreamLoop const& loop) {
                 return LibraryBaseline::Variants{{"one step each", [=] {
                                                     run_passes<PinnedSpace>(loop, count, options);
                                                     return 0.;
                                                   }}};
               }),
               count);
  }

  // Compare the choice of the library with the better transport, over sizes, fractions and passes.
  void add_choices() {
    std::size_t const most = std::min(m_largest, 256 * MiB);
    // Without a device there is one transport.
    if (!runs_on_device)
      return add_choice({.operation = StreamOperation::dot, .shape = vector(most), .every = 10});
    for (std::size_t bytes = 16 * KiB; bytes <= most; bytes *= quick() ? 64 : 8) {
      for (auto operation : {StreamOperation::triad, StreamOperation::dot, StreamOperation::update})
        add_choice({.operation = operation, .shape = vector(bytes)});
      for (int every : quick() ? std::vector{10} : std::vector{2, 10, 100})
        add_choice({.operation = StreamOperation::dot, .shape = vector(bytes), .every = every});
    }
    for (std::size_t bytes : quick() ? Sizes{most} : Sizes{most / 16, most})
      for (int count : quick() ? std::vector{1, 4} : std::vector{1, 2, 4})
        add_choice({.operation = StreamOperation::stencil, .shape = cube(bytes), .steps = count});
  }

  // Compare all devices with one, and with the copies on all links.
  void add_all_devices() {
    if (m_effort.devices < 2) return;
    auto const on_all = [devices = m_effort.devices, streams = std::shared_ptr<DeviceStreams>()](
                            StreamLoop const& loop) mutable {
      if (!streams) {
        std::vector<int> all(static_cast<std::size_t>(devices));
        std::iota(all.begin(), all.end(), 0);
        streams = std::make_shared<DeviceStreams>(all);
      }
      LoopOptions options = options_of(Transport::staged);
      options.instances   = streams->instances();
      return run_streamed<PinnedSpace>(loop, options);
    };
    auto const on_one = library([](StreamLoop const& loop) {
      return LibraryBaseline::Variants{{"staged", [loop] { return staged(loop); }}};
    });
    for (auto operation : {StreamOperation::triad, StreamOperation::dot}) {
      StreamShape const shape = vector(sizes().back());
      add_loop(operation, shape, "PinnedSpace/all_devices", "one_device", on_all, on_one);
      if (quick()) continue;
      add_loop(operation, shape, "PinnedSpace/all_devices", "all_links", on_all,
               plain(StreamWay::all_links));
    }
  }

  // Compare two loops at the same time with one after the other.
  void add_two_at_once() {
    auto const streams = std::make_shared<std::unique_ptr<DeviceStreams>>();
    auto const halves  = [streams](StreamLoop const& loop, bool at_once) {
      int const here = current_device();
      if (!*streams) *streams = std::make_unique<DeviceStreams>(std::vector{here, here});
      return run_halves<PinnedSpace>(loop, (*streams)->instances(), at_once);
    };
    add_loop(
        StreamOperation::triad, vector(sizes().back()), "PinnedSpace/two_at_once", "one_by_one",
        [=](StreamLoop const& loop) { return halves(loop, true); },
        library([=](StreamLoop const& loop) {
          return LibraryBaseline::Variants{{"staged", [=] { return halves(loop, false); }}};
        }));
  }

  Cases take() { return std::move(m_cases); }

 private:
  using Sizes        = std::vector<std::size_t>;
  using Run          = std::function<double(StreamLoop const&)>;
  using MakeBaseline = std::function<std::unique_ptr<StreamBaseline>(StreamLoop const&)>;

  static double staged(StreamLoop const& loop) {
    return run_streamed<PinnedSpace>(loop, options_of(Transport::staged));
  }

  static MakeBaseline plain(StreamWay way) {
    return [way](StreamLoop const& loop) { return make_stream_baseline(way, loop); };
  }
  template <class MakeVariants>
  static MakeBaseline library(MakeVariants make_variants) {
    return [make_variants](StreamLoop const& loop) -> std::unique_ptr<StreamBaseline> {
      return std::make_unique<LibraryBaseline>(make_variants(loop));
    };
  }

  bool quick() const { return m_effort.mode == Mode::quick; }

  // Sizes of an array.
  Sizes sizes() const {
    if (quick()) return {m_largest};
    if (!runs_on_device) return {m_largest / 16, m_largest};
    Sizes result = {64 * MiB, std::min(GiB, m_largest)};
    if (m_largest > 2 * GiB) result.push_back(m_largest);
    return result;
  }

  static StreamShape vector(std::size_t bytes) { return {std::int64_t(bytes / sizeof(double))}; }

  // Planes of a large cube have 2 MiB.
  static StreamShape cube(std::size_t bytes) {
    std::int64_t const side = bytes >= 256 * MiB ? 512 : bytes >= 32 * MiB ? 128 : 64;
    return {std::max<std::int64_t>(4, std::int64_t(bytes / sizeof(double)) / (side * side)), side,
            side};
  }

  void add_staged(StreamOperation operation, std::size_t bytes, std::string const& baseline,
                  StreamWay way) {
    add_loop(operation, vector(bytes), "PinnedSpace/staged", baseline, staged, plain(way));
  }

  void add_loop(StreamOperation operation, StreamShape const& shape, std::string const& how,
                std::string const& baseline, Run run, MakeBaseline make_baseline, int count = 1) {
    add({.operation     = operation,
         .shape         = shape,
         .steps         = count,
         .run           = std::move(run),
         .baseline      = baseline,
         .make_baseline = std::move(make_baseline)},
        how);
  }

  void add_choice(StreamCase one) {
    int const count = one.steps;
    one.run         = [count](StreamLoop const& loop) {
      return run_case<MappedSpace>(loop, count, options_of(Transport::automatic));
    };
    one.baseline      = "better";
    one.make_baseline = library([count](StreamLoop const& loop) {
      auto const by = [&](Transport transport) {
        return [loop, count, transport] {
          return run_case<MappedSpace>(loop, count, options_of(transport));
        };
      };
      return LibraryBaseline::Variants{{"staged", by(Transport::staged)},
                                       {"zero-copy", by(Transport::zero_copy)}};
    });
    add(std::move(one), "MappedSpace/automatic");
  }

  void add(StreamCase one, std::string const& how) {
    std::size_t const bytes = std::size_t(one.shape.elements()) * sizeof(double);
    double const touched    = arrays_moved(one.operation) * double(bytes) * one.steps / one.every;
    std::string full_name =
        "stream/" + name(one.operation) + "/" + how + "/baseline:" + one.baseline;
    if (one.operation == StreamOperation::stencil)
      full_name += "/steps:" + std::to_string(one.steps);
    if (one.every > 1) full_name += "/every:" + std::to_string(one.every);
    m_cases.push_back({full_name + "/bytes:" + std::to_string(bytes), touched,
                       m_effort.repetitions(touched * one.every / (runs_on_device ? 6e10 : 5e9)),
                       [=, latest = m_latest, elements = std::int64_t(m_largest / sizeof(double))] {
                         return std::make_unique<StreamPair>(one,
                                                             latest->of<StreamMemory>(elements));
                       }});
  }

  Effort m_effort;
  std::size_t m_largest;  // bytes of an array
  std::shared_ptr<LatestMemory> m_latest = latest_memory();
  Cases m_cases;
};

}  // namespace

Cases stream_cases(Effort const& effort) {
  StreamCases cases(effort);
  cases.add_loops();
  cases.add_alternatives();
  cases.add_chains();
  cases.add_choices();
  cases.add_all_devices();
  cases.add_two_at_once();
  return cases.take();
}

}  // namespace KokkosHostSpaces::Perf
