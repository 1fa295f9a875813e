// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Adoption.hpp"

#include "../os/Fork.hpp"
#include "../os/Pages.hpp"
#include "Objects.hpp"

#include <algorithm>
#include <cerrno>
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

// Python and the like load libstdc++ with their first module that is written in C++.
bool may_load_modules() noexcept {
  std::string_view const name = program_invocation_short_name;
  return name.starts_with("python") || name.starts_with("pypy") || name == "julia" || name == "R";
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
  fork_generation();  // counts from now on, before ours
  std::string elsewhere  = Objects::who_else_serves();
  auto const before_fork = [] {
    Adoption& a = instance();
    a.m_mutex.lock();
    if (a.m_locked_bytes > 0) a.m_forks.add(settings().skip_in_fork ? 0 : a.m_locked_bytes.load());
  };
  // What is page-locked belongs to the parent; the child has a copy, which is pageable, or nothing.
  auto const in_child = [] {
    Adoption& a = instance();
    a.m_ready.clear();
    a.m_ready_bytes = 0;
    a.m_mutex.unlock();
  };
  if (pthread_atfork(
          before_fork, [] { instance().m_mutex.unlock(); }, in_child) != 0)
    elsewhere = "the system refuses handlers of forks";
  m_phase = elsewhere.empty() ? Phase::waiting : Phase::off;
  if (!elsewhere.empty())
    stays(elsewhere + ": use an allocator and a libstdc++ that the whole process shares");
  else if (!settings().children && !Objects::is_loaded("libstdc++.so") &&
           !Objects::is_loaded("libc++") && !may_load_modules())
    stays(
        "no libstdc++.so is among its libraries: write kokkos_host_spaces_run before the program that it "
        "starts, or give --children; one that has libstdc++ inside, link without -static-libstdc++");
}

// Serves from the first request on that finds a shared CUDA runtime loaded.
bool Adoption::begins() noexcept {
  unsigned long long const loaded = Objects::loaded();
  if (m_seen.exchange(loaded) == loaded) return m_phase == Phase::on;
  std::string why;
  if (!settings().on) {
    why = "KOKKOS_HOST_SPACES_ADOPT says so";
  } else if (!system_has_gpu()) {
    why = "the system has no GPU of NVIDIA";
  } else if (!Objects::is_loaded("libcudart.so")) {
    // A static one loads the driver.
    if (!Objects::is_loaded("libcuda.so") || !Objects::static_cuda_runtime()) return false;
    why = Objects::static_cuda_runtime();
  } else if (Objects::program_has_its_own_new()) {
    why = "the program itself defines aligned new: link it to a shared libstdc++";
  }
  std::unique_lock lock(m_mutex);
  if (m_phase != Phase::waiting) return m_phase == Phase::on;
  if (why.empty() && !m_blocks.reserve())
    why = "the system limits the addresses of the process: raise ulimit -v";
  m_phase = why.empty() ? Phase::on : Phase::off;
  if (why.empty()) m_why.clear();
  lock.unlock();
  if (!why.empty()) stays(why);
  return why.empty();
}

void Adoption::stays(std::string const& why, bool tells) noexcept {
  std::lock_guard const lock(m_mutex);
  if (!m_why.empty()) return;
  m_why                    = why;
  std::size_t const remedy = why.rfind(": ");
  if (tells && settings().tells && remedy != why.npos)
    std::fprintf(stderr, "kokkos_host_spaces_run: %s gains nothing (%s)%s\n",
                 program_invocation_name, why.substr(0, remedy).c_str(), why.c_str() + remedy);
}

Block& Adoption::leave_ready(Ready::iterator ready) noexcept {
  Block& block = *ready->second;
  m_ready.erase(ready);
  m_ready_bytes -= block.locked;
  return block;
}

Block* Adoption::ready_block(std::size_t bytes) noexcept {
  std::size_t const least = whole_pages(bytes), most = least + least / 8 + granule;
  auto const end = m_ready.upper_bound(most);
  for (auto found = m_ready.lower_bound(least); found != end; ++found) {
    if (found->second->epoch > m_retirement.completed()) continue;
    m_reused.add(bytes);
    return &leave_ready(found);
  }
  return nullptr;
}

