// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Recorder.hpp"

#include "../Text.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

double Recorder::seconds_saved() const noexcept {
  double saved = 0;
  for (Direction const direction : {Direction::to_host, Direction::to_device}) {
    double const rate = sum(direction, HostSide::pageable).rate();
    Sum const locked  = sum(direction, HostSide::locked);
    if (rate > 0) saved += double(locked.timed_bytes) / rate - double(locked.nanoseconds);
  }
  return std::max(saved, 0.) * 1e-9;
}

std::string Recorder::table() const {
  static constexpr char const* words[] = {"adopted, pageable", "adopted, page-locked",
                                          "other pageable memory"};
  std::string text;
  for (Direction const direction : {Direction::to_host, Direction::to_device}) {
    for (HostSide const side : {HostSide::pageable, HostSide::locked, HostSide::others}) {
      Sum const s = sum(direction, side);
      if (s.count == 0) continue;
      text += std::string("  copies to ") +
              (direction == Direction::to_host ? "the host, " : "the device, ") +
              words[static_cast<std::size_t>(side)] + ": " + std::to_string(s.count) + ", " +
              with_decimals(double(s.bytes) * 1e-9, 3) + " GB";
      if (s.rate() > 0) text += ", " + with_decimals(s.rate(), 1) + " GB/s";
      text += '\n';
    }
  }
  return text;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
