// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What carries out the operations of a plan: streams of a device, the host, or a test.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_EXECUTOR_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_EXECUTOR_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamPlan.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// A loop over rows that shall run now, or be enqueued.
struct StreamLaunch {
  int stage;
  std::int64_t chunk;
  std::int64_t begin, end;  ///< rows
  char* const* first_rows;  ///< of each access of the stage: where row 0 of the array would be
};

using StreamLauncher = std::function<void(StreamLaunch const&)>;

/// Each queue works in the order of the calls; queues know of each other by events alone.
class StreamExecutor {
 public:
  virtual ~StreamExecutor()                                                           = default;
  virtual void copy(StreamQueue queue, void* dst, void const* src, std::size_t bytes) = 0;
  virtual void launch(StreamLaunch const& launch)                                     = 0;
  virtual void record(StreamQueue queue, int event)                                   = 0;
  virtual void wait(StreamQueue queue, int event)                                     = 0;
};

/// Hands the operations of a plan to an executor, a chunk at a time.
class StreamWalk {
 public:
  /// \param device memory of plan.memory bytes
  StreamWalk(StreamPlan const& plan, StreamShape const& shape, char* device,
             StreamExecutor& executor)
      : m_plan(plan), m_shape(shape), m_device(device), m_executor(executor) {}

  /// False if there was none left.
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

/// Hands all operations to the executor. \param device memory of plan.memory bytes
void execute(StreamPlan const& plan, StreamShape const& shape, char* device,
             StreamExecutor& executor);

/// Runs everything at once, on the calling thread, in the order of the plan.
void execute_on_host(StreamPlan const& plan, StreamShape const& shape,
                     StreamLauncher const& launcher);

/// Where the arrays are if nothing is copied: row 0 of each buffer. Arrays of intermediate results
/// are made by `intermediate`, and share memory if they are not needed at the same time.
std::vector<char*> homes_of(StreamShape const& shape,
                            std::function<char*(int, std::size_t)> const& intermediate);

/// Runs rows of a stage on the arrays where they are.
/// \param homes row 0 of each buffer
/// \param most rows of a launch
void execute_in_place(StreamShape const& shape, int stage, StreamRows const& rows,
                      std::vector<char*> const& homes, std::int64_t most,
                      StreamLauncher const& launcher);

}  // namespace KokkosHostSpaces::Impl

#endif
