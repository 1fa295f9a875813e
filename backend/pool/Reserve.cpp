// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Locking pages before they are needed.

#include "../Error.hpp"
#include "../os/Fork.hpp"
#include "Pools.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <list>
#include <mutex>
#include <thread>

namespace KokkosHostSpaces::Impl::Pool {

struct Reservation::Progress {
  explicit Progress(std::size_t bytes) : asked(bytes) {}

  std::size_t const asked;
  std::atomic<std::size_t> done{0};
  std::atomic<bool> finished{false};
  std::exception_ptr error;  ///< set before finished
};

namespace {

// The threads that reserve. They are stopped before main's static objects die: the runtime goes
// with them.
struct Workers {
  std::mutex mutex;
  std::list<std::jthread> threads;
};

Workers& workers() {
  static Workers* const made = [] {
    auto* const w = new Workers;
    std::atexit([] {
      if (!is_forked_child()) workers().threads.clear();
    });
    return w;
  }();
  return *made;
}

void work(std::stop_token const& stop, Reservation::Progress& progress, NodePool& pool,
          std::size_t chunk) {
  try {
    while (progress.done < progress.asked && !stop.stop_requested()) {
      std::size_t const bytes = Heap::least_growth(std::min(chunk, progress.asked - progress.done));
      Pools::instance().grow(pool, pool.heaps.front(), bytes, true);
      progress.done += bytes;
    }
  } catch (...) {
    progress.error = std::current_exception();
  }
  progress.finished = true;
  progress.finished.notify_all();
}

}  // namespace

std::size_t Reservation::bytes_asked() const noexcept { return m_progress->asked; }

std::size_t Reservation::bytes_done() const noexcept {
  return std::min(m_progress->done.load(), m_progress->asked);
}

bool Reservation::finished() const noexcept { return m_progress->finished; }

void Reservation::wait() const {
  m_progress->finished.wait(false);
  if (m_progress->error) std::rethrow_exception(m_progress->error);
}

Reservation reserve(std::size_t bytes, MemoryKind kind, int numa_node, std::size_t largest_block) {
  if (is_forked_child()) {
    throw Error(
        "memory cannot be reserved (this process is the child of a fork, where CUDA does not "
        "work): "
        "reserve before the fork, or exec a new program");
  }
  NodePool& pool          = Pools::instance().of(kind, numa_node);
  auto progress           = std::make_shared<Reservation::Progress>(bytes);
  std::size_t const chunk = std::max(largest_block, Arena::page_bytes);
  Workers& all            = workers();
  std::lock_guard const lock(all.mutex);
  all.threads.emplace_back([progress, &pool, chunk](std::stop_token const& stop) {
    work(stop, *progress, pool, chunk);
  });
  return Reservation(std::move(progress));
}

}  // namespace KokkosHostSpaces::Impl::Pool
