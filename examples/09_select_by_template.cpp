// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// One solver for all kinds of memory: the space of the caller's Views is a template parameter, and
// Kokkos::SpaceAccessibility tells whether the kernels may work on them in place or need a copy.

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace khs = KokkosHostSpaces;

using Device     = Kokkos::DefaultExecutionSpace;
using DeviceView = Kokkos::View<double*, Device::memory_space>;

// `view` where kernels can reach it, else a copy of it in device memory.
template <class View>
auto reachable(Device const& instance, View const& view) {
  if constexpr (Kokkos::SpaceAccessibility<Device, typename View::memory_space>::accessible)
    return view;
  else
    return Kokkos::create_mirror_view_and_copy(
        Kokkos::view_alloc(instance, Device::memory_space(), view.label()), view);
}

// y = A x with A = tridiagonal(-1, 4, -1); returns x·y.
template <class X>
double apply(Device const& instance, DeviceView y, X x) {
  double product      = 0;
  std::size_t const n = x.extent(0);
  Kokkos::parallel_reduce(
      "apply", Kokkos::RangePolicy<Device>(instance, 0, n),
      KOKKOS_LAMBDA(std::size_t i, double& sum) {
        double const left = i > 0 ? x(i - 1) : 0.0, right = i + 1 < n ? x(i + 1) : 0.0;
        y(i) = 4.0 * x(i) - left - right;
        sum += x(i) * y(i);
      },
      product);
  return product;
}

// r = b - y and p = r; returns r·r.
template <class B>
double start(Device const& instance, DeviceView r, DeviceView p, B b, DeviceView y) {
  double norm2 = 0;
  Kokkos::parallel_reduce(
      "start", Kokkos::RangePolicy<Device>(instance, 0, b.extent(0)),
      KOKKOS_LAMBDA(std::size_t i, double& sum) {
        p(i) = r(i) = b(i) - y(i);
        sum += r(i) * r(i);
      },
      norm2);
  return norm2;
}

// x += alpha p and r -= alpha y; returns r·r.
template <class X>
double advance(Device const& instance, X x, DeviceView r, DeviceView p, DeviceView y,
               double alpha) {
  double norm2 = 0;
  Kokkos::parallel_reduce(
      "advance", Kokkos::RangePolicy<Device>(instance, 0, x.extent(0)),
      KOKKOS_LAMBDA(std::size_t i, double& sum) {
        x(i) += alpha * p(i);
        r(i) -= alpha * y(i);
        sum += r(i) * r(i);
      },
      norm2);
  return norm2;
}

void redirect(Device const& instance, DeviceView p, DeviceView r, double beta) {
  Kokkos::parallel_for(
      "redirect", Kokkos::RangePolicy<Device>(instance, 0, p.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) { p(i) = r(i) + beta * p(i); });
}

// Root mean square of b - A x at which the solver stops.
constexpr double residual = 1e-10;

// Solves A x = b by conjugate gradients, from the x given. Returns the number of iterations.
template <class Space>
int solve(Device const& instance, Kokkos::View<double*, Space> x, Kokkos::View<double*, Space> b) {
  auto const reachable_x = reachable(instance, x);
  auto const reachable_b = reachable(instance, b);
  std::size_t const n    = x.extent(0);
  DeviceView const r("r", n), p("p", n), y("y", n);

  apply(instance, y, reachable_x);
  double norm2   = start(instance, r, p, reachable_b, y);
  int iterations = 0;
  for (; norm2 > residual * residual * double(n) && iterations < 100; ++iterations) {
    double const alpha    = norm2 / apply(instance, y, p);
    double const previous = norm2;
    norm2                 = advance(instance, reachable_x, r, p, y, alpha);
    redirect(instance, p, r, norm2 / previous);
  }
  Kokkos::deep_copy(instance, x, reachable_x);  // nothing to do where x was used in place
  instance.fence("the solution is complete");
  return iterations;
}

template <class Space>
bool solve_in(char const* name, std::size_t n) {
  using View = Kokkos::View<double*, Space>;
  View const x("x", n), b("b", n);
  auto const exact  = [](std::size_t i) { return double(1 + i % 7); };
  auto const host_b = Kokkos::create_mirror_view(b);
  auto const rhs    = [=](std::size_t i) {
    return 4 * exact(i) - (i > 0 ? exact(i - 1) : 0) - (i + 1 < n ? exact(i + 1) : 0);
  };
  Example::fill(host_b, rhs);
  Kokkos::deep_copy(b, host_b);

  Device const instance;
  int iterations       = 0;
  double const seconds = Example::best_seconds(instance, 2, [&] {
    Kokkos::deep_copy(x, 0.0);
    iterations = solve<Space>(instance, x, b);
  });
  auto const host_x    = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  double error         = 0;
  for (std::size_t i = 0; i < n; ++i) error = std::max(error, std::abs(host_x(i) - exact(i)));
  constexpr bool in_place = Kokkos::SpaceAccessibility<Device, Space>::accessible;
  std::printf("%-9s %-10s %11d %10.2f %12.1e\n", name, in_place ? "in place" : "on copies",
              iterations, 1e3 * seconds, error);
  // A's eigenvalues are larger than 2, so no error is larger than half the norm of the last
  // residual.
  return error < residual * std::sqrt(double(n));
}

bool run(Example::Options const& options) {
  std::string const& space = options.text("space");
  std::size_t const n      = options.size("unknowns");
  bool const all           = space == "all";
  int solved = 0, right = 0;
  auto const count = [&](bool is_right) {
    ++solved;
    right += is_right;
  };

  std::printf("A tridiagonal system of %zu unknowns by conjugate gradients\n\n", n);
  std::printf("%-9s %-10s %11s %10s %12s\n", "memory", "kernels", "iterations", "ms",
              "largest error");
  if (all || space == "pageable") count(solve_in<Kokkos::HostSpace>("pageable", n));
  if (all || space == "pinned") count(solve_in<khs::PinnedSpace>("pinned", n));
  if (all || space == "mapped") count(solve_in<khs::MappedSpace>("mapped", n));
  if (all || space == "device") count(solve_in<Device::memory_space>("device", n));
  if (solved == 0)
    throw std::runtime_error("--space=" + space +
                             " is unknown: use pageable, pinned, mapped, device or all");
  return right == solved;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv,
                      {{"space", "all", "pageable, pinned, mapped, device or all"},
                       {"unknowns", "2M", "size of the system"}},
                      run);
}
