// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Times copies in one way or the other, by the code that deep_copy and deep_copy_all use for it.

#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyCalibration.hpp>
#include <KokkosHostSpaces/impl/copy/CopyViews.hpp>

#include "../../../backend/Driver.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <ostream>
#include <vector>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

class CopyTrials {
 public:
  explicit CopyTrials(int device) : m_here(private_instance(device)) {
    using Kokkos::WithoutInitializing;
    m_host = Kokkos::View<char*, PinnedSpace>(
        Kokkos::view_alloc("calibration", PinnedSpace(device), WithoutInitializing), bytes);
    m_device = Kokkos::View<char*, Kokkos::CudaSpace>(
        Kokkos::view_alloc("calibration", m_here, WithoutInitializing), bytes);
    copy_async(m_device.data(), m_host.data(), bytes, m_here.cuda_stream());
    m_here.fence("KokkosHostSpaces: calibration");
  }

  double seconds(CopyTrial const& trial) {
    switch (trial.way) {
      case CopyTrial::Way::rows_by_kernel:
      case CopyTrial::Way::rows_by_engine: return rows(trial);
      case CopyTrial::Way::turned_in_place:
      case CopyTrial::Way::turned_by_slabs: return turned(trial);
      case CopyTrial::Way::pieces_by_kernel:
      case CopyTrial::Way::pieces_by_call: return pieces(trial);
    }
    return 0;
  }

 private:
  using Word = std::uint64_t;
  using Rows = Kokkos::View<Word**, Kokkos::LayoutStride, Kokkos::CudaSpace,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static constexpr std::size_t bytes = std::size_t(64) << 20;  // of each side

  char* target(CopyTrial const& trial) { return trial.to_device ? m_device.data() : m_host.data(); }
  char* source(CopyTrial const& trial) { return trial.to_device ? m_host.data() : m_device.data(); }

  // As many copies in a row as take longer than a fence; the best of some, for what disturbs makes
  // slower.
  template <class Enqueue>
  double best(Enqueue const& enqueue) {
    constexpr double long_enough = 200e-6;
    (void)once(1, enqueue);  // of two ways the second one would find the memory warm
    int const often = int(std::clamp(long_enough / once(1, enqueue), 1., 32.));
    double least    = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 15; ++i) least = std::min(least, once(often, enqueue));
    return least;
  }

  template <class Enqueue>
  double once(int often, Enqueue const& enqueue) {
    using Time       = std::chrono::steady_clock;
    auto const begin = Time::now();
    for (int i = 0; i < often; ++i) enqueue();
    m_here.fence("KokkosHostSpaces: calibration");
    return std::chrono::duration<double>(Time::now() - begin).count() / often;
  }

  // 8 MiB in rows, with gaps of the same length on the host.
  double rows(CopyTrial const& trial) {
    std::size_t const words = trial.bytes / sizeof(Word);
    std::size_t const count = (std::size_t(8) << 20) / trial.bytes;
    auto const side         = [&](char* begin, bool on_host) {
      return Rows(reinterpret_cast<Word*>(begin),
                          Kokkos::LayoutStride(words, 1, count, on_host ? 2 * words : words));
    };
    Rows const to   = side(target(trial), !trial.to_device);
    Rows const from = side(source(trial), trial.to_device);
    if (trial.way == CopyTrial::Way::rows_by_kernel)
      return best([&] { enqueue_copy_kernel(m_here, to, from); });
    CopyPlan const plan = plan_for(to, from);
    return best([&] { copy_async(to.data(), from.data(), plan, m_here.cuda_stream()); });
  }

  double turned(CopyTrial const& trial) {
    constexpr std::size_t columns = 1024;
    std::size_t const extents[]   = {trial.bytes / sizeof(Word) / columns, columns};
    std::size_t const to[] = {columns, 1}, from[] = {1, extents[0]};
    CopyPlan const plan  = make_copy_plan(sizeof(Word), 2, extents, to, from);
    char *const to_bytes = target(trial), *const from_bytes = source(trial);
    if (trial.way == CopyTrial::Way::turned_in_place)
      return best([&] { enqueue_tiled_copy(m_here, to_bytes, from_bytes, plan, trial.to_device); });
    LinkWay const way = trial.to_device ? LinkWay::to_device : LinkWay::to_host;
    return best([&] { enqueue_slab_copy(m_here, to_bytes, from_bytes, plan, way); });
  }

  double pieces(CopyTrial const& trial) {
    std::vector<CopyPiece> list;
    std::vector<void*> to;
    std::vector<void const*> from;
    for (std::size_t i = 0; i < trial.pieces; ++i) {
      std::size_t const at = i * (trial.bytes + 256);
      list.push_back({target(trial) + at, source(trial) + at, trial.bytes, 0, false});
      to.push_back(list.back().dst);
      from.push_back(list.back().src);
    }
    if (trial.way == CopyTrial::Way::pieces_by_kernel)
      return best([&] { enqueue_pieces(m_here, list); });
    std::vector<std::size_t> const sizes(trial.pieces, trial.bytes);
    bool taken           = true;
    double const seconds = best([&] {
      taken = taken && Driver::copy_batch(to.data(), from.data(), sizes.data(), sizes.size(),
                                          m_here.cuda_stream());
    });
    return taken ? seconds : best([&] {
      for (CopyPiece const& piece : list)
        copy_async(piece.dst, piece.src, piece.bytes, m_here.cuda_stream());
    });
  }

  Kokkos::Cuda m_here;
  Kokkos::View<char*, PinnedSpace> m_host;
  Kokkos::View<char*, Kokkos::CudaSpace> m_device;
};

}  // namespace

bool calibrate_this_machine(std::ostream& out) {
  // It is no program whose threads matter.
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  bool all_kept = true;
  for (int device = 0; device < Driver::device_count(); ++device) {
    CopyTrials trials(device);
    auto const done = calibrate(
        calibration_file(), name_link(device), [&] { return measure_link_rates(device); },
        [&](CopyTrial const& trial) { return trials.seconds(trial); });
    all_kept = all_kept && done && done->kept;
    out << "GPU " << device << ": "
        << (done ? done->report
                 : "its rates cannot be measured now (it is busy, or short of memory)\n");
  }
  return all_kept;
}

}  // namespace KokkosHostSpaces::Impl
