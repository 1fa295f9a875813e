// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>
#include <KokkosHostSpaces/impl/multipath/RelayedCopies.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

#include "../../../backend/Driver.hpp"
#include "../../../backend/Text.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

std::vector<std::size_t> split_over_paths(std::size_t bytes, std::vector<double> const& rates,
                                          RelayRules const& rules) {
  auto const latency = [&](std::size_t path) {
    return path == 0 ? 0 : rules.latency + rules.enqueue * double(path - 1);
  };
  constexpr std::size_t line = std::size_t(64) << 10;
  for (std::size_t paths = rates.size(); paths > 1; --paths) {
    double all = double(bytes), rate = 0;
    for (std::size_t p = 0; p < paths; ++p) {
      all += rates[p] * latency(p);
      rate += rates[p];
    }
    std::vector<std::size_t> parts(paths, 0);
    std::size_t left = bytes;
    for (std::size_t p = 1; p < paths; ++p) {
      double const part = rates[p] * (all / rate - latency(p));
      parts[p] = part > 0 ? std::min(std::size_t(part / double(line) + 0.5) * line, left) : 0;
      left -= parts[p];
    }
    parts[0] = left;
    if (*std::min_element(parts.begin(), parts.end()) >= rules.first_chunk) return parts;
  }
  return {bytes};
}

std::vector<std::size_t> relay_chunks(std::size_t bytes, bool to_device, RelayRules const& rules) {
  std::vector<std::size_t> chunks;
  for (std::size_t most = rules.first_chunk; bytes > 0; most = std::min(4 * most, rules.chunk)) {
    bool const is_last = bytes <= most || bytes - most < rules.first_chunk;
    chunks.push_back(is_last ? std::min(bytes, rules.chunk) : most);
    bytes -= chunks.back();
  }
  if (to_device) std::reverse(chunks.begin(), chunks.end());
  return chunks;
}

struct RelayedCopies::Neighbour {
  Neighbour(int number, double bytes_per_second) : device(number), rate(bytes_per_second) {}
  ~Neighbour() {
    drain();
    for (Lane const& lane : lanes) {
      Driver::release_event(lane.done);
      Driver::release_stream(lane.stream);
    }
    Driver::release_event(began);
    Driver::release_event(ended);
  }
  Neighbour(Neighbour const&)            = delete;
  Neighbour& operator=(Neighbour const&) = delete;

  // Waits until no relay touches memory of others.
  void drain() const noexcept {
    Driver::Devices in_use{};
    Driver::devices_in_use(in_use);  // notices a device that was reset, and its streams gone
    for (Lane const& lane : lanes) try {
        if (lane.stream != nullptr) Driver::fence(lane.stream, device);
      } catch (...) {  // the device has failed, and its work with it
      }
  }

  // Finds out whether the relay that was timed took too long.
  void judge(RelayRules const& rules) {
    auto const seconds = expected > 0 ? Driver::seconds_between(began, ended) : std::nullopt;
    if (seconds && *seconds > rules.late * std::exchange(expected, 0))
      leave_out("its link is busy", rules);
  }

  void leave_out(std::string reason, RelayRules const& rules) {
    why   = std::move(reason);
    pause = rules.pause;
  }

  struct Lane {
    Driver::Stream stream = nullptr;
    Driver::Event done    = nullptr;
  };

  int device;
  double rate;
  DeviceMemory memory;
  std::array<Lane, RelayRules::lanes> lanes;
  Driver::Event began = nullptr, ended = nullptr;  // of the relay that is timed
  double expected = 0;                             // its seconds; 0: none is timed
  int pause       = 0;                             // copies to come without it
  std::string why;                                 // of the pause
};

// The part of a copy that goes through one neighbour, while it is enqueued. Chunk by chunk, the lanes take
// turns: while one chunk crosses the link to the host, the one before it crosses the link between the devices.
// The order of a lane protects its memory.
class RelayedCopies::Relay {
 public:
  Relay(Neighbour& neighbour, char* dst, char const* src, std::size_t bytes, bool to_device,
        RelayRules const& rules)
      : m_neighbour(neighbour),
        m_rules(rules),
        m_dst(dst),
        m_src(src),
        m_bytes(bytes),
        m_chunks(relay_chunks(bytes, to_device, rules)) {}
  ~Relay() {
    if (m_is_pending) m_neighbour.drain();
  }
  Relay(Relay const&)            = delete;
  Relay& operator=(Relay const&) = delete;

