// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A libcupti.so whose records are made up by tests, at the offsets that CUPTI documents: what is
// asked of it and not enabled is left out, and marks are those of the calling thread.

#include "FakeCupti.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace {

using Request  = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Complete = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

constexpr std::size_t copy_bytes = 80, mark_bytes = 24, api_bytes = 48;
constexpr std::uint32_t memcpy_kind = 1, runtime_kind = 5, external_kind = 39;

std::mutex mutex;
FakeCuptiFaults faults;
Request request   = nullptr;
Complete complete = nullptr;
std::set<std::uint32_t> enabled;
std::uint8_t* buffer = nullptr;
std::size_t capacity = 0, used = 0;
std::uint32_t last_call = 0;
int subscribers         = 0;
thread_local std::vector<std::pair<std::uint32_t, std::uint64_t>> marks;

// As the library's own objects, which are gone after these.
bool has_ended = false;
struct End {
  ~End() { has_ended = true; }
} const end;

void deliver() {
  if (buffer == nullptr) return;
  complete(nullptr, 0, std::exchange(buffer, nullptr), capacity, std::exchange(used, 0));
}

template <class T>
void put(std::size_t offset, T value) {
  std::memcpy(buffer + used + offset, &value, sizeof value);
}

void begin_record(std::uint32_t kind, std::size_t bytes) {
  if (buffer != nullptr && used + bytes > capacity) deliver();
  std::size_t records = 0;
  if (buffer == nullptr) request(&buffer, &capacity, &records);
  std::memset(buffer + used, 0, bytes);
  put(0, kind);
}

}  // namespace

extern "C" {

void fake_cupti_fails(FakeCuptiFaults const& wanted) { faults = wanted; }

int fake_cupti_subscribers() { return subscribers; }
int fake_cupti_kinds() { return int(enabled.size()); }

void fake_cupti_call(int copies, std::uint64_t bytes, std::uint64_t start, std::uint64_t end) {
  std::lock_guard const lock(mutex);
  ++last_call;
  // Marks are told of calls that have records themselves.
  if (enabled.count(runtime_kind) != 0 && !faults.has_no_calls) {
    for (auto const& [kind, mark] : marks) {
      if (enabled.count(external_kind) == 0) break;
      begin_record(external_kind, mark_bytes);
      put(4, kind);
      put(8, mark);
      put(16, last_call);
      used += mark_bytes;
    }
    begin_record(runtime_kind, api_bytes);
    used += api_bytes;
  }
  if (enabled.count(memcpy_kind) == 0) return;
  for (int i = 0; i < copies; ++i) {
    begin_record(memcpy_kind, copy_bytes);
    put(8, bytes);
    put(16, start);
    put(24, end);
    put(44, last_call);
    used += copy_bytes;
  }
}

int cuptiSubscribe(void** subscriber, void*, void*) {
  if (faults.has_subscriber) return 39;
  *subscriber = &subscribers;
  ++subscribers;
  return 0;
}
int cuptiUnsubscribe(void*) {
  --subscribers;
  return 0;
}
int cuptiActivityRegisterCallbacks(Request wanted, Complete wanted_complete) {
  request  = wanted;
  complete = wanted_complete;
  return 0;
}
int cuptiActivityEnable(std::uint32_t kind) {
  if (faults.refuses_kind == kind) return 999;
  enabled.insert(kind);
  return 0;
}
int cuptiActivityDisable(std::uint32_t kind) {
  enabled.erase(kind);
  return 0;
}
int cuptiActivityGetNextRecord(std::uint8_t* from, std::size_t valid, std::uint8_t** record) {
  auto const bytes_of = [](std::uint8_t const* at) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, at, sizeof kind);
    return kind == memcpy_kind ? copy_bytes : kind == external_kind ? mark_bytes : api_bytes;
  };
  std::uint8_t* const next = *record == nullptr ? from : *record + bytes_of(*record);
  if (next >= from + valid) return 12;  // no more
  *record = next;
  return 0;
}
int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t mark) {
  marks.emplace_back(kind, mark);
  return 0;
}
int cuptiActivityPopExternalCorrelationId(std::uint32_t, std::uint64_t* mark) {
  if (marks.empty()) return 23;
  *mark = marks.back().second;
  marks.pop_back();
  return 0;
}
int cuptiActivityFlushAll(std::uint32_t) {
  if (has_ended) {
    std::fputs("CUPTI was called after its end\n", stderr);
    std::abort();
  }
  std::lock_guard const lock(mutex);
  deliver();
  return 0;
}

}  // extern "C"
