// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Records copies by the events of Kokkos Tools. A copy is the time of a thread between begin_deep_copy and
// end_deep_copy; its fences tell what the host waited for:
//
//   deep_copy(dst, src)                 a fence of every backend, the copy, the fences again
//   deep_copy(device instance, ...)     none, unless Kokkos needs one
//   deep_copy(host instance, ...)       one of the host instance, one of the stream of the copy
//
// A fence of a whole device may also stand directly before or behind a copy.

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_RECORDER_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_RECORDER_HPP

#include "Pair.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace KokkosHostSpaces::Audit {

/// One end of a copy, by Kokkos. The label may be null.
struct Operand {
  std::string_view space;
  char const* label;
  void const* memory;
};

/// A fence.
struct Fence {
  bool of_device = false;  ///< of a backend of a device, not of the host
  bool whole     = false;  ///< of all its instances
  bool of_copies = false;  ///< of the stream on which Kokkos copies for instances of the host
  bool before    = false;  ///< by its name, of work enqueued before a copy
  bool by_hand   = false;  ///< by its name, of the program or of deep_copy itself
  double begin   = 0;
};

/// State of a thread.
struct Thread {
  Pair* copy           = nullptr;  ///< between its begin and its end
  double begin         = 0;
  std::uint64_t bytes  = 0;
  bool nothing_to_copy = false;
  double waited_inside = 0;  ///< for work enqueued before the copy
  bool whole_device = false, host_instance = false, device_instance = false;
  bool by_kernel = false;  ///< the copy is a kernel, since a View has gaps

  Fence fence;
  double waited_before = 0;        ///< by fences of whole devices, with nothing behind them so far
  Pair* done           = nullptr;  ///< a copy with nothing behind it so far
  Pair::Size done_size = Pair::larger;
  bool done_is_counted = false;  ///< among those with a fence of a whole device
};

/// Collects copies. All times are seconds of one clock. Several threads may call at the same time, each with a
/// Thread of its own.
class Recorder {
 public:
  void begin_copy(Thread& thread, Operand const& to, Operand const& from, std::uint64_t bytes,
                  double now);
  void end_copy(Thread& thread, double now);
  /// Notes that the copy which has just ended was the sync of a DualView.
  void synced_dual_view(Thread& thread);
  void begin_fence(Thread& thread, char const* name, std::uint32_t device, double now);
  void end_fence(Thread& thread, double now);

  /// Notes a kernel or other work, behind which a fence no longer belongs to an earlier copy.
  void other_work(Thread& thread, char const* kernel = nullptr);
  void allocated(std::string_view space);

  struct Result {
    std::vector<Pair> pairs;                ///< with copies
    std::array<double, directions> best{};  ///< bytes per second of large page-locked copies
    std::uint64_t copies = 0;
    bool has_device      = false;  ///< the program used one
  };
  Result result() const;

  /// Resets all numbers. Counts copies in progress when they end.
  void clear();

 private:
  Pair& pair_of(Operand const& to, Operand const& from);
  void count(Thread& thread, double seconds);
  Reason cause_of(Thread const& thread) const;

  mutable std::mutex m_mutex;
  std::unordered_map<std::string, std::unique_ptr<Pair>> m_pairs;  // addresses are stable
  std::array<double, directions> m_best{};
  std::atomic<bool> m_has_device = false;
};

}  // namespace KokkosHostSpaces::Audit

#endif
