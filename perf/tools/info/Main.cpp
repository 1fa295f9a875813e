// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Tells rates and limits of this machine for page-locked memory, and warns of obstacles:
// ../../README.md.

#include "Findings.hpp"

#include "../../../backend/Config.hpp"
#include "../../../backend/NodeShare.hpp"
#include "../../support/Arguments.hpp"
#include "../../support/Machine.hpp"
#include "../../plain/Platform.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>

namespace KokkosHostSpaces::Perf {
namespace {

char const* const usage = R"(Usage: kokkos_host_spaces_info [options]
  --no-measure   only look: no rates
  --version      of library, Kokkos, CUDA and compiler
Prints GPUs, links, NUMA nodes, limits, the rates of GPUs to expect (measured in about 5 seconds), and
warnings with what to do.
)";

struct Options {
  bool measure = true;
  bool help    = false;
  bool version = false;
};

Options parse_options(int argc, char const* const* argv) {
  Options options;
  Arguments arguments(argc, argv);
  while (arguments.next()) {
    if (arguments.option() == "--no-measure")
      options.measure = false;
    else if (arguments.option() == "--help")
      options.help = true;
    else if (arguments.option() == "--version")
      options.version = true;
    else
      arguments.refuse();
  }
  return options;
}

bool all_verified(Findings const& findings) {
  return std::ranges::all_of(findings.gpus,
                             [](Gpu const& gpu) { return !gpu.rates || gpu.rates->verified; });
}

std::string why_no_gpu() {
#ifdef KOKKOS_HOST_SPACES_STOCK_DEVICE
  return "this library leaves " KOKKOS_HOST_SPACES_STOCK_DEVICE
         " to Kokkos: names and semantics are there, gains are not";
#endif
  return baselines_use_cuda ? why_no_device() : "this library was built without CUDA";
}

int run(int argc, char** argv) {
  Options const options = parse_options(argc, argv);
  if (options.help || options.version) {
    std::cout << (options.help ? usage : version_text());
    return success;
  }
  Findings findings         = survey(list_devices(), Impl::Backend::Topology::machine());
  findings.huge_pages_asked = Impl::Backend::config().huge_pages;
  findings.node_share       = Impl::Backend::share_of_node();
  findings.with_cuda        = baselines_use_cuda;
  if (findings.gpus.empty()) findings.why_no_gpu = why_no_gpu();
  bool measured = true;
  try {
    if (options.measure) measure(findings);
  } catch (std::exception const& error) {
    // Print the findings all the same.
    std::cerr << "kokkos_host_spaces_info: not all was measured: " << error.what() << '\n';
    measured = false;
  }
  write_report(std::cout, findings, warnings_of(findings));
  if (!all_verified(findings)) return wrong_result;
  return measured ? success : failure;
}

}  // namespace
}  // namespace KokkosHostSpaces::Perf

int main(int argc, char** argv) {
  return KokkosHostSpaces::Perf::exit_code_of(KokkosHostSpaces::Perf::run, argc, argv);
}
