// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_ALLOC_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_ALLOC_BASELINE_HPP

#include "../../plain/Baseline.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// A plain way to allocate memory for copies to a device: page-locked, or, without a device, with all pages
/// touched.
class AllocBaseline : public Baseline {
 public:
  std::vector<std::string> variants() const override { return {""}; }

  virtual std::string name() const = 0;

  /// Why this machine has no such memory; empty if it has.
  virtual std::string why_not() const { return ""; }

  /// Whether it keeps freed memory for the next allocation, until it is trimmed, and frees without waiting.
  virtual bool caches() const { return false; }
  virtual void trim() {}

  virtual void* allocate(std::size_t bytes)                    = 0;
  virtual void free(void* pointer, std::size_t bytes) noexcept = 0;
};

using AllocBaselines = std::vector<std::unique_ptr<AllocBaseline>>;

/// All plain ways; the first is what most programs use. They live as long as the process.
AllocBaselines const& alloc_baselines();

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
