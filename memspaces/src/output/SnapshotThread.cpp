// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/output/SnapshotThread.hpp>

#include "../../../backend/Driver.hpp"
#include "../../../backend/Error.hpp"
#include "../../../backend/os/Cores.hpp"
#include "../../../backend/os/Fork.hpp"
#include "../../../backend/os/Threads.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

// Waits for an event without keeping a core busy, as cuEventSynchronize would. Pauses double up to a
// millisecond, so that the end of a short copy is noticed soon.
void wait_politely(std::string const& label, Driver::Event event) {
  using namespace std::chrono_literals;
  auto pause = 20us;
  for (;;) {
    switch (Driver::query(event)) {
      case Driver::EventState::done: return;
      case Driver::EventState::failed:
        throw Error(
            label +
            ": the device failed while the snapshot was copied (its contents are undefined, "
            "the writer is not called): look for an error in earlier work of its instance, "
            "compute-sanitizer finds it");
      case Driver::EventState::pending:
      case Driver::EventState::capturing: break;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(2 * pause, 1ms);
  }
}

// The jobs of all queues of this process whose memory is taken, from one pool. The child of a fork has no
// threads that would end those of its parent.
struct AllJobs {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t freed = 0;
  std::size_t alive   = 0;
  std::recursive_timed_mutex turns{};
};

AllJobs& all_jobs() {
  constinit static Backend::OfThisProcess<AllJobs> jobs;
  return jobs.get();
}

thread_local bool is_writer_thread = false;

}  // namespace

// --- a job ---

SnapshotJob::SnapshotJob(SnapshotThread& thread, std::string label, std::size_t bytes)
    : m_thread(thread), m_label(std::move(label)), m_bytes(bytes) {
  m_thread.admit(m_label, m_bytes);
}

SnapshotJob::~SnapshotJob() {
  writer.reset();
  Driver::release_event(m_event);
  m_thread.release(m_bytes);
  if (!m_has_memory) return;
  AllJobs& all = all_jobs();
  std::lock_guard const lock(all.mutex);
  --all.alive;
  ++all.freed;
  all.changed.notify_all();
}

void SnapshotJob::has_memory() noexcept {
  AllJobs& all = all_jobs();
  std::lock_guard const lock(all.mutex);
  m_has_memory = true;
  ++all.alive;
}

void SnapshotJob::wait_for(StreamHandle stream, int device) {
  m_device = device;
  Driver::record(m_event, stream, device);
}

// --- the thread ---

std::shared_ptr<SnapshotThread> SnapshotThread::start(std::size_t bound) {
  auto const made = std::make_shared<SnapshotThread>(bound);
  // A thread inherits the binding of the one that makes it, which may be to a core that computes.
  Backend::Cores const cores = Backend::Cores::allowed();
  try {
    std::lock_guard const lock(made->m_mutex);
    // The thread shares the ownership: a writer may destroy the queue that calls it.
    made->m_thread    = Backend::start_thread([made, cores] {
      cores.bind_this_thread();
      made->run();
    });
    made->m_thread_id = made->m_thread.get_id();
  } catch (std::system_error const& error) {
    throw Error(std::string("the thread for snapshots cannot be made (") + error.what() +
                "): allow the process more threads");
  }
  return made;
}

SnapshotThread::SnapshotThread(std::size_t bound)
    : m_bound(bound), m_generation(Backend::fork_generation()) {}

SnapshotThread::~SnapshotThread() { tell_error(); }

void SnapshotThread::tell_error() noexcept {
  if (is_in_child()) return;
  std::string label;
  std::unique_lock lock(m_mutex);
  auto const first = std::exchange(m_error, nullptr);
  label.swap(m_error_label);
  lock.unlock();
  if (!first) return;
  try {
    std::rethrow_exception(first);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "KokkosHostSpaces: the snapshot \"%s\" failed, and no fence told so: %s\n",
                 label.c_str(), error.what());
  } catch (...) {
    std::fprintf(stderr, "KokkosHostSpaces: the snapshot \"%s\" failed, and no fence told so\n",
                 label.c_str());
  }
}

void SnapshotThread::run() noexcept {
  is_writer_thread = true;
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_work.wait(lock, [this] { return !m_jobs.empty() || m_closed; });
    if (m_jobs.empty()) return;
    std::list<SnapshotJob> job;
    job.splice(job.end(), m_jobs, m_jobs.begin());
    lock.unlock();
    std::exception_ptr error;
    std::string label;
    try {
      SnapshotJob& the_job = job.front();
      Driver::use_device(the_job.m_device);
      if (the_job.m_event != nullptr) wait_politely(the_job.m_label, the_job.m_event);
      the_job.writer->write();
    } catch (...) {
      error = std::current_exception();
      label.swap(job.front().m_label);
    }
    job.clear();  // gives the memory back before a fence returns
    lock.lock();
    ++m_done;
    if (error && !m_error) {
      m_error        = std::exchange(error, nullptr);
      m_error_number = m_done;
      m_error_label.swap(label);
    }
    m_progress.notify_all();
    if (!error) continue;
    lock.unlock();
    error = nullptr;  // its destructor may do anything
    lock.lock();
  }
}

