// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_BLOCKS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_BLOCKS_HPP

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

enum class State : std::uint8_t {
  gap,     ///< addresses without memory
  kept,    ///< freed, with its pages
  in_use,  ///< a View's
  held,    ///< freed, page-locked: for a later View, or for ever
  border   ///< of a page_window, one granule: what touches it is not merged
};

inline constexpr std::size_t granule = std::size_t(64) << 10;

constexpr std::size_t granules_of(std::size_t bytes) noexcept {
  return (bytes + granule - 1) / granule;
}

/// A run of granules.
struct Block {
  char* begin          = nullptr;
  std::size_t granules = 0;
  State state          = State::gap;
  bool refused         = false;              ///< could not be page-locked: not tried again
  bool pinned_for_user = false;              ///< of cudaHostAlloc
  bool runs_on         = false;              ///< a copy of it may, since it failed
  unsigned copies      = 0;                  ///< to and from devices, since it is in use
  std::size_t bytes    = 0;                  ///< that its user asked for
  std::size_t locked   = 0;                  ///< bytes that are page-locked, from `begin` on
  std::uint64_t epoch  = 0;                  ///< in which it was freed, if work may still use it
  Block *next = nullptr, *before = nullptr;  ///< in a list of blocks that may be taken
  Block* whole = nullptr;  ///< of a granule's record: the block that it is a part of

  char* end() const noexcept { return begin + granules * granule; }
};

/// A coalescing allocator of whole granules from one reserved range of addresses, so that two compares
/// tell whether memory is of it. Freed pages are kept and given back to the system by the rule of glibc's
/// malloc: where free memory at the end of all that is in use exceeds twice the largest block that was
/// freed, of at most 32 MiB. Larger blocks that no free memory can serve lie in the second half of the range,
/// and give their pages back at once: among the others each would leave an end of its own. No block crosses
/// the end of a page_window. Thread-safe: contains. Everything else needs a lock of the caller. There is
/// one object.
class Blocks {
 public:
  /// Reserves addresses: four times the memory of the machine. False if the system refuses.
  bool reserve() noexcept;

  static bool contains(void const* pointer) noexcept {
    return address_of(pointer) - address_of(s_begin) < s_bytes;
  }

  /// A block of at least `bytes`, not touched or with old contents; nullptr if the system refuses, and
  /// for more than a page_window.
  Block* take(std::size_t bytes) noexcept;

  /// Ends the use of a block whose pages are not locked.
  void give(Block& block) noexcept;

  /// The block in use that contains an address of the range; nullptr if there is none.
  Block* find(void const* pointer) const noexcept;

 private:
  static std::uintptr_t address_of(void const* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }

  static constexpr std::size_t largest_kept = (std::size_t(32) << 20) / granule;  ///< in granules
  static constexpr std::size_t bins         = largest_kept + 2;

  /// Blocks of one state by their granules, in the last bin all that are larger.
  struct Lists {
    std::array<Block*, bins> first{};
    std::bitset<bins> filled;
  };
  static std::size_t bin_of(std::size_t granules) noexcept { return std::min(granules, bins - 1); }

  Block& record(void const* address) const noexcept {
    return m_records[(address_of(address) - address_of(s_begin)) / granule];
  }
  Block& make(char* begin, std::size_t granules, State state) noexcept;
  Block& merged(Block& block, State state) noexcept;
  void list(Block& block) noexcept;
  void unlist(Block& block) noexcept;
  bool is_last(Block const& block) const noexcept;
  Lists& lists_of(Block const& block) noexcept {
    return block.state == State::kept ? m_kept : m_gaps[block.begin >= m_middle];
  }
  Block* fitting(Lists const& lists, std::size_t granules) const noexcept;
  void give_up(Block& block) noexcept;

  static inline char* s_begin       = nullptr;
  static inline std::size_t s_bytes = 0;
  Block* m_records = nullptr;  ///< one for each granule; that of its first one is the block's
  char* m_middle   = nullptr;
  std::array<Lists, 2> m_gaps{};  ///< in front of the middle, and behind it
  Lists m_kept{};
  std::size_t m_threshold = 0;  ///< in granules
};

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
