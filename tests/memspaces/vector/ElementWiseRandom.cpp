// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// element_wise and element_sum equal a loop on the host: for random lengths, alignments, types and spaces,
// also in place. All numbers are small integers, so that sums are exact in every order.

#include "../Rounds.hpp"

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

namespace ElementWiseRandom {

namespace khs = KokkosHostSpaces;

using Execution   = Kokkos::DefaultExecutionSpace;
using DeviceSpace = Execution::memory_space;

constexpr std::size_t most = 70000, margin = 40;

// Elements in a space, and a copy that the host reads.
template <class T, class Space>
struct Buffer {
  Kokkos::View<T*, Space> view{"view", most + 2 * margin};
  Kokkos::View<T*, khs::PinnedSpace> host{"host", most + 2 * margin};

  explicit Buffer(int step) {
    for (std::size_t i = 0; i < host.size(); ++i) host(i) = T(int(i) * step % 11 - 5);
    Kokkos::deep_copy(view, host);
  }
  auto part(std::size_t first, std::size_t n) const {
    return Kokkos::subview(view, std::pair(first, first + n));
  }
};

template <class Out, class A, class B>
struct Mix {
  KOKKOS_FUNCTION Out operator()(A a, B b) const { return Out(int(a) + 2 * int(b)); }
};

template <class Out, class A, class B, class OutSpace, class InSpace>
void check() {
  Execution const instance;
  Buffer<A, InSpace> const a(3);
  Buffer<B, InSpace> const b(7);
  Buffer<Out, OutSpace> const out(1);
  Kokkos::View<std::int64_t, khs::MappedSpace> const sum("sum");
  std::mt19937 random(20261125);
  auto const below = [&](std::size_t n) { return std::size_t(random()) % n; };
  int const count  = rounds(25);
  for (int round = 0; round < count; ++round) {
    std::size_t const n    = below(3) == 0 ? below(most) : below(2) == 0 ? below(40) : below(9000);
    std::size_t const of_a = below(margin), of_b = below(2) * below(margin), of_out = below(margin);
    INFO("round " << round << ": " << n << " elements from " << of_a << ", " << of_b << " to "
                  << of_out);
    auto const from_a = a.part(of_a, n);
    auto const from_b = b.part(of_b, n);
    khs::element_sum("sum", instance, sum, Mix<std::int64_t, A, B>(), from_a, from_b);
    khs::element_wise("mix", instance, out.part(of_out, n), Mix<Out, A, B>(), from_a, from_b);
    Kokkos::View<Out*, khs::PinnedSpace> const got("got", out.view.size());
    Kokkos::deep_copy(instance, got, out.view);
    instance.fence();
    std::int64_t wanted = 0;
    std::size_t wrong   = 0;
    for (std::size_t i = 0; i < out.host.size(); ++i) {
      if (i >= of_out && i < of_out + n) {
        auto const value =
            Mix<std::int64_t, A, B>()(a.host(of_a + i - of_out), b.host(of_b + i - of_out));
        wanted += value;
        out.host(i) = Out(int(value));
      }
      wrong += !(got(i) == out.host(i));
    }
    REQUIRE(wrong == 0);
    REQUIRE(sum() == wanted);
  }
}

TEST_CASE("element_wise and element_sum equal a loop on the host, for random parts of Views",
          "[element_wise]") {
  check<double, double, double, DeviceSpace, DeviceSpace>();
  check<float, float, double, khs::MappedSpace, DeviceSpace>();
  check<short, float, char, DeviceSpace, khs::MappedSpace>();
  check<double, signed char, std::int64_t, khs::MappedSpace, khs::MappedSpace>();
}

}  // namespace ElementWiseRandom
