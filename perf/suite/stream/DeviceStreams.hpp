// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_DEVICE_STREAMS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_DEVICE_STREAMS_HPP

#include "../../plain/Platform.hpp"
#include "../../plain/Stopwatch.hpp"
#include "../Instance.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Two streams, on these devices, and instances on them.
class DeviceStreams {
 public:
  DeviceStreams(int first, int second) {
    int const here = current_device();
    for (auto const& [device, stopwatch] :
         {std::pair(first, &m_first), std::pair(second, &m_second)}) {
      use_device(device);
      *stopwatch = std::make_unique<Stopwatch>();
      m_instances.push_back(make_instance((*stopwatch)->stream()));
    }
    use_device(here);
  }
  std::vector<Execution> const& instances() const { return m_instances; }

 private:
  std::unique_ptr<Stopwatch> m_first, m_second;
  std::vector<Execution> m_instances;
};

}  // namespace KokkosHostSpaces::Perf

#endif
