// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_KOKKOS_COPY_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_KOKKOS_COPY_HPP

#include "CopyBaseline.hpp"
#include "../Instance.hpp"

#include <KokkosHostSpaces.hpp>

#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Whether batches, and layouts other than contiguous, are measured with this space.
template <class Space>
inline constexpr bool has_all_layouts = std::is_same_v<Space, PinnedSpace>;

struct SameValue {
  KOKKOS_FUNCTION double operator()(double value) const { return value; }
};

/// The copies by Kokkos, between `host` in `Space` and `device`.
template <class Space>
class KokkosCopy {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using OnDevice  = Execution::memory_space;
  template <class S>
  using Vector = Kokkos::View<double*, S, Unmanaged>;
  template <class Layout, class S>
  using Matrix = Kokkos::View<double**, Layout, S, Unmanaged>;
  template <class S>
  using Planes = Kokkos::View<double***, Kokkos::LayoutRight, S, Unmanaged>;

 public:
  KokkosCopy(CopyShape const& shape, CopyDirection direction, Execution const& instance)
      : m_shape(shape), m_direction(direction), m_instance(instance) {}

  void enqueue(double* host, double* device) {
    using Left             = Kokkos::LayoutLeft;
    using Right            = Kokkos::LayoutRight;
    std::size_t const rows = m_shape.rows, columns = m_shape.columns;
    if (m_shape.layout == CopyLayout::contiguous) {
      copy(Vector<Space>(host, m_shape.elements()), Vector<OnDevice>(device, m_shape.elements()));
    } else if (m_shape.layout == CopyLayout::by_kernel) {
      if constexpr (std::is_same_v<Space, MappedSpace>) {
        Vector<Space> const on_host(host, m_shape.elements());
        Vector<OnDevice> const on_device(device, m_shape.elements());
        if (m_direction == CopyDirection::to_device)
          element_wise("copy", m_instance, on_device, SameValue(), on_host);
        else
          element_wise("copy", m_instance, on_host, SameValue(), on_device);
      }
    } else if (is_batch(m_shape.layout)) {
      if constexpr (has_all_layouts<Space>) {
        if (m_shape.are_new) renew(m_batches.at(host));
        copy(m_batches.at(host));
      }
    } else if constexpr (has_all_layouts<Space>) {
      if (m_shape.layout == CopyLayout::strided)
        copy(Kokkos::subview(Matrix<Right, Space>(host, rows, 2 * columns), Kokkos::ALL,
                             std::make_pair(std::size_t(0), columns)),
             Matrix<Right, OnDevice>(device, rows, columns));
      else if (m_shape.layout == CopyLayout::strided_3d)
        copy(Kokkos::subview(
                 Planes<Space>(host, rows / rows_of_plane, 2 * rows_of_plane, 2 * columns),
                 Kokkos::ALL, std::make_pair(std::size_t(0), rows_of_plane),
                 std::make_pair(std::size_t(0), columns)),
             Planes<OnDevice>(device, rows / rows_of_plane, rows_of_plane, columns));
      else if (m_direction == CopyDirection::to_device)
        copy(Matrix<Left, Space>(host, rows, columns),
             Matrix<Right, OnDevice>(device, rows, columns));
      else
        copy(Matrix<Right, Space>(host, rows, columns),
             Matrix<Left, OnDevice>(device, rows, columns));
    } else {
      throw std::logic_error("only contiguous copies with this space");
    }
#ifndef KOKKOS_ENABLE_CUDA
    m_instance.fence();  // the baseline's loop returns when done
#endif
  }

  /// Makes the Views or slices of a batch outside of the timing, and plans it if it is prepared. Call it
  /// once for each array. The slices of all arrays are equal unless they are new for each call.
  void prepare(double* host, double* device) {
    Batch& made               = m_batches[host];
    std::size_t const columns = m_shape.columns;
    if (m_shape.are_new) made.slices.push_back({0, 0, 0});
    for (std::size_t row = 0; row < m_shape.rows; ++row) {
      std::size_t const place = row_on_host(m_shape.layout, row);
      if (m_shape.slices) {
        Slice const to_device{row * columns, place * columns, columns};
        made.slices.push_back(m_direction == CopyDirection::to_device
                                  ? to_device
                                  : Slice{to_device.src, to_device.dst, columns});
      } else {
        Vector<Space> const on_host(host + place * columns, columns);
        Vector<OnDevice> const on_device(device + row * columns, columns);
        if (m_direction == CopyDirection::to_device)
          made.to_device.emplace_back(on_device, on_host);
        else
          made.to_host.emplace_back(on_host, on_device);
      }
    }
    made.host   = Vector<Space>(host, m_shape.host_span());
    made.device = Vector<OnDevice>(device, m_shape.elements());
    if constexpr (has_all_layouts<Space>)
      if (m_shape.prepared)
        made.prepared = m_direction == CopyDirection::to_device
                            ? prepare_deep_copy_all(m_instance, made.to_device)
                            : prepare_deep_copy_all(m_instance, made.to_host);
  }

 private:
  struct Batch {
    std::vector<std::pair<Vector<OnDevice>, Vector<Space>>> to_device;
    std::vector<std::pair<Vector<Space>, Vector<OnDevice>>> to_host;
    Vector<Space> host;
    Vector<OnDevice> device;
    std::vector<Slice> slices;
    PreparedCopies<Execution> prepared;
  };

  // Change an empty slice, so that the list differs from those of all calls before.
  void renew(Batch& pieces) {
    std::size_t const place = m_calls++ % m_shape.elements();
    pieces.slices.front()   = {place, place, 0};
  }

  void copy(Batch const& pieces) const {
    if (m_shape.prepared)
      deep_copy_all(m_instance, pieces.prepared);
    else if (m_shape.slices && m_direction == CopyDirection::to_device)
      deep_copy_all(m_instance, pieces.device, pieces.host, pieces.slices);
    else if (m_shape.slices)
      deep_copy_all(m_instance, pieces.host, pieces.device, pieces.slices);
    else if (m_direction == CopyDirection::to_device)
      deep_copy_all(m_instance, pieces.to_device);
    else
      deep_copy_all(m_instance, pieces.to_host);
  }

  template <class Host, class OfDevice>
  void copy(Host const& host, OfDevice const& device) const {
    if (m_direction == CopyDirection::to_device)
      Kokkos::deep_copy(m_instance, device, host);
    else
      Kokkos::deep_copy(m_instance, host, device);
  }

  CopyShape m_shape;
  CopyDirection m_direction;
  Execution m_instance;
  std::map<double*, Batch> m_batches;
  std::size_t m_calls = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
