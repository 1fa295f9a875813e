// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Groups.hpp"
#include "../LatestMemory.hpp"
#include "CopyPair.hpp"

#include <bit>

namespace KokkosHostSpaces::Perf {
namespace {

std::string name(CopyWay way) {
  char const* const names[] = {"to_device", "to_host", "both", "to_device_beside",
                               "to_host_beside"};
  return names[int(way)];
}

// A shape of `bytes` bytes, a power of two; runs of a strided copy have `run` bytes.
CopyShape make_shape(CopyLayout layout, std::size_t bytes, std::size_t run) {
  std::size_t const elements = bytes / sizeof(double);
  if (is_contiguous(layout)) return {layout, 1, elements};
  if (layout != CopyLayout::transposed) return {layout, bytes / run, run / sizeof(double)};
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
  return {64 * KiB, MiB, 16 * MiB, 64 * MiB, 256 * MiB, GiB};  // 1 GiB where rows have no gaps
}

struct BatchSize {
  std::size_t pieces, bytes;  ///< of a piece; powers of two
};

std::vector<BatchSize> batch_sizes(Mode mode) {
  std::vector<BatchSize> sizes{{1024, 4 * KiB}};
  if (mode == Mode::quick) return sizes;
  bool const all = mode == Mode::full;
  for (std::size_t pieces = 1; pieces <= 4096; pieces *= all ? 4 : 16) {
    for (std::size_t bytes = 64; bytes <= MiB; bytes *= all ? 8 : 64)
      if (pieces != 1024 || bytes != 4 * KiB) sizes.push_back({pieces, bytes});
    if (all) sizes.push_back({pieces, MiB});
  }
  return sizes;
}

template <class Space>
class CasesOfSpace {
 public:
  /// \param rate expected bytes/s
  CasesOfSpace(std::string space, double rate, Effort const& effort, Cases& cases)
      : m_space(std::move(space)), m_rate(rate), m_effort(effort), m_cases(cases) {
    // Twice the largest strided copy of a quick run; the largest copy of others.
    std::size_t bytes = m_effort.mode == Mode::quick ? 32 * MiB : 1024 * MiB;
    while (2 * bytes > m_effort.host_bytes || (runs_on_device && 2 * bytes > m_effort.device_bytes))
      bytes /= 2;
    m_bytes = bytes;
  }

  void add_contiguous(CopyWay way) {
    for (std::size_t bytes : contiguous_sizes(m_effort.mode))
      add(way, named(way, "contiguous"), make_shape(CopyLayout::contiguous, bytes, 0), bytes);
  }

  /// Copies that nvbandwidth has, too, at its size.
  void add_published(CopyWay way, CopyLayout layout, std::string const& text) {
    if (runs_on_device && m_effort.mode == Mode::quick) return;
    std::size_t const bytes = m_effort.mode == Mode::quick ? 16 * MiB : 512 * MiB;
    add(way, named(way, text), make_shape(layout, bytes, 0), bytes);
  }

  void add_other_layouts(CopyWay way) {
    for (auto const& [layout, text] : {std::pair(CopyLayout::strided, "strided/run:"),
                                       std::pair(CopyLayout::strided_3d, "strided_3d/run:")})
      for (std::size_t run : {std::size_t(64), 4 * KiB})
        for (std::size_t bytes : other_sizes(m_effort.mode))
          if (layout != CopyLayout::strided_3d || bytes > rows_of_plane * run)  // several planes
            add(way, named(way, text + std::to_string(run)), make_shape(layout, bytes, run), bytes);
    for (std::size_t bytes : other_sizes(m_effort.mode))
      add(way, named(way, "transposed"), make_shape(CopyLayout::transposed, bytes, 0), bytes);
  }

  /// Compares batches with the best plain way, and one size with single copies, too.
  void add_batches(CopyWay way) {
    for (auto const& [pieces, bytes] : batch_sizes(m_effort.mode)) {
      add_batch(way, {CopyLayout::scattered, pieces, bytes / sizeof(double), BatchBaseline::best});
      if (pieces == 1024 && bytes == 4 * KiB)
        add_batch(way,
                  {CopyLayout::scattered, pieces, bytes / sizeof(double), BatchBaseline::single});
    }
    if (m_effort.mode == Mode::quick) return;
    for (bool const slices : {false, true})
      for (auto const& [pieces, bytes] : batch_sizes(m_effort.mode))
        add_batch(way, {CopyLayout::scattered, pieces, bytes / sizeof(double), BatchBaseline::best,
                        !slices, slices});
    for (auto const& [pieces, bytes] : batch_sizes(m_effort.mode))
      if (pieces > 32 && bytes <= 4 * KiB)  // where the list counts
        add_batch(way, {CopyLayout::scattered, pieces, bytes / sizeof(double), BatchBaseline::best,
                        false, true, true});
    for (std::size_t pieces : {std::size_t(1024), std::size_t(4096)})
      add_batch(way, {CopyLayout::neighbours, pieces, 16 * KiB / sizeof(double)});
  }

