// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_SLABS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_SLABS_HPP

#include "Arena.hpp"
#include "Block.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

/// A block of the arena cut into slots of one size.
struct alignas(64) Slab {
  Block* span              = nullptr;
  std::uint32_t slot_bytes = 0;
  std::uint32_t count      = 0;
  std::uint32_t fresh      = 0;        ///< the first slot that was never used
  std::uint32_t out        = 0;        ///< slots in use or retired
  SlabSlot* ready          = nullptr;  ///< slots that were used, by BlockHeader::next
  Slab* previous           = nullptr;  ///< in the list of its class
  Slab* next               = nullptr;
  std::unique_ptr<SlabSlot[]> slots;
  std::unique_ptr<Label[]> labels;  ///< apart: only descriptions and messages want them

  bool has_ready() const noexcept { return ready != nullptr || fresh < count; }

  /// The slot that holds `pointer`; nullptr in the rest that makes no slot.
  SlabSlot* slot_at(void const* pointer) const noexcept {
    auto const offset =
        static_cast<std::uint32_t>(static_cast<char const*>(pointer) - span->address);
    std::uint32_t const i = offset / slot_bytes;
    return i < count ? &slots[i] : nullptr;
  }
  char* address_of(SlabSlot const& slot) const noexcept {
    return span->address + static_cast<std::size_t>(&slot - slots.get()) * slot_bytes;
  }
  Label& label_of(SlabSlot const& slot) const noexcept {
    return labels[static_cast<std::size_t>(&slot - slots.get())];
  }
};

/// Small blocks, by classes of sizes. What is given back waits in one queue a class; a slot whose
/// epoch is over returns to its slab, and a slab of which nothing is out to the arena: one of each
/// class is kept. Nothing is linear in the number of slots. Not thread-safe, but for the sum.
class Slabs {
 public:
  static constexpr std::size_t alignment = 256;
  static constexpr std::size_t largest   = std::size_t(32) << 10;  ///< beyond it pages waste little
  static constexpr std::size_t smallest_span = std::size_t(64) << 10;
  static constexpr std::size_t most_slots    = smallest_span / alignment;

  /// Bytes of the slots that serve `bytes`: multiples of 256, 16 sizes for each doubling.
  static std::size_t slot_bytes(std::size_t bytes) noexcept;

  /// Bytes to be cut into slots that serve `bytes`.
  static std::size_t span_bytes(std::size_t bytes) noexcept;

  /// A ready slot; nullptr if there is none.
  SlabSlot* take(std::size_t bytes) noexcept;

  /// Takes a slot back, stamped with its epoch.
  void put(SlabSlot& slot) noexcept {
    m_classes[class_of(slot.slab->slot_bytes)].retired.push(slot);
  }

  /// Cuts a block of the arena into slots that serve `bytes`, all ready. \throw std::bad_alloc
  void cut(Block& span, std::size_t bytes);

  /// The slot that was given back first; nullptr if all are ready or in use.
  SlabSlot const* oldest(std::size_t bytes) const noexcept {
    return static_cast<SlabSlot const*>(m_classes[class_of(bytes)].retired.front());
  }

  /// So many slots wait that a new slab could not have served more.
  bool many_wait(std::size_t bytes) const noexcept {
    return m_classes[class_of(bytes)].retired.size() >= span_bytes(bytes) / slot_bytes(bytes);
  }

  /// Makes up to `most` slots ready whose epoch is over. Hands the blocks of slabs that are whole
  /// again to `take_back`. Returns how many slots it has moved.
  template <class TakeBack>
  std::size_t collect(std::size_t bytes, Epoch completed, std::size_t most,
                      TakeBack take_back) noexcept {
    return collect(m_classes[class_of(bytes)], completed, most, take_back);
  }

  /// The same for all classes.
  template <class TakeBack>
  std::size_t collect_all(Epoch completed, std::size_t most, TakeBack take_back) noexcept;

  /// Hands the slabs that were kept to `take_back`; false if there are none.
  template <class TakeBack>
  bool give_up_kept(TakeBack take_back) noexcept;

  /// Bytes of all ready slots, and of what is left over beside slots.
  std::size_t ready_bytes() const noexcept { return m_ready.load(std::memory_order_relaxed); }

 private:
  struct Class {
    RetiredQueue retired;
    Slab* front = nullptr;  ///< slabs with ready slots
    Slab* back  = nullptr;
    Slab* kept  = nullptr;  ///< of which nothing is out; also in the list
  };
  static constexpr std::size_t class_count = 64;
  static std::size_t class_of(std::size_t bytes) noexcept;

  template <class TakeBack>
  std::size_t collect(Class& c, Epoch completed, std::size_t most, TakeBack take_back) noexcept;
  void make_ready(Class& c, SlabSlot& slot) noexcept;
  static void link(Class& c, Slab& slab, bool at_front) noexcept;
  static void unlink(Class& c, Slab& slab) noexcept;
  Block& dissolve(Class& c, Slab& slab) noexcept;
  void count(std::size_t difference) noexcept {
    m_ready.store(m_ready.load(std::memory_order_relaxed) + difference, std::memory_order_relaxed);
  }
  static std::size_t store_of(std::size_t slots) noexcept;
  Slab& new_slab(std::size_t slots);

  static constexpr std::size_t store_count = 6;  ///< for 8 to 256 slots
  std::array<Class, class_count> m_classes{};
  std::atomic<std::size_t> m_ready{0};
  std::vector<std::unique_ptr<Slab>> m_slabs;
  std::array<Slab*, store_count> m_spare{};  ///< slabs without a block, by `next`
};

template <class TakeBack>
std::size_t Slabs::collect(Class& c, Epoch completed, std::size_t most,
                           TakeBack take_back) noexcept {
  std::size_t moved = 0;
  for (; moved < most; ++moved) {
    auto* const slot = static_cast<SlabSlot*>(c.retired.front());
    if (slot == nullptr || slot->epoch.load(std::memory_order_relaxed) > completed) break;
    c.retired.pop();
    make_ready(c, *slot);
    Slab& slab = *slot->slab;
    if (slab.out > 0) continue;
    if (c.kept == nullptr) {
      c.kept = &slab;
    } else {
      take_back(dissolve(c, slab));
    }
  }
  return moved;
}

template <class TakeBack>
std::size_t Slabs::collect_all(Epoch completed, std::size_t most, TakeBack take_back) noexcept {
  std::size_t moved = 0;
  for (Class& c : m_classes) {
    if (moved >= most) break;
    moved += collect(c, completed, most - moved, take_back);
  }
  return moved;
}

template <class TakeBack>
bool Slabs::give_up_kept(TakeBack take_back) noexcept {
  bool any = false;
  for (Class& c : m_classes) {
    if (c.kept == nullptr) continue;
    take_back(dissolve(c, *c.kept));
    any = true;
  }
  return any;
}

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
