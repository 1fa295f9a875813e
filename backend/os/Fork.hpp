// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_FORK_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_FORK_HPP

#include <atomic>
#include <memory>

#include <pthread.h>

namespace KokkosHostSpaces::Impl::Backend {

/// Number of forks between the process that first called this function and this one. State behind a mutex
/// is valid in one generation: a thread that the child lacks may hold the mutex. A handler counts, because
/// every deallocation asks, and getpid is a system call.
inline unsigned fork_generation() noexcept {
  static std::atomic<unsigned> forks{0};
  static bool const watching =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
  return watching ? forks.load(std::memory_order_relaxed) : 0;
}

/// True in a forked child if the parent had called one of these functions before. Such a child must not
/// use CUDA or unlock memory: both belong to the parent.
inline bool is_forked_child() noexcept { return fork_generation() > 0; }

/// An object that each process has for itself: the child of a fork makes its own, because a thread that
/// it lacks may hold a mutex of its parent's. Made on first use, never destroyed: static destructors
/// may use it.
template <class Object>
class OfThisProcess {
 public:
  /// \throw what the constructor throws; the next call tries again
  Object& get() {
    Made* known = m_latest.load(std::memory_order_acquire);
    if (is_ours(known)) return known->object;
    auto made = std::make_unique<Made>();
    // Replaced is only what was seen to be a parent's: another thread may have made ours meanwhile.
    if (m_latest.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel))
      return made.release()->object;
    return known->object;
  }

  /// nullptr if this process has none yet.
  Object* existing() const noexcept {
    Made* const known = m_latest.load(std::memory_order_acquire);
    return is_ours(known) ? &known->object : nullptr;
  }

 private:
  struct Made {
    unsigned const generation = fork_generation();
    Object object{};
  };

  static bool is_ours(Made const* made) noexcept {
    //~ failure 14
    return made != nullptr && made->generation == fork_generation();
  }

  std::atomic<Made*> m_latest{nullptr};
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
