// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_FLAG_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_FLAG_PAIR_HPP

#include "../../plain/PlainBuffer.hpp"
#include "LatencyPair.hpp"

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/ParallelFor.hpp>

#include <atomic>
#include <stdexcept>

namespace KokkosHostSpaces::Perf {

/// Times a round trip of flags: the host sets a signal in its memory, a running kernel answers.
class FlagPair final : public LatencyPair {
 public:
  FlagPair() : m_plain(make_plain_buffer(PlainKind::pinned, sizeof(SignalAndAnswer))) {
    m_label = "atomic_ref in memory of cudaHostAlloc";
    time_ours();
    time_baseline();
  }

  double time_ours() override { return time_ours(first_signal); }

  double time_baseline() override {
    auto* const flags = static_cast<SignalAndAnswer*>(m_plain.get());
    *flags            = {0, 0};
    m_baseline->answer(flags, 1 + signals);
    double const seconds = exchange(*flags, first_signal, m_wrong_baseline);
    m_baseline->fence();
    return seconds;
  }

  void damage() override { time_ours(-1); }

 private:
  static constexpr int signals = 100, first_signal = 1;

  double time_ours(int first) {
    m_ours() = {0, 0};
    parallel_for("answer", m_instance, 1, AnswerSignals{m_ours.data(), 1 + signals});
    double const seconds = exchange(m_ours(), first, m_wrong_ours);
    m_instance.fence();
    return seconds;
  }

  // Do not time the first exchange, which waits for the launch.
  static double exchange(SignalAndAnswer& flags, int first, std::int64_t& wrong) {
    wrong += answer(flags, first) != answer_to(first_signal);
    return host_seconds([&] {
             for (int signal = first_signal + 1; signal <= first_signal + signals; ++signal)
               wrong += answer(flags, signal) != answer_to(signal);
           }) /
           signals;
  }

  static int answer(SignalAndAnswer& flags, int signal) {
    std::atomic_ref<int> const answer(flags.answer);
    int const before   = answer.load(std::memory_order_relaxed);
    auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    std::atomic_ref<int>(flags.signal).store(signal, std::memory_order_release);
    int now;
    while ((now = answer.load(std::memory_order_acquire)) == before)
      if (std::chrono::steady_clock::now() > give_up)
        throw std::runtime_error("the kernel does not answer a signal in mapped memory");
    return now;
  }

  Kokkos::View<SignalAndAnswer, MappedSpace> m_ours{"flags"};
  PlainBuffer m_plain;
};

}  // namespace KokkosHostSpaces::Perf

#endif
