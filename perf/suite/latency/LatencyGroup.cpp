// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Groups.hpp"
#include "FencePair.hpp"
#include "FlagPair.hpp"
#include "LaunchPair.hpp"
#include "SmallCopyPair.hpp"
#include "ViewPair.hpp"

namespace KokkosHostSpaces::Perf {

Cases latency_cases(Effort const& effort) {
  int const repetitions = effort.repetitions(1e-3);
  std::string const at  = runs_on_device ? "CudaSpace" : "HostSpace";
  Cases cases;
  auto const add = [&]<class Make>(std::string const& name, Make make) {
    cases.push_back({"latency/" + name, 0, repetitions, make});
  };
  add("launch/" + at + "/parallel_for", [] { return std::make_unique<LaunchPair>(); });
  add("fence/" + at + "/idle", [] { return std::make_unique<FencePair>(true); });
  add("fence/" + at + "/launch_and_fence", [] { return std::make_unique<FencePair>(false); });
  add("deep_copy/PinnedSpace/to_device/bytes:8", [] { return std::make_unique<SmallCopyPair>(); });
  if (runs_on_device)  // without a device no kernel runs beside its caller
    add("flag/MappedSpace/there_and_back", [] { return std::make_unique<FlagPair>(); });
  add("view/PinnedSpace/bytes:" + std::to_string(ViewPair::bytes),
      [] { return std::make_unique<ViewPair>(); });
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
