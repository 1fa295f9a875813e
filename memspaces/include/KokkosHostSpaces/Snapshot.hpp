// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Output that does not stop the run:
//
//   for (int step = 0; step < steps; ++step) {
//     Kokkos::parallel_for("step", ...);
//     khs::snapshot("heat", instance, temperature, [step](auto const& host) {
//       write_file(step, host.data(), host.size());  // HDF5, ADIOS2, MPI-IO, fwrite, ...
//     });
//   }

#ifndef KOKKOS_HOST_SPACES_SNAPSHOT_HPP
#define KOKKOS_HOST_SPACES_SNAPSHOT_HPP

#include <KokkosHostSpaces/DeviceView.hpp>
#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>
#include <KokkosHostSpaces/impl/output/SnapshotThread.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces {

/// The host View with which a writer is called: const elements without gaps, with the label and the
/// extents of the source View. LayoutLeft if the source is, else LayoutRight.
template <class View>
using SnapshotView =
    Kokkos::View<typename View::const_data_type, Impl::DenseLayoutOf<View>, PinnedSpace>;

/// Options of a SnapshotQueue.
struct SnapshotOptions {
  /// Upper bound of the bytes of all snapshots whose writers are not done. A single snapshot must not
  /// exceed it. 0: all together may have twice the bytes of the largest one so far, so that one is
  /// copied while another is written, or 64 MiB if that is more; a single one has no bound.
  std::size_t bytes_in_flight = 0;
};

/// Handle of a snapshot. The destructor does not wait.
class Snapshot {
 public:
  /// A handle without a snapshot: is_done() is true.
  Snapshot() = default;
  /// For the library.
  Snapshot(std::shared_ptr<Impl::SnapshotThread> thread, std::uint64_t number)
      : m_thread(std::move(thread)), m_number(number) {}

  /// Waits until the writers of this snapshot and of all earlier ones in its queue are done. Rethrows
  /// the first error of these writers that no fence has reported yet, and prints the label of its snapshot
  /// to stderr. An error does not stop later
  /// writers; their errors are dropped until a fence has reported the first one.
  /// \throw Error if the device failed before the contents arrived (the writer was not called)
  /// \throw Error if a writer calls it and would wait for itself
  void fence() const {
    if (m_thread != nullptr) m_thread->fence(m_number);
  }
  /// True if fence() would not wait.
  bool is_done() const { return m_thread == nullptr || m_thread->is_done(m_number); }

 private:
  std::shared_ptr<Impl::SnapshotThread> m_thread;
  std::uint64_t m_number = 0;
};

/// \cond for snapshot and SnapshotQueue
namespace Impl {

template <class Writer, class... HostViews>
class WriterOfViews final : public SnapshotWriter {
 public:
  WriterOfViews(Writer writer, HostViews... views)
      : m_views(std::move(views)...), m_writer(std::move(writer)) {}
  void write() override { std::apply(m_writer, m_views); }

