// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "AllLinks.hpp"

#include "CheckCuda.hpp"
#include "GateCuda.hpp"
#include "OnDeviceCuda.hpp"
#include "PlainBuffer.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr double give_up_on_links_after_seconds = 10;

// The buffers for one device, and a stream for each direction.
class Link {
 public:
  Link(int device, std::size_t bytes) : m_device(device), m_bytes(bytes) {
    OnDevice const here(device);
    for (PlainBuffer& buffer : m_host) buffer = make_plain_buffer(PlainKind::pinned, bytes);
    for (PlainBuffer& buffer : m_on_device) buffer = make_plain_buffer(PlainKind::device, bytes);
    for (cudaStream_t& stream : m_streams)
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~Link() {
    for (cudaStream_t stream : m_streams) (void)cudaStreamDestroy(stream);
  }
  Link(Link const&)            = delete;
  Link& operator=(Link const&) = delete;

  void wait_for(cudaEvent_t event) {
    OnDevice const here(m_device);
    for (cudaStream_t stream : m_streams)
      check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
  }

  // Alternate the directions, as a loop that reads and writes.
  void enqueue(Mix mix, std::size_t piece) {
    OnDevice const here(m_device);
    for (std::size_t from = 0; from < m_bytes; from += piece) {
      std::size_t const bytes = std::min(piece, m_bytes - from);
      for (int i = 0; i < mix.to_device; ++i) copy(m_on_device[0], m_host[0], from, bytes, 0);
      for (int i = 0; i < mix.to_host; ++i) copy(m_host[1], m_on_device[1], from, bytes, 1);
    }
  }

  void wait() {
    for (cudaStream_t stream : m_streams)
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  int device() const { return m_device; }
  cudaStream_t stream() const { return m_streams[0]; }

 private:
  void copy(PlainBuffer const& to, PlainBuffer const& from, std::size_t offset, std::size_t bytes,
            int direction) {
    check(cudaMemcpyAsync(static_cast<char*>(to.get()) + offset,
                          static_cast<char const*>(from.get()) + offset, bytes, cudaMemcpyDefault,
                          m_streams[direction]),
          "cudaMemcpyAsync");
  }

  static PlainBuffer nothing() {
    return {nullptr, [](void*) {}};
  }

  int m_device;
  std::size_t m_bytes;
  PlainBuffer m_host[2] = {nothing(), nothing()}, m_on_device[2] = {nothing(), nothing()};
  cudaStream_t m_streams[2] = {};
};

}  // namespace

struct AllLinks::State {
  State(std::vector<int> const& devices, std::size_t bytes_of_part)
      : bytes(bytes_of_part), first(devices.front()) {
    for (int device : devices) links.push_back(std::make_unique<Link>(device, bytes_of_part));
    check(cudaEventCreateWithFlags(&opened, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~State() { (void)cudaEventDestroy(opened); }

  std::size_t bytes;
  OnDevice first;  // the gate is there; restores the caller's device
  std::vector<std::unique_ptr<Link>> links;
  Gate gate;
  cudaEvent_t opened = nullptr;
};

AllLinks::AllLinks(std::vector<int> const& devices, std::size_t bytes)
    : m_state(std::make_unique<State>(devices, bytes)) {}

AllLinks::~AllLinks() = default;

int AllLinks::links() const { return int(m_state->links.size()); }

double AllLinks::seconds(Mix mix, std::size_t piece, std::function<void()> const& meet) {
  State& s = *m_state;
  OnDevice const here(s.links.front()->device());
  s.gate.close(s.links.front()->stream(), give_up_on_links_after_seconds);
  check(cudaEventRecord(s.opened, s.links.front()->stream()), "cudaEventRecord");
  for (auto const& link : s.links) link->wait_for(s.opened);
  for (auto const& link : s.links) link->enqueue(mix, piece);
  meet();
  auto const begin = std::chrono::steady_clock::now();
  s.gate.open();
  for (auto const& link : s.links) link->wait();
  meet();
  auto const end = std::chrono::steady_clock::now();
  if (s.gate.gave_up()) throw std::runtime_error("copies were enqueued too slowly to be timed");
  return std::chrono::duration<double>(end - begin).count();
}

double AllLinks::best_rate(Mix mix, std::function<double(double)> const& slowest,
                           std::function<void()> const& meet) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t piece : {std::size_t(16) << 20, std::size_t(64) << 20, m_state->bytes})
    for (int i = 0; i < 4; ++i)  // the first round wakes the links up
      least = std::min(least, slowest(seconds(mix, piece, meet)));
  return double(links()) * mix.parts() * double(m_state->bytes) / least;
}

}  // namespace KokkosHostSpaces::Perf
