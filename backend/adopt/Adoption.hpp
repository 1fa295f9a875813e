// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_ADOPTION_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_ADOPTION_HPP

#include "../pool/Retirement.hpp"
#include "Blocks.hpp"
#include "Recorder.hpp"
#include "Settings.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <type_traits>

#include <pthread.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// The thread is not cancelled meanwhile: neither memory nor a copy is a point of cancellation, but reading files is.
struct NotCancelled {
  NotCancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &m_state); }
  ~NotCancelled() { pthread_setcancelstate(m_state, nullptr); }
  NotCancelled& operator=(NotCancelled&&) = delete;

 private:
  int m_state = 0;
};

/// Which memory is adopted, and when it is page-locked: pageable until it is copied to or from a device
/// for the second time, or the first if memory of its size was copied and is gone. Freed page-locked memory
/// stays locked, for later requests of its size. All functions are thread-safe; none throws, and none
/// calls the driver with a lock that an allocation or a free needs.
class Adoption {
 public:
  /// Never destroyed.
  static Adoption& instance() noexcept;

  /// Costs two compares.
  static bool contains(void const* pointer) noexcept { return Blocks::contains(pointer); }

  /// For the constructor of the library.
  void start() noexcept;

  /// Memory for aligned new of a granule or more; nullptr: take it from the next one.
  void* take(std::size_t bytes) noexcept;

  /// Frees what `contains`. Ends the process at any other pointer, as free does.
  /// \param is_over false if its copies may run on
  void give(void* pointer, bool is_over = settings().strict) noexcept;

  /// The bytes that were asked for where an address lies; none if it is not of a block in use.
  std::span<char> extent_of(void const* pointer) noexcept;

  /// Memory for cudaHostAlloc, page-locked; nullptr: take it from the runtime.
  void* take_pinned(std::size_t bytes) noexcept;

  /// Frees memory of take_pinned; false for other memory.
  bool give_pinned(void* pointer) noexcept;

  /// The host's side of a copy, as it is now.
  struct Side {
    bool locked = false;
    bool secret = false;  ///< page-locked by this library alone: stock memory would be pageable
  };
  Side side_of(void const* host) noexcept;

  /// Notes a copy between a device and an address of the host, and locks its memory if it is time.
  void copies(void const* host) noexcept;

  /// Notes that a copy of this memory failed, or that waiting for it failed: its next user waits for the devices.
  void runs_on(void const* host) noexcept {
    at(host, [](Block& block) { return block.runs_on = true; });
  }

  /// True if anything is page-locked that stock would leave pageable.
  bool has_locked() const noexcept { return m_locked_bytes.load() > m_pinned_bytes.load(); }

  /// For cudaDeviceReset, which unlocks everything: nothing is locked from then on.
  void forget_locks() noexcept { m_is_reset = true; }

  /// While it is held, no memory is locked or unlocked here: for the time of a registration by the program.
  std::unique_lock<std::mutex> keep_from_locking(void const* pointer) noexcept;

  /// What to do about a registration by the program: ask the runtime; nothing, since this library has the
  /// memory locked; let the runtime refuse it.
  enum class Registration { forward, done, refuse };
  Registration register_range(void const* pointer, std::size_t bytes) noexcept;
  Registration unregister_range(void const* pointer) noexcept;

  /// Writes what KOKKOS_HOST_SPACES_ADOPT_REPORT asks for; nothing in the child of a fork.
  void write_report() noexcept;

  /// Counts a copy that was made, by the kind of the host's memory. \param seconds 0: not known
  enum Kind { pageable, page_locked, others };
  void copied(bool to_device, Kind kind, std::size_t bytes, double seconds) noexcept {
    std::lock_guard const lock(m_mutex);
    m_copies[to_device][kind].add(bytes, seconds);
  }

 private:
  enum class Phase { waiting, on, off };
  using Ready = std::multimap<std::size_t, Block*>;  ///< by their locked bytes

  Adoption() = default;
  std::string report() const;
  bool begins() noexcept;
  bool serves(std::size_t bytes) noexcept;
  Block& leave_ready(Ready::iterator ready) noexcept;
  Block* ready_block(std::size_t bytes) noexcept;
  Block* block_of(std::size_t bytes, bool may_reuse, bool is_pinned = false) noexcept;

  /// Returns f(block), called with the lock held for the block in use that contains an address; else {}.
  template <class F>
  std::invoke_result_t<F, Block&> at(void const* pointer, F f) noexcept {
    if (!contains(pointer)) return {};
    std::lock_guard const lock(m_mutex);
    Block* const block = m_blocks.find(pointer);
    if (block == nullptr) return {};
    return f(*block);
  }
  void lock(Block& block) noexcept;
  std::string why_not(std::size_t bytes);
  bool make_room(std::size_t bytes);
  void retire(Block& block) noexcept;
  void stays(std::string const& why, bool tells = true) noexcept;
  bool is_locked(Block const& block) const noexcept { return block.locked > 0 && !m_is_reset; }
  bool is_secret(Block const& block) const noexcept {
    return is_locked(block) && !block.pinned_for_user;
  }
  bool is_registered(void const* begin, std::size_t bytes) const noexcept;

  std::mutex m_mutex;    ///< of everything below; never held in a call of the driver
  std::mutex m_locking;  ///< held while anybody locks pages or unlocks them; taken first
  std::atomic<Phase> m_phase{Phase::off};  ///< until `start`
  std::atomic<bool> m_is_reset{false};
  std::atomic<unsigned long long> m_seen{0};  ///< objects that were loaded at the last look
  Blocks m_blocks;
  Retirement m_retirement;
  Ready m_ready;
  std::set<std::size_t> m_copied;  ///< sizes in granules of what was copied and is freed
  std::map<char const*, std::size_t> m_registered;  ///< by the program
  std::size_t m_most_used = 0;
  std::atomic<std::size_t> m_ready_bytes{0}, m_locked_bytes{0}, m_pinned_bytes{0};
  std::atomic<Epoch> m_last_epoch{0};  ///< in which a ready block was freed

  // For the report.
  std::array<std::array<Recorder, 3>, 2> m_copies;  ///< to the host, and to devices
  Recorder m_views, m_reused, m_locks, m_forks;
  std::size_t m_in_use = 0, m_most_in_use = 0, m_most_locked = 0;
  std::string m_why;
};

/// Watches a copy that was enqueued and is not waited for: tells of host code that touches its adopted
/// side before it is done, which strict mode makes wait.
void check_copy(void const* dst, void const* src, std::size_t bytes, void* stream) noexcept;

/// Tries whether a device still reads the pages of this process after a fork: locks a page, forks, writes,
/// and copies it to the current device and back. False if the device reads the old page, which the child
/// has (Linux before 5.12), and if a step fails. The child runs no fork handler and sends no signal.
bool fork_leaves_pages_to_parent() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
