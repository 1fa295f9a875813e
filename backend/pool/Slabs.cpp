// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Slabs.hpp"

#include <algorithm>
#include <bit>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constexpr std::size_t steps  = 16;  // sizes for each doubling
constexpr std::size_t fewest = 8;   // slots of a slab, at least

// log2 of the distance between size classes at `units`; units of 256 bytes.
std::size_t step_shift(std::size_t units) noexcept {
  return units <= steps ? 0 : static_cast<std::size_t>(std::bit_width(units - 1)) - 5;
}

}  // namespace

std::size_t Slabs::slot_bytes(std::size_t bytes) noexcept {
  std::size_t const units = (bytes + alignment - 1) / alignment;
  std::size_t const shift = step_shift(units);
  return (((units - 1) >> shift) + 1) << shift << std::countr_zero(alignment);
}

std::size_t Slabs::class_of(std::size_t bytes) noexcept {
  std::size_t const units = (bytes + alignment - 1) / alignment;
  std::size_t const shift = step_shift(units);
  return shift * steps + ((units - 1) >> shift);
}

std::size_t Slabs::span_bytes(std::size_t bytes) noexcept {
  return Arena::rounded(std::max(smallest_span, fewest * slot_bytes(bytes)));
}

SlabSlot* Slabs::take(std::size_t bytes) noexcept {
  Class& c         = m_classes[class_of(bytes)];
  Slab* const slab = c.front;
  if (slab == nullptr) return nullptr;
  SlabSlot* slot = slab->ready;
  if (slot != nullptr) {
    slab->ready   = static_cast<SlabSlot*>(slot->next.load(std::memory_order_relaxed));
    slot->is_zero = false;
  } else {
    slot          = &slab->slots[slab->fresh];
    slot->is_zero = std::size_t(slab->fresh++) * slab->slot_bytes >= slab->span->dirty;
  }
  ++slab->out;
  if (c.kept == slab) c.kept = nullptr;
  if (!slab->has_ready()) unlink(c, *slab);
  count(0 - std::size_t(slab->slot_bytes));
  slot->epoch.store(BlockHeader::never, std::memory_order_relaxed);
  slot->state.store(BlockState::in_use, std::memory_order_relaxed);
  return slot;
}

void Slabs::make_ready(Class& c, SlabSlot& slot) noexcept {
  Slab& slab           = *slot.slab;
  bool const was_empty = !slab.has_ready();
  slot.state.store(BlockState::ready, std::memory_order_relaxed);
  slot.next.store(slab.ready, std::memory_order_relaxed);
  slab.ready = &slot;
  --slab.out;
  count(slab.slot_bytes);
  // Used first: slabs that had no ready slot. Used last: unused slabs, which the arena may get back.
  if (was_empty) link(c, slab, true);
  if (slab.out == 0) {
    unlink(c, slab);
    link(c, slab, false);
  }
}

void Slabs::cut(Block& span, std::size_t bytes) {
  std::size_t const size  = slot_bytes(bytes);
  std::size_t const slots = std::min(span.bytes / size, most_slots);
  Slab& slab              = new_slab(slots);
  slab.span               = &span;
  slab.slot_bytes         = static_cast<std::uint32_t>(size);
  slab.count              = static_cast<std::uint32_t>(slots);
  slab.fresh = slab.out = 0;
  slab.ready            = nullptr;
  span.slab             = &slab;
  span.state.store(BlockState::slab, std::memory_order_relaxed);
  link(m_classes[class_of(size)], slab, false);
  count(span.bytes);
  m_pages.assign(span.address, span.bytes, &span);
}

void Slabs::link(Class& c, Slab& slab, bool at_front) noexcept {
  slab.previous                                              = at_front ? nullptr : c.back;
  slab.next                                                  = at_front ? c.front : nullptr;
  (slab.previous != nullptr ? slab.previous->next : c.front) = &slab;
  (slab.next != nullptr ? slab.next->previous : c.back)      = &slab;
}

void Slabs::unlink(Class& c, Slab& slab) noexcept {
  (slab.previous != nullptr ? slab.previous->next : c.front) = slab.next;
  (slab.next != nullptr ? slab.next->previous : c.back)      = slab.previous;
}

std::size_t Slabs::collect(Class& c, Epoch completed, std::size_t most) noexcept {
  std::size_t moved = 0;
  for (; moved < most; ++moved) {
    auto* const slot = static_cast<SlabSlot*>(c.retired.front());
    //~ early reuse b
    if (slot == nullptr || slot->epoch.load(std::memory_order_relaxed) > completed) break;
    c.retired.pop();
    make_ready(c, *slot);
    if (slot->slab->out > 0) continue;
    if (c.kept == nullptr) {
      c.kept = slot->slab;
    } else {
      dissolve(c, *slot->slab);
    }
  }
  return moved;
}

std::size_t Slabs::collect_all(Epoch completed, std::size_t most) noexcept {
  std::size_t moved = 0;
  for (Class& c : m_classes) moved += collect(c, completed, most - moved);
  return moved;
}

void Slabs::give_up_kept() noexcept {
  for (Class& c : m_classes)
    if (c.kept != nullptr) dissolve(c, *c.kept);
}

void Slabs::dissolve(Class& c, Slab& slab) noexcept {
  unlink(c, slab);
  if (c.kept == &slab) c.kept = nullptr;
  Block& span = *slab.span;
  count(0 - span.bytes);
  span.slab     = nullptr;
  Slab*& spares = m_spare[store_of(slab.count)];
  slab.next     = spares;
  spares        = &slab;
  m_pages.assign(span.address + Arena::page_bytes, span.bytes - Arena::page_bytes, nullptr);
  m_arena.put(span);
}

std::size_t Slabs::store_of(std::size_t slots) noexcept {
  return static_cast<std::size_t>(std::bit_width(std::max(slots, fewest) - 1)) - 3;
}

Slab& Slabs::new_slab(std::size_t slots) {
  std::size_t const store = store_of(slots);
  if (Slab* const spare = m_spare[store]) {
    m_spare[store] = spare->next;
    return *spare;
  }
  std::size_t const room = fewest << store;
  auto made              = std::make_unique<Slab>();
  made->slots            = std::make_unique<SlabSlot[]>(room);
  for (std::size_t i = 0; i < room; ++i) made->slots[i].slab = made.get();
  made->labels = std::make_unique_for_overwrite<Label[]>(room);
  m_slabs.push_back(std::move(made));
  return *m_slabs.back();
}

}  // namespace KokkosHostSpaces::Impl::Backend