 private:
  std::tuple<HostViews...> const m_views;
  Writer m_writer;  // destroyed first: it may hold parts of the Views
};

// Pinned memory for the contents of a View, of the shape of the View.
template <class ExecutionSpace, class View>
auto memory_for_snapshot(ExecutionSpace const& instance, View const& view) {
  check_plain<View>();
  static_assert(std::is_trivially_copyable_v<typename View::value_type>,
                "a snapshot copies bytes: the elements of the View must be trivially copyable");
  return Kokkos::View<typename View::non_const_data_type, DenseLayoutOf<View>, PinnedSpace>(
      Kokkos::view_alloc(PinnedSpace(instance), view.label(), Kokkos::WithoutInitializing),
      dense_layout_of(view));
}

// Admits a job, and takes memory for copies of all `views`. Where the limit of the pool leaves too little,
// waits until a writer is done, which gives its memory back, and tries again.
template <class ExecutionSpace, class... Views>
auto admit_job(std::list<SnapshotJob>& job, SnapshotThread& thread, std::string const& label,
               ExecutionSpace const& instance, Views const&... views) {
  for (;;) {
    std::uint64_t const freed = SnapshotThread::freed();
    try {
      job.emplace_back(
          thread, label,
          (std::size_t(0) + ... + (views.size() * sizeof(typename Views::value_type))));
      auto const turn = SnapshotThread::turn_to_take_memory();
      std::tuple memory{memory_for_snapshot(instance, views)...};
      job.front().has_memory();
      return memory;
    } catch (OutOfPinnedMemory const&) {
      job.clear();
      if (!SnapshotThread::wait_for_memory(freed)) throw;
    }
  }
}

template <class ExecutionSpace, class Writer, class... Views>
Snapshot enqueue_snapshot(std::shared_ptr<SnapshotThread> thread, std::string const& label,
                          ExecutionSpace const& instance, Writer&& writer, Views const&... views) {
  using OwnWriter = std::decay_t<Writer>;
  static_assert(std::is_invocable_v<OwnWriter&, SnapshotView<Views> const&...>,
                "the last argument of a snapshot is called with a SnapshotView of each View");
  if constexpr (is_driven_v<ExecutionSpace>)
    SnapshotThread::refuse_capture(label, stream_of(instance));
  // Takes `thread` by value: an error destroys the writer, which may be the last owner of the queue.
  // All that can fail on the host comes before the first copy.
  std::list<SnapshotJob> job;
  std::apply(
      [&](auto const&... host) {
        job.front().writer = std::make_unique<WriterOfViews<OwnWriter, SnapshotView<Views>...>>(
            std::forward<Writer>(writer), SnapshotView<Views>(host)...);
        (Kokkos::deep_copy(instance, host, views), ...);
      },
      admit_job(job, *thread, label, instance, views...));
  if constexpr (is_driven_v<ExecutionSpace>)
    job.front().wait_for(stream_of(instance), device_id_of(instance));
  else
    instance.fence("KokkosHostSpaces: a snapshot on a host instance has arrived on return");
  return {thread, thread->push(job)};
}

// Moves the writer, the last argument, in front of the Views.
template <class ExecutionSpace, class Arguments, std::size_t... I>
Snapshot take_snapshot(std::shared_ptr<SnapshotThread> const& thread, std::string const& label,
                       ExecutionSpace const& instance, Arguments&& arguments,
                       std::index_sequence<I...>) {
  static_assert(sizeof...(I) > 0 &&
                    (Kokkos::is_view_v<std::decay_t<std::tuple_element_t<I, Arguments>>> && ...),
                "a snapshot takes Views, and then a writer");
  return enqueue_snapshot(thread, label, instance, std::get<sizeof...(I)>(std::move(arguments)),
                          std::get<I>(arguments)...);
}

template <class Label, class ExecutionSpace, class View, class... ViewsAndWriter>
inline constexpr bool is_snapshot_order_v = std::is_convertible_v<Label, std::string>&&
    Kokkos::is_execution_space_v<std::remove_cvref_t<ExecutionSpace>>;

/// Arguments of a snapshot whose order begins otherwise.
template <class... Arguments>
concept NoSnapshotOrder =
    !(sizeof...(Arguments) >= 3 && requires { requires is_snapshot_order_v<Arguments...>; });

template <class... Arguments>
Snapshot refuse_snapshot() {
  static_assert(never_v<Arguments...>,
                "a snapshot takes, in this order: a label, an instance, one or more Views, and the "
                "writer");
  return {};
}

/// Starts the thread of a queue, which Kokkos::finalize drains.
std::shared_ptr<SnapshotThread> start_snapshots(SnapshotOptions const& options);
}  // namespace Impl
/// \endcond

