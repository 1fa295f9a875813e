// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Groups.hpp"
#include "../LatestMemory.hpp"
#include "CopyPair.hpp"

#include <bit>

namespace KokkosHostSpaces::Perf {
namespace {

std::string name(CopyWay way) {
  char const* const names[] = {"to_device", "to_host", "on_device", "both"};
  return names[int(way)];
}

// Of `bytes` bytes, a power of two. Runs of a strided copy are `run` bytes long.
CopyShape make_shape(CopyLayout layout, std::size_t bytes, std::size_t run) {
  std::size_t const elements = bytes / sizeof(double);
  if (layout == CopyLayout::contiguous) return {layout, 1, elements};
  if (layout == CopyLayout::strided) return {layout, bytes / run, run / sizeof(double)};
  std::size_t const rows = std::size_t(1) << (std::bit_width(elements) - 1) / 2;
  return {layout, rows, elements / rows};
}

std::vector<std::size_t> contiguous_sizes(Mode mode) {
  if (mode == Mode::quick) return {64 * KiB, 16 * MiB};
  return {4 * KiB, 64 * KiB, MiB, 16 * MiB, 64 * MiB, 256 * MiB, 1024 * MiB};
}

std::vector<std::size_t> other_sizes(Mode mode) {
  if (mode == Mode::quick) return {16 * MiB};
  if (mode == Mode::standard) return {64 * KiB, MiB, 16 * MiB, 256 * MiB};
  return {64 * KiB, MiB, 16 * MiB, 64 * MiB, 256 * MiB};
}

/// How a space is measured.
struct Plan {
  std::string space;
  double rate;             ///< bytes/s, roughly
  std::size_t most_bytes;  ///< of a sample, if that is more than one copy
};

template <class Space>
class CasesOfSpace {
 public:
  CasesOfSpace(Plan plan, Effort const& effort, Cases& cases)
      : m_plan(std::move(plan)), m_effort(effort), m_cases(cases) {
    // Twice what the largest strided copy of a quick run needs, and once the largest of all.
    std::size_t bytes = m_effort.mode == Mode::quick ? 32 * MiB : 1024 * MiB;
    while (2 * bytes > m_effort.host_bytes || (runs_on_device && 2 * bytes > m_effort.device_bytes))
      bytes /= 2;
    m_bytes = bytes;
  }

  void add_contiguous(CopyWay way) {
    for (std::size_t bytes : contiguous_sizes(m_effort.mode))
      add(way, "contiguous", make_shape(CopyLayout::contiguous, bytes, 0), bytes);
  }

  void add_other_layouts(CopyWay way) {
    for (std::size_t run : {std::size_t(64), 4 * KiB})
      for (std::size_t bytes : other_sizes(m_effort.mode))
        add(way, "strided/run:" + std::to_string(run), make_shape(CopyLayout::strided, bytes, run),
            bytes);
    for (std::size_t bytes : other_sizes(m_effort.mode))
      add(way, "transposed", make_shape(CopyLayout::transposed, bytes, 0), bytes);
  }

 private:
  void add(CopyWay way, std::string const& layout, CopyShape const& shape, std::size_t bytes) {
    std::size_t const lanes = way == CopyWay::both ? 2 : 1;
    if (lanes * shape.host_span() * sizeof(double) > m_bytes) return;
    std::size_t const runs = std::clamp<std::size_t>(m_plan.most_bytes / bytes, 1, 32);
    CopyCase const description{way, shape, runs};
    // On the device, as in memory of a host alone, a copy reads and writes the same memory.
    bool const one_memory = way == CopyWay::on_device || !runs_on_device;
    m_cases.push_back({"copy/" + name(way) + "/" + m_plan.space + "/" + layout +
                           "/bytes:" + std::to_string(bytes),
                       double(bytes * lanes * (one_memory ? 2 : 1)),
                       m_effort.repetitions(double(bytes * runs) / m_plan.rate),
                       [description, elements = m_bytes / sizeof(double), latest = m_latest] {
                         return std::make_unique<CopyPair<Space>>(
                             description, latest->of<CopyMemory<Space>>(elements));
                       }});
  }

  Plan m_plan;
  Effort m_effort;
  Cases& m_cases;
  std::size_t m_bytes;
  std::shared_ptr<LatestMemory> m_latest = latest_memory();
};

}  // namespace

Cases copy_cases(Effort const& effort) {
  Cases cases;
  double const rate = runs_on_device ? 5e10 : 5e9;
  CasesOfSpace<PinnedSpace> pinned({"PinnedSpace", rate, 4 * MiB}, effort, cases);
  CasesOfSpace<MappedSpace> mapped({"MappedSpace", rate, 4 * MiB}, effort, cases);
  for (CopyWay way : {CopyWay::to_device, CopyWay::to_host}) {
    pinned.add_contiguous(way);
    pinned.add_other_layouts(way);
  }
#ifdef KOKKOS_ENABLE_CUDA
  pinned.add_contiguous(CopyWay::both);
#endif
  for (CopyWay way : {CopyWay::to_device, CopyWay::to_host}) {
    mapped.add_contiguous(way);
    if (effort.mode == Mode::full) mapped.add_other_layouts(way);
  }
#ifdef KOKKOS_ENABLE_CUDA
  CasesOfSpace<WriteCombinedSpace>({"WriteCombinedSpace", rate, 4 * MiB}, effort, cases)
      .add_contiguous(CopyWay::to_device);
  CasesOfSpace<Kokkos::CudaHostPinnedSpace> stock({"CudaHostPinnedSpace", rate, 4 * MiB}, effort,
                                                  cases);
  CasesOfSpace<Kokkos::HostSpace> pageable({"HostSpace", 1e10, 4 * MiB}, effort, cases);
  for (CopyWay way : {CopyWay::to_device, CopyWay::to_host}) stock.add_contiguous(way);
  for (CopyWay way : {CopyWay::to_device, CopyWay::to_host}) pageable.add_contiguous(way);
  CasesOfSpace<Kokkos::CudaSpace>({"CudaSpace", 1e12, 256 * MiB}, effort, cases)
      .add_contiguous(CopyWay::on_device);
#endif
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
