// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What real codes do with host memory, each written once for every space of the host side: HostSpace
// (pageable), CudaHostPinnedSpace, and PinnedSpace, with which some take a call of this library.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_IDIOMS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_IDIOMS_HPP

#include "../Instance.hpp"

#include <KokkosHostSpaces.hpp>
#include <Kokkos_DualView.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Perf {

template <class Space>
inline constexpr bool is_ours_v = std::is_same_v<Space, PinnedSpace>;

using DeviceArray = Kokkos::View<double*, Execution>;
template <class Space>
using HostArray = Kokkos::View<double*, Space>;
using Doubles   = std::vector<double>;

template <class View>
View uninitialised(char const* label, std::size_t n) {
  return View(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), n);
}

/// Seconds that `work` takes by the host's clock, from an idle device until all of it is done.
template <class Work>
double seconds_of(Execution const& instance, Work const& work) {
  instance.fence("idioms: before the clock starts");
  auto const begin = std::chrono::steady_clock::now();
  work();
  instance.fence("idioms: before the clock stops");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class View>
struct CountFrom {
  View view;
  double first;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { view.data()[i] = first + double(i); }
};

template <class View>
void count_from(Execution const& instance, View const& view, double first) {
  Kokkos::parallel_for(
      "idioms: count",
      Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::size_t>>(instance, 0, view.span()),
      CountFrom<View>{view, first});
}

template <class View>
Doubles contents_of(View const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return Doubles(host.data(), host.data() + host.span());
}

/// A DualView that is synchronised to the host and back. Stock Kokkos has none with a pinned side: with
/// CudaHostPinnedSpace it is two Views.
template <class Space>
class DualViewSync {
 public:
  explicit DualViewSync(std::size_t n) : m_dual("dual", n) {
    if constexpr (is_two_views) m_pinned = HostArray<Space>("dual", n);
    count_from(m_instance, m_dual.view_device(), 1);
  }

  double run() {
    return seconds_of(m_instance, [&] {
      if constexpr (is_two_views) {
        Kokkos::deep_copy(m_instance, m_pinned, m_dual.view_device());
        m_instance.fence();
        m_pinned(0) = -1;
        Kokkos::deep_copy(m_instance, m_dual.view_device(), m_pinned);
      } else {
        m_dual.modify_device();
        m_dual.sync_host(m_instance);
        m_instance.fence();
        m_dual.view_host()(0) = -1;
        m_dual.modify_host();
        m_dual.sync_device(m_instance);
      }
    });
  }

  Doubles contents() const { return contents_of(m_dual.view_device()); }

 private:
  static constexpr bool is_two_views =
      !is_ours_v<Space> && !std::is_same_v<Space, Kokkos::HostSpace>;
  using Dual =
      std::conditional_t<is_ours_v<Space>, PinnedDualView<double*, Kokkos::LayoutRight, Execution>,
                         Kokkos::DualView<double*, Kokkos::LayoutRight, Execution>>;

  Execution m_instance;
  Dual m_dual;
  HostArray<Space> m_pinned;
};

/// All transfers of arrays go through one buffer, which is made anew when it is too small. The arrays of
/// the host are pageable, and grow by 10 % from step to step.
template <class Space>
class BounceBuffer {
 public:
  BounceBuffer(std::size_t n, int steps)
      : m_steps(steps), m_device("device", n), m_host("host", n) {
    count_from(m_instance, m_device, 1);
  }

  double run() {
    if (m_steps > 1) m_buffer = {};
    return seconds_of(m_instance, [&] {
      double length = double(m_host.size());
      for (int step = 1; step < m_steps; ++step) length /= 1.1;
      for (int step = 0; step < m_steps; ++step, length *= 1.1)
        bounce(step + 1 == m_steps ? m_host.size() : std::size_t(length));
    });
  }

  Doubles contents() const { return contents_of(m_host); }

 private:
  void bounce(std::size_t n) {
    if (m_buffer.size() < n) {
      m_buffer = {};
      m_buffer = uninitialised<HostArray<Space>>("bounce buffer", n);
    }
    auto const range  = std::make_pair(std::size_t(0), n);
    auto const buffer = Kokkos::subview(m_buffer, range);
    Kokkos::deep_copy(m_instance, buffer, Kokkos::subview(m_device, range));
    m_instance.fence();
    Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), Kokkos::subview(m_host, range), buffer);
  }

  int m_steps;
  Execution m_instance;
  DeviceArray m_device;
  HostArray<Space> m_buffer;
  HostArray<Kokkos::HostSpace> m_host;
};

