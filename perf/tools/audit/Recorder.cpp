// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Recorder.hpp"

#include <algorithm>
#include <cstring>

namespace KokkosHostSpaces::Audit {
namespace {

constexpr std::string_view others   = "(others)";
constexpr double call_seconds       = 3e-6;      // least cost of enqueueing a copy
constexpr std::uint64_t large_bytes = 16 << 20;  // large enough to measure the rate of a link

// As Kokkos puts an execution space into 32 bits: a type in the upper 8, an instance in the lower 24.
Fence fence_of(std::string_view name, std::uint32_t device) {
  constexpr std::uint32_t serial = 0, openmp = 1, hpx = 5, threads = 6;
  constexpr std::uint32_t instances = 0xffffff, all = 0, of_copies = instances;
  std::uint32_t const type = device >> 24, instance = device & instances;
  Fence fence;
  fence.of_device = type != serial && type != openmp && type != hpx && type != threads;
  fence.whole     = instance == all;
  fence.of_copies = instance == of_copies;
  bool const copy = name.find("deep_copy") != name.npos || name.find("DeepCopy") != name.npos;
  fence.before    = copy && (name.find("pre ") != name.npos || name.find("before") != name.npos);
  fence.by_hand   = !name.starts_with("Kokkos::") || name.starts_with("Kokkos::fence") ||
                  name.starts_with("Kokkos::deep_copy");
  return fence;
}

}  // namespace

Pair& Recorder::pair_of(Operand const& to, Operand const& from) {
  std::string key;
  key.reserve(128);
  for (Operand const* operand : {&to, &from})
    key.append(cut(operand->label)).append(1, '\0').append(operand->space).append(1, '\0');
  auto const side = [](Operand const& operand, std::string_view label) -> Pair::Side {
    return {std::string(label), std::string(operand.space), memory_of(operand.space)};
  };
  std::lock_guard const lock(m_mutex);
  if (auto const found = m_pairs.find(key); found != m_pairs.end()) return *found->second;
  bool const full = m_pairs.size() >= most_labels;
  if (full) key = std::string(to.space).append(1, '\0').append(from.space);
  auto& pair = m_pairs[std::move(key)];
  if (!pair) {
    pair       = std::make_unique<Pair>();
    pair->to   = side(to, full ? others : cut(to.label));
    pair->from = side(from, full ? others : cut(from.label));
  }
  return *pair;
}

void Recorder::begin_copy(Thread& thread, Operand const& to, Operand const& from,
                          std::uint64_t bytes, double now) {
  double const waited_before = thread.waited_before;
  thread                     = {};
  thread.waited_before       = waited_before;
  thread.copy                = &pair_of(to, from);
  thread.bytes               = bytes;
  thread.nothing_to_copy     = bytes == 0 || to.memory == from.memory;
  thread.begin               = now;
}

void Recorder::end_copy(Thread& thread, double now) {
  if (thread.copy == nullptr) return;
  std::lock_guard const lock(m_mutex);
  Pair& pair             = *thread.copy;
  bool const is_tiny     = !thread.nothing_to_copy && thread.bytes <= Pair::tiny_bytes;
  Pair::Size const size  = is_tiny ? Pair::tiny : Pair::larger;
  double const seconds   = std::max(0., now - thread.begin);
  std::uint64_t const of = thread.nothing_to_copy ? 0 : thread.bytes;
  pair.calls[size].add(of, seconds);
  thread.bytes     = of;
  thread.done_size = size;
  count(thread, seconds);
  thread.done          = thread.copy;
  thread.copy          = nullptr;
  thread.waited_before = 0;
}

// The reason for which the host waited for the copy itself; `reasons` if it did not.
Reason Recorder::cause_of(Thread const& thread) const {
  Pair const& pair  = *thread.copy;
  bool const copies = !thread.nothing_to_copy && !pair.is_fill();
  bool const fenced = thread.whole_device || thread.host_instance || thread.device_instance;
  if (copies && pair.is_between_hosts() && !pair.to.is_value() &&
      (pair.is_pageable() || fenced || !m_has_device))
    return host_to_host;
  if (thread.whole_device) return device_fence;
  if (thread.nothing_to_copy) return reasons;
  if (copies && thread.host_instance) return host_instance;
  if (thread.device_instance) return instance_fence;
  return copies && pair.is_pageable() && pair.direction() != directions ? pageable : reasons;
}

// Count each wait once, so that times add up.
void Recorder::count(Thread& thread, double seconds) {
  Pair& pair           = *thread.copy;
  double const copying = std::max(0., seconds - thread.waited_inside);
  auto const add       = [&](Reason reason, double waited, double of_these) {
    auto& waiting = pair.waiting[thread.done_size][reason];
    waiting.copies.add(thread.bytes, of_these);
    waiting.seconds += waited;
  };
  Reason const cause     = cause_of(thread);
  double const before    = thread.waited_before;
  thread.done_is_counted = thread.whole_device || before > 0;
  if (cause != device_fence && thread.done_is_counted)
    add(device_fence, before + (cause == host_to_host ? seconds - copying : 0), 0);
  if (cause == reasons) return;
  bool const is_copy  = !thread.nothing_to_copy && !pair.is_fill();
  double const waited = cause == host_to_host ? copying
                        : cause == pageable   ? std::max(0., copying - call_seconds)
                                              : seconds;
  add(cause, waited + (cause == device_fence ? before : 0), is_copy ? copying : 0);
  if (!is_copy) return;
  Copies one;
  double const time = thread.by_kernel ? 0 : copying;  // a kernel copies only a part of the bytes
  for (Copies* const sum : {&one, &pair.blocked}) sum->add(thread.bytes, time);
  if (pair.direction() == directions || pair.is_pageable() || thread.bytes < large_bytes) return;
  double& best = m_best[pair.direction()];
  best         = std::max(best, one.rate());
}

void Recorder::synced_dual_view(Thread& thread) {
  if (thread.done == nullptr) return;
  std::lock_guard const lock(m_mutex);
  thread.done->of_dual_view = true;
}

void Recorder::begin_fence(Thread& thread, char const* name, std::uint32_t device, double now) {
  thread.fence       = fence_of(name == nullptr ? "" : name, device);
  thread.fence.begin = now;
}

void Recorder::end_fence(Thread& thread, double now) {
  Fence const& fence   = thread.fence;
  double const seconds = std::max(0., now - fence.begin);
  if (fence.of_device) m_has_device = true;
  if (thread.copy != nullptr) {
    if (fence.before) thread.waited_inside += seconds;
    if (fence.of_device && fence.whole) thread.whole_device = true;
    if (fence.of_device ? fence.of_copies : !fence.whole) thread.host_instance = true;
    if (fence.of_device && !fence.whole && !fence.of_copies) thread.device_instance = true;
    return;
  }
  // A wait for the instance of a copy has also waited for the copy.
  if (fence.of_device && !fence.whole) return other_work(thread);
  if (!fence.of_device || !fence.by_hand) return;
  if (thread.done == nullptr || fence.before) {
    thread.waited_before += seconds;
    return;
  }
  std::lock_guard const lock(m_mutex);
  auto& waiting = thread.done->waiting[thread.done_size][device_fence];
  if (!thread.done_is_counted) ++waiting.copies.count;
  thread.done_is_counted = true;
  waiting.seconds += seconds;
}

void Recorder::other_work(Thread& thread, char const* kernel) {
  if (thread.copy != nullptr) {
    thread.by_kernel |= kernel != nullptr && std::strstr(kernel, "ViewCopy") != nullptr;
    return;
  }
  thread.done          = nullptr;
  thread.waited_before = 0;
}

void Recorder::allocated(std::string_view space) {
  if (memory_of(space) == Memory::device) m_has_device = true;
}

Recorder::Result Recorder::result() const {
  std::lock_guard const lock(m_mutex);
  Result result;
  result.best       = m_best;
  result.has_device = m_has_device;
  for (auto const& [key, pair] : m_pairs) {
    if (pair->copies() == 0) continue;
    result.pairs.push_back(*pair);
    result.copies += pair->copies();
  }
  return result;
}

void Recorder::clear() {
  std::lock_guard const lock(m_mutex);
  m_best = {};
  for (auto& [key, pair] : m_pairs) {
    Pair empty;
    empty.to   = pair->to;
    empty.from = pair->from;
    *pair      = std::move(empty);
  }
}

}  // namespace KokkosHostSpaces::Audit
