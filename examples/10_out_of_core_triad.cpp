// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// a = b + 3 c on arrays in host memory that are larger than the device memory which the loop may
// use. One call: the library cuts the arrays into chunks, and copies in, kernels and copies out
// overlap. The same call works in place, over the link, and can choose for itself.

#include "support/Example.hpp"
#include "support/ProgressBar.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

namespace khs = KokkosHostSpaces;

using Device = Kokkos::DefaultExecutionSpace;
using Array  = Kokkos::View<double*, khs::MappedSpace>;
using Parts  = Kokkos::View<unsigned char*, khs::MappedSpace>;

Array make_array(std::string const& label, std::size_t n) {
  return Array(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), n);
}

// The body marks the parts of the range that it has reached in mapped memory, where the host sees
// them at the latest when the kernel of their chunk has ended.
khs::StreamedLoop triad(khs::StreamOptions<Device> const& options, Array a, Array b, Array c,
                        Parts reached) {
  std::int64_t const n    = std::int64_t(a.extent(0));
  std::int64_t const part = n / std::int64_t(reached.extent(0));
  return khs::streamed_for(
      "triad", options, n,
      KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> b_chunk,
                    khs::Chunk<double const*> c_chunk, khs::Chunk<double*> a_chunk) {
        a_chunk(i) = b_chunk(i) + 3 * c_chunk(i);
        if (i % part == 0 && i / part < std::int64_t(reached.extent(0))) reached(i / part) = 1;
      },
      khs::read(b), khs::read(c), khs::write(a));
}

// Shows how far the loop is, until it is done.
void watch(khs::StreamedLoop const& loop, Parts const& reached) {
  Example::ProgressBar bar;
  while (!loop.is_done()) {
    std::size_t count = 0;
    for (std::size_t p = 0; p < reached.extent(0); ++p)
      count += std::atomic_ref(reached(p)).load(std::memory_order_relaxed);
    bar.show(double(count) / double(reached.extent(0)));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  bar.show(1);
}

// A sum streams likewise; its parts are added in the order of the chunks, so that it is the same in every run.
double sum_of(khs::StreamOptions<Device> const& options, Array a) {
  double sum = 0;
  khs::streamed_reduce(
      "sum", options, std::int64_t(a.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i, khs::Chunk<double const*> chunk, double& part) {
        part += chunk(i);
      },
      Kokkos::Sum<double>(sum), khs::read(a));
  return sum;
}

bool run(Example::Options const& options) {
  std::size_t const n = options.elements<double>("bytes");
  Array const a = make_array("a", n), b = make_array("b", n), c = make_array("c", n);
  Example::fill(b, [](std::size_t i) { return double(i % 1000); });
  Example::fill(c, [](std::size_t i) { return double(i % 77); });
  Parts const reached("reached", std::min<std::size_t>(n, 100));

  khs::StreamOptions<Device> how;
  how.device_memory = options.size("device-memory");
  std::printf("Three arrays of %s, and %s of device memory\n",
              Example::bytes_text(n * sizeof(double)).c_str(),
              Example::bytes_text(how.device_memory).c_str());

  std::size_t wrong = 0;
  for (auto const& [transport, name] : {std::pair(khs::Transport::staged, "staged"),
                                        std::pair(khs::Transport::zero_copy, "zero-copy"),
                                        std::pair(khs::Transport::automatic, "automatic")}) {
    how.transport = transport;
    triad(how, a, b, c, reached).fence();  // makes the buffers on the device
    Kokkos::deep_copy(a, -1.0);
    Kokkos::deep_copy(reached, static_cast<unsigned char>(0));
    Kokkos::Timer timer;
    khs::StreamedLoop const loop = triad(how, a, b, c, reached);
    watch(loop, reached);
    loop.fence();
    double const seconds = timer.seconds();
    std::printf("%-10s %9.2f ms  %7.2f GB/s  %lld chunks, %s on the device\n", name, 1e3 * seconds,
                3e-9 * double(n * sizeof(double)) / seconds, static_cast<long long>(loop.chunks()),
                Example::bytes_text(loop.device_memory()).c_str());
    if (transport == khs::Transport::automatic) std::printf("  %s\n", loop.explain().c_str());
    wrong += Example::count_wrong(
        a, [](std::size_t i) { return double(i % 1000) + 3 * double(i % 77); });
    if (transport == khs::Transport::staged && loop.device_memory() > how.device_memory) ++wrong;
  }
  double expected = 0;
  for (std::size_t i = 0; i < n; ++i) expected += a(i);
  double const sum = sum_of(how, a);
  std::printf("The sum of a is %.17g\n", sum);
  return wrong == 0 && sum == expected;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv,
                      {{"bytes", "1G", "size of each of three arrays"},
                       {"device-memory", "256M", "most device memory that a loop may use"}},
                      run);
}
