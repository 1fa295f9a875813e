// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_MEMORY_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_MEMORY_HPP

#include "../../plain/PlainBuffer.hpp"
#include "../Instance.hpp"

#include <KokkosHostSpaces.hpp>

namespace KokkosHostSpaces::Perf {

template <class Space>
inline constexpr PlainKind plain_kind = PlainKind::pinned;
template <>
inline constexpr PlainKind plain_kind<Kokkos::HostSpace> = PlainKind::pageable;
#ifdef KOKKOS_ENABLE_CUDA
template <>
inline constexpr PlainKind plain_kind<WriteCombinedSpace> = PlainKind::write_combined;
template <>
inline constexpr PlainKind plain_kind<Kokkos::CudaSpace> = PlainKind::device;
#endif

/// Whether only kernels on the host can access the memory.
template <class Space>
inline constexpr bool is_pageable = runs_on_device&& std::is_same_v<Space, Kokkos::HostSpace>;

/// The arrays of copies: one in `Space`, one of a plain program, and one on the device, which both sides
/// use.
template <class Space>
class CopyMemory {
  template <class S>
  using View = Kokkos::View<double*, S>;

 public:
  explicit CopyMemory(std::size_t elements)
      : m_elements(elements),
        m_ours(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ours"), elements),
        m_device(Kokkos::view_alloc(Kokkos::WithoutInitializing, "device"), elements) {}

  std::size_t elements() const { return m_elements; }
  double* ours() const { return m_ours.data(); }
  double* plain() const { return static_cast<double*>(m_plain.get()); }
  double* device() const { return m_device.data(); }

  /// The address of ours() for kernels.
  double* ours_for_kernels() const {
    if constexpr (std::is_same_v<Space, PinnedSpace>)
      return mapped_view(m_ours).data();
    else
      return ours();
  }

 private:
  std::size_t m_elements;
  View<Space> m_ours;
  View<Execution::memory_space> m_device;
  PlainBuffer m_plain = make_plain_buffer(plain_kind<Space>, m_elements * sizeof(double));
};

}  // namespace KokkosHostSpaces::Perf

#endif
