// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// out = 2 * in, with both arrays on the host: the kernel works on them in place over the link
// (zero-copy), or on copies in device memory. Shows for which sizes, and for how many passes over
// the data, which is faster.

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

namespace khs = KokkosHostSpaces;

using Device     = Kokkos::DefaultExecutionSpace;
using DeviceView = Kokkos::View<double*, Device::memory_space>;
using MappedView = Kokkos::View<double*, khs::MappedSpace>;
using PinnedView = Kokkos::View<double*, khs::PinnedSpace>;

// Same kernel for both ways: the memory space of the Views makes the difference.
template <class View>
void double_it(Device const& instance, View out, View in, std::size_t n, int passes) {
  for (int pass = 0; pass < passes; ++pass)
    Kokkos::parallel_for(
        "double_it", Kokkos::RangePolicy<Device>(instance, 0, n),
        KOKKOS_LAMBDA(std::size_t i) { out(i) = 2.0 * in(i); });
}

struct Arrays {
  MappedView in, out;
  PinnedView pinned_in,
      pinned_out;  // the same memory: a PinnedSpace View may show a MappedSpace one
  DeviceView device_in, device_out;

  explicit Arrays(std::size_t n)
      : in(Kokkos::view_alloc("in", Kokkos::WithoutInitializing), n),
        out(Kokkos::view_alloc("out", Kokkos::WithoutInitializing), n),
        pinned_in(in),
        pinned_out(out),
        device_in(Kokkos::view_alloc("device_in", Kokkos::WithoutInitializing), n),
        device_out(Kokkos::view_alloc("device_out", Kokkos::WithoutInitializing), n) {
    Example::fill(in, [](std::size_t i) { return double(i); });
  }
};

void on_copies(Device const& instance, Arrays const& arrays, std::size_t n, int passes) {
  auto const part = std::pair(std::size_t(0), n);
  Kokkos::deep_copy(instance, Kokkos::subview(arrays.device_in, part),
                    Kokkos::subview(arrays.pinned_in, part));
  double_it(instance, arrays.device_out, arrays.device_in, n, passes);
  Kokkos::deep_copy(instance, Kokkos::subview(arrays.pinned_out, part),
                    Kokkos::subview(arrays.device_out, part));
}

struct Outcome {
  double in_place, on_copies;  // seconds
  std::size_t wrong;
};

Outcome measure(Arrays const& arrays, std::size_t n, int passes) {
  Device const instance;
  int const repeats  = n < (1 << 20) ? 20 : 3;
  auto const result  = Kokkos::subview(arrays.out, std::pair(std::size_t(0), n));
  auto const doubled = [](std::size_t i) { return 2.0 * double(i); };

  Outcome outcome{};
  Kokkos::deep_copy(result, -1.0);
  outcome.in_place = Example::best_seconds(
      instance, repeats, [&] { double_it(instance, arrays.out, arrays.in, n, passes); });
  outcome.wrong = Example::count_wrong(result, doubled);

  Kokkos::deep_copy(result, -1.0);
  outcome.on_copies =
      Example::best_seconds(instance, repeats, [&] { on_copies(instance, arrays, n, passes); });
  outcome.wrong += Example::count_wrong(result, doubled);
  return outcome;
}

// One line of a table for each outcome, and where the faster way changes.
class Sweep {
 public:
  explicit Sweep(char const* quantity) {
    std::printf("%8s %14s %14s   %s\n", quantity, "in place, ms", "on copies, ms",
                Example::across_a_link ? "faster" : "");
  }

  void add(std::string const& value, Outcome const& outcome) {
    double const ratio       = outcome.on_copies / outcome.in_place;
    std::string const faster = ratio > 1.05 ? "in place" : ratio < 0.95 ? "on copies" : "";
    std::printf("%8s %14.3f %14.3f   ", value.c_str(), 1e3 * outcome.in_place,
                1e3 * outcome.on_copies);
    if (!Example::across_a_link)
      std::printf("\n");
    else if (faster.empty())
      std::printf("equal\n");
    else
      std::printf("%s, %.2fx\n", faster.c_str(), std::max(ratio, 1 / ratio));

    m_wrong += outcome.wrong;
    if (faster.empty()) return;
    if (!m_faster.empty() && faster != m_faster)
      m_crossings += "\n  between " + m_value + " and " + value + ": from there " + faster;
    m_faster = faster;
    m_value  = value;
  }

  // Prints where the two ways cross; returns the number of wrong elements.
  std::size_t finish() const {
    if (!Example::across_a_link)
      std::printf("\n");
    else if (m_faster.empty())
      std::printf("Both take the same time.\n\n");
    else if (m_crossings.empty())
      std::printf("They do not cross: %s is never slower.\n\n", m_faster.c_str());
    else
      std::printf("They cross%s\n\n", m_crossings.c_str());
    return m_wrong;
  }

 private:
  std::string m_faster, m_value, m_crossings;
  std::size_t m_wrong = 0;
};

bool run(Example::Options const& options) {
  std::size_t const smallest = 4096;
  std::size_t const largest  = std::max(options.size("max-bytes"), smallest);
  Arrays const arrays(largest / sizeof(double));

  std::printf("out = 2 * in, one pass over the data, by size of an array\n");
  Sweep by_size("size");
  for (std::size_t bytes = smallest; bytes <= largest; bytes *= 4)
    by_size.add(Example::bytes_text(bytes), measure(arrays, bytes / sizeof(double), 1));
  std::size_t wrong = by_size.finish();

  std::size_t const bytes = std::max(largest / 16, smallest);
  std::printf("the same at %s, by number of passes\n", Example::bytes_text(bytes).c_str());
  Sweep by_passes("passes");
  for (int passes = 1; passes <= 8; passes *= 2)
    by_passes.add(std::to_string(passes), measure(arrays, bytes / sizeof(double), passes));
  wrong += by_passes.finish();
  if (Example::across_a_link)
    std::printf(
        "Data touched once: MappedSpace. Data touched again and again: PinnedSpace and copies.\n");
  return wrong == 0;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv, {{"max-bytes", "1G", "largest size of an array, from 4K on"}},
                      run);
}
