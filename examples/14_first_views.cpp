// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How long memory takes until the host can use it, a byte of each page written: the first time, when the
// system has to give it, and again, after it was freed. This holds without a GPU, too.

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace khs = KokkosHostSpaces;

// Sizes at which the driver takes its time, where there is one.
constexpr std::size_t of_fresh = std::size_t(Example::across_a_link ? 1024 : 64) << 20;
constexpr std::size_t of_used  = std::size_t(Example::across_a_link ? 256 : 4) << 20;

// A View with uninitialised elements.
template <class Space>
Kokkos::View<char*, Space> make_view(std::size_t bytes) {
  return Kokkos::View<char*, Space>(Kokkos::view_alloc("view", Kokkos::WithoutInitializing), bytes);
}

struct Malloc {
  std::unique_ptr<char, decltype(&std::free)> memory;
  explicit Malloc(std::size_t bytes) : memory(static_cast<char*>(std::malloc(bytes)), &std::free) {
    if (memory == nullptr) throw std::bad_alloc();
  }
  char* data() const { return memory.get(); }
};

// The median of several times from asking for memory until each of its pages is written.
template <class Make>
double median_seconds(std::size_t bytes, bool fresh, Make const& make) {
  std::vector<double> seconds;
  for (int r = 0; r < 5; ++r) {
    if (fresh) khs::pool::trim(0);  // the pool gives back what it keeps
    Kokkos::Timer const timer;
    auto const memory         = make(bytes);
    char volatile* const page = memory.data();
    for (std::size_t i = 0; i < bytes; i += 4096) page[i] = 1;
    seconds.push_back(timer.seconds());
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

template <class Make>
void print(char const* name, Make const& make) {
  double const first = median_seconds(of_fresh, true, make);
  double const again = median_seconds(of_used, false, make);
  std::printf("%-28s%12.2f ms%15.1f us\n", name, 1e3 * first, 1e6 * again);
}

bool run(Example::Options const&) {
  std::printf("%-28s%15s%18s\n", "usable after",
              (Example::bytes_text(of_fresh) + ", fresh").c_str(),
              (Example::bytes_text(of_used) + ", again").c_str());
  print("malloc", [](std::size_t bytes) { return Malloc(bytes); });
  print("View in HostSpace", make_view<Kokkos::HostSpace>);
#ifdef KOKKOS_ENABLE_CUDA
  print("View in CudaHostPinnedSpace", make_view<Kokkos::CudaHostPinnedSpace>);
#endif
  print("View in PinnedSpace", make_view<khs::PinnedSpace>);
  return true;
}

int main(int argc, char** argv) { return Example::run(argc, argv, {}, run); }