// For a View.
Block* Adoption::block_of(std::size_t bytes, bool may_reuse, bool is_pinned) noexcept {
  std::lock_guard const lock(m_mutex);
  bool const reuses = may_reuse && (is_pinned || m_copied.count(granules_of(bytes)) > 0);
  Block* block      = reuses ? ready_block(bytes) : nullptr;
  if (block == nullptr) block = m_blocks.take(bytes);
  if (block == nullptr) return nullptr;
  block->state  = State::in_use;
  block->bytes  = bytes;
  block->copies = 0;
  m_in_use += bytes;
  m_most_in_use = std::max(m_most_in_use, m_in_use);
  m_views.add(bytes);
  return block;
}

bool Adoption::serves(std::size_t bytes) noexcept {
  if (m_phase == Phase::off || !(m_phase == Phase::on || begins()) || exceeds_memory(bytes))
    return false;
  if (m_ready_bytes > 0 && m_last_epoch > m_retirement.completed())
    m_retirement.reach(m_last_epoch);
  return true;
}

void* Adoption::take(std::size_t bytes) noexcept {
  NotCancelled const meanwhile;
  if (!serves(bytes)) return nullptr;
  Block* const block =
      block_of(bytes, m_ready_bytes > 0 && Objects::static_cuda_runtime() == nullptr);
  return block != nullptr ? block->begin : nullptr;
}

// The lock is held.
void Adoption::retire(Block& block) noexcept {
  m_in_use -= block.bytes;
  if (block.pinned_for_user) m_pinned_bytes -= block.locked;
  block.pinned_for_user = block.refused = block.runs_on = false;
  m_registered.erase(m_registered.lower_bound(block.begin),
                     m_registered.lower_bound(block.begin + block.bytes));
  block.state = State::held;
  try {
    if (block.copies > 0) m_copied.insert(granules_of(block.bytes));
    if (block.locked == 0 || (is_forked_child() && !settings().skip_in_fork))
      return m_blocks.give(block);
    if (is_forked_child()) return;
    m_ready.emplace(block.locked, &block);
    m_ready_bytes += block.locked;
    m_last_epoch = std::max(m_last_epoch.load(), block.epoch);
  } catch (std::exception const&) {
    // It is held for ever: there is no memory for a record of it.
  }
}

void Adoption::give(void* pointer, bool is_over) noexcept {
  std::lock_guard const lock(m_mutex);
  Block* const block = m_blocks.find(pointer);
  if (block == nullptr || block->begin != pointer) {
    std::fputs(
        "KokkosHostSpaces: adopt: memory is freed (it is not in use): look for a double free\n",
        stderr);
    std::abort();
  }
  block->epoch = is_over && !block->runs_on ? 0 : m_retirement.stamp();
  retire(*block);
}

std::span<char> Adoption::extent_of(void const* pointer) noexcept {
  return at(pointer, [](Block const& block) { return std::span(block.begin, block.bytes); });
}

void Adoption::copies(void const* host) noexcept {
  Block* const due = at(host, [&](Block& block) -> Block* {
    if (block.locked > 0 || block.refused || is_forked_child()) return nullptr;
    if (++block.copies < 2 && m_copied.count(granules_of(block.bytes)) == 0) return nullptr;
    block.refused = true;  // other threads shall not try, too
    return &block;
  });
  if (due != nullptr) lock(*due);
}

Adoption::Side Adoption::side_of(void const* host) noexcept {
  return at(host, [&](Block const& block) {
    return Side{is_locked(block), is_secret(block) && !is_registered(host, 1)};
  });
}

bool Adoption::is_registered(void const* begin, std::size_t bytes) const noexcept {
  auto const* const at = static_cast<char const*>(begin);
  auto const behind    = m_registered.lower_bound(at + bytes);
  return behind != m_registered.begin() &&
         std::prev(behind)->first + std::prev(behind)->second > at;
}

std::unique_lock<std::mutex> Adoption::keep_from_locking(void const* pointer) noexcept {
  if (!contains(pointer) || is_forked_child()) return {};
  return std::unique_lock(m_locking);
}

Adoption::Registration Adoption::register_range(void const* pointer, std::size_t bytes) noexcept {
  return at(pointer, [&](Block const& block) {
    if (is_registered(pointer, bytes)) return Registration::refuse;
    try {
      m_registered[static_cast<char const*>(pointer)] = bytes;
      return is_secret(block) ? Registration::done : Registration::forward;
    } catch (std::exception const&) {
      return Registration::refuse;
    }
  });
}

Adoption::Registration Adoption::unregister_range(void const* pointer) noexcept {
  return at(pointer, [&](Block const& block) {
    bool const was = m_registered.erase(static_cast<char const*>(pointer)) > 0;
    if (!is_locked(block)) return Registration::forward;
    return was ? Registration::done : Registration::refuse;
  });
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
