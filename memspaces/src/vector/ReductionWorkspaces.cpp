// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>
#include <KokkosHostSpaces/impl/vector/ReductionWorkspaces.hpp>

#include "../../../backend/Driver.hpp"
#include "../../../backend/os/Fork.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// Enough for most reductions of numbers: few streams need a second workspace.
constexpr std::size_t least_bytes = std::size_t(16) << 10;

// Never used again, unlike a thread id of the system: work of a thread may outlive it.
std::uint64_t number_of_thread() {
  static std::atomic<std::uint64_t> last{0};
  thread_local std::uint64_t const number = ++last;
  return number;
}

// Handle 0 is the per-thread default stream in programs compiled for it; handle 1 never is.
bool may_be_of_thread(void* stream) {
  return Driver::is_default_stream(stream) && reinterpret_cast<std::uintptr_t>(stream) != 1;
}

}  // namespace

void* ReductionWorkspaces::of(void* stream, int device, std::size_t bytes) {
  if (Driver::captures(stream)) return of_capture(stream, device, bytes);
  Key const key(stream, device, may_be_of_thread(stream) ? number_of_thread() : 0);
  auto const find = [&]() -> void* {
    std::vector<Memory> const& known = m_of_streams[key];
    return known.empty() || known.back().bytes < bytes ? nullptr : known.back().zeros.get();
  };
  {
    std::lock_guard const lock(m_mutex);
    if (void* const zeros = find()) return zeros;
  }
  Memory made = make(device, std::max(bytes, least_bytes));  // waits: without the lock
  std::lock_guard const lock(m_mutex);
  if (void* const zeros = find()) return zeros;  // of another thread on the same stream
  m_of_streams[key].push_back(std::move(made));
  return find();
}

ReductionWorkspaces::Memory ReductionWorkspaces::make(int device, std::size_t bytes) {
  bytes = std::bit_ceil(bytes);
  std::vector<char> const zeros(bytes);
  Memory made{device, try_copy_to_device(device, zeros.data(), bytes), bytes};
  if (made.zeros == nullptr)
    throw Error("KokkosHostSpaces: device " + std::to_string(device) +
                " has no memory left for the parts of a reduction (" + std::to_string(bytes) +
                " bytes): free some of it");
  return made;
}

// The workspace of a graph; a list, so that end() moves it without an allocation.
struct ReductionWorkspaces::OfGraph {
  ReductionWorkspaces& all;
  std::list<Memory> memory;

  static void end(void* given) {
    std::unique_ptr<OfGraph> const ended(static_cast<OfGraph*>(given));
    std::lock_guard const lock(ended->all.m_spare_mutex);
    ended->all.m_spare.splice(ended->all.m_spare.end(), ended->memory);
  }
};

void* ReductionWorkspaces::of_capture(void* stream, int device, std::size_t bytes) {
  auto of_graph = std::make_unique<OfGraph>(OfGraph{*this, take_spare(device, bytes)});
  if (of_graph->memory.empty()) of_graph->memory.push_back(make(device, bytes));
  void* const zeros = of_graph->memory.front().zeros.get();
  Driver::retain_in_capture(stream, of_graph.release(), OfGraph::end);
  return zeros;
}

std::list<ReductionWorkspaces::Memory> ReductionWorkspaces::take_spare(int device,
                                                                       std::size_t bytes) {
  std::list<Memory> taken;
  std::lock_guard const lock(m_spare_mutex);
  auto const found = std::find_if(m_spare.begin(), m_spare.end(), [&](Memory const& spare) {
    return spare.device == device && spare.bytes >= bytes;
  });
  if (found != m_spare.end()) taken.splice(taken.end(), m_spare, found);
  return taken;
}

void ReductionWorkspaces::clear() noexcept {
  if (Backend::is_forked_child()) return;  // a thread of the parent may hold the mutexes
  std::list<Memory> spare;
  {
    std::lock_guard const lock(m_spare_mutex);
    spare.swap(m_spare);
  }
  std::lock_guard const lock(m_mutex);
  m_of_streams.clear();
}

}  // namespace KokkosHostSpaces::Impl
