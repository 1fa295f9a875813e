// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What write-combined memory is for, and what it is not for: the host writes it and the device
// reads it, by copy or in place. The host must not read it, which is shown on a small slice, as it
// is so slow.

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace khs = KokkosHostSpaces;

using Device     = Kokkos::DefaultExecutionSpace;
using Host       = Kokkos::DefaultHostExecutionSpace;
using DeviceView = Kokkos::View<std::uint64_t*, Device::memory_space>;

template <class ExecutionSpace, class View>
std::uint64_t sum(ExecutionSpace const& instance, View numbers) {
  std::uint64_t total = 0;
  Kokkos::parallel_reduce(
      "sum", Kokkos::RangePolicy<ExecutionSpace>(instance, 0, numbers.extent(0)),
      KOKKOS_LAMBDA(std::size_t i, std::uint64_t & partial) { partial += numbers(i); }, total);
  return total;
}

struct Rates {
  double host_write, copy_in, device_read, host_read;  // GB/s
  bool right;
};

template <class Space>
Rates measure(std::size_t n, std::size_t slice) {
  Kokkos::View<std::uint64_t*, Space> const numbers(
      Kokkos::view_alloc("numbers", Kokkos::WithoutInitializing), n);
  auto const front = Kokkos::subview(numbers, std::pair(std::size_t(0), slice));
  DeviceView const on_device("on_device", n);
  Device const device;
  Host const host;
  auto const rate = [](auto const& instance, std::size_t count, auto const& work) {
    double const seconds = Example::best_seconds(instance, 3, work);
    return 1e-9 * double(count * sizeof(std::uint64_t)) / seconds;
  };

  std::uint64_t sum_in_place = 0, sum_of_front = 0;
  Rates rates{};
  rates.host_write = rate(
      host, n, [&] { Example::fill(numbers, [](std::size_t i) { return std::uint64_t(i); }); });
  rates.copy_in     = rate(device, n, [&] { Kokkos::deep_copy(device, on_device, numbers); });
  rates.device_read = rate(device, n, [&] { sum_in_place = sum(device, numbers); });
  rates.host_read   = rate(host, slice, [&] { sum_of_front = sum(host, front); });

  auto const sum_below = [](std::size_t count) { return std::uint64_t(count) * (count - 1) / 2; };
  rates.right          = sum(device, on_device) == sum_below(n) && sum_in_place == sum_below(n) &&
                sum_of_front == sum_below(slice);
  return rates;
}

void report(char const* what, double mapped, double combined) {
  std::printf("%-34s %10.2f %16.2f %10.2f\n", what, mapped, combined, combined / mapped);
}

bool run(Example::Options const& options) {
  std::size_t const n     = options.elements<std::uint64_t>("bytes");
  std::size_t const slice = std::min(n, options.elements<std::uint64_t>("read-bytes"));

  Rates const mapped   = measure<khs::MappedSpace>(n, slice);
  Rates const combined = measure<khs::WriteCombinedSpace>(n, slice);

  std::printf("GB/s for %s, host reads for %s\n\n", Example::bytes_text(n * sizeof(n)).c_str(),
              Example::bytes_text(slice * sizeof(n)).c_str());
  std::printf("%-34s %10s %16s %10s\n", "", "mapped", "write-combined", "ratio");
  report("host writes, front to back", mapped.host_write, combined.host_write);
  report("deep_copy to the device", mapped.copy_in, combined.copy_in);
  report("a kernel reads in place", mapped.device_read, combined.device_read);
  report(Example::across_a_link ? "host reads: DO NOT" : "host reads", mapped.host_read,
         combined.host_read);
  return mapped.right && combined.right;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv,
                      {{"bytes", "256M", "size of the data"},
                       {"read-bytes", "4M", "how much of it the host reads"}},
                      run);
}
