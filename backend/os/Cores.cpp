// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Cores.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include <dirent.h>
#include <sched.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constexpr unsigned word_bits = sizeof(unsigned long) * CHAR_BIT;

constexpr std::size_t most_cores = 8192;  // the largest NR_CPUS that distributions build with

// The affinity mask of a thread; 0: the calling one. Empty if the thread has ended.
std::vector<unsigned long> mask_of(pid_t thread) {
  std::vector<unsigned long> mask(most_cores / word_bits);
  if (sched_getaffinity(thread, mask.size() * sizeof(unsigned long),
                        reinterpret_cast<cpu_set_t*>(mask.data())) != 0)
    mask.clear();
  return mask;
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

Cores Cores::allowed() {
  Cores cores;
  cores.m_mask = mask_of(0);
  std::unique_ptr<DIR, CloseFolder> const threads(opendir("/proc/self/task"));
  while (dirent const* const thread = threads ? readdir(threads.get()) : nullptr) {
    pid_t const id = std::atoi(thread->d_name);
    if (id == 0) continue;  // "." and ".."
    std::vector<unsigned long> const mask = mask_of(id);
    cores.m_mask.resize(std::max(cores.m_mask.size(), mask.size()));
    for (std::size_t word = 0; word < mask.size(); ++word) cores.m_mask[word] |= mask[word];
  }
  return cores;
}

Cores Cores::operator&(Cores const& other) const {
  Cores both;
  both.m_mask.resize(std::min(m_mask.size(), other.m_mask.size()));
  for (std::size_t word = 0; word < both.m_mask.size(); ++word)
    both.m_mask[word] = m_mask[word] & other.m_mask[word];
  return both;
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
