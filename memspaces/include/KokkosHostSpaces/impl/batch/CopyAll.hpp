// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Many copies of Views as one batch: pairs that are contiguous on both sides become pieces;
// deep_copy copies each other pair.

#ifndef KOKKOS_HOST_SPACES_IMPL_COPY_ALL_HPP
#define KOKKOS_HOST_SPACES_IMPL_COPY_ALL_HPP

#include <KokkosHostSpaces/impl/batch/BatchKernels.hpp>
#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/impl/batch/CopyPairs.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces::Impl {

struct CheckedPairs {
  BatchTables tables;
  bool has_others   = false;  ///< some pairs are in no table, or on the host alone
  bool is_to_device = true;   ///< all copies go from page-locked memory to a device
};

/// Checks each pair by itself, and makes the tables.
/// \throw Error if the sides of a pair differ in shape or overlap
template <class Pairs>
CheckedPairs collect_pieces(Pairs const& pairs) {
  CheckedPairs checked;
  BatchTables& tables = checked.tables;
  tables.reached.reserve(pairs.size());
  pairs.for_each([&]<class Pair>(std::size_t index, Pair const& pair) {
    checked.is_to_device &= Pair::is_to_device;
    if (!pair.check(index)) return;
    auto const piece = pair.piece();
    if (piece && piece->dst == piece->src) return;
    if (!piece || !Pair::has_device) checked.has_others = true;
    if (!piece) return;
    if constexpr (!Pair::has_device)
      tables.on_host.add(*piece);
    else if constexpr (Pair::has_pageable)
      tables.pageable.add(*piece);
    else
      tables.reached.add(*piece);
  });
  return checked;
}

template <class Pairs>
[[noreturn]] void refuse_conflict(Pairs const& pairs, char const* byte) {
  auto const holds = [byte](Piece const& piece, char const* side) {
    return piece.dst != piece.src && side <= byte && byte < side + piece.bytes;
  };
  std::size_t writer_index = 0;
  auto const writer        = pairs.describe_first([&](Piece const& piece, std::size_t index) {
    writer_index = index;
    return holds(piece, piece.dst);
  });
  auto const other         = pairs.describe_first([&](Piece const& piece, std::size_t index) {
    return index != writer_index && (holds(piece, piece.dst) || holds(piece, piece.src));
  });
  if (!other)
    throw Error("KokkosHostSpaces::deep_copy_all: copy " + writer.value_or("?") +
                " writes what it reads (in no order): copy through a third View");
  throw Error("KokkosHostSpaces::deep_copy_all: copy " + writer.value_or("?") +
              " writes what copy " + *other +
              " reads or writes (all copies of one call go at the same time): make two calls");
}

/// \throw Error if a pair writes what another one reads or writes
template <class Pairs>
BatchPlan plan_pairs(Pairs const& pairs, BatchTables&& tables, BatchRules const& rules) {
  BatchPlan plan = plan_batch(std::move(tables), rules);
  if (plan.conflict != nullptr) refuse_conflict(pairs, plan.conflict);
  return plan;
}

/// Copies the pairs that are not in the batch, each by deep_copy.
template <class ExecutionSpace, class Pairs>
void copy_others(ExecutionSpace const& instance, Pairs const& pairs) {
  pairs.for_each([&]<class Pair>(std::size_t, Pair const& pair) {
    if (drives_device && Pair::has_device && pair.piece()) return;
    pair.with_views(
        [&](auto const& dst, auto const& src) { Kokkos::deep_copy(instance, dst, src); });
  });
}

template <class Pairs, class Use>
void for_each_of_batch(Pairs const& pairs, Use const& use) {
  pairs.for_each([&]<class Pair>(std::size_t, Pair const& pair) {
    if constexpr (Pair::has_device)
      if (auto const piece = pair.piece()) use(pair, *piece);
  });
}

/// Calls enqueue(), and reports each pair to Kokkos Tools and the race guard. Copies pair by pair
/// if enqueue() returns false, since the driver refused merged pieces.
template <class Pairs, class Enqueue>
void enqueue_batch(DrivenDevice const& instance, Pairs const& pairs, Enqueue const& enqueue) {
  auto* const stream = stream_of(instance);
  if (tools_see_copies())
    for_each_of_batch(pairs, [](auto const& pair, Piece const&) {
      pair.with_views(
          [](auto const& dst, auto const& src) { DeepCopyEvent const event(dst, src); });
    });
  if (!enqueue())
    for_each_of_batch(pairs, [&](auto const&, Piece const& piece) {
      copy_async(piece.dst, piece.src, piece.bytes, stream);
    });
  if (guards_copies())
    for_each_of_batch(pairs, [&](auto const& pair, Piece const&) {
      pair.with_views([&](auto const& dst, auto const& src) {
        guard_copy(side_of(dst), side_of(src), stream);
      });
    });
}

template <class Pairs>
BatchPlan plan_pairs_on(DrivenDevice const& instance, Pairs const& pairs, CheckedPairs&& checked) {
  BatchRules const rules =
      rules_for(checked.tables, checked.is_to_device, stream_of(instance), device_id_of(instance));
  return plan_pairs(pairs, std::move(checked.tables), rules);
}

template <class Pairs>
void copy_all(DrivenDevice const& instance, Pairs const& pairs) {
  ScopedDevice const on_device(stream_of(instance), device_id_of(instance));
  CheckedPairs checked = collect_pieces(pairs);
  BatchPlan const plan = plan_pairs_on(instance, pairs, std::move(checked));
  if (checked.has_others || tools_see_copies()) copy_others(instance, pairs);
  enqueue_batch(instance, pairs, [&] { return enqueue_plan(instance, plan); });
}

// Enqueues the batch on a private instance, and waits for it.
template <class Pairs>
void copy_batch_and_wait(Pairs const& pairs, CheckedPairs&& checked) {
  DrivenDevice const own = private_instance(pairs.device());
  BatchPlan const plan   = plan_pairs_on(own, pairs, std::move(checked));
  enqueue_batch(own, pairs, [&] { return enqueue_plan(own, plan); });
  fence(stream_of(own));
}

/// On a host instance; the copies are done on return.
template <class ExecutionSpace, class Pairs>
void copy_all(ExecutionSpace const& instance, Pairs const& pairs) {
  CheckedPairs checked = collect_pieces(pairs);
  if constexpr (drives_device) {
    instance.fence("KokkosHostSpaces::deep_copy_all: fence of the host instance before the copies");
    if (checked.tables.need_device()) {
      copy_batch_and_wait(pairs, std::move(checked));
      return copy_others(instance, pairs);
    }
  }
  plan_pairs(pairs, std::move(checked.tables), {});
  copy_others(instance, pairs);
}

}  // namespace KokkosHostSpaces::Impl

#endif
