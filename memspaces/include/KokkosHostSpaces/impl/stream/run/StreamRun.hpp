// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A streamed loop without its types: chooses the transport, runs or enqueues it, and keeps its
// state.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_RUN_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_RUN_HPP

#include <KokkosHostSpaces/StreamedTransport.hpp>
#include <KokkosHostSpaces/impl/stream/plan/StreamBinding.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamExecutor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// A call of streamed_for, streamed_reduce or streamed_chain.
struct StreamJob {
  std::string label;
  StreamBinding binding;
  Transport transport = Transport::automatic;
  PlanOptions options;
  std::vector<StreamTarget> targets;  ///< none: the host
  /// Called before the first launch.
  std::function<void(std::int64_t chunks)> prepare;
  std::function<void(std::size_t target, StreamLaunch const&)> launch;
  /// Returns the bytes of the part of a chunk in the result of a reduction, if the job is one whose values
  /// have no padding.
  std::function<std::string(std::int64_t chunk)> part;
  /// Enqueues on target 0 what comes behind the work of all targets, if anything. Not for the host.
  std::function<void()> finish;
  /// Returns row 0 of an array for intermediate results, in host memory that kernels reach.
  std::function<char*(int number, std::size_t bytes)> intermediate;
  /// Copies bytes of the host, in order with target 0, to memory of the host that it returns.
  std::function<char*(void const* from, std::size_t bytes)> save;
  /// Returns the shares of several targets; empty: equal ones.
  std::function<std::vector<double>()> weights;
  /// Without targets: waits for launches on a device that only works in place, in memory that is page-locked.
  std::function<void()> wait;
  /// Without targets: run as on a device, by a PretendedDevice.
  bool pretends_device = false;
};

/// A launcher that finds, on the host, bodies that go wrong on a GPU. It runs each launch on copies of
/// the rows that a GPU would have, in images of the arrays that have no other memory, and again with
/// other poison in elements that are to be written: a result that differs was computed from poison. A
/// body whose results differ without that (random numbers) is not judged.
/// The launcher throws Error for an access to a row that a GPU would not have, for an element that is
/// not written, and for one that is computed from what was there before.
/// \param job outlives the launcher
StreamLauncher on_pretended_device(StreamJob const& job, StreamLauncher launcher);

/// The state of a streamed loop, behind the caller's handle.
class StreamedState {
 public:
  StreamedState() = default;
  ~StreamedState();
  StreamedState(StreamedState const&)            = delete;
  StreamedState& operator=(StreamedState const&) = delete;

  /// \throw Error once, if the device reported an error
  void fence();
  bool is_done() const;
  /// See StreamedLoop.
  std::string explain() const;
  /// Records the end of the loop on a target.
  void record_end(StreamTarget const& target);

  std::string label;
  Transport transport         = Transport::automatic;
  std::int64_t chunks         = 0;
  std::int64_t chunk_rows     = 0;
  std::size_t bytes_to_device = 0, bytes_to_host = 0, memory = 0;
  std::string why;

 private:
  std::mutex m_mutex;         // of m_fenced
  std::vector<void*> m_ends;  // events; constant from when the loop is enqueued
  bool m_fenced = false;
};

/// The state of a handle without a loop.
StreamedState const& no_streamed_loop();

/// Returns true if all of a range is page-locked, in one registration or adjacent ones, so that
/// kernels reach it by the host's address.
bool is_reachable(void const* begin, std::size_t bytes);

/// Bytes of device memory that a loop may take by default.
std::size_t memory_of_a_loop();

/// Returns the bytes per second that cross each link in both directions together; 0 if that cannot be measured.
/// The first call takes about 20 ms for each device.
std::vector<double> link_rates(std::vector<int> const& devices);

/// True if KOKKOS_HOST_SPACES_PRETEND_DEVICE is on.
bool pretends_device();

/// Plans and enqueues; on the host, runs. \throw Error
std::shared_ptr<StreamedState> run_stream(StreamJob const& job, StreamResourcePool& pool);

}  // namespace KokkosHostSpaces::Impl

#endif
