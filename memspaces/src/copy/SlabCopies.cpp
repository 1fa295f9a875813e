// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/copy/SlabCopies.hpp>

#include "../../../backend/Driver.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// So many at least, if they are long enough: all but the last are turned while others come.
constexpr std::size_t slabs_at_least = 4;
constexpr std::size_t buffers        = 2;

// Whole tiles, where a slab has more than one.
constexpr std::size_t whole_tiles = 32;

auto const& strides_on_host(CopyPlan const& plan, LinkWay way) {
  return way == LinkWay::to_host ? plan.dst_stride : plan.src_stride;
}

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

// What copies use, one after the other.
struct SlabCopies::Lane {
  Lane(int on_device, std::shared_ptr<char> device_memory)
      : device(on_device), memory(std::move(device_memory)), link(Driver::make_stream(on_device)) {}
  ~Lane() {
    for (Driver::Event const event : copied) Driver::release_event(event);
    for (Driver::Event const event : turned) Driver::release_event(event);
    Driver::release_event(begun);
    Driver::release_event(done);
    Driver::release_stream(link);
  }
  Lane(Lane const&)            = delete;
  Lane& operator=(Lane const&) = delete;

  int device;
  std::shared_ptr<char> memory;
  Driver::Stream link;                          ///< for memcpys
  std::array<Driver::Event, buffers> copied{};  ///< by them: the slab of a buffer
  std::array<Driver::Event, buffers> turned{};  ///< by a kernel
  Driver::Event begun = nullptr;
  Driver::Event done  = nullptr;
  bool used           = false;
};

struct SlabCopies::Work {
  LinkWay way;
  CopyPlan const& plan;
  Slabs slabs;
  char* dst;
  char const* src;
  Kernel const& kernel;

  std::size_t loop() const { return std::size_t(slabs.loop); }
};

std::optional<Slabs> cut_into_slabs(CopyPlan const& plan, LinkWay way, std::size_t bytes) {
  auto const& stride = strides_on_host(plan, way);
  std::size_t dense  = plan.run_bytes;
  Slabs slabs;
  for (int found = 0; found < plan.loops; ++found) {
    slabs.loop = 0;
    while (slabs.loop < plan.loops && stride[std::size_t(slabs.loop)] != dense) ++slabs.loop;
    if (slabs.loop == plan.loops) return std::nullopt;
    dense *= plan.extent[std::size_t(slabs.loop)];
  }
  if (plan.loops == 0) return std::nullopt;
  auto const loop = std::size_t(slabs.loop);
  slabs.at_once   = std::min(bytes / stride[loop], plan.extent[loop]);
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

bool SlabCopies::enqueue(int device, Driver::Stream stream, LinkWay way, CopyPlan const& plan,
                         char* dst, char const* src, Kernel const& kernel) {
  auto const slabs = cut_into_slabs(
      plan, way,
      std::clamp(plan.bytes() / slabs_at_least, m_limits.least_slab, m_limits.most_slab));
  if (!slabs || device < 0 || device >= Driver::max_devices || Driver::is_capturing(stream))
    return false;
  OfDevice& own = m_devices[std::size_t(device)];
  // Whoever has it may be waiting in a full queue.
  std::unique_lock const lock(own.mutex, std::try_to_lock);
  if (!lock.owns_lock() || !is_ready(own, device, stream)) return false;
  try {
    run(*own.lane, stream, {way, plan, *slabs, dst, src, kernel});
    own.last_stream = stream;
  } catch (...) {
    drain({own.lane->link, stream});
    own.lane.reset();
    throw;
  }
  return true;
}

// By the n-th buffer: what fills it, and behind that what empties it.
void SlabCopies::enqueue_slab(Lane& lane, Driver::Stream stream, Work const& work,
                              CopyPlan const& part, std::size_t n, char* dst,
                              char const* src) const {
  int const device         = lane.device;
  bool const to_host       = work.way == LinkWay::to_host;
  std::size_t const buffer = n % buffers;
  char* const on_device    = lane.memory.get() + buffer * m_limits.most_slab;
  auto const turn          = [&](char* to, char const* from) {
    work.kernel(part, to, from, Kernels::stay_on_the_device);
    Driver::record(lane.turned[buffer], stream, device);
  };
  auto const copy = [&](char* to, char const* from) {
    Driver::copy(to, from, part.extent[work.loop()] * strides_on_host(part, work.way)[work.loop()],
                 lane.link);
    Driver::record(lane.copied[buffer], lane.link, device);
  };
  if (to_host) {
    if (n >= buffers) Driver::make_wait(stream, lane.copied[buffer], device);
    turn(on_device, src);
    Driver::make_wait(lane.link, lane.turned[buffer], device);
    copy(dst, on_device);
  } else {
    if (n >= buffers) Driver::make_wait(lane.link, lane.turned[buffer], device);
    copy(on_device, src);
    Driver::make_wait(stream, lane.copied[buffer], device);
    turn(dst, on_device);
  }
}

void SlabCopies::run(Lane& lane, Driver::Stream stream, Work const& work) const {
  CopyPlan const& plan   = work.plan;
  std::size_t const loop = work.loop();
  if (lane.used) Driver::make_wait(stream, lane.done, lane.device);
  Driver::record(lane.begun, stream, lane.device);
  Driver::make_wait(lane.link, lane.begun, lane.device);
  CopyPlan part = plan;
  std::size_t n = 0;
  for (std::size_t i = 0; i < plan.extent[loop]; i += part.extent[loop], ++n) {
    char* const to         = work.dst + i * plan.dst_stride[loop];
    char const* const from = work.src + i * plan.src_stride[loop];
    part.extent[loop]      = plan.extent[loop] - i;
    if (n == m_limits.most_slabs) {
      work.kernel(part, to, from, Kernels::cross_the_link);
    } else {
      part.extent[loop] = std::min(work.slabs.at_once, part.extent[loop]);
      enqueue_slab(lane, stream, work, part, n, to, from);
    }
  }
  std::size_t const last = (std::min(n, m_limits.most_slabs) - 1) % buffers;
  Driver::make_wait(stream, lane.copied[last], lane.device);
  Driver::record(lane.done, stream, lane.device);
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
