// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A streamed loop without its types, and what is known of it while it runs.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_JOB_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_JOB_HPP

#include <KokkosHostSpaces/impl/tuning/LinkRates.hpp>
#include <KokkosHostSpaces/impl/stream/plan/StreamBinding.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamExecutor.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamResourcePool.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace KokkosHostSpaces {

/// How data gets to the kernels of a streamed loop.
enum class Transport {
  staged,     ///< in chunks through device memory: copies in, kernels and copies out overlap
  zero_copy,  ///< kernels work on the host's memory in place
  automatic   ///< what a cost model finds faster; StreamedLoop::explain tells why
};

namespace Impl {

/// A stream of the caller.
struct StreamTarget {
  int device;
  void* stream;
};

struct StreamJob {
  std::string label;
  StreamBinding binding;
  Transport transport = Transport::automatic;
  PlanOptions wishes;
  std::vector<StreamTarget> targets;                 ///< none: the host
  std::function<void(std::int64_t chunks)> prepare;  ///< called before the first launch
  std::function<void(std::size_t target, StreamLaunch const&)> launch;
  std::function<void()> finish;  ///< on the host, when all is done
  /// Row 0 of arrays for intermediate results in host memory that kernels reach.
  std::function<char*(int number, std::size_t bytes)> intermediate;
  /// Copies bytes of the host, in order with target 0, to memory of the host that it returns.
  std::function<char*(void const* from, std::size_t bytes)> save;
  /// Of the target's link.
  std::function<LinkRates(std::size_t target)> rates;
};

/// What the caller's handle shows.
class StreamedState {
 public:
  StreamedState() = default;
  ~StreamedState();
  StreamedState(StreamedState const&)            = delete;
  StreamedState& operator=(StreamedState const&) = delete;

  /// \throw Error once, if the device reported an error
  void fence();
  bool is_done() const;
  /// Records the end of the loop on a target.
  void record_end(StreamTarget const& target);

  std::string label;
  Transport transport         = Transport::staged;
  std::int64_t chunks         = 0;
  std::int64_t chunk_rows     = 0;
  std::size_t bytes_to_device = 0, bytes_to_host = 0, memory = 0;
  std::function<std::string()> why;
  std::function<void()> finish;

 private:
  std::mutex m_mutex;         // of m_fenced
  std::vector<void*> m_ends;  // events; the same since the loop is enqueued
  bool m_fenced = false;
};

/// Whether kernels reach memory by the address that the host uses: it is page-locked.
bool is_reachable(void const* begin, std::size_t bytes);

/// Bytes of device memory that a loop may take unless told.
std::size_t memory_of_a_loop();

/// Plans and enqueues. \throw Error
std::shared_ptr<StreamedState> run_stream(StreamJob const& job, StreamResourcePool& lanes);

/// What one device has of a loop.
struct LanePart {
  StreamPlan const& plan;
  StreamShape const& shape;
  StreamTarget target;
  StreamLauncher launcher;
};

/// Each part on the streams of a lane and the caller's; a chunk of each device in turn, so that all
/// begin at once. On return all is enqueued. If something is thrown, the parts that had begun do not
/// run any more.
void run_on_lanes(std::vector<LanePart> const& parts, StreamResourcePool& lanes);

}  // namespace Impl
}  // namespace KokkosHostSpaces

#endif
