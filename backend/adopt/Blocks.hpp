// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_BLOCKS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_BLOCKS_HPP

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

enum class State : std::uint8_t {
  gap,     ///< addresses without memory
  kept,    ///< freed, with its pages
  in_use,  ///< a View's
  ready,   ///< freed, page-locked
  lost     ///< its pages cannot be used again
};

/// A run of granules. Its record lies beside the memory.
struct Block {
  char* begin          = nullptr;
  std::size_t granules = 0;
  std::size_t bytes    = 0;  ///< that its user asked for
  State state          = State::gap;
  bool registered      = false;  ///< by the program, while it is in use: left alone
  bool refused         = false;  ///< could not be page-locked: not tried again
  bool pinned_for_user = false;  ///< of cudaHostAlloc
  bool broken          = false;  ///< a part of it cannot be unlocked: it is lost when it is freed
  unsigned copies      = 0;      ///< to and from devices, since it is in use
  std::size_t locked   = 0;      ///< bytes that are page-locked, from `begin` on
  std::uint64_t epoch  = 0;      ///< in which it was freed, if work may still use it
  Block *next = nullptr, *before = nullptr;  ///< kept: of the same size
};

/// A coalescing allocator of whole granules from one reserved range of addresses, so that two compares
/// tell whether memory is of it. Freed pages are kept and given back to the system by the rule of glibc's
/// malloc: where free memory at the end of all that is in use exceeds twice the largest block that was
/// freed, of at most 32 MiB. Larger blocks have addresses apart, and give their pages back at once.
/// Thread-safe: contains. Everything else needs a lock of the caller. There is one object.
class Blocks {
 public:
  static constexpr std::size_t granule = std::size_t(64) << 10;

  /// Reserves addresses: four times the memory of the machine. False if the system refuses, or limits
  /// the addresses of the process (RLIMIT_AS).
  bool reserve() noexcept;

  static bool contains(void const* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) - s_begin < s_bytes;
  }

  /// A block of at least `bytes`, not touched or with old contents; nullptr if the system refuses. Fresh
  /// ones do not cross a multiple of 64 GiB unless they are longer.
  /// \throw std::bad_alloc
  Block* take(std::size_t bytes);

  /// Ends the use of a block whose pages are not locked.
  void give(Block& block) noexcept;

  /// The block in use that contains an address of the range; nullptr if there is none.
  Block* find(void const* pointer) const noexcept;

 private:
  using Gaps = std::set<std::pair<std::size_t, Block*>>;  ///< by their granules
  static constexpr std::size_t largest_kept = std::size_t(32) << 20;
  static constexpr std::size_t bins         = largest_kept / granule + 2;

  Block* take_kept(std::size_t granules);
  Block* take_fresh(std::size_t granules);
  Block& cut(Block& block, std::size_t granules) noexcept;
  Block*& entry(char const* begin) const noexcept {
    return m_table[static_cast<std::size_t>(begin - m_begin) / granule];
  }
  Block* before(Block const& block) const noexcept;
  Block* after(Block const& block) const noexcept;
  void mark_ends(Block& block) noexcept;
  void absorb(Block& block, Block& next) noexcept;
  void keep(Block& block) noexcept;
  void unkeep(Block& block) noexcept;
  void give_up(Block& block) noexcept;
  Gaps& gaps_at(char const* begin) noexcept { return m_gaps[begin < m_middle ? 0 : 1]; }
  void enter_gap(Block& block, Gaps::node_type node = {}) noexcept;
  void provide_records();
  Block& new_record() noexcept;
  void drop_record(Block& block) noexcept;

  static inline std::uintptr_t s_begin = 0;
  static inline std::size_t s_bytes    = 0;
  char* m_begin                        = nullptr;
  Block** m_table = nullptr;   ///< of each granule in use; of other blocks the first and the last
  char* m_middle  = nullptr;   ///< where addresses of large blocks begin
  std::array<Gaps, 2> m_gaps;  ///< below the middle, and above
  std::array<Block*, bins> m_bins{};
  std::bitset<bins> m_filled;
  std::size_t m_threshold = 0;
  std::vector<Block*> m_records;  ///< unused ones
};

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
