// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/LinkWeights.hpp>

#include <algorithm>
#include <cmath>

namespace KokkosHostSpaces::Impl {

double LinkWeights::rate(int device) {
  std::lock_guard const lock(m_mutex);
  Link& link = m_links[device];
  if (link.rate == 0 && link.attempts++ < most_attempts)
    link.rate = std::max(m_measure(device).value_or(0), 0.);
  return link.rate;
}

std::vector<double> LinkWeights::of(std::vector<int> const& devices) {
  std::vector<double> weights;
  std::lock_guard const lock(m_mutex);
  for (int const device : devices) weights.push_back(rate(device));
  auto const [least, most] = std::minmax_element(weights.begin(), weights.end());
  if (least == weights.end() || *least == 0) return std::vector<double>(devices.size(), 1);
  constexpr double steps = 16;
  double const fastest   = *most;
  for (double& weight : weights)
    weight = std::max(std::round(steps * weight / fastest), 1.) / steps;
  return weights;
}

}  // namespace KokkosHostSpaces::Impl
