// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Adoption.hpp"

#include "../Driver.hpp"
#include "../os/Fork.hpp"
#include "../os/Pages.hpp"
#include "Next.hpp"
#include "Settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <new>

#include <pthread.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

bool system_has_gpu() noexcept {
  for (char const* file : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvmap"})
    if (access(file, F_OK) == 0) return true;
  return settings().without_gpu;
}

std::size_t granules_of(std::size_t bytes) noexcept {
  return (bytes + Blocks::granule - 1) / Blocks::granule;
}

// A larger block than this is not handed out for a request.
std::size_t most_for(std::size_t bytes) noexcept { return bytes + bytes / 8 + Blocks::granule; }

[[noreturn]] void end_at(void const* pointer) noexcept {
  std::fprintf(stderr,
               "KokkosHostSpaces: adopt: %p is freed (it is not in use): look for a double free\n",
               pointer);
  std::abort();
}

}  // namespace

Adoption& Adoption::instance() noexcept {
  alignas(Adoption) static unsigned char storage[sizeof(Adoption)];
  static auto* const adoption = new (storage) Adoption;
  return *adoption;
}

// Where look-ups are safe: later, a library that is being opened may hold the loader's lock, and wait in
// its constructors for memory. And before other code has fork handlers, which may make and free Views:
// ours then run last before a fork, and first after it.
void Adoption::start() noexcept {
  m_others        = Objects::who_else_defines(memory_functions);
  m_sanitizer     = Objects::sanitizer();
  m_watches_forks = pthread_atfork(&before_fork, &in_parent, &in_child) == 0;
}

// Serves from the first request on that finds a shared CUDA runtime loaded.
bool Adoption::begins() noexcept {
  unsigned long long const loaded = Objects::loaded();
  if (m_seen.exchange(loaded) == loaded) return m_phase == Phase::on;
  char const* why = !settings().on      ? "KOKKOS_HOST_SPACES_ADOPT says so"
                    : !system_has_gpu() ? "the system has no GPU of NVIDIA"
                    : !m_watches_forks  ? "fork handlers are refused"
                                        : m_sanitizer;
  if (why == nullptr && !Objects::is_loaded("libcudart.so")) return false;
  fork_generation();  // counts from now on
  std::lock_guard const lock(m_mutex);
  if (m_phase != Phase::waiting) return m_phase == Phase::on;
  if (why == nullptr && m_others[0] == '\0')
    m_others = Objects::defined_by_program(memory_functions);
  if (why == nullptr && m_others[0] != '\0') why = m_others.data();
  if (why == nullptr && !m_blocks.reserve())
    why = "the system limits the addresses of the process (ulimit -v)";
  if (why != nullptr) std::snprintf(m_why.data(), m_why.size(), "%s", why);
  m_phase = why == nullptr ? Phase::on : Phase::off;
  return why == nullptr;
}

void Adoption::before_fork() {
  Adoption& a = instance();
  a.m_mutex.lock();
  if (a.m_locked_bytes == 0) return;
  ++a.m_forks;
  if (!settings().skip_in_fork) a.m_forked_bytes += a.m_locked_bytes;
}

void Adoption::in_parent() { instance().m_mutex.unlock(); }

// What is page-locked belongs to the parent; the child has a copy, which is pageable, or nothing.
void Adoption::in_child() {
  Adoption& a  = instance();
  a.m_is_child = a.m_phase == Phase::on;
  a.m_ready.clear();
  a.m_ready_bytes = 0;
  a.m_mutex.unlock();
}

Block* Adoption::ready_block(std::size_t bytes) noexcept {
  std::size_t const needed = whole_pages(bytes);
  for (auto found = m_ready.lower_bound(needed);
       found != m_ready.end() && found->first <= most_for(needed); ++found) {
    Block* const block = found->second;
    if (block->epoch > m_retirement.completed()) continue;
    m_ready.erase(found);
    m_ready_bytes -= block->locked;
    block->state = State::in_use;
    ++m_reused;
    return block;
  }
  return nullptr;
}

