// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "AllocationHook.hpp"

#include "FailNth.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

thread_local AllocationHook* active = nullptr;
constinit std::atomic<std::size_t> live{0};

void* counted(std::size_t bytes, void* (*allocate)(std::size_t, std::size_t),
              std::size_t alignment) {
  if (active != nullptr) active->count(bytes);
  void* const memory = FailNth::error_of(FailNth::Source::memory, "operator new") == 0
                           ? allocate(alignment, (bytes + alignment - 1) / alignment * alignment)
                           : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  live.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

std::size_t FailNth::live_allocations() noexcept { return live.load(); }

AllocationHook::AllocationHook(std::size_t n, std::size_t at_least, std::function<void()> at_nth)
    : m_remaining(n), m_at_least(at_least), m_at_nth(std::move(at_nth)) {
  active = this;
}

AllocationHook::~AllocationHook() { active = nullptr; }

void AllocationHook::count(std::size_t bytes) {
  if (bytes < m_at_least || m_remaining == 0 || --m_remaining > 0) return;
  m_at_nth();
}

void* operator new(std::size_t bytes) {
  return counted(
      bytes, [](std::size_t, std::size_t size) { return std::malloc(size); }, 1);
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, &std::aligned_alloc, static_cast<std::size_t>(alignment));
}

// AddressSanitizer has those that follow of its own, whose memory must not be freed here.
void* operator new[](std::size_t bytes) { return operator new(bytes); }

void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return operator new(bytes, alignment);
}

void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  try {
    return operator new(bytes);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
