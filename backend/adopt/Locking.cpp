// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How adopted memory is page-locked, and unlocked again when there is too much of it: only on idle
// devices, because unlocking waits for running kernels.

#include "../Config.hpp"
#include "../Driver.hpp"
#include "../Error.hpp"
#include "../NodeShare.hpp"
#include "../Placement.hpp"
#include "../os/Pages.hpp"
#include "Adoption.hpp"
#include "ForkTest.hpp"
#include "Settings.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t since(Clock::time_point start) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
}

bool devices_are_idle() noexcept {
  Driver::Devices devices{};
  int const count = Driver::devices_in_use(devices);
  return std::all_of(devices.begin(), devices.begin() + count, [](int device) {
    Driver::Event event = nullptr;
    auto const recorded = Driver::record_all_work(device, event);
    bool const idle =
        recorded == Driver::Recorded::idle ||
        (recorded == Driver::Recorded::yes && Driver::query(event) == Driver::EventState::done);
    Driver::release_event(event);
    return idle;
  });
}

bool crosses_window(Block const& block, std::size_t bytes) {
  auto const begin = reinterpret_cast<std::uintptr_t>(block.begin);
  return begin / page_window != (begin + bytes - 1) / page_window;
}

// As the pool's own pages: near to the device, by several threads.
void touch_near_device(void* pages, std::size_t bytes) noexcept {
  try {
    int const node = node_near_device(Driver::current_device());
    first_touch(pages, bytes, place_pages(pages, bytes, node, config()).team);
  } catch (std::exception const&) {
    // Locking touches them.
  }
}

std::size_t limit_of_pool() {
  pool::NodeShare const share = share_of_node();
  tell_if_assumed(share);
  return bounded_by(share, config().pool_limit);
}

}  // namespace

bool Adoption::forks_keep_pages() noexcept {
  if (m_forks_keep_pages < 0)
    m_forks_keep_pages = settings().skip_in_fork || fork_leaves_pages_to_parent() ? 1 : 0;
  return m_forks_keep_pages == 1;
}

// Called with m_locking held.
char const* Adoption::why_not(Block const& block, std::size_t bytes) noexcept {
  if (m_is_reset) return "the program has reset its device";
  if (Driver::device_count() == 0) return "CUDA has no device here";
  static std::array<char, 400> text{};
  if (Objects::Text const holder = Objects::static_cuda_runtime(); holder[0] != '\0') {
    std::snprintf(text.data(), text.size(),
                  "%s has a statically linked CUDA runtime, whose copies cannot be seen",
                  holder.data());
    return text.data();
  }
  if (!Driver::registered_memory_keeps_address())
    return "the devices see page-locked memory at other addresses";
  if (crosses_window(block, bytes)) return "Views of more than 64 GiB stay pageable";
  if (!forks_keep_pages())
    return "after a fork a device would read the child's pages (the kernel is too old)";
  return nullptr;
}

// Unlocks what is ready and not needed, if the limit forbids `bytes` more, or if more would be locked
// than 9/8 of what was ever in use at once.
bool Adoption::make_room(std::size_t bytes) noexcept {
  std::size_t const limit = limit_of_pool();
  std::vector<Block*> victims;
  {
    std::lock_guard const lock(m_mutex);
    std::size_t const locked = m_locked_bytes;
    std::size_t const used   = locked - m_ready_bytes;
    m_most_used              = std::max(m_most_used, used + bytes);
    std::size_t most         = m_most_used + m_most_used / 8 + (std::size_t(4) << 20);
    if (limit > 0) most = std::min(most, limit);
    std::size_t left = locked + bytes;
    for (auto ready = m_ready.begin(); left > most && ready != m_ready.end();) {
      if (ready->second->epoch > m_retirement.completed()) {
        ++ready;
        continue;
      }
      victims.push_back(ready->second);
      left -= ready->first;
      m_ready_bytes -= ready->first;
      ready = m_ready.erase(ready);
    }
  }
  bool const idle = !victims.empty() && devices_are_idle();
  for (Block* const block : victims) {
    bool const unlocked = idle && Driver::unlock_pages(block->begin, block->locked);
    std::lock_guard const lock(m_mutex);
    if (unlocked) {
      if (settings().skip_in_fork) leave_to_children(block->begin, block->locked);
      m_locked_bytes -= block->locked;
      m_blocks.give(*block);
    } else if (idle) {
      block->state = State::lost;
    } else {
      m_ready.emplace(block->locked, block);
      m_ready_bytes += block->locked;
    }
  }
  return limit == 0 || m_locked_bytes + bytes <= limit;
}

