// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "FailNth.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include <execinfo.h>

namespace FailNth {

namespace {

// Functions and how often each failed. A signal handler may add some.
class Names {
 public:
  void add(char const* name) noexcept {
    for (auto& [entry, count] : m_names) {
      char const* known = nullptr;
      if (!entry.compare_exchange_strong(known, name) && std::strcmp(known, name) != 0) continue;
      ++count;
      return;
    }
  }
  void clear() noexcept {
    for (auto& [entry, count] : m_names) entry = nullptr, count = 0;
  }
  bool empty() const noexcept { return m_names[0].name.load() == nullptr; }
  std::map<std::string, std::size_t> all() const {
    std::map<std::string, std::size_t> names;
    for (auto const& [entry, count] : m_names)
      if (char const* const name = entry.load()) names.emplace(name, count);
    return names;
  }

 private:
  struct Entry {
    std::atomic<char const*> name{nullptr};
    std::atomic<std::size_t> count{0};
  };
  std::array<Entry, 128> m_names{};
};

// Addresses in code, as a hash table. A signal handler may add some.
class Addresses {
 public:
  void add(void* address) noexcept {
    std::size_t const begin = reinterpret_cast<std::uintptr_t>(address);
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
      void* known = nullptr;
      auto& entry = m_entries[(begin + i) % m_entries.size()];
      if (entry.compare_exchange_strong(known, address) || known == address) return;
    }
  }
  std::set<void*> all() const { return {m_entries.begin(), m_entries.end()}; }

 private:
  std::array<std::atomic<void*>, 4096> m_entries{};
};

constinit std::atomic<bool> is_planned{false};
constinit Failure plan;
constinit std::atomic<std::size_t> calls{0};
constinit Names failed_now;
constinit Addresses callers;
constinit thread_local int exempt = 0;

}  // namespace

Planned::Planned(Failure const& failure) noexcept {
  plan = failure;
  calls.store(0);
  failed_now.clear();
  is_planned.store(true);
}

Planned::~Planned() { is_planned.store(false); }

int error_of(Source source, char const* function) noexcept {
  if (!is_planned.load() || source != plan.source || exempt > 0) return 0;
  std::size_t const call = calls.fetch_add(1) + 1;
  if (plan.lasts ? call < plan.n : call != plan.n) return 0;
  failed_now.add(function);
  if (source != Source::memory) {
    std::array<void*, 8> frames{};
    int const depth = backtrace(frames.data(), int(frames.size()));
    std::for_each_n(frames.begin(), depth, [](void* frame) { callers.add(frame); });
  }
  return plan.error;
}

std::map<std::string, std::size_t> failed() { return failed_now.all(); }
bool is_met() noexcept { return is_planned.load() && !failed_now.empty(); }
std::set<void*> failed_at() { return callers.all(); }

Exempt::Exempt() noexcept { ++exempt; }
Exempt::~Exempt() { --exempt; }

}  // namespace FailNth
