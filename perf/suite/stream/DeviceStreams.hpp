// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_DEVICE_STREAMS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_DEVICE_STREAMS_HPP

#include "../../plain/Platform.hpp"
#include "../../plain/Stopwatch.hpp"
#include "../Instance.hpp"

#include <memory>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// A stream for each device, and an instance on each stream.
class DeviceStreams {
 public:
  explicit DeviceStreams(std::vector<int> const& devices) {
    int const here = current_device();
    for (int device : devices) {
      use_device(device);
      m_stopwatches.push_back(std::make_unique<Stopwatch>());
      m_instances.push_back(make_instance(m_stopwatches.back()->stream()));
    }
    use_device(here);
  }
  std::vector<Execution> const& instances() const { return m_instances; }

 private:
  std::vector<std::unique_ptr<Stopwatch>> m_stopwatches;  // own the streams
  std::vector<Execution> m_instances;
};

}  // namespace KokkosHostSpaces::Perf

#endif
