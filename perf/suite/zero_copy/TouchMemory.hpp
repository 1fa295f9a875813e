// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_TOUCH_MEMORY_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ZERO_COPY_TOUCH_MEMORY_HPP

#include "../../plain/PlainBuffer.hpp"
#include "../Instance.hpp"

#include <KokkosHostSpaces.hpp>

namespace KokkosHostSpaces::Perf {

inline constexpr std::size_t most_alignment = 64;

/// The array in `Space` and that of a plain program, with room to begin later; for staging also the
/// array on the device, which both use.
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

}  // namespace KokkosHostSpaces::Perf

#endif
