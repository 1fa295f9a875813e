// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Cupti.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <dlfcn.h>

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

namespace KokkosHostSpaces::Audit {
namespace {

// The part of CUPTI that is used, the same since CUDA 8: the audit is for programs with CUDA, and is
// built without.
using Status = int;
enum Kind : std::uint32_t { memcpy_kind = 1, runtime_kind = 5, external_kind = 39 };
enum External : std::uint32_t { our_marks = 5 };  // the last of those for tools: the least used
constexpr std::uint32_t forced_flush = 1;

struct Record {
  Kind kind;
};
struct alignas(8) CopyRecord {  // the beginning is the same in all versions
  Kind kind;
  std::uint8_t copy_kind, source_kind, destination_kind, flags;
  std::uint64_t bytes, start, end;  // ns
  std::uint32_t device, context, stream, correlation;
};
struct alignas(8) MarkRecord {
  Kind kind;
  External external;
  std::uint64_t mark;
  std::uint32_t correlation, reserved;
};

#if __has_include(<cupti.h>)
static_assert(std::uint32_t(memcpy_kind) == std::uint32_t(CUPTI_ACTIVITY_KIND_MEMCPY) &&
              std::uint32_t(runtime_kind) == std::uint32_t(CUPTI_ACTIVITY_KIND_RUNTIME) &&
              std::uint32_t(external_kind) ==
                  std::uint32_t(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) &&
              std::uint32_t(our_marks) == std::uint32_t(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2) &&
              forced_flush == std::uint32_t(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
// The newest that all toolkits have in which this compiles.
static_assert(offsetof(CopyRecord, end) == offsetof(CUpti_ActivityMemcpy5, end) &&
              offsetof(CopyRecord, correlation) == offsetof(CUpti_ActivityMemcpy5, correlationId));
static_assert(offsetof(MarkRecord, mark) ==
                  offsetof(CUpti_ActivityExternalCorrelation, externalId) &&
              offsetof(MarkRecord, correlation) ==
                  offsetof(CUpti_ActivityExternalCorrelation, correlationId));
#endif

using RequestBuffer  = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                std::size_t bytes, std::size_t valid);

struct Functions {
  Status (*subscribe)(void** subscriber, void* callback, void* data);
  Status (*unsubscribe)(void* subscriber);
  Status (*register_callbacks)(RequestBuffer request, CompleteBuffer complete);
  Status (*enable)(Kind kind);
  Status (*disable)(Kind kind);
  Status (*next_record)(std::uint8_t* buffer, std::size_t valid, Record** record);
  Status (*push)(External kind, std::uint64_t mark);
  Status (*pop)(External kind, std::uint64_t* mark);
  Status (*flush)(std::uint32_t flags);
};

// Never unloaded: CUPTI's thread may run in it.
bool load(void* library, Functions& all) {
  auto const find = [&](char const* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  return library != nullptr && find("cuptiSubscribe", all.subscribe) &&
         find("cuptiUnsubscribe", all.unsubscribe) &&
         find("cuptiActivityRegisterCallbacks", all.register_callbacks) &&
         find("cuptiActivityEnable", all.enable) && find("cuptiActivityDisable", all.disable) &&
         find("cuptiActivityGetNextRecord", all.next_record) &&
         find("cuptiActivityPushExternalCorrelationId", all.push) &&
         find("cuptiActivityPopExternalCorrelationId", all.pop) &&
         find("cuptiActivityFlushAll", all.flush);
}

// What has arrived. The mark of a call usually comes before its copies, which are many for a batch.
class Arrived {
 public:
  void mark(std::uint32_t correlation, std::uint64_t pair) {
    m_marks[correlation] = pair;
    m_has_marks          = true;
    // Calls are numbered one after the other: of very old ones no copy will come.
    if (m_marks.size() > most) m_marks.erase(m_marks.begin());
  }
  void copy(CopyRecord const& record) {
    m_has_copies = true;
    if (record.start != 0 && record.end > record.start && m_copies.size() < most)
      m_copies.push_back(record);
  }
  // Copies without a mark are not by deep_copy.
  void match() {
    for (CopyRecord const& record : m_copies) {
      auto const found = m_marks.find(record.correlation);
      if (found == m_marks.end()) continue;
      EngineCopies& engine = m_pairs[found->second];
      ++engine.copies;
      engine.bytes += record.bytes;
      engine.seconds += 1e-9 * double(record.end - record.start);
    }
    m_copies.clear();
  }
  bool has_no_marks() const { return m_has_copies && !m_has_marks; }
  std::unordered_map<std::uint64_t, EngineCopies> take() {
    m_has_marks = m_has_copies = false;
    m_marks.clear();
    return std::exchange(m_pairs, {});
  }

 private:
  static constexpr std::size_t most = 1 << 20;

  bool m_has_marks = false, m_has_copies = false;
  std::map<std::uint32_t, std::uint64_t> m_marks;
  std::vector<CopyRecord> m_copies;
  std::unordered_map<std::uint64_t, EngineCopies> m_pairs;
};

// Never destroyed: its users may run until the process ends.
struct Listener {
  Functions cupti{};
  std::atomic<bool> listens = false, marked = false;
  bool loaded = false;  // something by us
  std::string why_not;
  std::mutex mutex;
  Arrived arrived;
};

Listener& listener() {
  static Listener& only = *new Listener;
  return only;
}

void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  constexpr std::size_t buffer_bytes = std::size_t(1) << 20;
  *buffer  = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *bytes   = *buffer == nullptr ? 0 : buffer_bytes;
  *records = 0;
}

void complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  Listener& all = listener();
  try {
    std::lock_guard const lock(all.mutex);
    Record* record = nullptr;
    while (all.cupti.next_record(buffer, valid, &record) == 0) {
      if (record->kind == memcpy_kind) {
        all.arrived.copy(*reinterpret_cast<CopyRecord const*>(record));
      } else if (record->kind == external_kind) {
        auto const& mark = *reinterpret_cast<MarkRecord const*>(record);
        if (mark.external == our_marks) all.arrived.mark(mark.correlation, mark.mark);
      }
    }
    all.arrived.match();
  } catch (...) {
  }
  std::free(buffer);
}

// Of CUDA, in any thread: who has one already is a profiler, and has it alone.
bool is_used_by_others(Functions const& cupti) {
  void* subscriber = nullptr;
  auto* const no   = +[](void*, std::uint32_t, std::uint32_t, void const*) {};
  if (cupti.subscribe(&subscriber, reinterpret_cast<void*>(no), nullptr) != 0) return true;
  cupti.unsubscribe(subscriber);
  return false;
}

constexpr std::array kinds = {external_kind, memcpy_kind, runtime_kind};

bool listen_by(Functions const& cupti) {
  if (cupti.register_callbacks(request, complete) != 0) return false;
  for (Kind const kind : kinds)
    if (cupti.enable(kind) != 0) {
      for (Kind const enabled : kinds) cupti.disable(enabled);
      return false;
    }
  return true;
}

// Tries a library; empty if CUPTI listens. Some libraries are newer than the driver.
std::string try_all(std::vector<std::string> const& libraries, Listener& all) {
  std::string why_not = "it is not found; KOKKOS_HOST_SPACES_CUPTI=<libcupti.so> tells where it is";
  for (std::string const& library : libraries) {
    if (!load(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), all.cupti)) continue;
    all.loaded = true;
    if (is_used_by_others(all.cupti)) {
      why_not = "a profiler uses it, or it does not suit the driver";
      continue;
    }
    if (listen_by(all.cupti)) return "";
    why_not = "it does not listen, as if it did not suit the driver";
  }
  return why_not;
}

std::vector<std::string> const usual_libraries = {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                                                  "/usr/local/cuda/lib64/libcupti.so",
                                                  "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};

bool is_loaded(std::string const& library) {
  return dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

}  // namespace

void Cupti::start() {
  Listener& all = listener();
  if (all.listens) return;
  all.why_not.clear();
  char const* const told = std::getenv("KOKKOS_HOST_SPACES_CUPTI");
  std::string const name = told == nullptr ? "" : told;
  if (name.empty() && !is_loaded("libcuda.so.1")) return;
  char const* const injected = std::getenv("CUDA_INJECTION64_PATH");
  if (name == "off") {
    all.why_not = "KOKKOS_HOST_SPACES_CUPTI is off";
  } else if (injected != nullptr && *injected != '\0') {
    all.why_not = "a profiler is there, which CUDA_INJECTION64_PATH names";
  } else if (name.empty() && !all.loaded && std::ranges::any_of(usual_libraries, is_loaded)) {
    all.why_not = "the program or another tool has loaded it";
  } else {
    all.why_not = try_all(name.empty() ? usual_libraries : std::vector{name}, all);
    all.listens = all.why_not.empty();
  }
}

void Cupti::begin_copy(std::uint64_t pair) noexcept {
  Listener& all = listener();
  if (!all.listens) return;
  all.cupti.push(our_marks, pair);
  all.marked.store(true, std::memory_order_relaxed);
}

void Cupti::end_copy() noexcept {
  Listener& all      = listener();
  std::uint64_t mark = 0;
  if (all.listens) all.cupti.pop(our_marks, &mark);
}

EngineRecords Cupti::stop() {
  Listener& all = listener();
  EngineRecords result;
  result.listened = all.listens.exchange(false);
  if (result.listened) {
    all.cupti.flush(forced_flush);
    for (Kind const kind : kinds) all.cupti.disable(kind);
  }
  std::lock_guard const lock(all.mutex);
  if (result.listened && all.marked && all.arrived.has_no_marks())
    all.why_not = "it does not tell whose copies are whose, as where CUDA was used before Kokkos";
  all.marked     = false;
  result.of_pair = all.arrived.take();
  result.why_not = std::exchange(all.why_not, "");
  return result;
}

}  // namespace KokkosHostSpaces::Audit
