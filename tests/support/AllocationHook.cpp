// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "AllocationHook.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace {

thread_local AllocationHook* active = nullptr;

}  // namespace

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
  if (active != nullptr) active->count(bytes);
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (active != nullptr) active->count(bytes);
  auto const align = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(align, (bytes + align - 1) / align * align))
    return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
