// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Snapshot.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>

#include <vector>

namespace KokkosHostSpaces::Impl {

namespace {

// The queues of the process. Writers hold Views, which must be freed before Kokkos ends.
class AllQueues {
 public:
  void add(std::shared_ptr<SnapshotThread> const& thread) {
    std::lock_guard const lock(m_mutex);
    std::erase_if(m_threads, [](auto const& other) { return other.expired(); });
    m_threads.push_back(thread);
  }

  // Waits until no queue has a snapshot left. A writer may take snapshots in another queue: repeat
  // until no queue got one.
  void drain() {
    for (std::uint64_t before = 0, taken = 0;; before = taken) {
      taken = 0;
      for (auto const& weak : threads())
        if (auto const thread = weak.lock()) taken += thread->drain();
      if (taken == before) return;
    }
  }

 private:
  std::vector<std::weak_ptr<SnapshotThread>> threads() {
    std::lock_guard const lock(m_mutex);
    return m_threads;
  }

  std::mutex m_mutex;
  std::vector<std::weak_ptr<SnapshotThread>> m_threads;
};

AllQueues& all_queues() {
  static AllQueues* const all = [] {
    auto* const made = new AllQueues;
    at_finalize([made] { made->drain(); });
    return made;
  }();
  return *all;
}

}  // namespace

std::shared_ptr<SnapshotThread> start_snapshots(SnapshotOptions const& options) {
  AllQueues& all    = all_queues();
  auto const thread = SnapshotThread::start(options.bytes_in_flight);
  all.add(thread);
  return thread;
}

SnapshotQueue& default_snapshots() {
  // Its destructor, at the end of a process that does not call Kokkos::finalize, comes before that of
  // CUDA, whose end was registered earlier.
  struct TellsAtEnd {
    std::shared_ptr<SnapshotThread> thread = start_snapshots({});
    ~TellsAtEnd() { thread->tell_error(); }  // handles may live as long as the process
  };
  static struct {
    TellsAtEnd at_end;
    SnapshotQueue queue{at_end.thread};
  } all;
  return all.queue;
}

}  // namespace KokkosHostSpaces::Impl