void Adoption::use(Block& block, std::size_t bytes) noexcept {
  block.bytes  = bytes;
  block.copies = 0;
  m_in_use += bytes;
  m_most_in_use = std::max(m_most_in_use, m_in_use);
  m_view_bytes += bytes;
  ++m_views;
}

void Adoption::ask_devices() noexcept {
  if (m_last_epoch > m_retirement.completed()) m_retirement.reach(m_last_epoch);
}

bool Adoption::serves(std::size_t bytes) noexcept {
  return m_phase != Phase::off && (m_phase == Phase::on || begins()) && !exceeds_memory(bytes);
}

void* Adoption::take(std::size_t bytes) noexcept {
  if (!serves(bytes)) return nullptr;
  bool const may_reuse = m_ready_bytes > 0 && Objects::static_cuda_runtime()[0] == '\0';
  if (may_reuse) ask_devices();
  try {
    std::lock_guard const lock(m_mutex);
    bool const copied = may_reuse && m_copied.count(granules_of(bytes)) > 0;
    Block* block      = copied ? ready_block(bytes) : nullptr;
    if (block == nullptr) block = m_blocks.take(bytes);
    if (block == nullptr) return nullptr;
    use(*block, bytes);
    return block->begin;
  } catch (std::exception const&) {
    return nullptr;
  }
}

// The lock is held.
void Adoption::retire(Block& block) noexcept {
  try {
    if (block.copies > 0) m_copied.insert(granules_of(block.bytes));
  } catch (std::exception const&) {
    // The next one of this size is locked at its second copy.
  }
  m_in_use -= block.bytes;
  if (block.registered)
    m_registered.erase(m_registered.lower_bound(block.begin),
                       m_registered.lower_bound(block.begin + block.bytes));
  if (block.pinned_for_user) m_pinned_bytes -= block.locked;
  bool const is_child = m_is_child;
  bool const is_open = block.locked == 0 || m_is_unlocked || (is_child && !settings().skip_in_fork);
  if (is_open) return m_blocks.give(block);
  block.pinned_for_user = block.refused = false;
  try {
    bool const lost = is_child || m_is_reset || block.registered || block.broken;
    m_last_epoch    = std::max(m_last_epoch.load(), block.epoch);
    block.state     = lost ? State::lost : State::ready;
    if (!lost) m_ready.emplace(block.locked, &block);
    if (!lost) m_ready_bytes += block.locked;
  } catch (std::exception const&) {
    block.state = State::lost;
  }
}

void Adoption::give(void* pointer) noexcept {
  Epoch const epoch = settings().strict ? 0 : m_retirement.stamp();
  std::lock_guard const lock(m_mutex);
  Block* const block = m_blocks.find(pointer);
  if (block == nullptr || block->begin != pointer) end_at(pointer);
  block->epoch = epoch;
  retire(*block);
}

std::size_t Adoption::bytes_of(void const* pointer) noexcept {
  std::lock_guard const lock(m_mutex);
  Block const* const block = m_blocks.find(pointer);
  if (block == nullptr) end_at(pointer);
  return block->bytes;
}

void Adoption::refuse(char const* why) noexcept {
  std::lock_guard const lock(m_mutex);
  if (m_why[0] == '\0') std::snprintf(m_why.data(), m_why.size(), "%s", why);
}

bool Adoption::is_due(Block& block) noexcept {
  if (block.locked > 0 || block.registered || block.refused || m_is_child || m_is_reset)
    return false;
  if (++block.copies < 2 && m_copied.count(granules_of(block.bytes)) == 0) return false;
  block.refused = true;  // until it is locked: other threads shall not try, too
  return true;
}

