// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// data += 1 on the device, from pageable and from page-locked memory: how long do the copies take,
// and does deep_copy on an instance return before its copy is done, so that the host can do
// something else? And do the links of other GPUs make copies of page-locked memory faster?

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <cstdio>

namespace khs = KokkosHostSpaces;

using Device     = Kokkos::DefaultExecutionSpace;
using DeviceView = Kokkos::View<double*, Device::memory_space>;

// Seconds until a call of deep_copy returned, and until the copy was done.
struct CopyTimes {
  double call = 1e300, done = 1e300;
};

// A khs::MultiPath also takes the links of other GPUs.
void copy(Device const& way, auto const& to, auto const& from) { Kokkos::deep_copy(way, to, from); }
void copy(khs::MultiPath<Device> const& way, auto const& to, auto const& from) {
  khs::deep_copy(way, to, from);
}

template <class Way, class Destination, class Source>
void time_copy(Device const& instance, Way const& way, Destination const& to, Source const& from,
               CopyTimes& best) {
  instance.fence("time_copy: before");
  Kokkos::Timer timer;
  copy(way, to, from);
  double const call = timer.seconds();
  instance.fence("time_copy: after");
  double const done = timer.seconds();
  if (done < best.done) best = {call, done};
}

void increment(Device const& instance, DeviceView data) {
  Kokkos::parallel_for(
      "increment", Kokkos::RangePolicy<Device>(instance, 0, data.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) { data(i) += 1.0; });
}

void report(char const* memory, char const* direction, std::size_t bytes, CopyTimes const& times) {
  std::printf("%-10s %-16s %12.3f %12.3f %8.1f   %s\n", memory, direction, 1e3 * times.call,
              1e3 * times.done, 1e-9 * double(bytes) / times.done,
              times.call < 0.5 * times.done ? "yes" : "no");
}

template <class Space, class Way>
bool increment_from(char const* memory, Device const& instance, Way const& way, std::size_t n,
                    int rounds) {
  Kokkos::View<double*, Space> const data(Kokkos::view_alloc("data", Kokkos::WithoutInitializing),
                                          n);
  DeviceView const on_device("on_device", n);
  Example::fill(data, [](std::size_t i) { return double(i); });

  CopyTimes in, out;
  for (int round = 0; round < rounds; ++round) {
    time_copy(instance, way, on_device, data, in);
    increment(instance, on_device);
    time_copy(instance, way, data, on_device, out);
  }
  report(memory, "host to device", n * sizeof(double), in);
  report(memory, "device to host", n * sizeof(double), out);
  return Example::count_wrong(data, [=](std::size_t i) { return double(i) + rounds; }) == 0;
}

bool run(Example::Options const& options) {
  std::size_t const n = options.elements<double>("bytes");
  int const rounds    = 5;

  std::printf("data += 1 on %s, %d times; the fastest copy of each kind:\n\n",
              Example::bytes_text(n * sizeof(double)).c_str(), rounds);
  std::printf("%-10s %-16s %12s %12s %8s   %s\n", "memory", "direction", "call, ms", "done, ms",
              "GB/s", "returned before done");
  Device const instance;
  khs::MultiPath<Device> const paths(instance);
  bool const pageable =
      increment_from<Kokkos::HostSpace>("pageable", instance, instance, n, rounds);
  bool const pinned = increment_from<khs::PinnedSpace>("pinned", instance, instance, n, rounds);
  bool const shared = increment_from<khs::PinnedSpace>("all links", instance, paths, n, rounds);
  std::printf("\nall links: %s\n", paths.explain().c_str());
  return pageable && pinned && shared;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv, {{"bytes", "256M", "size of the data"}}, run);
}
