// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The touched arrays, their contents, and the verification of results.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_TOUCH_MEMORY_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_TOUCH_MEMORY_HPP

#include "../../plain/PlainBuffer.hpp"
#include "KokkosTouch.hpp"

#include <KokkosHostSpaces.hpp>

namespace KokkosHostSpaces::Perf {

inline constexpr std::size_t most_alignment = 64;

/// An array in `Space` and one of a plain program, with room for an offset; for staging also an array on
/// the device, which both use.
template <class Space>
class TouchMemory {
  using Bytes = Kokkos::View<char*, Space>;

 public:
  static constexpr bool staged = std::is_same_v<Space, PinnedSpace>;

  explicit TouchMemory(std::size_t elements)
      : m_elements(elements),
        m_ours(Kokkos::view_alloc(Kokkos::WithoutInitializing, "touched"), room()),
        m_plain(make_plain_buffer(PlainKind::pinned, room())),
        m_device(Kokkos::view_alloc(Kokkos::WithoutInitializing, "staging"),
                 staged ? elements : 0) {}

  std::size_t elements() const { return m_elements; }
  double* ours(std::size_t alignment) const {
    return reinterpret_cast<double*>(m_ours.data() + alignment);
  }
  double* ours_for_kernels(std::size_t alignment) const {
    if constexpr (staged)
      return reinterpret_cast<double*>(mapped_view(m_ours).data() + alignment);
    else
      return ours(alignment);
  }
  double* plain(std::size_t alignment) const {
    return reinterpret_cast<double*>(static_cast<char*>(m_plain.get()) + alignment);
  }
  double* device() const { return m_device.data(); }

 private:
  std::size_t room() const { return m_elements * sizeof(double) + most_alignment; }

  std::size_t m_elements;
  Bytes m_ours;
  PlainBuffer m_plain;
  Kokkos::View<double*, Execution::memory_space> m_device;
};

/// Contents are small whole numbers, so that sums are exact. Arrays of the two sides differ in `extra`, so that
/// neither can be mistaken for the other on the device.
KOKKOS_INLINE_FUNCTION double content(std::uint64_t element, int extra) {
  return double(element % 251 + extra);
}

using AllElements = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::uint64_t>>;

inline void fill(Execution const& instance, double* array, std::uint64_t elements, int extra) {
  Kokkos::parallel_for(
      "fill", AllElements(instance, 0, elements),
      KOKKOS_LAMBDA(std::uint64_t e) { array[e] = content(e, extra); });
  instance.fence();
}

/// Counts sums that differ from those of their runs, added `passes` times.
inline std::int64_t count_wrong_sums(Execution const& instance, double const* sums,
                                     TouchedRuns const& runs, int extra, std::int64_t passes) {
  std::int64_t result = 0;
  Kokkos::parallel_reduce(
      "count_wrong_sums", AllElements(instance, 0, runs.touched),
      KOKKOS_LAMBDA(std::uint64_t run, std::int64_t & wrong) {
        double expected           = 0;
        std::uint64_t const first = first_element(runs, run);
        for (int i = 0; i < run_elements; ++i) expected += content(first + i, extra);
        wrong += !(sums[run] == double(passes) * expected);
      },
      result);
  return result;
}

/// Counts elements of the runs that differ from value + index.
inline std::int64_t count_wrong_elements(Execution const& instance, double const* array,
                                         TouchedRuns const& runs, double value) {
  std::int64_t result = 0;
  Kokkos::parallel_reduce(
      "count_wrong_elements", AllElements(instance, 0, runs.touched * run_elements),
      KOKKOS_LAMBDA(std::uint64_t k, std::int64_t & wrong) {
        std::uint64_t const e = first_element(runs, k / run_elements) + k % run_elements;
        wrong += !(array[e] == value + double(e));
      },
      result);
  return result;
}

inline void spoil(Execution const& instance, double* value) {
  Kokkos::parallel_for(
      "spoil", AllElements(instance, 0, 1), KOKKOS_LAMBDA(std::uint64_t) { *value += 0.5; });
  instance.fence();
}

}  // namespace KokkosHostSpaces::Perf

#endif
