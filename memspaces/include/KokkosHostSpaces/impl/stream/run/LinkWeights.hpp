// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_LINK_WEIGHTS_HPP
#define KOKKOS_HOST_SPACES_IMPL_LINK_WEIGHTS_HPP

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// The shares of devices in a loop, by the rates of their links, each measured once. Threads may
/// share it.
class LinkWeights {
 public:
  /// Measures bytes per second; nothing if that is impossible now, as on a busy device.
  using Measure = std::function<std::optional<double>(int device)>;

  explicit LinkWeights(Measure measure) : m_measure(std::move(measure)) {}

  /// Returns 1 for the fastest link and, in sixteenths, less for slower ones, so that noise does not
  /// change the parts from run to run; 1 for all if one of them cannot be measured.
  std::vector<double> of(std::vector<int> const& devices);

  /// Returns bytes per second; 0 if the link cannot be measured.
  double rate(int device);

 private:
  // The reason of a failure may last, and finding it takes time.
  static constexpr int most_attempts = 3;

  struct Link {
    double rate  = 0;
    int attempts = 0;
  };
  Measure m_measure;
  std::recursive_mutex m_mutex;  // a tool that is told of memory for it may ask, too
  std::map<int, Link> m_links;
};

/// Returns the weights of devices of this machine. The first call takes about 20 ms for each device.
std::vector<double> link_weights(std::vector<int> const& devices);

/// Returns bytes per second that cross the link of a device in both directions together; 0 if it cannot be
/// measured.
double link_rate(int device);

}  // namespace KokkosHostSpaces::Impl

#endif
