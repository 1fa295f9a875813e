// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The one table of the constants by which the pool grows, cuts, asks and gives back, each with its reason.
// Ratios were chosen by replaying the traces of tests/backend/pool/Traces.cpp (backend_pool_traces).

#ifndef KOKKOS_HOST_SPACES_BACKEND_POOL_POLICY_HPP
#define KOKKOS_HOST_SPACES_BACKEND_POOL_POLICY_HPP

#include <chrono>
#include <cstddef>

namespace KokkosHostSpaces::Impl::Backend {

struct PoolPolicy {
  static constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

  // ---- Heaps: whose segments a request may cut

  /// Requests of at least this size are mid-size, and have a heap of their own. Without it, blocks of a few
  /// hundred KiB hold segments in use that a request of 1 MiB or more needs as a whole.
  std::size_t smallest_middle = 1 * MiB;

  /// Requests of at least this size are large, have a heap of their own, and a segment each when it grows.
  /// Without that heap a log-uniform trace of 64 B to 64 MiB locked 2.45 times its peak; with it, 2.12.
  std::size_t smallest_large = 16 * MiB;

  /// Retired memory that fits is asked for before a ready block is cut that is larger than both: this
  /// multiple of the request, and this size. Without that, 1 to 8 MiB beside 48 MiB locked 3.35 times the
  /// peak: idle large blocks were cut while blocks of the right size had only to be asked for.
  std::size_t much_larger_times = 2;
  std::size_t much_larger_bytes = 4 * MiB;

  /// A rest of a block that is smaller than 1/16 of it stays with it, since it would hardly serve a request;
  /// but not more than this, which serves requests of the smallest heap.
  std::size_t kept_rest_divisor = 16;
  std::size_t largest_kept_rest = 1 * MiB;

  // ---- Segments: how many bytes are locked at once

  /// The smallest segment. Locking 4 MiB takes about 1 ms; more, smaller ones would reach the 65 000 ranges
  /// that all processes of a node can register.
  std::size_t smallest_segment = 4 * MiB;

  /// Segments for many blocks have an eighth of what the heap has locked, up to these sizes. A small segment
  /// gets unused as a whole sooner, and can then be given back.
  std::size_t segment_divisor        = 8;
  std::size_t largest_small_segment  = 8 * MiB;
  std::size_t largest_middle_segment = 64 * MiB;

  /// Under a limit, a segment for many blocks is at most this part of it, and at least the smallest one:
  /// its unused part counts.
  std::size_t segments_in_limit = 256;

  /// The limits of control groups, and what their processes hold, are read again when this share of the room
  /// that they leave is locked, and after this time: others change both. A look takes up to 0.3 ms, a quarter
  /// of what locking the smallest segment does.
  std::size_t room_divisor_of_groups = 16;
  std::chrono::milliseconds groups_are_known_for{100};

  // ---- Exchanges: giving back ready segments that do not fit, to lock others that do

  /// The pool exchanges before it would hold this share more than the largest need so far, because patterns
  /// that repeat need no more; an exchange gives back the same share in addition, and locks it in addition,
  /// so that a request that is a little larger than the last does not exchange again.
  std::size_t slack_divisor = 8;

  /// Exchanging waits for running work and costs about a millisecond for 4 MiB. So it is done this often,
  /// and once more for each `allocations_for_exchange` allocations; then the pool grows to twice its need.
  /// 36 growing steps of a buffer fit; with 40, sizes that drift locked more than 1 of 1000 allocations.
  std::size_t exchanges                = 32;
  std::size_t allocations_for_exchange = 4000;

  /// Beyond twice its need, the pool serves a request also from a heap for other sizes, and asks the devices first:
  /// about 10 µs. That heap then lends `bytes_for_guests` of ready memory to the next requests of at most
  /// `largest_guest`, without a question. Before that, 3000 Views of 1 to 256 KiB that are made anew in each step took
  /// 16 µs each for ever when large Views had been there before. With more bytes, or for larger requests, some
  /// patterns of small and large sizes locked 2.3 times their peak, as their large blocks were cut too early.
  std::size_t largest_guest    = 256 * KiB;
  std::size_t bytes_for_guests = 4 * MiB;

  /// An exchange waits for running work only this long: longer work may itself wait for this thread
  /// (deadlock).
  std::chrono::seconds patience_for_work{1};

  // ---- Asking the devices whether retired memory is ready

  /// Below 1 MiB, one question shall serve this number of allocations: recording an event takes about a
  /// microsecond, an allocation 0.1.
  std::size_t allocations_a_question = 8;

  /// The longest wait of a thread for another that asks. A recording takes a microsecond, unless the driver is
  /// busy: then growing is faster.
  std::chrono::microseconds patience_for_asking{50};

  /// Without events over all work of a device (CUDA before 12.5), a shortage waits this long for one fence
  /// before it looks for memory that other threads gave back.
  std::chrono::milliseconds patience_for_fence{1};

  /// Retired blocks and slots that an allocation makes ready: before it takes one, a little more than keeps
  /// pace with deallocations; if none fits, more; and the most under one lock.
  std::size_t first_blocks = 4;
  std::size_t few_blocks   = 64;
  std::size_t some_blocks  = 256;

  // ---- Threads

  /// Heaps for small requests of threads that found the common one locked, and the number of allocations
  /// before such a thread tries the common one again.
  static constexpr std::size_t heaps_apart = 16;
  std::size_t allocations_apart            = 4096;

  // ---- Shortages

  /// Pause between two looks while other threads lock or give back memory.
  std::chrono::microseconds pause{50};

  /// A shortage goes on for this time after nothing is retired any more, as long as other threads allocate:
  /// what they have freed may be what is missing.
  std::chrono::seconds patience_for_others{1};
};

/// The table as built in.
inline constexpr PoolPolicy pool_policy{};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
