// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_SMALL_COPY_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_SMALL_COPY_PAIR_HPP

#include "../../plain/PlainBuffer.hpp"
#include "LatencyPair.hpp"

#include <KokkosHostSpaces.hpp>

#include <limits>

namespace KokkosHostSpaces::Perf {

/// Times a copy of 8 bytes to the device, from the call to its end.
class SmallCopyPair final : public LatencyPair {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  template <class Space>
  using Number = Kokkos::View<double[1], Space, Unmanaged>;

 public:
  SmallCopyPair() : m_plain(make_plain_buffer(PlainKind::pinned, copies * sizeof(double))) {
    m_label = runs_on_device ? "cudaMemcpyAsync, cudaStreamSynchronize" : "memcpy";
    time_ours();
    time_baseline();
  }

  double time_ours() override {
    renew(m_pinned.data());
    double const seconds = host_seconds([this] {
      for (int i = 0; i < copies; ++i) {
        Kokkos::deep_copy(m_instance, Number<Execution::memory_space>(m_device.data() + i),
                          Number<PinnedSpace>(m_pinned.data() + i));
        m_instance.fence();
      }
    });
    m_wrong_ours += count_wrong();
    return seconds / copies;
  }

  double time_baseline() override {
    double* const plain = static_cast<double*>(m_plain.get());
    renew(plain);
    double const seconds = host_seconds([&] {
      for (int i = 0; i < copies; ++i) {
        m_baseline->copy(m_device.data() + i, plain + i, sizeof(double));
        m_baseline->fence();
      }
    });
    m_wrong_baseline += count_wrong();
    return seconds / copies;
  }

  void damage() override {
    time_ours();
    Kokkos::deep_copy(Kokkos::subview(m_device, 0), -1.0);
    m_wrong_ours += count_wrong();
  }

 private:
  static constexpr int copies = 64;

  // Write new numbers, and poison their destination.
  void renew(double* source) {
    Kokkos::deep_copy(m_device, std::numeric_limits<double>::quiet_NaN());
    m_first += copies;
    for (int i = 0; i < copies; ++i) source[i] = m_first + i;
  }

  std::int64_t count_wrong() const {
    auto const arrived = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_device);
    std::int64_t wrong = 0;
    for (int i = 0; i < copies; ++i) wrong += !(arrived(i) == m_first + i);
    return wrong;
  }

  Kokkos::View<double[copies], PinnedSpace> m_pinned{"source"};
  PlainBuffer m_plain;
  Kokkos::View<double[copies], Execution::memory_space> m_device{"destination"};
  double m_first = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
