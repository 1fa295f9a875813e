// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The thread of a SnapshotQueue. Knows nothing of Views: waits until the copies of a job are done and
// calls its writer, one job after the other.

#ifndef KOKKOS_HOST_SPACES_IMPL_SNAPSHOT_THREAD_HPP
#define KOKKOS_HOST_SPACES_IMPL_SNAPSHOT_THREAD_HPP

#include <KokkosHostSpaces/impl/core/Streams.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace KokkosHostSpaces::Impl {

/// The writer of a snapshot, and the memory that it is called with.
class SnapshotWriter {
 public:
  virtual ~SnapshotWriter() = default;
  virtual void write()      = 0;
};

class SnapshotThread;

/// A snapshot whose writer is not done. Counts as `bytes` in flight from the constructor to the
/// destructor.
class SnapshotJob {
 public:
  /// Waits if there is no room for `bytes`.
  /// \throw Error
  SnapshotJob(SnapshotThread& thread, std::string label, std::size_t bytes);
  ~SnapshotJob();
  SnapshotJob(SnapshotJob const&)            = delete;
  SnapshotJob& operator=(SnapshotJob const&) = delete;

  /// Makes the writer wait for the work that `stream`, of `device`, has so far. Without this call it
  /// waits for nothing.
  /// \throw DeviceError
  void wait_for(StreamHandle stream, int device);
  /// Tells that memory was taken for it, which it gives back when it is destroyed.
  void has_memory() noexcept;

  std::unique_ptr<SnapshotWriter> writer;

 private:
  friend SnapshotThread;

  SnapshotThread& m_thread;
  std::string m_label;
  std::size_t m_bytes;
  bool m_has_memory = false;
  int m_device      = -1;
  void* m_event     = nullptr;
};

/// A thread that calls the writers of jobs in the order of push.
///
/// Invariants: m_done <= m_pushed; the jobs m_done + 1 to m_pushed are in m_jobs or being written.
class SnapshotThread : public std::enable_shared_from_this<SnapshotThread> {
 public:
  /// \param bound of the bytes in flight; 0: twice the largest job so far, at least 64 MiB
  /// \throw Error if the system refuses a thread
  static std::shared_ptr<SnapshotThread> start(std::size_t bound);

  explicit SnapshotThread(std::size_t bound);
  ~SnapshotThread();

  /// Takes the only job of `job`. The caller made the list node, so that this cannot fail.
  /// \return the number of the job, from 1
  std::uint64_t push(std::list<SnapshotJob>& job) noexcept;

  /// Waits until the jobs 1 to `number` are done. Rethrows, once, the first error of theirs that no
  /// fence has reported.
  void fence(std::uint64_t number);
  std::uint64_t pushed() const;
  bool is_done(std::uint64_t number) const noexcept { return m_done.load() >= number; }
  /// Number of jobs of all queues that have given their memory back.
  static std::uint64_t freed();
  /// Waits, before a job that found no memory is tried again, until more than `freed` jobs have given theirs
  /// back. The caller has no job meanwhile. Returns false if there will be none, or for a writer, which
  /// others may wait for.
  static bool wait_for_memory(std::uint64_t freed);
  /// The turn to take memory for a job: else each of two jobs may take what the other one lacks. Tools
  /// that are told of the memory may take snapshots themselves, or wait for a thread that does: a thread
  /// may have several turns, and others wait a second at most.
  static std::unique_lock<std::recursive_timed_mutex> turn_to_take_memory();
  std::size_t bytes_in_flight() const;

  /// Waits until all jobs are done, unless a writer calls it. Does nothing in the child of a fork,
  /// which has no such thread.
  /// \return the number of jobs so far
  std::uint64_t drain() noexcept;
  /// Ends the thread when all jobs are done, and waits for that, unless a writer calls it.
  void close() noexcept;
  /// Prints the error that no fence has reported, if any, which is none then.
  void tell_error() noexcept;

  /// \throw Error if `stream` captures: the copies would be made when the graph runs, not now
  static void refuse_capture(std::string const& label, StreamHandle stream);

 private:
  friend SnapshotJob;

  void run() noexcept;
  void admit(std::string const& label, std::size_t bytes);
  void release(std::size_t bytes) noexcept;
  std::size_t bound_for(std::size_t bytes) const noexcept;
  bool is_in_child() const noexcept;
  bool is_own_thread() const noexcept { return m_thread_id == std::this_thread::get_id(); }
  void refuse_in_child(std::string const& label) const;

  std::size_t const m_bound;
  unsigned const m_generation;

  mutable std::mutex m_mutex;  // of all below
  std::condition_variable m_work, m_progress;
  std::list<SnapshotJob> m_jobs;
  std::size_t m_in_flight = 0, m_largest = 0;  // bytes; m_largest of pushed jobs
  std::uint64_t m_pushed = 0;
  std::atomic<std::uint64_t> m_done{0};
  std::exception_ptr m_error;        // the first that no fence has reported
  std::uint64_t m_error_number = 0;  // of its job
  std::string m_error_label;
  bool m_closed = false;
  std::thread m_thread;
  std::thread::id m_thread_id;
};

}  // namespace KokkosHostSpaces::Impl

#endif
