// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Groups.hpp"
#include "../LatestMemory.hpp"
#include "TransportPair.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

// Sizes of an array.
std::size_t largest_array(Effort const& effort) {
  std::size_t bytes = effort.mode == Mode::quick ? 16 * MiB : (runs_on_device ? 1024 : 128) * MiB;
  while (7 * bytes > effort.host_bytes || (runs_on_device && 4 * bytes > effort.device_bytes))
    bytes /= 8;
  return bytes;
}

template <class Space>
void add(std::string const& name, double rate, Effort const& effort, Cases& cases) {
  auto const latest         = latest_memory();
  std::size_t const largest = largest_array(effort);
  std::size_t const step    = effort.mode == Mode::quick ? 64 : 8;
  for (std::size_t bytes = 4 * KiB; bytes <= largest; bytes *= step) {
    // Events resolve 0.5 µs, and all runs of a sample must fit into a queue.
    TransportCase const description{bytes / sizeof(double),
                                    std::clamp<std::size_t>(4 * MiB / bytes, 1, 32)};
    double const moved = double(arrays_moved(VectorOperation::triad)) * double(bytes);
    cases.push_back({"transport/triad/" + name + "/bytes:" + std::to_string(bytes), moved,
                     effort.repetitions(moved / rate), [=] {
                       return std::make_unique<TransportPair<Space>>(
                           description, latest->of<TransportMemory<Space>>(largest));
                     }});
  }
}

}  // namespace

Cases transport_cases(Effort const& effort) {
  Cases cases;
  add<Kokkos::HostSpace>("HostSpace/pageable", 1e10, effort, cases);
  add<PinnedSpace>("PinnedSpace/pinned", runs_on_device ? 5e10 : 1e10, effort, cases);
  add<MappedSpace>("MappedSpace/mapped", runs_on_device ? 5e10 : 1e10, effort, cases);
#ifdef KOKKOS_ENABLE_CUDA
  if (effort.mode != Mode::quick)
    add<Kokkos::CudaHostPinnedSpace>("CudaHostPinnedSpace/stock", 5e10, effort, cases);
  add<Kokkos::CudaSpace>("CudaSpace/resident", 3e12, effort, cases);
#endif
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
