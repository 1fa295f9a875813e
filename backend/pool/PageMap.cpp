// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "PageMap.hpp"

#include "../Error.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constexpr int address_bits      = 48;
constexpr int page_bits         = 12;
constexpr int leaf_bits         = 15;  // a leaf covers 128 MiB
constexpr std::size_t leaf_size = std::size_t(1) << leaf_bits;
constexpr std::size_t root_size = std::size_t(1) << (address_bits - page_bits - leaf_bits);

std::size_t page_number(void const* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) >> page_bits;
}

// Zeros that take memory only where they are written to.
template <class T>
T* sparse_zeros(std::size_t count) {
  void* const zeros = std::calloc(count, sizeof(T));
  if (zeros == nullptr) throw std::bad_alloc();
  return static_cast<T*>(zeros);
}

}  // namespace

struct PageMap::Leaf {
  std::atomic<Block*> blocks[leaf_size];
};

PageMap::PageMap() : m_root(sparse_zeros<std::atomic<Leaf*>>(root_size)) {}

void PageMap::cover(void const* pointer, std::size_t bytes) {
  std::size_t const last =
      (page_number(static_cast<char const*>(pointer) + bytes - 1)) >> leaf_bits;
  if (last >= root_size) {
    throw Error(
        "memory lies beyond address 2^48 (the kernel gave a larger address): run without "
        "5-level paging hints");
  }
  for (std::size_t i = page_number(pointer) >> leaf_bits; i <= last; ++i) {
    if (m_root[i].load(std::memory_order_acquire) != nullptr) continue;
    Leaf* const leaf = sparse_zeros<Leaf>(1);
    Leaf* none       = nullptr;
    if (!m_root[i].compare_exchange_strong(none, leaf, std::memory_order_acq_rel)) std::free(leaf);
  }
}

Block* PageMap::find(void const* pointer) const noexcept {
  std::size_t const page = page_number(pointer);
  if (page >> leaf_bits >= root_size) return nullptr;
  Leaf const* const leaf = m_root[page >> leaf_bits].load(std::memory_order_acquire);
  return leaf == nullptr ? nullptr : leaf->blocks[page % leaf_size].load(std::memory_order_acquire);
}

bool PageMap::may_cover(void const* pointer) const noexcept {
  std::size_t const leaf = page_number(pointer) >> leaf_bits;
  return leaf < root_size && m_root[leaf].load(std::memory_order_acquire) != nullptr;
}

void PageMap::assign(void const* pointer, std::size_t bytes, Block* block) noexcept {
  std::size_t const first = page_number(pointer);
  for (std::size_t page = first; page < first + bytes / page_bytes; ++page) {
    Leaf* const leaf = m_root[page >> leaf_bits].load(std::memory_order_acquire);
    leaf->blocks[page % leaf_size].store(block, std::memory_order_release);
  }
}

}  // namespace KokkosHostSpaces::Impl::Backend
