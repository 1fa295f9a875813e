// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How adopted memory is page-locked, and unlocked again when there is too much of it: only on idle
// devices, because unlocking waits for running kernels.

#include "../Config.hpp"
#include "../Driver.hpp"
#include "../NodeShare.hpp"
#include "../guard/Guard.hpp"
#include "../os/Fork.hpp"
#include "../os/Pages.hpp"
#include "../pool/Pool.hpp"
#include "Adoption.hpp"
#include "Objects.hpp"

#include <algorithm>
#include <cstdint>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

// Unlocks what is ready and not needed, if the limit forbids `bytes` more, or if more would be locked
// than 9/8 of what was ever in use at once.
bool Adoption::make_room(std::size_t bytes) {
  pool::NodeShare const share = share_of_node();
  tell_if_assumed(share);
  std::size_t const told  = bounded_by(share, config().pool_limit),
                    limit = told > 0 ? told : SIZE_MAX;
  bool const is_idle =
      m_ready_bytes > 0 && m_retirement.reach(m_retirement.stamp()) == Retirement::Progress::done;
  for (;;) {
    std::unique_lock lock(m_mutex);
    m_most_used            = std::max(m_most_used, m_locked_bytes - m_ready_bytes + bytes);
    std::size_t const most = m_most_used + m_most_used / 8 + (std::size_t(4) << 20);
    if (m_locked_bytes + bytes <= std::min(most, limit)) return true;
    if (!is_idle || m_ready.empty()) return m_locked_bytes + bytes <= limit;
    Block& victim = leave_ready(m_ready.begin());
    lock.unlock();
    if (!Driver::unlock_pages(victim.begin, victim.locked)) continue;  // it is held for ever
    lock.lock();
    if (settings().skip_in_fork) leave_to_children(victim.begin, victim.locked);
    m_locked_bytes -= victim.locked;
    m_blocks.give(victim);
  }
}

// Makes room for bytes to lock; returns why they cannot be locked, if so. Called with m_locking held.
std::string Adoption::why_not(std::size_t bytes) {
  if (m_is_reset || Driver::device_count() == 0) return "CUDA has no device here, or it was reset";
  if (char const* const why = Objects::static_cuda_runtime()) return why;
  if (!Driver::registered_memory_keeps_address())
    return "the devices see page-locked memory at other addresses";
  static bool const forks_keep_pages = settings().skip_in_fork || fork_leaves_pages_to_parent();
  if (!forks_keep_pages)
    return "after a fork a device would read the child's pages (the kernel is too old, or no process can be started to try it)";
  if (!make_room(bytes))
    return "the limit of page-locked memory is reached (KOKKOS_HOST_SPACES_POOL_LIMIT, _NODE_LIMIT)";
  return {};
}

void Adoption::lock(Block& block) noexcept {
  std::size_t const bytes = whole_pages(block.bytes);
  double const start      = now();
  std::lock_guard const one(m_locking);
  // It counts as locked meanwhile: other threads may copy it, and ask of it, before the runtime returns.
  auto const count = [&](std::size_t locked) {
    std::lock_guard const lock(m_mutex);
    m_locked_bytes += locked - block.locked;
    block.locked = locked;
  };
  try {
    if (std::string const why = why_not(bytes); !why.empty()) return stays(why);
    if (config().huge_pages && bytes >= huge_page_bytes) use_huge_pages(block.begin, bytes);
    count(bytes);
    if (settings().skip_in_fork) keep_from_children(block.begin, bytes);
    Driver::lock_pages(block.begin, bytes);
  } catch (std::exception const& error) {
    if (settings().skip_in_fork) leave_to_children(block.begin, bytes);
    count(0);
    return stays(error.what(), false);
  }
  std::lock_guard const lock(m_mutex);
  m_most_locked = std::max(m_most_locked, m_locked_bytes.load());
  m_locks.add(bytes, now() - start);
}

void* Adoption::take_pinned(std::size_t bytes) noexcept {
  NotCancelled const meanwhile;
  if (bytes < granule || m_is_reset || is_forked_child() || !serves(bytes)) return nullptr;
  Block* const block = block_of(bytes, true, true);
  if (block == nullptr) return nullptr;
  if (block->locked == 0) lock(*block);
  std::lock_guard const guard(m_mutex);
  block->pinned_for_user = block->locked > 0;
  m_pinned_bytes += block->locked;
  if (block->locked > 0) return block->begin;
  retire(*block);
  return nullptr;
}

bool Adoption::give_pinned(void* pointer) noexcept {
  NotCancelled const meanwhile;
  if (!at(pointer, [&](Block const& b) { return b.begin == pointer && b.pinned_for_user; }))
    return false;
  // Stock waits for the devices; where a capture forbids that, the memory waits for their work.
  Driver::Devices devices{};
  int const count = Driver::devices_in_use(devices);
  bool const over =
      settings().strict && std::all_of(devices.begin(), devices.begin() + count,
                                       [](int device) { return Driver::fence_device(device); });
  give(pointer, over);
  return true;
}

// The race guard over adopted memory, which takes the place of the pool's for it.
void check_copy(void const* dst, void const* src, std::size_t bytes, void* stream) noexcept try {
  auto const side = [&](void const* memory) -> Guard::Side {
    std::size_t const view = Adoption::instance().extent_of(memory).size();
    return {memory, bytes,
            view > 0 ? "a View of " + std::to_string(view) + " bytes" : "memory of a device"};
  };
  Guard::watch(side(dst), side(src), stream);
} catch (std::exception const&) {  // for want of memory: it is not watched
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

std::optional<KokkosHostSpaces::Impl::Backend::Pool::Extent>
KokkosHostSpaces::Impl::Backend::Pool::extent_of(void const* pointer) {
  auto const block = Adopt::Adoption::instance().extent_of(pointer);
  if (block.empty()) return std::nullopt;
  return Extent{block.data(), block.size(), whole_pages(block.size()), true, -1, "HostSpace"};
}
