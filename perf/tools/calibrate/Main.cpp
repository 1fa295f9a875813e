// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What kokkos_host_spaces_info --calibrate runs: that program has no Kokkos, whose kernels are
// measured here.

#include <KokkosHostSpaces/impl/tuning/CopyCalibration.hpp>

#include "../../plain/Platform.hpp"
#include "../../support/Arguments.hpp"

#include <iostream>

namespace {

using namespace KokkosHostSpaces;

int run(int argc, char** argv) {
  Perf::Arguments arguments(argc, argv);
  if (arguments.next()) arguments.refuse();
  if (std::string const why = Perf::why_no_device(); !why.empty()) {
    std::cout << "There is nothing to calibrate (" << why << ")\n";
    return Perf::skipped;
  }
  return Impl::calibrate_this_machine(std::cout) ? Perf::success : Perf::failure;
}

}  // namespace

int main(int argc, char** argv) { return Perf::exit_code_of(run, argc, argv); }
