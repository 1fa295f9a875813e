// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The group idioms: ours against the same with stock Kokkos, in pageable memory and in
// CudaHostPinnedSpace. Output by snapshots also against what it must cost least.

#include "../Groups.hpp"
#include "Idioms.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace KokkosHostSpaces::Perf {
namespace {

template <class Ours, class Baseline>
class IdiomPair final : public Pair {
 public:
  template <class... Args>
  IdiomPair(char const* label, Args... args)
      : m_label(label), m_ours(args...), m_baseline(args...) {
    m_ours.run();
    m_baseline.run();
  }

  double time_ours() override { return m_ours.run(); }
  double time_baseline() override { return m_baseline.run(); }
  std::string baseline_label() const override { return m_label; }

  std::string find_error() override {
    Doubles ours           = m_ours.contents();
    Doubles const baseline = m_baseline.contents();
    if (m_damaged) ours.front() += 1;
    if (ours.empty() || ours.size() != baseline.size()) return "the results differ in length";
    if (std::memcmp(ours.data(), baseline.data(), ours.size() * sizeof(double)) == 0) return "";
    return "the results of Kokkos with our spaces are not those of the baseline";
  }

  void damage() override { m_damaged = true; }

 private:
  char const* m_label;
  Ours m_ours;
  Baseline m_baseline;
  bool m_damaged = false;
};

class List {
 public:
  explicit List(Effort const& effort) : m_effort(effort) {}

  bool fits(std::size_t memory) const {
    return 3 * memory <= m_effort.host_bytes &&
           (!runs_on_device || 3 * memory <= m_effort.device_bytes);
  }

  /// Against stock Kokkos. \param memory bytes that a form takes on the device or on the host
  template <template <class> class Idiom, class... Args>
  void add(std::string const& operation, std::string const& number, double bytes,
           std::size_t memory, Args... args) {
    if (!fits(memory)) return;
    add_pair<Idiom<PinnedSpace>, Idiom<Kokkos::HostSpace>>("pageable", operation, number, bytes,
                                                           args...);
#ifdef KOKKOS_ENABLE_CUDA
    add_pair<Idiom<PinnedSpace>, Idiom<Kokkos::CudaHostPinnedSpace>>(
        "CudaHostPinnedSpace", operation, number, bytes, args...);
#endif
  }

  template <class Ours, class Baseline, class... Args>
  void add_pair(char const* baseline, std::string const& operation, std::string const& number,
                double bytes, Args... args) {
    int const repetitions = m_effort.mode == Mode::quick ? 5 : 11;
    cases.push_back({"idioms/" + operation + "/PinnedSpace/baseline:" + baseline + "/" + number,
                     bytes, repetitions, [=] {
                       return std::make_unique<IdiomPair<Ours, Baseline>>(baseline, args...);
                     }});
  }

  Cases cases;

 private:
  Effort m_effort;
};

std::string bytes_of(std::size_t bytes) { return "bytes:" + std::to_string(bytes); }

}  // namespace

Cases idioms_cases(Effort const& effort) {
  bool const quick = effort.mode == Mode::quick;
  List list(effort);
  using Sizes         = std::vector<std::size_t>;
  Sizes const lengths = quick ? Sizes{1000, 100000, runs_on_device ? 30000000U : 1000000U}
                              : Sizes{1000, 10000, 100000, 1000000, 10000000, 30000000, 100000000};
  for (std::size_t const n : lengths)
    list.add<DualViewSync>("dual_view_sync", bytes_of(8 * n), 16. * double(n), 8 * n, n);
  std::size_t const n = runs_on_device ? 30000000 : 300000;
  list.add<BounceBuffer>("bounce_buffer", bytes_of(8 * n), 8. * double(n), 16 * n, n, 1);
  std::size_t const grown = runs_on_device ? 10000000 : 100000;
  list.add<BounceBuffer>("bounce_buffer_grows", bytes_of(8 * grown), 0, 16 * grown, grown, 20);
  std::size_t const sent = runs_on_device ? 8 * MiB : 256 * KiB;
  list.add<ExchangeBuffers>("exchange_buffers", bytes_of(8 * sent), 16. * double(sent), 16 * sent,
                            sent, 26);
  std::size_t const cells = runs_on_device ? 128 * 128 * 128 : 32 * 32 * 32;
  for (std::size_t const edge : quick ? Sizes{16, 64} : Sizes{16, 32, 64, 128})
    if (std::size_t const blocks = 4 * cells / (edge * edge * edge); blocks > 0)
      list.add<OutputBlocks>("output_blocks", "edge:" + std::to_string(edge), 32. * double(cells),
                             80 * cells, blocks, edge);
  std::size_t const views = quick ? 300 : 3000;
  list.add<Regridding>("regridding", "views:" + std::to_string(views), 0, views * 256 * KiB, views);
  std::size_t const field  = runs_on_device ? 8 * MiB : 64 * KiB;
  std::size_t const output = 60 * field;
  std::string const size   = bytes_of(8 * field);
  int const steps = 5, passes = runs_on_device ? 1000 : 10;
  for (bool const until_written : {true, false})
    list.add<OutputEachStep>(until_written ? "output_each_step" : "run_beside_output", size, 0,
                             output, field, steps, passes, until_written);
  list.add<OutputEachStep>("blocked_by_output", size, 0, output, field, steps, 0, false);
  if (!list.fits(output)) return std::move(list.cases);
  list.add_pair<OutputEachStep<PinnedSpace>, CopyEachStep>("own_copy", "blocked_by_output", size, 0,
                                                           field, steps, 0, false);
  list.add_pair<ComputeBesideOutput<true>, ComputeBesideOutput<false>>(
      "alone", "compute_beside_output", size, 0, field, steps, passes);
  return std::move(list.cases);
}

}  // namespace KokkosHostSpaces::Perf
