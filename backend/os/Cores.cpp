// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Cores.hpp"

#include <bit>
#include <climits>
#include <cstddef>
#include <thread>

#include <sched.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constexpr unsigned word_bits = sizeof(unsigned long) * CHAR_BIT;

constexpr std::size_t most_cores = 8192;  // the largest NR_CPUS that distributions build with

// Linux cuts a mask of all cores down to those that are allowed. By a thread of its own, so that
// the caller keeps its affinity.
std::vector<unsigned long> ask_for_all() {
  std::vector<unsigned long> mask(most_cores / word_bits, ~0UL);
  std::thread([&] {
    auto* const cores       = reinterpret_cast<cpu_set_t*>(mask.data());
    std::size_t const bytes = mask.size() * sizeof(mask.front());
    sched_setaffinity(0, bytes, cores);
    if (sched_getaffinity(0, bytes, cores) != 0) mask.clear();
  }).join();
  return mask;
}

}  // namespace

Cores const& Cores::allowed() {
  // Never destroyed, since memory may be allocated by static destructors.
  static Cores const* const the_allowed = [] {
    auto* const cores = new Cores;
    try {
      cores->m_mask = ask_for_all();
    } catch (std::exception const&) {
      // No more threads: touching will be done by one, unbound.
    }
    return cores;
  }();
  return *the_allowed;
}

void Cores::add(unsigned core) {
  std::size_t const word = core / word_bits;
  if (word >= m_mask.size()) m_mask.resize(word + 1);
  m_mask[word] |= 1UL << core % word_bits;
}

int Cores::count() const noexcept {
  int sum = 0;
  for (unsigned long const word : m_mask) sum += std::popcount(word);
  return sum;
}

bool Cores::bind_this_thread() const noexcept {
  return count() > 0 && sched_setaffinity(0, m_mask.size() * sizeof(unsigned long),
                                          reinterpret_cast<cpu_set_t const*>(m_mask.data())) == 0;
}

}  // namespace KokkosHostSpaces::Impl::Backend