/// A queue of snapshots and the thread that calls their writers. Use one to set the bound, or for
/// output that must not wait for other output. The free function `snapshot` uses a queue that the
/// whole process shares.
class SnapshotQueue {
 public:
  /// \throw Error if the system refuses a thread
  explicit SnapshotQueue(SnapshotOptions const& options = {})
      : m_thread(Impl::start_snapshots(options)) {}
  /// For the library.
  explicit SnapshotQueue(std::shared_ptr<Impl::SnapshotThread> thread)
      : m_thread(std::move(thread)) {}
  /// Waits until all writers are done, unless one of them calls it. An error that no fence reported is
  /// printed to stderr when the queue and all handles of its snapshots are destroyed.
  ~SnapshotQueue() { m_thread->close(); }
  SnapshotQueue(SnapshotQueue const&)            = delete;
  SnapshotQueue& operator=(SnapshotQueue const&) = delete;

  /// Takes a snapshot: see the free function.
  template <Impl::ExecutionSpace ExecutionSpace, class View, class... ViewsAndWriter>
  Snapshot take(std::string const& label, ExecutionSpace const& instance, View const& view,
                ViewsAndWriter&&... views_and_writer) {
    return Impl::take_snapshot(
        m_thread, label, instance,
        std::forward_as_tuple(view, std::forward<ViewsAndWriter>(views_and_writer)...),
        std::make_index_sequence<sizeof...(ViewsAndWriter)>());
  }

  /// \cond
  template <class... Arguments>
  requires Impl::NoSnapshotOrder<Arguments...> Snapshot take(Arguments&&...) {
    return Impl::refuse_snapshot<Arguments...>();
  }
  /// \endcond

  /// Fences all snapshots that were taken so far, as Snapshot::fence does.
  void fence() { m_thread->fence(m_thread->pushed()); }

  /// Bytes of the snapshots whose writers are not done.
  std::size_t bytes_in_flight() const { return m_thread->bytes_in_flight(); }

 private:
  std::shared_ptr<Impl::SnapshotThread> m_thread;
};

/// \cond
namespace Impl {

/// The queue of the free function.
SnapshotQueue& default_snapshots();

struct SnapshotFunction {
  template <class... Arguments>
  Snapshot operator()(Arguments&&... arguments) const {
    return default_snapshots().take(std::forward<Arguments>(arguments)...);
  }
};

}  // namespace Impl
/// \endcond

/// `snapshot(label, instance, view, more_views..., writer)`: copies the Views to page-locked memory, and
/// calls `writer(SnapshotView<View> const&...)` in a thread of the library when the copies are done.
///
/// The call replaces `deep_copy(host, view)` and the writing after it. No fence is needed:
/// Kokkos::finalize and the end of the process wait for all writers. (Finalize hooks that the application
/// registered after its first View in our spaces run before.)
///
/// Each View is copied by one deep_copy to PinnedSpace, after the earlier work of `instance` and before
/// its later work. Asynchronous: the call returns when the copies are enqueued. If their bytes exceed the
/// bound of SnapshotOptions (the queue of this function has the default), or the limit of the pool leaves
/// no room for them, it first waits for writers, which give memory back. The Views may be overwritten on
/// `instance`, or destroyed, right after the call. Views in pageable memory may make the call wait for
/// their copy; on a host instance the call returns when they are copied.
///
/// Writers are called one after the other, in the order of the calls. A writer may take snapshots, but
/// not fence them. It may keep its Views; their bytes are not counted after it returns. It must not call
/// MPI without MPI_THREAD_MULTIPLE, and must not wait for anything that the calling thread does only
/// after a fence. Its thread blocks all signals that it does not raise itself, and programs that a writer
/// starts inherit that. What it throws is rethrown by the next fence of its handle or of a later one, or
/// printed to stderr at the end.
///
/// A child of a fork cannot use the queues of its parent, but may destroy them.
///
/// \param label            named in messages
/// \param instance         the copies are enqueued on it; it must not be captured into a graph
/// \param view             its elements are trivially copyable
/// \param views_and_writer more Views, and last the writer, which is moved or copied, and is called and
///                         destroyed in the library's thread
/// \throw Error in a capture, or if the bytes exceed the bound and waiting would never end
/// \throw OutOfPinnedMemory if no writer is left to wait for, or to a writer, which does not wait for memory
/// \throw DeviceError
inline constexpr Impl::SnapshotFunction snapshot{};

}  // namespace KokkosHostSpaces

#endif
