// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "FailNth.hpp"

#include <array>
#include <atomic>
#include <cstring>

namespace FailNth {

namespace {

// Names, which a signal handler may add.
class Names {
 public:
  void add(char const* name) noexcept {
    for (auto& entry : m_names) {
      char const* known = nullptr;
      if (entry.compare_exchange_strong(known, name) || std::strcmp(known, name) == 0) return;
    }
  }
  void clear() noexcept {
    for (auto& entry : m_names) entry.store(nullptr);
  }
  std::set<std::string> all() const {
    std::set<std::string> names;
    for (auto const& entry : m_names)
      if (char const* const name = entry.load()) names.insert(name);
    return names;
  }

 private:
  std::array<std::atomic<char const*>, 128> m_names{};
};

constinit std::atomic<bool> is_planned{false};
constinit Failure plan;
constinit std::atomic<std::size_t> calls{0};
constinit Names called, failed_now, failed_ever;
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
  called.add(function);
  std::size_t const call = calls.fetch_add(1) + 1;
  if (plan.lasts ? call < plan.n : call != plan.n) return 0;
  failed_now.add(function);
  failed_ever.add(function);
  return plan.error;
}

std::set<std::string> failed() { return failed_now.all(); }
std::set<std::string> failed_so_far() { return failed_ever.all(); }
std::set<std::string> called_so_far() { return called.all(); }

Exempt::Exempt() noexcept { ++exempt; }
Exempt::~Exempt() { --exempt; }

}  // namespace FailNth
