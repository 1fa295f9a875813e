// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Slabs.hpp"

#include <algorithm>
#include <bit>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t steps = 16;  // sizes for each doubling

// Distance of the sizes around `units`, in units of the alignment.
std::size_t step_shift(std::size_t units) noexcept {
  return units <= steps ? 0 : static_cast<std::size_t>(std::bit_width(units - 1)) - 5;
}

}  // namespace

Block* Slab::slice_at(void const* pointer) const noexcept {
  auto const offset   = static_cast<std::size_t>(static_cast<char const*>(pointer) - span->address);
  std::size_t const i = offset / slice_bytes;
  return i < count ? &slices[i] : nullptr;
}

std::size_t Slabs::slice_bytes(std::size_t bytes) noexcept {
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
  constexpr std::size_t fewest = 8;
  return Arena::whole_pages(std::max(smallest_span, fewest * slice_bytes(bytes)));
}

Block* Slabs::take(std::size_t bytes, Epoch completed) noexcept {
  BlockList& idle    = m_idle[class_of(bytes)];
  Block* const slice = idle.front();
  if (slice == nullptr || slice->epoch > completed) return nullptr;
  idle.remove(*slice);
  --slice->slab->idle;
  slice->state = BlockState::in_use;
  return slice;
}

void Slabs::put(Block& slice) noexcept {
  slice.state = BlockState::retired;
  ++slice.slab->idle;
  m_idle[class_of(slice.bytes)].push_back(slice);
}

void Slabs::cut(Block& span, std::size_t bytes) {
  std::size_t const size  = slice_bytes(bytes);
  std::size_t const count = span.bytes / size;
  m_slabs.push_back({&span, size, count, count, nullptr});
  Slab& slab = m_slabs.back();
  try {
    slab.slices = std::make_unique<Block[]>(count);
  } catch (...) {
    m_slabs.pop_back();
    throw;
  }
  span.slab       = &slab;
  span.state      = BlockState::sliced;
  BlockList& idle = m_idle[class_of(size)];
  for (std::size_t i = count; i-- > 0;) {
    Block& slice  = slab.slices[i];
    slice.address = span.address + i * size;
    slice.bytes   = size;
    slice.segment = span.segment;
    slice.slab    = &slab;
    slice.state   = BlockState::retired;
    idle.push_front(slice);
  }
}

bool Slabs::dissolvable(Slab const& slab, Epoch completed) const noexcept {
  return slab.idle == slab.count &&
         std::all_of(slab.slices.get(), slab.slices.get() + slab.count,
                     [&](Block const& s) { return s.epoch <= completed; });
}

}  // namespace KokkosHostSpaces::Impl
