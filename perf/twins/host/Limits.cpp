// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Limits.hpp"

#include "../Stopwatch.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace KokkosHostSpaces::Perf {

std::vector<Limit> measure_limits() {
  constexpr std::size_t bytes = std::size_t(64) << 20;
  auto const from = std::make_unique<char[]>(bytes), to = std::make_unique<char[]>(bytes);
  Stopwatch stopwatch;
  double seconds = 1e9;
  for (int i = 0; i < 5; ++i)
    seconds = std::min(
        seconds, stopwatch.time_with_host_clock([&] { std::memcpy(to.get(), from.get(), bytes); }));
  return {{"host_memory", 2.0 * bytes / seconds}};  // read and written, by one thread
}

}  // namespace KokkosHostSpaces::Perf