/// Buffers of exactly the size of each message, made and freed in each step.
template <class Space>
class ExchangeBuffers {
 public:
  ExchangeBuffers(std::size_t n, int messages)
      : m_messages(messages), m_send("send", n), m_receive("receive", n) {
    count_from(m_instance, m_send, 1);
  }

  double run() {
    return seconds_of(m_instance, [&] {
      std::size_t const most = m_send.size() / std::size_t(m_messages);
      for (std::size_t m = 0; m < std::size_t(m_messages); ++m) {
        std::size_t const length = most - (m_step + 7 * m) % (most / 8);
        auto const part          = std::make_pair(m * most, m * most + length);
        auto const buffer        = uninitialised<HostArray<Space>>("message", length);
        Kokkos::deep_copy(m_instance, buffer, Kokkos::subview(m_send, part));
        m_instance.fence();  // here MPI sends it
        Kokkos::deep_copy(m_instance, Kokkos::subview(m_receive, part), buffer);
      }
      ++m_step;
    });
  }

  Doubles contents() const { return contents_of(m_receive); }

 private:
  int m_messages;
  std::size_t m_step = 0;
  Execution m_instance;
  DeviceArray m_send, m_receive;
};

/// The interiors of blocks with ghost cells, gathered into one host array for output: block by block
/// through temporaries, or by one copy from slice to slice.
template <class Space>
class OutputBlocks {
 public:
  OutputBlocks(std::size_t blocks, std::size_t cells)
      : m_field("field", blocks, cells + 2 * ghosts, cells + 2 * ghosts, cells + 2 * ghosts),
        m_output("output", blocks, cells, cells, cells) {
    count_from(m_instance, m_field, 1);
  }

  double run() {
    auto const cells    = m_output.extent(1);
    auto const interior = std::make_pair(ghosts, ghosts + cells);
    return seconds_of(m_instance, [&] {
      if constexpr (is_ours_v<Space>) {
        Kokkos::deep_copy(m_instance, m_output,
                          Kokkos::subview(m_field, Kokkos::ALL, interior, interior, interior));
      } else {
        for (std::size_t b = 0; b < m_output.extent(0); ++b) {
          Kokkos::View<double***, Kokkos::LayoutRight, Execution> const gathered("gathered", cells,
                                                                                 cells, cells);
          Kokkos::deep_copy(m_instance, gathered,
                            Kokkos::subview(m_field, b, interior, interior, interior));
          Kokkos::View<double***, Kokkos::LayoutRight, Space> const mirror("mirror", cells, cells,
                                                                           cells);
          Kokkos::deep_copy(m_instance, mirror, gathered);
          m_instance.fence();
          std::copy(mirror.data(), mirror.data() + mirror.size(),
                    m_output.data() + b * mirror.size());
        }
      }
    });
  }

  Doubles contents() const { return contents_of(m_output); }

 private:
  static constexpr std::size_t ghosts = 2;

  Execution m_instance;
  Kokkos::View<double****, Kokkos::LayoutRight, Execution> m_field;
  // Stock codes write from pageable memory, ours from where the copy ends.
  Kokkos::View<double****, Kokkos::LayoutRight,
               std::conditional_t<is_ours_v<Space>, PinnedSpace, Kokkos::HostSpace>>
      m_output;
};

/// Buffers of mixed sizes, 1 to 256 KiB, of which all are made anew in each step, in another order.
template <class Space>
class Regridding {
 public:
  explicit Regridding(std::size_t views) : m_views(views), m_first(views) {}

  double run() {
    return seconds_of(m_instance, [&] {
      ++m_step;
      std::uint64_t random = m_step;
      for (std::size_t v = 0; v < m_views.size(); ++v) {
        random        = random * 6364136223846793005U + 1442695040888963407U;
        m_views[v]    = {};
        m_views[v]    = uninitialised<HostArray<Space>>("block", 128 + (random >> 33) % 32640);
        m_views[v](0) = double(m_views[v].size());
        m_first[v]    = m_views[v](0);
      }
    });
  }

