// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/tuning/CostModel.hpp>

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <limits>

namespace KokkosHostSpaces::Impl {

namespace {

struct Bytes {
  double to_device = 0, to_host = 0;
  double sum() const { return to_device + to_host; }
};

// A mix of directions: the part to the device, and the rate of both together.
struct Mix {
  double part, rate;
};

// Returns seconds, interpolated between mixes in ascending order of `part`, from 0 to 1.
double seconds_of(Bytes const& bytes, std::initializer_list<Mix> mixes) {
  if (bytes.sum() <= 0) return 0;
  double const part = bytes.to_device / bytes.sum();
  auto above =
      std::find_if(mixes.begin(), mixes.end(), [&](Mix const& mix) { return mix.part >= part; });
  if (above == mixes.end()) --above;  // rounding
  if (above == mixes.begin()) return bytes.sum() / above->rate;
  auto const below    = above - 1;
  double const weight = (part - below->part) / (above->part - below->part);
  return bytes.sum() * ((1 - weight) / below->rate + weight / above->rate);
}

std::string text(char const* pattern, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return text("%.3g us", seconds * 1e6);
  return seconds < 1 ? text("%.3g ms", seconds * 1e3) : text("%.4g s", seconds);
}

std::string bytes_text(double bytes) {
  if (bytes < 1e6) return text("%.3g kB", bytes * 1e-3);
  return bytes < 1e9 ? text("%.3g MB", bytes * 1e-6) : text("%.4g GB", bytes * 1e-9);
}

std::string both_directions(Bytes const& bytes) {
  return bytes_text(bytes.to_device) + " to the device and " + bytes_text(bytes.to_host) +
         " to the host";
}

struct Traffic {
  Bytes staged, in_place;
  double kernels = 0;                 // bytes that a pass touches in device memory
  int copies_in = 0, copies_out = 0;  // of a chunk
  int operations() const { return 1 + copies_in + copies_out; }

  explicit Traffic(LoopCost const& loop) {
    for (ArgumentCost const& argument : loop.arguments) {
      double const in = double(argument.to_device), out = double(argument.to_host);
      double const fraction = std::clamp(argument.fraction, 0., 1.);
      in_place.to_device += loop.passes * fraction * in;
      in_place.to_host += loop.passes * fraction * out;
      kernels += fraction * (in + out);
      if (argument.resident) continue;
      staged.to_device += in;
      staged.to_host += out;
      copies_in += in > 0;
      copies_out += out > 0;
    }
  }
};

double staged_seconds(LoopCost const& loop, Traffic const& traffic, LinkRates const& rates) {
  double const part =
      loop.chunks > 0 ? 1 / double(loop.chunks) : 0;  // of the copies that overlap with nothing
  double const kernels = loop.passes * traffic.kernels / rates.device_memory;
  double const link    = copy_seconds(traffic.staged.to_device, traffic.staged.to_host, rates);
  double const alone =
      traffic.staged.to_device / rates.to_device + kernels + traffic.staged.to_host / rates.to_host;
  double const start = (traffic.operations() + loop.passes - 1) * rates.operation_seconds;
  // The link is idle for a moment before each copy.
  double const rests = loop.chunks > 0 ? (double(loop.chunks) - 1) * rates.operation_seconds *
                                             std::max(traffic.copies_in, traffic.copies_out)
                                       : 0;
  return start + part * alone + (1 - part) * std::max(link, kernels) + rests;
}

}  // namespace

double copy_seconds(double to_device, double to_host, LinkRates const& rates) {
  return seconds_of(
      {to_device, to_host},
      {{0, rates.to_host}, {1. / 2, rates.both}, {2. / 3, rates.two_to_one}, {1, rates.to_device}});
}

double in_place_seconds(double read, double written, LinkRates const& rates) {
  return seconds_of({read, written}, {{0, rates.zero_copy_write},
                                      {2. / 3, rates.zero_copy_two_to_one},
                                      {1, rates.zero_copy_read}});
}

TransportEstimate estimate_transports(LoopCost const& loop, LinkRates const& rates) {
  Traffic const traffic(loop);
  TransportEstimate of{staged_seconds(loop, traffic, rates),
                       std::numeric_limits<double>::infinity(), false};
  if (loop.not_in_place.empty())
    of.zero_copy_seconds =
        loop.passes * rates.operation_seconds +
        in_place_seconds(traffic.in_place.to_device, traffic.in_place.to_host, rates);
  of.zero_copy = of.zero_copy_seconds < of.staged_seconds;
  return of;
}

std::string explain_transports(LoopCost const& loop, LinkRates const& rates) {
  Traffic const traffic(loop);
  TransportEstimate const of = estimate_transports(loop, rates);
  std::string const origin   = rates.measured ? "" : "; by typical link rates";
  std::string const staged   = "copies " + both_directions(traffic.staged) + " in " +
                             time_text(of.staged_seconds) + (loop.chunks > 0 ? "" : " or more");
  if (!loop.not_in_place.empty())
    return "staged, which " + staged + ", since kernels cannot work in place (" +
           loop.not_in_place + ")" + origin;
  std::string const in_place =
      "carries " + both_directions(traffic.in_place) + " in " + time_text(of.zero_copy_seconds) +
      " (" + std::to_string(loop.passes) + (loop.passes == 1 ? " pass)" : " passes)");
  return (of.zero_copy ? "zero-copy, which " + in_place + "; staging, which " + staged
                       : "staged, which " + staged + "; zero-copy, which " + in_place) +
         ", would not be faster" + origin;
}

}  // namespace KokkosHostSpaces::Impl
