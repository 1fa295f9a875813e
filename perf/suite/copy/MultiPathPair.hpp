// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_MULTI_PATH_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_MULTI_PATH_PAIR_HPP

#include "../../plain/Platform.hpp"
#include "../../plain/Stopwatch.hpp"
#include "../Pair.hpp"
#include "Contents.hpp"
#include "CopyMemory.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

namespace KokkosHostSpaces::Perf {

/// Of all sizes; a type of its own, because arrays are kept by their type.
struct MultiPathMemory : CopyMemory<PinnedSpace> {
  using CopyMemory::CopyMemory;
};

struct MultiPathCase {
  /// What copies over several links are compared with; loss: the own copies of a neighbour that helps, beside
  /// the same copies alone.
  enum class Baseline { plain, all_links, loss } baseline;
  bool to_device;
  int helpers;
  std::size_t elements;
};

/// Times copies of one array over several links.
class MultiPathPair final : public Pair {
 public:
  MultiPathPair(MultiPathCase const& description, std::shared_ptr<MultiPathMemory> memory)
      : m_case(description),
        m_memory(std::move(memory)),
        m_here(current_device()),
        m_instance(make_instance(m_stopwatch.stream())),
        m_paths(m_instance, neighbours()) {
    use_device(neighbours()[0]);
    m_neighbour = std::make_unique<Neighbour>(part());
    use_device(m_here);
    if (m_case.baseline == MultiPathCase::Baseline::all_links)
      m_links = links_at_once(with_neighbours(), part() * sizeof(double));
    poison_and_number();
    for (bool const ours : {true, false}) copy(ours);
    m_instance.fence();
  }

  double time_ours() override {
    if (m_case.baseline != MultiPathCase::Baseline::loss)
      return m_stopwatch.time_queued([this] { copy(true); });
    std::atomic<bool> stop{false};
    std::thread own([&] {
      use_device(m_here);
      while (!stop) {
        copy(true);
        m_instance.fence();
      }
    });
    double const seconds = time_neighbour();
    stop                 = true;
    own.join();
    return seconds;
  }

  double time_baseline() override {
    if (m_case.baseline == MultiPathCase::Baseline::loss) return time_neighbour();
    if (!m_links) return m_stopwatch.time_queued([this] { copy(false); });
    double const runs = double(m_case.elements / part());
    return m_links(int(runs), m_case.to_device) / double(with_neighbours().size());
  }

  std::string baseline_label() const override {
    char const* const labels[] = {"one link", "each device its own, at once", "alone"};
    return labels[int(m_case.baseline)];
  }

  /// From an idle instance until the copy is done, by the host's clock.
  std::map<std::string, double> counters() const override {
    if (m_case.baseline != MultiPathCase::Baseline::plain) return {};
    return {
        {"seconds_by_host", m_stopwatch.time_with_host_clock([this] { copy(true); })},
        {"baseline_seconds_by_host", m_stopwatch.time_with_host_clock([this] { copy(false); })}};
  }

  /// Verifies one more run of each side.
  std::string find_error() override {
    std::int64_t wrong[2] = {};
    for (bool const ours : {true, false}) {
      poison_and_number();
      copy(ours);
      double* const to = m_case.to_device ? m_memory->device() : m_memory->ours_for_kernels();
      if (ours && m_damaged) poison(m_instance, to, 1);
      CopyShape const shape{CopyLayout::contiguous, 1, m_case.elements};
      Placement const same = placement(shape, true, true);
      wrong[ours ? 0 : 1]  = count_wrong_and_poison(m_instance, to, shape, same, same, 0, 1, 1);
    }
    return describe_wrong(wrong[0], wrong[1]);
  }

  void damage() override { m_damaged = true; }

 private:
  static constexpr std::size_t most_of_part = (std::size_t(256) << 20) / sizeof(double);
  static constexpr int copies_of_neighbour  = 64;

  template <class Space>
  using View = Kokkos::View<double*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  // Copies of its own, on its stream.
  struct Neighbour {
    explicit Neighbour(std::size_t size)
        : elements(std::min(size, most_of_part / 4)),
          instance(make_instance(stopwatch.stream())),
          host(Kokkos::view_alloc(Kokkos::WithoutInitializing, "host"), elements),
          device(make_plain_buffer(PlainKind::device, elements * sizeof(double))) {}
    void copy(bool to_device) const {
      View<Kokkos::CudaSpace> const there(static_cast<double*>(device.get()), elements);
      if (to_device)
        Kokkos::deep_copy(instance, there, host);
      else
        Kokkos::deep_copy(instance, host, there);
    }
    std::size_t elements;
    Stopwatch stopwatch;
    Execution instance;
    Kokkos::View<double*, PinnedSpace> host;
    PlainBuffer device;
  };

  std::size_t part() const { return std::min(m_case.elements, most_of_part); }

  std::vector<int> with_neighbours() const {
    std::vector<int> devices{m_here};
    for (int device = 0; int(devices.size()) <= m_case.helpers; ++device)
      if (device != m_here) devices.push_back(device);
    return devices;
  }
  std::vector<int> neighbours() const {
    std::vector<int> devices = with_neighbours();
    devices.erase(devices.begin());
    return devices;
  }

  double time_neighbour() {
    use_device(neighbours()[0]);
    double const seconds = m_neighbour->stopwatch.time_queued([this] {
      for (int i = 0; i < copies_of_neighbour; ++i) m_neighbour->copy(m_case.to_device);
    });
    use_device(m_here);
    return seconds;
  }

  void copy(bool ours) const {
    View<PinnedSpace> const host(m_memory->ours(), m_case.elements);
    View<Kokkos::CudaSpace> const device(m_memory->device(), m_case.elements);
    auto const both = [&](auto const& dst, auto const& src) {
      if (ours)
        KokkosHostSpaces::deep_copy(m_paths, dst, src);
      else
        Kokkos::deep_copy(m_instance, dst, src);
    };
    if (m_case.to_device)
      both(device, host);
    else
      both(host, device);
  }

  void poison_and_number() const {
    auto const n       = std::int64_t(m_case.elements);
    double *const host = m_memory->ours_for_kernels(), *const device = m_memory->device();
    number(m_instance, m_case.to_device ? host : device, n);
    poison(m_instance, m_case.to_device ? device : host, n);
  }

  MultiPathCase m_case;
  std::shared_ptr<MultiPathMemory> m_memory;
  int m_here;
  mutable Stopwatch m_stopwatch;
  Execution m_instance;
  MultiPath<Execution> m_paths;
  std::unique_ptr<Neighbour> m_neighbour;
  LinksAtOnce m_links;
  bool m_damaged = false;
};

}  // namespace KokkosHostSpaces::Perf

#endif
