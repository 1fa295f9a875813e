// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/SlabCopies.hpp>

#include "../../backend/Driver.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

// So many at least, if they are long enough: all but the last are turned while others come.
constexpr std::size_t slabs_at_least = 4;
constexpr std::size_t buffers        = 2;

// Whole tiles, where a slab has more than one.
constexpr std::size_t whole_tiles = 32;

// After an error nothing may touch the caller's memory any more. The error was reported.
void drain(std::initializer_list<Driver::Stream> streams) noexcept {
  for (Driver::Stream const stream : streams) {
    try {
      Driver::fence(stream);
    } catch (CudaError const&) {  // of the same origin
    }
  }
}

}  // namespace

// What copies to a device use, one after the other.
struct SlabCopies::Lane {
  Lane(int on_device, std::shared_ptr<char> device_memory)
      : device(on_device), memory(std::move(device_memory)), in(Driver::make_stream(on_device)) {}
  ~Lane() {
    for (Driver::Event const event : arrived) Driver::release_event(event);
    for (Driver::Event const event : turned) Driver::release_event(event);
    Driver::release_event(begun);
    Driver::release_event(done);
    Driver::release_stream(in);
  }
  Lane(Lane const&)            = delete;
  Lane& operator=(Lane const&) = delete;

  int device;
  std::shared_ptr<char> memory;
  Driver::Stream in;
  std::array<Driver::Event, buffers> arrived{};  ///< a slab is in its buffer, ...
  std::array<Driver::Event, buffers> turned{};   ///< ... and has been turned
  Driver::Event begun = nullptr;
  Driver::Event done  = nullptr;
  bool used           = false;
};

std::optional<Slabs> cut_into_slabs(CopyPlan const& plan, std::size_t bytes) {
  std::size_t dense = plan.run_bytes;
  Slabs slabs;
  for (int found = 0; found < plan.loops; ++found) {
    slabs.loop = 0;
    while (slabs.loop < plan.loops && plan.src_stride[std::size_t(slabs.loop)] != dense)
      ++slabs.loop;
    if (slabs.loop == plan.loops) return std::nullopt;
    dense *= plan.extent[std::size_t(slabs.loop)];
  }
  if (plan.loops == 0) return std::nullopt;
  auto const loop = std::size_t(slabs.loop);
  slabs.at_once   = std::min(bytes / plan.src_stride[loop], plan.extent[loop]);
  if (slabs.at_once == 0) return std::nullopt;
  if (slabs.at_once > whole_tiles && slabs.at_once < plan.extent[loop])
    slabs.at_once -= slabs.at_once % whole_tiles;
  return slabs;
}

SlabCopies::SlabCopies(Limits const& limits)
    : m_limits(limits), m_devices(std::make_unique<OfDevice[]>(Driver::max_devices)) {}

SlabCopies::~SlabCopies() = default;

bool SlabCopies::is_ready(OfDevice& own, int device, Driver::Stream stream) const {
  if (own.has_none) return false;
  if (own.lane == nullptr) {
    std::size_t const bytes = buffers * m_limits.most_slab;
    auto* const memory      = static_cast<char*>(Driver::allocate_on_device(device, bytes));
    own.has_none            = memory == nullptr;
    if (own.has_none) return false;
    own.lane =
        std::make_unique<Lane>(device, std::shared_ptr<char>(memory, Driver::free_on_device));
  }
  return !own.lane->used || own.last_stream == stream ||
         Driver::query(own.lane->done) == Driver::EventState::done;
}

bool SlabCopies::enqueue(int device, Driver::Stream stream, CopyPlan const& plan, char* dst,
                         char const* src, Kernel const& kernel) {
  auto const slabs = cut_into_slabs(
      plan, std::clamp(plan.bytes() / slabs_at_least, m_limits.least_slab, m_limits.most_slab));
  if (!slabs || device < 0 || device >= Driver::max_devices || Driver::is_capturing(stream))
    return false;
  OfDevice& own = m_devices[std::size_t(device)];
  // Whoever has it may be waiting in a full queue.
  std::unique_lock const lock(own.mutex, std::try_to_lock);
  if (!lock.owns_lock() || !is_ready(own, device, stream)) return false;
  try {
    run(*own.lane, stream, plan, *slabs, dst, src, kernel);
    own.last_stream = stream;
  } catch (...) {
    drain({own.lane->in, stream});
    own.lane.reset();
    throw;
  }
  return true;
}

void SlabCopies::run(Lane& lane, Driver::Stream stream, CopyPlan const& plan, Slabs const& slabs,
                     char* dst, char const* src, Kernel const& kernel) const {
  int const device = lane.device;
  auto const loop  = std::size_t(slabs.loop);
  if (lane.used) Driver::make_wait(stream, lane.done, device);
  Driver::record(lane.begun, stream, device);
  Driver::make_wait(lane.in, lane.begun, device);
  CopyPlan part = plan;
  std::size_t n = 0;
  for (std::size_t i = 0; i < plan.extent[loop]; i += part.extent[loop], ++n) {
    std::size_t const left   = plan.extent[loop] - i;
    char const* const begin  = src + i * plan.src_stride[loop];
    char* const to           = dst + i * plan.dst_stride[loop];
    std::size_t const buffer = n % buffers;
    if (n == m_limits.most_slabs) {
      part.extent[loop] = left;
      kernel(part, to, begin, Source::host);
      continue;
    }
    part.extent[loop]      = std::min(slabs.at_once, left);
    char* const on_device  = lane.memory.get() + buffer * m_limits.most_slab;
    Driver::Event& arrived = lane.arrived[buffer];
    Driver::Event& turned  = lane.turned[buffer];
    std::size_t const size = part.extent[loop] * plan.src_stride[loop];
    if (n >= buffers) Driver::make_wait(lane.in, turned, device);
    Driver::copy(on_device, begin, size, lane.in);
    Driver::record(arrived, lane.in, device);
    Driver::make_wait(stream, arrived, device);
    kernel(part, to, on_device, Source::device);
    Driver::record(turned, stream, device);
  }
  Driver::record(lane.done, stream, device);
  lane.used = true;
}

void SlabCopies::release() {
  for (int device = 0; device < Driver::max_devices; ++device) {
    OfDevice& own = m_devices[std::size_t(device)];
    std::lock_guard const lock(own.mutex);
    if (own.lane != nullptr && own.lane->used) Driver::wait(own.lane->done);
    own.lane.reset();
    own.has_none = false;
  }
}

}  // namespace KokkosHostSpaces::Impl
