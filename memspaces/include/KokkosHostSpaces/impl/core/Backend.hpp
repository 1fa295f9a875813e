// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the header-only part asks of the compiled part, in terms of bytes and addresses. src/
// carries it out by calling the backend.

#ifndef KOKKOS_HOST_SPACES_IMPL_BACKEND_HPP
#define KOKKOS_HOST_SPACES_IMPL_BACKEND_HPP

#include <KokkosHostSpaces/backend/pool/Control.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace KokkosHostSpaces::Impl {

struct CopyPlan;

/// A memory space as the compiled part needs to know it.
struct SpaceDescription {
  char const* name;
  bool write_combined;
};

/// Allocates near `device_id` (-1: Kokkos' default device) and tells Kokkos Tools.
void* allocate(SpaceDescription space, int device_id, char const* label, std::size_t bytes,
               std::size_t logical_bytes);

/// Tells Kokkos Tools and gives the memory back.
void deallocate(SpaceDescription space, char const* label, void* pointer, std::size_t bytes,
                std::size_t logical_bytes);

/// A device near which that memory of ours lies: `preferred` if it is one, or if none is.
int device_near(void const* memory, int preferred);

/// Bytes from `pointer` on that may hold something; what lies behind them is zero. For who has just
/// allocated the memory, and wrote only before `pointer`.
std::size_t dirty_bytes(void const* pointer) noexcept;

/// A source file that may have kernels. Kokkos prepares it when it launches the first of them: it
/// copies on the legacy default stream, and waits, which breaks the capture of a blocking stream and
/// is told nobody. So our allocations prepare all sources when one of them finds an idle device.
class KernelSource {
 public:
  explicit KernelSource(void (*prepare)()) noexcept;
  ~KernelSource();
  KernelSource(KernelSource const&)            = delete;
  KernelSource& operator=(KernelSource const&) = delete;

  /// Prepares all that are not prepared yet, unless it would wait, or a stream captures.
  static void prepare_all() noexcept;

 private:
  void (*m_prepare)();
  mutable KernelSource* m_next;  // sources are constants
};

/// Kokkos::finalize calls it. Kokkos' own list of such functions has no lock, and parts of the library
/// register theirs when they are used first, in whichever thread.
void at_finalize(std::function<void()> give_back);

/// One side of a copy, for the guard.
struct CopySide {
  void const* begin;
  std::size_t bytes;  ///< without gaps; 0: it has some
  std::string label;
};

/// KOKKOS_HOST_SPACES_GUARD=on: copies on instances are guarded against the host.
bool guards_copies();

/// A copy was enqueued on `stream`: host code that touches `dst`, or writes into `src`, before it is
/// done is told of on stderr.
void guard_copy(CopySide const& dst, CopySide const& src, void* stream);

/// How often host code was told of.
std::size_t races_found() noexcept;

/// Page-locks memory for later allocations, in the background.
pool::Reservation reserve(SpaceDescription space, int device_id, std::size_t bytes,
                          std::size_t largest_block);

/// `let_go` gives memory of the pool back that is had only to be faster: called, by any thread, where
/// memory is short or given back to the system, and when Kokkos is finalized. One for all.
void let_go_when_short(void (*let_go)() noexcept);

/// A cudaStream_t; nullptr is the legacy default stream.
using StreamHandle = void*;

/// Enqueues a copy of bytes in any direction on `stream` and returns.
void copy_async(void* dst, void const* src, std::size_t bytes, StreamHandle stream);

/// Enqueues a strided copy on `stream` and returns.
void copy_async(void* dst, void const* src, CopyPlan const& plan, StreamHandle stream);

/// To be called before work that uses these addresses is enqueued on `stream`. If that captures, our
/// memory there stays in use until the graph is destroyed; else nothing happens. \throw CudaError
void keep_for_replays(StreamHandle stream, void const* a, void const* b);

/// Our memory that `capture` meets while it captures stays in use as long as what is returned lives,
/// and not until the captured graph is destroyed.
std::shared_ptr<void const> own_replayed_memory(std::function<void()> const& capture);

/// The device whose memory one of the two addresses is; -1 if both are the host's.
int device_of(void const* a, void const* b);

/// A stream of the library's own on a device (-1: the current one), for copies that the host waits
/// for. Independent of the legacy default stream.
StreamHandle private_stream(int device);

/// A new stream of that kind.
StreamHandle make_stream(int device);

/// A kernel whose threads wait by themselves for earlier work of its stream, or for the nodes before
/// it, on devices that can and for which it was compiled so.
class EarlyKernel {
 public:
  static constexpr int most_devices = 64;

  explicit EarlyKernel(void const* kernel) noexcept : m_kernel(kernel) {}
  ~EarlyKernel();
  EarlyKernel(EarlyKernel const&)            = delete;
  EarlyKernel& operator=(EarlyKernel const&) = delete;

  /// Launches it before that work is done. False, and nothing is done, where that is impossible:
  /// it was compiled for less, or the driver refuses; on the legacy default stream, and while
  /// `stream` captures.
  bool launch(unsigned blocks, unsigned threads, void const* argument, StreamHandle stream,
              int device) noexcept;

  /// It has become this node of a graph (a cudaGraphNode_t) for a device. The node tells under which
  /// address: a kernel of several source files may have one in each.
  void be_node(void* node, int device) noexcept;

  /// Lets those nodes of a cudaGraph_t start early that have become so, and follow one other that
  /// has. Not those of kernels that became nodes for several devices.
  static void start_nodes_early(void* graph);

 private:
  static bool may_start_early(void const* before, void const* kernel);
  void* function_on(int device) noexcept;

  void const* m_kernel;
  std::array<std::atomic<void*>, most_devices> m_functions{};  ///< nullptr: not known so far
  std::atomic<bool> m_has_nodes{false};
};

/// Copies bytes in any direction on the private stream of the device whose memory it is, and waits
/// for that copy alone.
void copy_and_wait(void* dst, void const* src, std::size_t bytes);

}  // namespace KokkosHostSpaces::Impl

#endif
