// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Snapshot.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>

namespace KokkosHostSpaces::Impl {

std::shared_ptr<SnapshotThread> start_snapshots(SnapshotOptions const& options) {
  auto const thread =
      SnapshotThread::start(options.bytes_in_flight, options.when_full == WhenFull::refuse);
  // Writers hold Views, which are to be freed before Kokkos ends. The thread itself ends with its queue.
  at_finalize([weak = std::weak_ptr(thread)] {
    if (auto const still_there = weak.lock()) still_there->drain();
  });
  return thread;
}

std::shared_ptr<SnapshotThread> const& default_snapshots() {
  // Its destructor, at the end of a process that does not call Kokkos::finalize, comes before that of
  // CUDA, whose end was registered earlier.
  struct DefaultQueue {
    std::shared_ptr<SnapshotThread> thread = start_snapshots({});
    ~DefaultQueue() { thread->close(); }
  };
  static DefaultQueue const queue;
  return queue.thread;
}

}  // namespace KokkosHostSpaces::Impl
