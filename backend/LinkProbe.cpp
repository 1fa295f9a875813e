// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "LinkProbe.hpp"

#include "Driver.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <string>
#include <thread>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Other work on a device would be measured, too.
bool becomes_idle(int device) noexcept {
  Driver::Event event     = nullptr;
  auto const recorded     = Driver::record_all_work(device, event);
  Driver::EventState done = Driver::EventState::done;
  if (recorded == Driver::Recorded::yes) {
    auto const begin = Clock::now();
    while ((done = Driver::query(event)) == Driver::EventState::pending &&
           seconds_since(begin) < 0.01)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (event != nullptr) Driver::release_event(event);
  return recorded != Driver::Recorded::capturing && recorded != Driver::Recorded::failed &&
         done == Driver::EventState::done;
}

}  // namespace

// Memory for two parts on a device, and a stream for each direction.
struct LinkProbe::Ends {
  // What has begun when the body throws is given back, since another constructor has ended.
  Ends(int on, std::size_t of_part, void* there) noexcept
      : device(on), bytes(of_part), host(static_cast<char*>(there)) {}
  Ends(Link const& link, std::size_t all) : Ends(link.device, bytes_of(link, all), link.host) {
    arrive = static_cast<char*>(Driver::allocate_on_device(device, 2 * bytes));
    if (arrive == nullptr)
      throw Error("the link of device " + std::to_string(device) + " cannot be measured (" +
                  std::to_string(2 * bytes) +
                  " bytes of its memory are not free): free some, or leave the measurement out");
    memory = arrive;
    leave  = arrive + bytes;
    in     = Driver::make_stream(device);
    out    = Driver::make_stream(device);
    Driver::copy(leave, host, bytes, out, device);
  }
  ~Ends() {
    Driver::free_on_device(memory);  // waits for the copies
    Driver::release_stream(in);
    Driver::release_stream(out);
  }
  Ends(Ends const&)            = delete;
  Ends& operator=(Ends const&) = delete;

  void enqueue(LinkMix mix) {
    for (int i = 0; i < mix.to_device; ++i) Driver::copy(arrive, host, bytes, in, device);
    for (int i = 0; i < mix.to_host; ++i) Driver::copy(host + bytes, leave, bytes, out, device);
  }

  // Sends back in the next round what has arrived.
  void wait(bool has_arrived) {
    Driver::fence(in, device);
    Driver::fence(out, device);
    if (has_arrived) std::swap(arrive, leave);
  }

  int device;
  std::size_t bytes;  // of a part
  char *host, *memory = nullptr, *arrive = nullptr, *leave = nullptr;
  Driver::Stream in = nullptr, out = nullptr;
};

LinkProbe::LinkProbe(std::vector<Link> const& links, std::size_t bytes) {
  for (Link const& link : links) m_links.push_back(std::make_unique<Ends>(link, bytes));
  for (auto const& link : m_links) link->wait(false);
}

LinkProbe::~LinkProbe() = default;

double LinkProbe::seconds(LinkMix mix, Action const& meanwhile) {
  auto const begin = Clock::now();
  for (auto const& link : m_links) link->enqueue(mix);
  if (meanwhile) meanwhile();
  for (auto const& link : m_links) link->wait(mix.to_device > 0);
  return seconds_since(begin);
}

double LinkProbe::bytes(LinkMix mix) const {
  double all = 0;
  for (auto const& link : m_links) all += double(mix.to_device + mix.to_host) * double(link->bytes);
  return all;
}

double LinkProbe::best_rate(LinkMix mix, int rounds) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rounds; ++i) least = std::min(least, seconds(mix));
  return bytes(mix) / least;
}

std::optional<double> rate_of_idle_link(int device, void* host, std::size_t bytes) noexcept {
  constexpr double enough_seconds = 0.01;
  try {
    if (!becomes_idle(device)) return std::nullopt;
    LinkProbe probe({{device, host}}, bytes);
    auto const begin = Clock::now();
    double rate      = 0;
    while (rate == 0 || seconds_since(begin) < enough_seconds)
      rate = std::max(rate, probe.best_rate({1, 1}, 2));
    return rate;
  } catch (std::exception const&) {
    return std::nullopt;
  }
}

}  // namespace KokkosHostSpaces::Impl::Backend