  void begin(Driver::Event begun) {
    attempt([&] {
      m_is_pending = true;
      for (std::size_t lane = 0; lane < lanes(); ++lane)
        Driver::make_wait(stream(lane), begun, m_neighbour.device);
      m_is_timed = m_neighbour.expected == 0 && m_neighbour.rate > 0;
      if (m_is_timed) Driver::record(m_neighbour.began, stream(0), m_neighbour.device, true);
    });
  }

  bool next_chunk() {
    if (m_failed || m_next == m_chunks.size()) return false;
    attempt([&] {
      std::size_t const lane  = m_next % RelayRules::lanes;
      std::size_t const bytes = m_chunks[m_next++];
      char* const between     = m_neighbour.memory.get() + lane * m_rules.chunk;
      Driver::copy(between, m_src + m_done, bytes, stream(lane), m_neighbour.device);
      Driver::copy(m_dst + m_done, between, bytes, stream(lane), m_neighbour.device);
      m_done += bytes;
    });
    return true;
  }

  // Orders later work of `own`, a stream of `device`, behind the relay, and makes the copy there if that failed.
  void end(Driver::Stream own, int device) {
    attempt([&] {
      if (m_is_timed)
        Driver::record(m_neighbour.ended, stream((m_next - 1) % RelayRules::lanes),
                       m_neighbour.device, true);
      for (std::size_t lane = 0; lane < lanes(); ++lane) {
        Driver::record(m_neighbour.lanes[lane].done, stream(lane), m_neighbour.device);
        Driver::make_wait(own, m_neighbour.lanes[lane].done, device);
      }
      m_is_pending = false;
      if (m_is_timed) m_neighbour.expected = m_rules.latency + double(m_bytes) / m_neighbour.rate;
    });
    if (m_failed) Driver::copy(m_dst, m_src, m_bytes, own, device);
  }

 private:
  std::size_t lanes() const { return std::min(m_chunks.size(), RelayRules::lanes); }
  Driver::Stream stream(std::size_t lane) const { return m_neighbour.lanes[lane].stream; }

  // A relay that fails is over when this returns.
  template <class Work>
  void attempt(Work const& work) try {
    if (!m_failed) work();
  } catch (DeviceError const& error) {
    m_failed = true;
    m_neighbour.drain();
    m_is_pending = false;
    m_neighbour.leave_out(error.what(), m_rules);
  }

  Neighbour& m_neighbour;
  RelayRules const& m_rules;
  char* m_dst;
  char const* m_src;
  std::size_t m_bytes;
  std::vector<std::size_t> m_chunks;
  std::size_t m_next = 0, m_done = 0;
  bool m_is_pending = false, m_is_timed = false, m_failed = false;
};

RelayedCopies::RelayedCopies(int device, std::vector<int> const& neighbours, Probe const& probe,
                             std::string why_not, RelayRules const& rules)
    : m_device(device), m_rules(rules), m_left_out(std::move(why_not)) {
  for (int const neighbour : std::set<int>(neighbours.begin(), neighbours.end())) {
    if (neighbour == device) continue;
    char const* const why = !Driver::have_own_link(device, neighbour)
                                ? "no link such as NVLink to it"
                            : probe.share_uplink(device, neighbour)
                                ? "its link to the host shares an uplink with that of the device"
                                : nullptr;
    if (why == nullptr)
      m_neighbours.push_back(std::make_unique<Neighbour>(neighbour, probe.rate(neighbour)));
    else
      m_left_out += "\n  not through device " + std::to_string(neighbour) + ": " + why;
  }
  // Those that come last are the first ones for which a copy is too small.
  std::stable_sort(m_neighbours.begin(), m_neighbours.end(),
                   [](auto const& a, auto const& b) { return a->rate > b->rate; });
  if (!m_neighbours.empty()) m_rate = probe.rate(device);
  for (auto const& neighbour : m_neighbours) prepare(*neighbour);
}

RelayedCopies::~RelayedCopies() { Driver::release_event(m_begun); }

