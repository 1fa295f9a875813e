// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/tuning/CopyCalibration.hpp>
#include <KokkosHostSpaces/impl/tuning/ThresholdFile.hpp>

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

using Way = CopyTrial::Way;

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

enum class Direction { to_device, to_host, both };

// A crossing of two ways, over sizes that are the double of one another.
struct Crossing {
  Way below, above;
  std::size_t first, last;  ///< bytes
  Direction direction;
  std::size_t pieces = 0;
};

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

std::vector<CopyTimes> time_both(Crossing const& crossing, CopyClock const& clock) {
  std::vector<CopyTimes> times;
  for (std::size_t bytes = crossing.first; bytes <= crossing.last; bytes *= 2)
    for (bool const to_device : {true, false}) {
      if (crossing.direction == (to_device ? Direction::to_host : Direction::to_device)) continue;
      CopyTimes const at = {bytes, clock({crossing.below, to_device, bytes, crossing.pieces}),
                            clock({crossing.above, to_device, bytes, crossing.pieces})};
      if (is_time(at.below) && is_time(at.above)) times.push_back(at);
    }
  return times;
}

// The best threshold among the sizes and `never`; `before` unless that loses more than noise.
std::size_t best_threshold(std::vector<CopyTimes> const& times, std::size_t before,
                           std::size_t never) {
  constexpr double noise = 0.05;
  std::size_t best       = before;
  double least           = loss_of(times, before) - noise;
  auto const look_at     = [&](std::size_t candidate) {
    double const loss = loss_of(times, candidate);
    if (loss >= least) return;
    least = loss;
    best  = candidate;
  };
  for (CopyTimes const& at : times) look_at(at.bytes);
  look_at(never);
  return best;
}

void write_rates(std::ostream& out, LinkRates const& rates) {
  constexpr double GB = 1e9;
  out.precision(1);
  out << std::fixed << "  copies     " << rates.to_device / GB << " GB/s to the device, "
      << rates.to_host / GB << " to the host, " << rates.both / GB << " both at once, "
      << rates.two_to_one / GB << " with two parts to the device\n  zero-copy  "
      << rates.zero_copy_read / GB << " GB/s read, " << rates.zero_copy_write / GB << " written, "
      << rates.zero_copy_two_to_one / GB << " with two parts read\n  device     "
      << rates.device_memory / GB << " GB/s of its memory, " << rates.operation_seconds * 1e6
      << " us for a tiny operation behind another\n";
}

}  // namespace

double loss_of(std::vector<CopyTimes> const& times, std::size_t threshold) {
  double loss = 0;
  for (CopyTimes const& at : times)
    loss += (at.bytes < threshold ? at.below : at.above) / std::min(at.below, at.above) - 1;
  return loss;
}

CopyThresholds measure_thresholds(CopyThresholds const& before, CopyClock const& clock) {
  CopyThresholds found   = before;
  auto const crossing_of = [&](Crossing const& crossing, std::size_t old) {
    return best_threshold(time_both(crossing, clock), old, 2 * crossing.last);
  };
  found.equal_run_bytes = crossing_of(
      {Way::rows_by_kernel, Way::rows_by_engine, 8, KiB, Direction::both}, before.equal_run_bytes);
  auto const slabs_from = [&](Direction direction, std::size_t old) {
    return crossing_of({Way::turned_in_place, Way::turned_by_slabs, 4 * MiB, 64 * MiB, direction},
                       old);
  };
  found.slabs_from_bytes         = slabs_from(Direction::to_device, before.slabs_from_bytes);
  found.slabs_to_host_from_bytes = slabs_from(Direction::to_host, before.slabs_to_host_from_bytes);
  found.slabs_to_host_from_bytes = found.slabs_from(true);  // so that it is told as it is used
  std::size_t longest            = 0;
  for (CopyThresholds::Pieces& known : found.by_kernel) {
    // The longest by kernel, and not the shortest by the other way, is what the table has.
    std::size_t const beyond = crossing_of({Way::pieces_by_kernel, Way::pieces_by_call, KiB,
                                            MiB / 2, Direction::both, known.least_number},
                                           known.most_bytes + 1);
    if (beyond != known.most_bytes + 1) known.most_bytes = beyond / 2 < KiB ? 0 : beyond / 2;
    known.most_bytes = longest = std::max(longest, known.most_bytes);
  }
  return found;
}

std::optional<CopyCalibration> calibrate(std::string const& file, CalibratedLink gpu,
                                         std::function<std::optional<LinkRates>()> const& rates,
                                         CopyClock const& clock) {
  auto const measured = rates();
  if (!measured || !measured->make_sense()) return std::nullopt;
  auto const known = find_calibration(file, gpu);
  std::vector<std::string> broken;  // is measured anew
  if (known) gpu.more = known->more;
  CopyThresholds const before = thresholds_in(gpu.more, broken);
  CopyThresholds const after  = measure_thresholds(before, clock);
  gpu.rates                   = *measured;
  gpu.more                    = with_thresholds(gpu.more, after);
  std::string const problem = file.empty() ? "there is no folder for caches, or it is switched off"
                                           : keep_calibration(file, gpu);
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << gpu.gpu << ", driver " << gpu.driver << '\n';
  write_rates(out, gpu.rates);
  out << changes(before, after);
  if (problem.empty())
    out << "kept in " << file << '\n';
  else
    out << "NOT KEPT" << (file.empty() ? "" : " in " + file) << " (" << problem
        << "): set KOKKOS_HOST_SPACES_CALIBRATION to a file that can be written\n";
  return CopyCalibration{out.str(), problem.empty()};
}

}  // namespace KokkosHostSpaces::Impl
