// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A program of stock Kokkos, which names nothing of this project: run with the library of backend/adopt/
// preloaded, its Views in HostSpace are adopted, and it computes what it computes.

#include <Kokkos_Core.hpp>
#include <Kokkos_DualView.hpp>

#include <cstdio>

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

// Of a field that grows, is copied and summed in each step.
double sum_of_steps() {
  Kokkos::View<double*, Kokkos::HostSpace> field("field", 100000);
  double sum = 0;
  for (int step = 0; step < 20; ++step) {
    Kokkos::resize(field, field.size() + 5000);
    Kokkos::DualView<double*, Host> dual("dual", field.size());
    Kokkos::parallel_for("write", Kokkos::RangePolicy<Host>(0, int(field.size())),
                         [=](int i) { field(i) += 1; });
    Kokkos::deep_copy(dual.view_host(), field);
    double of_step   = 0;
    auto const other = Kokkos::create_mirror(field);
    Kokkos::deep_copy(other, dual.view_host());
    Kokkos::parallel_reduce(
        "sum", Kokkos::RangePolicy<Host>(0, int(other.size())),
        [=](int i, double& part) { part += other(i); }, of_step);
    sum += of_step;
  }
  return sum;
}

double expected() {
  double sum = 0;
  for (int step = 1; step <= 20; ++step) {
    sum += 100000. * step;
    for (int born = 1; born <= step; ++born) sum += 5000. * (step - born + 1);
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  if (sum_of_steps() != expected()) return 1;
  std::fputs("all is right\n", stderr);
}
