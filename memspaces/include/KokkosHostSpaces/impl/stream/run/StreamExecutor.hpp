// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Executors of plans: the streams of devices, the host, or a test.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_EXECUTOR_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_EXECUTOR_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>
#include <KokkosHostSpaces/impl/stream/run/StreamResourcePool.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Rows of a stage, to be run or enqueued.
struct StreamLaunch {
  int stage;
  std::int64_t chunk;
  std::int64_t begin, end;  ///< rows
  char* const* first_rows;  ///< of each access of the stage: the address that row 0 would have
};

using StreamLauncher = std::function<void(StreamLaunch const&)>;

/// Each queue works in the order of the calls; only events order queues with each other.
class StreamExecutor {
 public:
  virtual ~StreamExecutor()                                                           = default;
  virtual void copy(StreamQueue queue, void* dst, void const* src, std::size_t bytes) = 0;
  virtual void launch(StreamLaunch const& launch)                                     = 0;
  virtual void record(StreamQueue queue, int event)                                   = 0;
  virtual void wait(StreamQueue queue, int event)                                     = 0;
};

/// Passes the operations of a plan to an executor, chunk by chunk.
class StreamWalk {
 public:
  /// \param device memory of plan.memory bytes
  StreamWalk(StreamPlan const& plan, StreamShape const& shape, char* device,
             StreamExecutor& executor)
      : m_plan(plan), m_shape(shape), m_device(device), m_executor(executor) {}

  /// Passes one chunk. Returns false if none is left.
  bool next_chunk();

 private:
  void execute(StreamOperation const& operation);
  void copy_pieces(StreamOperation const& operation);

  StreamPlan const& m_plan;
  StreamShape const& m_shape;
  char* m_device;
  StreamExecutor& m_executor;
  std::size_t m_next = 0;  // operation
  std::vector<char*> m_first_rows;
};

// --- On the host ---

/// Bytes of host memory.
struct DeleteAligned {
  void operator()(char* memory) const;
};
using AlignedMemory = std::unique_ptr<char, DeleteAligned>;
/// Allocates memory that is aligned as device memory is, for elements with a large alignment.
AlignedMemory aligned_memory(std::size_t bytes);

/// The address at an offset, which may lie outside of the memory: row 0 need not be there.
char* shifted(char const* memory, std::ptrdiff_t offset);

/// Runs all operations on the calling thread, in the order of the plan.
void execute_on_host(StreamPlan const& plan, StreamShape const& shape,
                     StreamLauncher const& launcher);

// --- In place: no copies, kernels work in host memory ---

/// The address of row 0 of each buffer. `intermediate` allocates arrays for intermediate results,
/// which share memory if they are not needed at the same time.
std::vector<char*> rows_in_place(StreamShape const& shape,
                                 std::function<char*(int, std::size_t)> const& intermediate);

/// Runs rows of a stage in place.
/// \param first_rows row 0 of each buffer
/// \param most rows of a launch
void execute_in_place(StreamShape const& shape, int stage, StreamRows const& rows,
                      std::vector<char*> const& first_rows, std::int64_t most,
                      StreamLauncher const& launcher);

// --- On devices ---

/// A stream of the caller.
struct StreamTarget {
  int device;
  void* stream;
};

/// The part of a loop that one device has.
struct StreamPart {
  StreamPlan const& plan;
  StreamShape const& shape;
  StreamTarget target;
  StreamLauncher launcher;
  std::size_t turn;  ///< as in PlanOptions
};

/// Enqueues the parts on the caller's streams and those of the pool, chunk by chunk round-robin
/// over the devices, so that all begin at once. Before it throws, it waits for all work of the
/// parts.
void run_on_devices(std::vector<StreamPart> const& parts, StreamResourcePool& pool);

}  // namespace KokkosHostSpaces::Impl

#endif
