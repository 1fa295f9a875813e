// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Locking pages before they are needed.

#include "../Config.hpp"
#include "../Driver.hpp"
#include "../Error.hpp"
#include "../os/Fork.hpp"
#include "../os/Pages.hpp"
#include "../os/Threads.hpp"
#include "Control.hpp"
#include "Pool.hpp"
#include "Pools.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace KokkosHostSpaces {

struct pool::Reservation::Progress {
  explicit Progress(std::size_t bytes) : asked(bytes) {}

  std::size_t const asked;
  unsigned const generation = Impl::Backend::fork_generation();
  std::atomic<std::size_t> done{0};
  std::atomic<bool> finished{false};
  std::exception_ptr error;  ///< set before finished
};

namespace {

using namespace Impl::Backend;
using Progress = pool::Reservation::Progress;

struct Worker {
  std::shared_ptr<Progress> progress;
  std::jthread thread;
};

// The threads that reserve. At exit they are stopped before the CUDA runtime's static objects are
// destroyed, and no new ones start.
struct Workers {
  std::mutex mutex;
  std::list<Worker> all;
  bool ended = false;

  void end() {
    std::list<Worker> ending;
    {
      std::lock_guard const lock(mutex);
      ended = true;
      //~ failure 13
      ending.swap(all);
    }
  }
};

// A child inherits what its parent does at exit.
Workers& workers() {
  constinit static OfThisProcess<Workers> ours;
  static int const at_exit = std::atexit([] {
    if (Workers* const existing = ours.existing()) existing->end();
  });
  (void)at_exit;
  return ours.get();
}

// Locks a chunk and returns its bytes. If the limit or the system refuses it, releases ready memory that is
// not reserved, and tries again while other threads lock or give back memory, until the shortage's timeout.
std::size_t lock_chunk(std::stop_token const& stop, NodePool& pool, std::size_t chunk) {
  Pools& pools        = Pools::instance();
  auto const deadline = Retirement::Clock::now() + std::chrono::seconds(config().shortage_timeout);
  std::size_t const least = Heap::least_growth(chunk);
  std::size_t bytes       = Heap::own_growth(chunk, pools.ledger.limit());
  for (;;) {
    std::uint64_t changes = pools.ledger.changes();
    // False if it was refused for good.
    auto const make_room = [&](std::size_t excess) {
      bool const others_ask = excess > 0 && pools.make_ready() == Retirement::Progress::busy;
      pools.release_ready({excess, false});
      bool const others_work = others_ask || pools.ledger.in_transit();  // read before the changes
      bool const is_final    = !others_work && pools.ledger.changes() == changes && bytes == least;
      if (is_final || stop.stop_requested() || Retirement::Clock::now() > deadline) return false;
      if (others_work) std::this_thread::sleep_for(pool_policy.pause);
      bytes = least;
      return true;
    };
    try {
      pools.grow(pool, pool.large(), bytes, 0);
      return bytes;
    } catch (LimitReached const&) {
      if (!make_room(pools.ledger.excess(least))) throw;
    } catch (Refused const&) {
      ++changes;                     // by this attempt
      if (!make_room(least)) throw;  // it is unknown how much is missing
    }
  }
}

void lock_all(std::stop_token const& stop, Progress& progress, NodePool& pool, std::size_t chunk) {
  try {
    while (progress.done < progress.asked && !stop.stop_requested())
      progress.done += lock_chunk(stop, pool, std::min(chunk, progress.asked - progress.done));
  } catch (Refused const& error) {
    std::string const less = "reserve less";
    throw OutOfPinnedMemory(
        std::to_string(progress.asked) + " bytes cannot be reserved (" + error.what() +
        "): " + (error.remedy().empty() ? less : less + ", or " + error.remedy()));
  }
}

void work(std::stop_token const& stop, Progress& progress, NodePool& pool, std::size_t chunk,
          int device) {
  try {
    if (exceeds_memory(progress.asked)) {
      throw OutOfPinnedMemory(std::to_string(progress.asked) + " bytes cannot be reserved (" +
                              more_than_can_be(progress.asked) + "): reserve what will be used");
    }
    Driver::use_device(device);
    lock_all(stop, progress, pool, chunk);
  } catch (...) {
    progress.error = std::current_exception();
  }
  progress.finished = true;
  progress.finished.notify_all();
}

}  // namespace

std::size_t pool::Reservation::bytes_asked() const noexcept { return m_progress->asked; }

std::size_t pool::Reservation::bytes_done() const noexcept {
  return std::min(m_progress->done.load(), m_progress->asked);
}

bool pool::Reservation::finished() const noexcept { return m_progress->finished; }

void pool::Reservation::wait() const {
  if (m_progress->generation != fork_generation() && !finished())
    Pools::refuse_in_child("a reservation cannot be waited for");
  m_progress->finished.wait(false);
  if (m_progress->error) std::rethrow_exception(m_progress->error);
}

pool::Reservation Impl::Backend::Pool::reserve(std::size_t bytes, MemoryKind kind, int numa_node,
                                               std::size_t largest_block) {
  if (Pools::are_forbidden()) Pools::refuse_in_child("memory cannot be reserved");
  NodePool& pool          = Pools::instance().of(kind, numa_node);
  auto progress           = std::make_shared<Progress>(bytes);
  std::size_t const chunk = std::max(largest_block, Arena::page_bytes);
  int const device        = Driver::current_device();
  Workers& all            = workers();
  std::lock_guard const lock(all.mutex);
  if (all.ended)
    throw Error("memory cannot be reserved (the process is ending): reserve before exit is called");
  all.all.remove_if([](Worker const& worker) { return worker.progress->finished.load(); });
  auto const job = [progress, &pool, chunk, device](std::stop_token const& stop) {
    work(stop, *progress, pool, chunk, device);
  };
  try {
    all.all.push_back({progress, start_thread<std::jthread>(job)});
  } catch (std::system_error const& error) {
    throw Error(std::string("memory cannot be reserved (the system gives no thread to do it: ") +
                error.what() + "): raise the limit of processes (ulimit -u) or of memory");
  }
  return pool::Reservation(std::move(progress));
}

}  // namespace KokkosHostSpaces