Adoption::Side Adoption::copies(void const* host) noexcept {
  Block* block      = nullptr;
  std::size_t bytes = 0;
  {
    std::lock_guard const lock(m_mutex);
    Block* const found = m_blocks.find(host);
    if (found != nullptr && is_due(*found)) block = found;
    if (block != nullptr) bytes = block->bytes;
  }
  if (block != nullptr) lock(*block, whole_pages(bytes));
  return side_of(host);
}

Adoption::Side Adoption::side_of(void const* host) noexcept {
  std::lock_guard const lock(m_mutex);
  Block const* const block = m_blocks.find(host);
  if (block == nullptr) return {};
  bool const locked     = block->locked > 0;
  bool const registered = is_registered(*block, host, 1);
  return {true, locked || registered,
          locked && !registered && !block->pinned_for_user && !m_is_child && !m_is_reset};
}

bool Adoption::is_registered(Block const& block, void const* begin, std::size_t bytes) noexcept {
  if (!block.registered) return false;
  auto const* const at = static_cast<char const*>(begin);
  auto const behind    = m_registered.lower_bound(at + bytes);
  return behind != m_registered.begin() &&
         std::prev(behind)->first + std::prev(behind)->second > at;
}

Adoption::Registration Adoption::register_range(void const* pointer, std::size_t bytes) noexcept {
  std::lock_guard const lock(m_mutex);
  Block* const block = m_blocks.find(pointer);
  if (block == nullptr || block->pinned_for_user || block->locked == 0)
    return Registration::forward;
  if (is_registered(*block, pointer, bytes)) return Registration::refuse;
  return note(*block, pointer, bytes) ? Registration::done : Registration::forward;
}

Adoption::Registration Adoption::unregister_range(void const* pointer) noexcept {
  std::lock_guard const lock(m_mutex);
  Block* const block = m_blocks.find(pointer);
  if (block == nullptr || block->pinned_for_user) return Registration::forward;
  bool const was    = m_registered.erase(static_cast<char const*>(pointer)) > 0;
  auto const left   = m_registered.lower_bound(block->begin);
  block->registered = left != m_registered.end() && left->first < block->begin + block->bytes;
  if (block->locked == 0) return Registration::forward;
  return was ? Registration::done : Registration::refuse;
}

void Adoption::note_registration(void const* pointer, std::size_t bytes) noexcept {
  std::lock_guard const lock(m_mutex);
  if (Block* const block = m_blocks.find(pointer)) note(*block, pointer, bytes);
}

bool Adoption::note(Block& block, void const* pointer, std::size_t bytes) noexcept {
  try {
    m_registered[static_cast<char const*>(pointer)] = bytes;
    return block.registered                         = true;
  } catch (std::exception const&) {
    return false;
  }
}

Adoption::Extent Adoption::extent_of(void const* pointer) noexcept {
  std::lock_guard const lock(m_mutex);
  Block const* const block = contains(pointer) ? m_blocks.find(pointer) : nullptr;
  return block != nullptr ? Extent{block->begin, block->bytes, whole_pages(block->bytes)}
                          : Extent{};
}

// Where there are other devices, their contexts may still have the memory locked, and no View may lie in
// it in part: it is lost when it is freed.
void Adoption::forget_locks() noexcept {
  bool const is_only_device = Driver::device_count() == 1;
  std::lock_guard const lock(m_mutex);
  if (m_phase != Phase::on) return;
  m_is_reset    = true;
  m_is_unlocked = is_only_device;
  for (auto const& [locked, block] : m_ready) {
    if (is_only_device)
      m_blocks.give(*block);
    else
      block->state = State::lost;
  }
  m_ready.clear();
  m_ready_bytes = 0;
}

bool Adoption::is_secret(void const* pointer) noexcept {
  std::lock_guard const lock(m_mutex);
  Block const* const block = m_blocks.find(pointer);
  return block != nullptr && block->locked > 0 && !is_registered(*block, pointer, 1) &&
         !block->pinned_for_user && !m_is_reset;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
