// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// c = a + b over host vectors, chunk by chunk: copy in, add, copy out. With several execution space
// instances the copies of one chunk overlap the work on others, but only if the host memory is
// page-locked.

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace khs = KokkosHostSpaces;

using Device     = Kokkos::DefaultExecutionSpace;
using DeviceView = Kokkos::View<double*, Device::memory_space>;
template <class Space>
using HostView = Kokkos::View<double*, Space>;

// An instance and the device memory for the chunk that it works on.
struct Lane {
  Device instance;
  DeviceView a, b, c;
};

void add(Device const& instance, DeviceView a, DeviceView b, DeviceView c, std::size_t count) {
  Kokkos::parallel_for(
      "add", Kokkos::RangePolicy<Device>(instance, 0, count),
      KOKKOS_LAMBDA(std::size_t i) { c(i) = a(i) + b(i); });
}

// Only enqueues; a lane finishes with one chunk before it takes the next, as its work runs in
// order.
template <class Space>
void add_in_chunks(std::vector<Lane> const& lanes, HostView<Space> a, HostView<Space> b,
                   HostView<Space> c, std::size_t n, std::size_t chunk) {
  std::size_t turn = 0;
  for (std::size_t begin = 0; begin < n; begin += chunk) {
    Lane const& lane = lanes[turn++ % lanes.size()];
    auto const range = std::pair(begin, std::min(begin + chunk, n));
    auto const part  = std::pair(std::size_t(0), range.second - range.first);
    Kokkos::deep_copy(lane.instance, Kokkos::subview(lane.a, part), Kokkos::subview(a, range));
    Kokkos::deep_copy(lane.instance, Kokkos::subview(lane.b, part), Kokkos::subview(b, range));
    add(lane.instance, lane.a, lane.b, lane.c, part.second);
    Kokkos::deep_copy(lane.instance, Kokkos::subview(c, range), Kokkos::subview(lane.c, part));
  }
}

struct Outcome {
  double seconds;
  std::size_t wrong;
};

template <class Space>
Outcome measure(int instances, HostView<Space> a, HostView<Space> b, HostView<Space> c,
                std::size_t n, std::size_t chunk) {
  auto const parts =
      Kokkos::Experimental::partition_space(Device(), std::vector<int>(instances, 1));
  std::vector<Lane> lanes;
  for (Device const& instance : parts)
    lanes.push_back({instance, DeviceView("chunk_a", chunk), DeviceView("chunk_b", chunk),
                     DeviceView("chunk_c", chunk)});
  Kokkos::deep_copy(c, 0.0);
  Example::DeviceTimer timer(parts);
  double best = 1e300;
  for (int repeat = 0; repeat < 4; ++repeat) {
    timer.start();
    add_in_chunks<Space>(lanes, a, b, c, n, chunk);
    best = std::min(best, timer.stop());
  }
  auto const sum = [](std::size_t i) { return 3.0 * double(i); };
  std::size_t const wrong =
      Example::count_wrong(Kokkos::subview(c, std::pair(std::size_t(0), n)), sum);
  return {best, wrong};
}

// The three vectors of the sum.
template <class Space>
struct Vectors {
  HostView<Space> a, b, c;
  explicit Vectors(std::size_t n)
      : a(Kokkos::view_alloc("a", Kokkos::WithoutInitializing), n),
        b(Kokkos::view_alloc("b", Kokkos::WithoutInitializing), n),
        c(Kokkos::view_alloc("c", Kokkos::WithoutInitializing), n) {
    Example::fill(a, [](std::size_t i) { return double(i); });
    Example::fill(b, [](std::size_t i) { return 2.0 * double(i); });
  }
};

bool run(Example::Options const& options) {
  std::size_t const chunks  = options.size("chunks");
  std::size_t const largest = std::max(options.elements<double>("max-bytes"), chunks);
  Vectors<Kokkos::HostSpace> const pageable(largest);
  Vectors<khs::PinnedSpace> const pinned(largest);
  std::size_t wrong = 0;

  std::printf("Time in ms for c = a + b in %zu chunks, from host memory and back.\n\n", chunks);
  std::printf("%10s | %8s |%27s | %s\n", "", "pageable", "pinned",
              "time / that of the best pinned");
  std::printf("%10s | %8s | %7s %8s %8s | %8s  %12s\n", "vector", "1 inst.", "1 inst.", "2 inst.",
              "4 inst.", "pageable", "one instance");
  for (std::size_t n = std::max(largest / 64, chunks); n <= largest; n *= 4) {
    std::size_t const chunk = (n + chunks - 1) / chunks;
    Outcome const slow =
        measure<Kokkos::HostSpace>(1, pageable.a, pageable.b, pageable.c, n, chunk);
    wrong += slow.wrong;
    std::vector<double> ms;
    for (int instances : {1, 2, 4}) {
      Outcome const fast =
          measure<khs::PinnedSpace>(instances, pinned.a, pinned.b, pinned.c, n, chunk);
      wrong += fast.wrong;
      ms.push_back(1e3 * fast.seconds);
    }
    double const best = *std::min_element(ms.begin(), ms.end());
    std::printf("%10s | %8.3f | %7.3f %8.3f %8.3f | %7.2fx  %11.2fx\n",
                Example::bytes_text(n * sizeof(double)).c_str(), 1e3 * slow.seconds, ms[0], ms[1],
                ms[2], 1e3 * slow.seconds / best, ms[0] / best);
  }
  if (Example::across_a_link)
    std::printf(
        "\nA link to a GPU carries both directions at once: two vectors in and one out, so overlap "
        "of copies gains up to 1.5.\n");
  return wrong == 0;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv,
                      {{"max-bytes", "128M", "size of the largest vector"},
                       {"chunks", "16", "pieces that a vector is cut into"}},
                      run);
}
