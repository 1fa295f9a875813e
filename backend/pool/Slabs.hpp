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
  std::uint32_t out        = 0;        ///< number of slots in use or retired
  SlabSlot* ready          = nullptr;  ///< used slots that are ready, linked by BlockHeader::next
  Slab* previous           = nullptr;  ///< in the list of its class
  Slab* next               = nullptr;
  std::unique_ptr<SlabSlot[]> slots;
  std::unique_ptr<Label[]> labels;  ///< apart from the slots, because they are rarely read

  bool has_ready() const noexcept { return ready != nullptr || fresh < count; }

  /// The slot that contains `pointer`; nullptr behind the last slot.
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

/// What a user has: a block or a slot, and its memory.
struct Piece {
  BlockHeader* header = nullptr;  ///< nullptr: none
  char* begin         = nullptr;
  std::size_t bytes   = 0;
  std::size_t asked   = 0;  ///< bytes that the user asked for
  Label* label        = nullptr;
};

inline Piece piece_of(Block& block) noexcept {
  return {&block, block.address, block.bytes, block.asked, &block.label};
}
inline Piece piece_of(SlabSlot& slot) noexcept {
  Slab const& slab = *slot.slab;
  return {&slot, slab.address_of(slot), slab.slot_bytes, slot.slot_asked, &slab.label_of(slot)};
}
inline Piece piece_of(BlockHeader& header) noexcept {
  return header.is_slot ? piece_of(static_cast<SlabSlot&>(header))
                        : piece_of(static_cast<Block&>(header));
}

/// The block, or the one that the slot is cut from.
inline Block& block_of(BlockHeader& header) noexcept {
  return header.is_slot ? *static_cast<SlabSlot&>(header).slab->span : static_cast<Block&>(header);
}

/// The block, or the slot of it that contains `pointer`; none behind the last slot.
inline Piece piece_at(Block& block, void const* pointer) noexcept {
  if (block.state.load(std::memory_order_acquire) != BlockState::slab) return piece_of(block);
  SlabSlot* const slot = block.slab->slot_at(pointer);
  return slot != nullptr ? piece_of(*slot) : Piece();
}

/// A slab allocator with size classes. Retired slots wait in a queue for each class. A slot whose epoch
/// is over returns to its slab; a slab with no slot in use or retired returns to the arena, except
/// one for each class. Every page of a slab leads to its block. No function is linear in the number of
/// slots. Only ready_bytes() is thread-safe.
class Slabs {
 public:
  static constexpr std::size_t alignment = 256;
  static constexpr std::size_t largest   = std::size_t(32)
                                         << 10;  ///< above, whole pages waste <= 1/8
  static constexpr std::size_t smallest_span = std::size_t(64) << 10;
  static constexpr std::size_t most_slots    = smallest_span / alignment;

  Slabs(Arena& arena, PageMap& pages) : m_arena(arena), m_pages(pages) {}

  /// Bytes of the slots for a request of `bytes`: multiples of 256, 16 sizes for each doubling.
  static std::size_t slot_bytes(std::size_t bytes) noexcept;

  /// Bytes of a slab for requests of `bytes`.
  static std::size_t span_bytes(std::size_t bytes) noexcept;

  /// A ready slot; nullptr if there is none.
  SlabSlot* take(std::size_t bytes) noexcept;

  /// Queues a retired slot.
  void put(SlabSlot& slot) noexcept {
    m_classes[class_of(slot.slab->slot_bytes)].retired.push(slot);
  }

  /// Makes a block of the arena a slab for requests of `bytes`. \throw std::bad_alloc
  void cut(Block& span, std::size_t bytes);

  /// The retired slot that was deallocated first; nullptr if there is none.
  SlabSlot const* oldest(std::size_t bytes) const noexcept {
    return static_cast<SlabSlot const*>(m_classes[class_of(bytes)].retired.front());
  }

  /// True if at least as many slots are retired as a new slab would have.
  bool many_wait(std::size_t bytes) const noexcept {
    return m_classes[class_of(bytes)].retired.size() >= span_bytes(bytes) / slot_bytes(bytes);
  }

  /// Makes up to `most` slots ready whose epoch is over. Returns the number of slots.
  std::size_t collect(std::size_t bytes, Epoch completed, std::size_t most) noexcept {
    return collect(m_classes[class_of(bytes)], completed, most);
  }

  /// The same for all classes.
  std::size_t collect_all(Epoch completed, std::size_t most) noexcept;

  /// Returns the blocks of the unused slabs that were kept.
  void give_up_kept() noexcept;

  /// Bytes of all slabs without their slots in use or retired.
  std::size_t ready_bytes() const noexcept { return m_ready.load(std::memory_order_relaxed); }

 private:
  struct Class {
    RetiredQueue retired;
    Slab* front = nullptr;  ///< slabs with ready slots
    Slab* back  = nullptr;
    Slab* kept  = nullptr;  ///< the unused slab that is kept; also in the list
  };
  static constexpr std::size_t class_count = 64;
  static std::size_t class_of(std::size_t bytes) noexcept;

  std::size_t collect(Class& c, Epoch completed, std::size_t most) noexcept;
  void make_ready(Class& c, SlabSlot& slot) noexcept;
  static void link(Class& c, Slab& slab, bool at_front) noexcept;
  static void unlink(Class& c, Slab& slab) noexcept;
  void dissolve(Class& c, Slab& slab) noexcept;
  void count(std::size_t difference) noexcept {
    m_ready.store(m_ready.load(std::memory_order_relaxed) + difference, std::memory_order_relaxed);
  }
  static std::size_t store_of(std::size_t slots) noexcept;
  Slab& new_slab(std::size_t slots);

  Arena& m_arena;
  PageMap& m_pages;
  static constexpr std::size_t store_count = 6;  ///< for 8 to 256 slots
  std::array<Class, class_count> m_classes{};
  std::atomic<std::size_t> m_ready{0};
  std::vector<std::unique_ptr<Slab>> m_slabs;
  std::array<Slab*, store_count> m_spare{};  ///< slabs without a block, linked by `next`
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