void RelayedCopies::prepare(Neighbour& neighbour) const try {
  if (neighbour.memory != nullptr) return;
  for (auto& lane : neighbour.lanes)
    if (lane.stream == nullptr) lane.stream = Driver::make_stream(neighbour.device);
  Driver::let_reach(m_device, neighbour.device);
  neighbour.memory = try_allocate_on_device(neighbour.device, RelayRules::lanes * m_rules.chunk);
  if (neighbour.memory == nullptr) neighbour.leave_out("it has no memory left", m_rules);
} catch (DeviceError const& error) {
  neighbour.leave_out(error.what(), m_rules);
}

// The neighbours that take part in the next copy.
std::vector<RelayedCopies::Neighbour*> RelayedCopies::ready() {
  std::vector<Neighbour*> result;
  for (auto const& neighbour : m_neighbours) {
    neighbour->judge(m_rules);
    if (neighbour->pause-- > 0) continue;
    neighbour->pause = 0;
    prepare(*neighbour);
    if (neighbour->pause == 0) result.push_back(neighbour.get());
  }
  return result;
}

bool RelayedCopies::takes(void const* dst, void const* src, std::size_t bytes, void* stream) const {
  if (m_neighbours.empty() || bytes < m_rules.least_bytes || Driver::is_capturing(stream))
    return false;
  bool const to_device    = Driver::device_of(dst) >= 0;
  void const* const there = to_device ? dst : src;
  return Driver::device_of(there) == m_device && Driver::follows_let_reach(there) &&
         is_reachable(to_device ? src : dst, bytes);
}

void RelayedCopies::enqueue(void* dst, void const* src, std::size_t bytes, void* stream) {
  std::lock_guard const lock(m_mutex);
  auto* const to         = static_cast<char*>(dst);
  auto const* const from = static_cast<char const*>(src);
  bool const to_device   = Driver::device_of(dst) >= 0;
  auto const neighbours  = ready();
  std::vector<double> rates{m_rate};
  for (Neighbour const* const neighbour : neighbours) rates.push_back(neighbour->rate);
  if (std::count(rates.begin(), rates.end(), 0) > 0) rates.assign(rates.size(), 5e10);  // unknown
  auto const parts = split_over_paths(bytes, rates, m_rules);
  if (parts.size() == 1 || !Driver::record_beside_captures(m_begun, stream, m_device))
    return Driver::copy(dst, src, bytes, stream, m_device);

  std::vector<std::unique_ptr<Relay>> relays;
  std::size_t offset = parts[0];
  for (std::size_t p = 1; p < parts.size(); ++p) {
    relays.push_back(std::make_unique<Relay>(*neighbours[p - 1], to + offset, from + offset,
                                             parts[p], to_device, m_rules));
    offset += parts[p];
  }
  Driver::copy(to, from, parts[0], stream, m_device);
  for (auto const& relay : relays) relay->begin(m_begun);
  for (bool any = true; any;) {
    any = false;
    for (auto const& relay : relays) any |= relay->next_chunk();
  }
  for (auto const& relay : relays) relay->end(stream, m_device);
}

void RelayedCopies::release() {
  std::lock_guard const lock(m_mutex);
  for (auto const& neighbour : m_neighbours) {
    neighbour->drain();
    neighbour->memory.reset();
  }
}

std::string RelayedCopies::explain() const {
  std::lock_guard const lock(m_mutex);
  auto const rate = [](double bytes_per_second) {
    return bytes_per_second > 0 ? Backend::with_decimals(bytes_per_second / 1e9, 0) + " GB/s"
                                : std::string("rate unknown");
  };
  std::string text = "copies of page-locked memory to or from device " + std::to_string(m_device) +
                     ", of " + std::to_string(m_rules.least_bytes) +
                     " bytes or more (rates to or from the host, while both directions are busy)"
                     "\n  its own link" +
                     (m_neighbours.empty() ? " alone" : ": " + rate(m_rate));
  for (auto const& neighbour : m_neighbours) {
    text += "\n  through device " + std::to_string(neighbour->device) + ": " +
            rate(neighbour->rate) + ", " +
            (neighbour->memory != nullptr
                 ? std::to_string(RelayRules::lanes * m_rules.chunk) + " bytes of its memory"
                 : "no memory of it now");
    if (neighbour->pause > 0)
      text += "; left out of the next " + std::to_string(neighbour->pause) + " copies (" +
              neighbour->why + ")";
  }
  return text + m_left_out;
}

}  // namespace KokkosHostSpaces::Impl
