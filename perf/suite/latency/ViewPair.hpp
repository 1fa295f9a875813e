// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_VIEW_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_LATENCY_VIEW_PAIR_HPP

#include "../../plain/Platform.hpp"
#include "../../plain/PlainBuffer.hpp"
#include "LatencyPair.hpp"

#include <KokkosHostSpaces/PinnedSpace.hpp>

namespace KokkosHostSpaces::Perf {

/// Times making, writing and destroying a View of one small page.
class ViewPair final : public LatencyPair {
  using Bytes = Kokkos::View<char*, PinnedSpace>;

  static auto no_values() { return Kokkos::view_alloc(Kokkos::WithoutInitializing, "small"); }

 public:
  static constexpr std::size_t bytes = 4096;

  ViewPair() {
    m_label = runs_on_device ? "cudaHostAlloc, cudaFreeHost" : "malloc, free";
    time_ours();
    time_baseline();
    m_wrong_ours += !is_page_locked(Bytes(no_values(), bytes).data());
    m_wrong_baseline += !is_page_locked(make_plain_buffer(PlainKind::pinned, bytes).get());
  }

  double time_ours() override {
    return host_seconds([this] {
             for (int i = 0; i < views; ++i)
               m_wrong_ours += !use(Bytes(no_values(), bytes).data(), i);
           }) /
           views;
  }

  double time_baseline() override {
    return host_seconds([this] {
             for (int i = 0; i < views; ++i)
               m_wrong_baseline +=
                   !use(static_cast<char*>(make_plain_buffer(PlainKind::pinned, bytes).get()), i);
           }) /
           views;
  }

  void damage() override {
    Bytes const view(no_values(), bytes);
    use(view.data(), 1);
    view(0) = 2;
    m_wrong_ours += !contains(view.data(), 1);
  }

 private:
  static constexpr int views = 32;

  static bool contains(char volatile const* memory, int value) {
    return memory[0] == char(value) && memory[bytes - 1] == char(~value);
  }

  static bool use(char volatile* memory, int value) {
    memory[0]         = char(value);
    memory[bytes - 1] = char(~value);
    return contains(memory, value);
  }
};

}  // namespace KokkosHostSpaces::Perf

#endif
