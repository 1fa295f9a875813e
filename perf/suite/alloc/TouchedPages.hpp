// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_TOUCHED_PAGES_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_TOUCHED_PAGES_HPP

#include "AllocBaseline.hpp"

namespace KokkosHostSpaces::Perf {

/// Pages from mmap, huge ones if the system has them, touched by several threads. Variants: numbers of
/// threads.
class TouchedPages : public AllocBaseline {
 public:
  TouchedPages();

  std::string name() const override { return "mmap_touch"; }
  std::vector<std::string> variants() const override;
  void choose(int variant) override { m_threads = m_choice[std::size_t(variant)]; }

  void* allocate(std::size_t bytes) override;
  void free(void* pointer, std::size_t bytes) noexcept override;

 protected:
  /// `bytes` rounded up to whole pages.
  static std::size_t whole_pages(std::size_t bytes);

 private:
  std::vector<unsigned> m_choice;
  unsigned m_threads;
};

}  // namespace KokkosHostSpaces::Perf

#endif
