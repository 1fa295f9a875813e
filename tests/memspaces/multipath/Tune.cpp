// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Prints rates of copies over two links for some rules, to choose their constants.

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace khs = KokkosHostSpaces;

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  constexpr std::size_t MiB = std::size_t(1) << 20, KiB = 1024, most = 1024 * MiB;
  Kokkos::Cuda const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1)[1];
  std::printf("%s\n", khs::MultiPath<>(instance).explain().c_str());
  Kokkos::View<char*, khs::PinnedSpace> const host("host", most);
  Kokkos::View<char*, Kokkos::CudaSpace> const device("device", most);
  khs::Impl::RelayedCopies::Probe const probe{
      [](int of) { return khs::Impl::link_rates({of})[0] / 2; }, [](int, int) { return false; }};
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaStream_t const stream = instance.cuda_stream();
  auto const show           = [&](char const* name, khs::Impl::RelayRules rules, bool plain) {
    rules.least_bytes = MiB;
    khs::Impl::RelayedCopies copies(0, {1}, probe, "", rules);
    for (bool const to_device : {true, false}) {
      std::printf("%-34s %s", name, to_device ? "to device" : "to host  ");
      for (std::size_t const bytes : {MiB, 2 * MiB, 4 * MiB, 8 * MiB, 16 * MiB, 64 * MiB, most}) {
        void* const dst = to_device ? device.data() : host.data();
        void* const src = to_device ? host.data() : device.data();
        std::vector<double> by_event, by_host;
        for (int i = 0; i < 11; ++i) {
          auto const start = std::chrono::steady_clock::now();
          cudaEventRecord(begin, stream);
          if (plain)
            cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, stream);
          else
            copies.enqueue(dst, src, bytes, stream);
          cudaEventRecord(end, stream);
          instance.fence();
          std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start;
          float ms                                   = 0;
          cudaEventElapsedTime(&ms, begin, end);
          by_event.push_back(double(ms) / 1000);
          by_host.push_back(passed.count());
        }
        std::sort(by_event.begin(), by_event.end());
        std::sort(by_host.begin(), by_host.end());
        std::printf("  %5.1f/%5.1f", double(bytes) / by_event[5] / 1e9,
                              double(bytes) / by_host[5] / 1e9);
      }
      std::printf("\n");
      if (copies.explain().find("left out") != std::string::npos) std::printf("   (left out)\n");
    }
  };
  std::printf("GB/s by events / by the host's clock, of 1, 2, 4, 8, 16, 64, 1024 MiB\n");
  show("plain", {}, true);
  for (std::size_t const chunk : {2 * MiB, 4 * MiB, 8 * MiB, 16 * MiB})
    for (std::size_t const first : {512 * KiB, MiB, 2 * MiB}) {
      char name[80];
      std::snprintf(name, sizeof name, "chunk %zu MiB, first %zu KiB", chunk / MiB, first / KiB);
      khs::Impl::RelayRules rules;
      rules.chunk       = chunk;
      rules.first_chunk = first;
      rules.late        = 1e9;
      show(name, rules, false);
    }
  for (double const latency : {0., 5e-6, 10e-6, 20e-6, 30e-6, 40e-6}) {
    char name[80];
    std::snprintf(name, sizeof name, "latency %.0f us", latency * 1e6);
    khs::Impl::RelayRules rules;
    rules.latency = latency;
    rules.late    = 1e9;
    show(name, rules, false);
  }
  show("as it is", {}, false);
  return 0;
}