std::uint64_t SnapshotThread::push(std::list<SnapshotJob>& job) noexcept {
  std::lock_guard const lock(m_mutex);
  m_largest = std::max(m_largest, job.front().m_bytes);
  m_jobs.splice(m_jobs.end(), job);
  m_work.notify_one();
  return ++m_pushed;
}

// --- the bound ---

std::size_t SnapshotThread::bound_for(std::size_t bytes) const noexcept {
  return m_bound > 0 ? m_bound : std::max(2 * std::max(m_largest, bytes), std::size_t(64) << 20);
}

void SnapshotThread::admit(std::string const& label, std::size_t bytes) {
  refuse_in_child(label);
  std::unique_lock lock(m_mutex);
  auto const fits = [&] {
    std::size_t const bound = bound_for(bytes);
    return bytes <= bound && m_in_flight <= bound - bytes;
  };
  if (!fits()) {
    std::size_t const bound   = bound_for(bytes);
    std::string const problem = label + ": " + std::to_string(bytes) +
                                " bytes do not fit into the " + std::to_string(bound) +
                                " bytes that may be in flight";
    if (bytes > bound)
      throw Error(problem +
                  " (one snapshot alone exceeds them): allow more by "
                  "SnapshotOptions::bytes_in_flight, or take Views apart");
    if (is_own_thread())
      throw Error(problem +
                  " (a writer takes the snapshot, and cannot wait for itself): allow more "
                  "by SnapshotOptions::bytes_in_flight, or take it in a queue of its own");
    m_progress.wait(lock, fits);
  }
  m_in_flight += bytes;
}

void SnapshotThread::release(std::size_t bytes) noexcept {
  std::lock_guard const lock(m_mutex);
  m_in_flight -= bytes;
  m_progress.notify_all();
}

std::size_t SnapshotThread::bytes_in_flight() const {
  refuse_in_child("bytes in flight");
  std::lock_guard const lock(m_mutex);
  return m_in_flight;
}

// --- waiting ---

std::uint64_t SnapshotThread::pushed() const {
  refuse_in_child("a fence of snapshots");
  std::lock_guard const lock(m_mutex);
  return m_pushed;
}

std::uint64_t SnapshotThread::freed() {
  std::lock_guard const lock(all_jobs().mutex);
  return all_jobs().freed;
}

std::unique_lock<std::recursive_timed_mutex> SnapshotThread::turn_to_take_memory() {
  return {all_jobs().turns, std::chrono::system_clock::now() + std::chrono::seconds(1)};
}

bool SnapshotThread::wait_for_memory(std::uint64_t freed) {
  if (is_writer_thread) return false;
  AllJobs& all = all_jobs();
  std::unique_lock lock(all.mutex);
  all.changed.wait(lock, [&] { return all.freed > freed || all.alive == 0; });
  return all.freed > freed;
}

void SnapshotThread::fence(std::uint64_t number) {
  refuse_in_child("a fence of snapshots");
  std::unique_lock lock(m_mutex);
  if (m_done < number && is_own_thread())
    throw Error(
        "a fence of snapshots that are not written yet (a writer calls it, and cannot wait for "
        "itself): fence in the thread that takes the snapshots");
  m_progress.wait(lock, [&] { return m_done >= number; });
  if (!m_error || m_error_number > number) return;
  auto const error = std::exchange(m_error, nullptr);
  // The type of what a writer threw has no place for it.
  std::fprintf(stderr, "KokkosHostSpaces: the snapshot \"%s\" failed, as its fence tells now\n",
               m_error_label.c_str());
  lock.unlock();
  std::rethrow_exception(error);
}

std::uint64_t SnapshotThread::drain() noexcept {
  if (is_in_child()) return 0;
  std::unique_lock lock(m_mutex);
  if (!is_own_thread()) m_progress.wait(lock, [this] { return m_done == m_pushed; });
  return m_pushed;
}

void SnapshotThread::close() noexcept {
  if (is_in_child()) return;
  {
    std::lock_guard const lock(m_mutex);
    m_closed = true;
    m_work.notify_one();
  }
  if (is_own_thread())
    m_thread.detach();
  else
    m_thread.join();
}

// --- errors ---

bool SnapshotThread::is_in_child() const noexcept {
  return m_generation != Backend::fork_generation();
}

void SnapshotThread::refuse_in_child(std::string const& label) const {
  if (is_in_child())
    throw Error(label +
                ": the queue of snapshots is that of the parent of this process (a fork copies no "
                "threads): take snapshots in the parent");
}

void SnapshotThread::refuse_capture(std::string const& label, StreamHandle stream) {
  if (Driver::captures(stream))
    throw Error(label +
                ": its instance is captured into a graph (the copies would be made when that runs, "
                "and the writer be called once): take the snapshot outside of the capture");
}

}  // namespace KokkosHostSpaces::Impl
