// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_ALLOC_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_ALLOC_BASELINE_HPP

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// A plain way to allocate memory for copies to a device: page-locked, or, without a device, with all pages
/// touched.
struct AllocBaseline {
  std::string name;
  std::function<void*(std::size_t bytes)> allocate;
  std::function<void(void*, std::size_t bytes)> free;
  std::string why_not = "";  ///< why this machine has no such memory; empty if it has

  /// Keeps freed memory for the next allocation, until it is trimmed, and frees without waiting.
  bool caches                = false;
  std::function<void()> trim = [] {};
};

/// All plain ways; the first is what most programs use. They live as long as the process.
std::vector<AllocBaseline>& alloc_baselines();

/// Pages from mmap, huge ones if the system has them, touched by up to 16 threads: more were never faster.
void* map_and_touch(std::size_t bytes);
void unmap(void* pointer, std::size_t bytes);
std::size_t whole_pages(std::size_t bytes);  ///< `bytes` rounded up

}  // namespace KokkosHostSpaces::Perf

#endif