 private:
  std::string named(CopyWay way, std::string const& layout) const {
    return name(way) + "/" + m_space + "/" + layout;
  }

  void add_batch(CopyWay way, CopyShape const& shape) {
    std::size_t const piece    = shape.columns * sizeof(double);
    std::string const order    = shape.layout == CopyLayout::scattered ? "scattered" : "neighbours";
    std::string const baseline = shape.baseline == BatchBaseline::single ? "single" : "best";
    add(way,
        (shape.prepared  ? "prepared_batch/"
         : shape.are_new ? "new_slices/"
         : shape.slices  ? "slices/"
                         : "batch/") +
            m_space + "/" + name(way) + "/" + order + "/baseline:" + baseline +
            "/piece:" + std::to_string(piece),
        shape, shape.rows * piece);
  }

  void add(CopyWay way, std::string const& name_of_case, CopyShape const& shape,
           std::size_t bytes) {
    std::size_t const directions = way == CopyWay::both ? 2 : 1;
    if ((way > CopyWay::to_host ? 2 : 1) * shape.host_span() * sizeof(double) > m_bytes) return;
    std::size_t const runs = std::clamp<std::size_t>(4 * MiB / bytes, 1, 32);
    CopyCase const description{way, shape, runs};
    // A copy within one memory both reads and writes it.
    bool const one_memory = !runs_on_device;
    m_cases.push_back({"copy/" + name_of_case + "/bytes:" + std::to_string(bytes),
                       double(bytes * directions * (one_memory ? 2 : 1)),
                       m_effort.repetitions(double(bytes * runs) / m_rate),
                       [description, elements = m_bytes / sizeof(double), latest = m_latest] {
                         return std::make_unique<CopyPair<Space>>(
                             description, latest->of<CopyMemory<Space>>(elements));
                       }});
  }

  std::string m_space;
  double m_rate;
  Effort m_effort;
  Cases& m_cases;
  std::size_t m_bytes;
  std::shared_ptr<LatestMemory> m_latest = latest_memory();
};

}  // namespace

Cases copy_cases(Effort const& effort) {
  Cases cases;
  double const rate = runs_on_device ? 5e10 : 5e9;
  CasesOfSpace<PinnedSpace> pinned("PinnedSpace", rate, effort, cases);
  CasesOfSpace<MappedSpace> mapped("MappedSpace", rate, effort, cases);
  for (CopyWay way : {CopyWay::to_device, CopyWay::to_host}) {
    pinned.add_contiguous(way);
    pinned.add_other_layouts(way);
  }
  for (CopyWay way : {CopyWay::to_device, CopyWay::to_host}) pinned.add_batches(way);
#ifdef KOKKOS_ENABLE_CUDA
  pinned.add_contiguous(CopyWay::both);
  for (CopyWay way : {CopyWay::to_device_beside, CopyWay::to_host_beside})
    pinned.add_published(way, CopyLayout::contiguous, "contiguous");
#endif
  for (CopyWay way : {CopyWay::to_device, CopyWay::to_host}) {
    mapped.add_contiguous(way);
    mapped.add_published(way, CopyLayout::by_kernel, "by_kernel");
  }
#ifdef KOKKOS_ENABLE_CUDA
  CasesOfSpace<WriteCombinedSpace>("WriteCombinedSpace", rate, effort, cases)
      .add_contiguous(CopyWay::to_device);
  CasesOfSpace<Kokkos::CudaHostPinnedSpace> stock("CudaHostPinnedSpace", rate, effort, cases);
  CasesOfSpace<Kokkos::HostSpace> pageable("HostSpace", 1e10, effort, cases);
  for (CopyWay way : {CopyWay::to_device, CopyWay::to_host}) stock.add_contiguous(way);
  for (CopyWay way : {CopyWay::to_device, CopyWay::to_host}) pageable.add_contiguous(way);
  for (Case& one : multi_path_cases(effort)) cases.push_back(std::move(one));
#endif
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