  Doubles contents() const { return m_first; }

 private:
  Execution m_instance;
  std::uint64_t m_step = 0;
  std::vector<HostArray<Space>> m_views;
  Doubles m_first;
};

struct Relax {
  DeviceArray view;
  int passes;
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    double x = view(i);
    for (int pass = 0; pass < passes; ++pass) x = 0.5 * (x + 3 / (x + 1));
    view(i) = x;
  }
};

inline void relax(Execution const& instance, DeviceArray const& field, int passes) {
  if (passes == 0) return;
  Kokkos::parallel_for(
      "idioms: compute",
      Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::size_t>>(instance, 0, field.size()),
      Relax{field, passes});
}

/// How output leaves a step: by a snapshot, by a copy to a mirror which is then written, or by an asynchronous copy
/// to pinned memory and no writer, which is the shortest time for which output can block an instance.
enum class Output { snapshot, mirror, copy };

/// A step of computing, then output of all of it, again and again. The writer copies into a page cache of
/// its own.
template <class Space, Output how = is_ours_v<Space> ? Output::snapshot : Output::mirror>
class OutputEachStep {
 public:
  /// \param until_written the clock stops when all is written, else when the steps are computed
  OutputEachStep(std::size_t n, int steps, int passes, bool until_written)
      : m_steps(steps),
        m_passes(passes),
        m_until_written(until_written),
        m_field("field", n),
        m_written(how == Output::copy ? 0 : n),
        m_queue({.bytes_in_flight = std::size_t(steps) * n * sizeof(double)}) {
    if constexpr (how != Output::snapshot) m_mirror = HostArray<Space>("mirror", n);
  }

  double run() {
    count_from(m_instance, m_field, 1);
    double const seconds = seconds_of(m_instance, [&] {
      for (int step = 0; step < m_steps; ++step) {
        relax(m_instance, m_field, m_passes);
        if constexpr (how == Output::snapshot) {
          m_queue.take("output", m_instance, m_field, [this](auto const& host) { write(host); });
        } else {
          Kokkos::deep_copy(m_instance, m_mirror, m_field);
          if constexpr (how == Output::mirror) {
            m_instance.fence();
            write(m_mirror);
          }
        }
      }
      if (m_until_written) m_queue.fence();
    });
    m_queue.fence();
    return seconds;
  }

  Doubles contents() const { return how == Output::copy ? contents_of(m_mirror) : m_written; }

 private:
  template <class View>
  void write(View const& host) {
    std::copy(host.data(), host.data() + host.size(), m_written.begin());
  }

  int m_steps, m_passes;
  bool m_until_written;
  Execution m_instance;
  DeviceArray m_field;
  HostArray<Space> m_mirror;
  Doubles m_written;
  SnapshotQueue m_queue;  // its writers use all of the above
};

template <class Space>
using OutputOf = OutputEachStep<Space>;

/// Steps of computing on an instance, beside snapshots of another field on another instance, or alone.
template <bool with_output>
class ComputeBesideOutput {
 public:
  ComputeBesideOutput(std::size_t n, int steps, int passes)
      : m_steps(steps),
        m_passes(passes),
        m_instances(Kokkos::Experimental::partition_space(Execution(), 1, 1)),
        m_field("field", n),
        m_output("output", n),
        m_written(n),
        m_queue({.bytes_in_flight = std::size_t(steps) * n * sizeof(double)}) {}

  double run() {
    count_from(m_instances[0], m_field, 1);
    double const seconds = seconds_of(m_instances[0], [&] {
      for (int step = 0; step < m_steps; ++step) {
        relax(m_instances[0], m_field, m_passes);
        if constexpr (with_output)
          m_queue.take("output", m_instances[1], m_output, [this](auto const& host) {
            std::copy(host.data(), host.data() + host.size(), m_written.begin());
          });
      }
    });
    m_queue.fence();
    return seconds;
  }

  Doubles contents() const { return contents_of(m_field); }

 private:
  int m_steps, m_passes;
  std::array<Execution, 2> m_instances;
  DeviceArray m_field, m_output;
  Doubles m_written;
  SnapshotQueue m_queue;
};

}  // namespace KokkosHostSpaces::Perf

#endif