bool Adoption::lock(Block& block, std::size_t bytes, bool is_fresh) noexcept {
  try {
    std::lock_guard const one(m_locking);
    if (char const* const why = why_not(block, bytes)) {
      refuse(why);
      return false;
    }
    if (!make_room(bytes)) {
      refuse(
          "the limit of page-locked memory is reached (KOKKOS_HOST_SPACES_POOL_LIMIT, _NODE_LIMIT)");
      return false;
    }
    auto const start = Clock::now();
    if (config().huge_pages && bytes >= huge_page_bytes) use_huge_pages(block.begin, bytes);
    if (is_fresh) touch_near_device(block.begin, bytes);
    if (settings().skip_in_fork) keep_from_children(block.begin, bytes);
    Driver::lock_pages(block.begin, bytes);
    std::lock_guard const lock(m_mutex);
    block.locked  = bytes;
    block.refused = false;
    m_locked_bytes += bytes;
    m_most_locked = std::max(m_most_locked, m_locked_bytes.load());
    m_lock_nanoseconds += since(start);
    ++m_locks;
    return true;
  } catch (Driver::StillLocked const& error) {
    refuse(error.what());
    std::lock_guard const lock(m_mutex);
    block.locked = bytes;
    block.broken = true;
    m_locked_bytes += bytes;
    return true;
  } catch (std::exception const& error) {
    refuse(error.what());
    if (settings().skip_in_fork) leave_to_children(block.begin, bytes);
    return false;
  }
}

void* Adoption::take_pinned(std::size_t bytes) noexcept {
  if (bytes < least_bytes || m_is_child || m_is_reset) return nullptr;
  if (!serves(bytes)) return nullptr;
  Block* block = nullptr;
  bool locked  = false;
  try {
    ask_devices();
    std::lock_guard const lock(m_mutex);
    block  = ready_block(bytes);
    locked = block != nullptr;
    if (!locked) block = m_blocks.take(bytes);
    if (block == nullptr) return nullptr;
    use(*block, bytes);
  } catch (std::exception const&) {
    return nullptr;
  }
  if (!locked) locked = lock(*block, whole_pages(bytes), true);
  std::lock_guard const guard(m_mutex);
  if (locked) {
    block->pinned_for_user = true;
    m_pinned_bytes += block->locked;
    return block->begin;
  }
  retire(*block);
  return nullptr;
}

bool Adoption::give_pinned(void* pointer) noexcept {
  if (!contains(pointer)) return false;
  {
    std::lock_guard const lock(m_mutex);
    Block const* const block = m_blocks.find(pointer);
    if (block == nullptr || block->begin != pointer || !block->pinned_for_user) return false;
  }
  // Stock waits for the devices; where a capture forbids that, the memory waits for their work.
  Epoch epoch = m_retirement.stamp();
  Driver::Devices devices{};
  int const count = settings().strict && !m_is_child ? Driver::devices_in_use(devices) : 0;
  bool const over =
      count > 0 && std::all_of(devices.begin(), devices.begin() + count,
                               [](int device) { return Driver::fence_device(device); });
  std::lock_guard const lock(m_mutex);
  Block& block = *m_blocks.find(pointer);
  block.epoch  = over ? 0 : epoch;
  retire(block);
  return true;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
