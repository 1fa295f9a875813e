// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_LANE_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_COPY_COPY_LANE_HPP

#include "../BestVariant.hpp"
#include "Contents.hpp"
#include "CopyMemory.hpp"
#include "KokkosCopy.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {

enum class Doer { ours, baseline };

/// Copies in one direction on one stream, of arrays that lie one behind the other and take turns,
/// so that none comes from a cache. Batches, whose time is that of calls and of latencies, are in
/// the same memory on both sides, since some may lie further from a GPU; the baseline takes it by the
/// address that its kernels need, as its calls do.
template <class Space>
class CopyLane {
 public:
  /// Uses `elements` elements of the memory's arrays from `offset` on.
  CopyLane(CopyShape const& shape, CopyDirection direction, std::size_t offset,
           std::size_t elements, CopyMemory<Space>& memory, Stream stream)
      : m_shape(shape),
        m_direction(direction),
        m_arrays(std::clamp<std::size_t>(std::min(elements, most_elements) / shape.host_span(), 1,
                                         is_batch(shape.layout) ? 32 : most_elements)),
        m_instance(make_instance(stream)),
        m_device(memory.device() + offset),
        m_ours(shape, direction, m_instance),
        m_baseline(make_copy_baseline(shape, direction, stream)),
        m_sides{{memory.ours() + offset, memory.ours_for_kernels() + offset},
                is_batch(shape.layout)
                    ? Side{memory.ours_for_kernels() + offset, memory.ours_for_kernels() + offset}
                    : Side{memory.plain() + offset, memory.plain() + offset}} {
    if (is_batch(shape.layout))
      for (std::size_t k = 0; k < m_arrays; ++k) {
        double* const device = m_device + k * shape.elements();
        m_ours.prepare(m_sides[0].host + k * shape.host_span(), device);
        double* const host   = m_sides[1].host + k * shape.host_span();
        bool const to_device = direction == CopyDirection::to_device;
        m_baseline->prepare(to_device ? device : host, to_device ? host : device);
      }
    prepare();
  }

  /// One copy, of the next array.
  void enqueue(Doer doer) {
    Side& side              = of(doer);
    std::size_t const array = (side.first + side.written++) % m_arrays;
    double* const host      = side.host + array * m_shape.host_span();
    double* const device    = m_device + array * m_shape.elements();
    bool const to_device    = m_direction == CopyDirection::to_device;
    if (doer == Doer::ours)
      m_ours.enqueue(host, device);
    else
      m_baseline->enqueue(to_device ? device : host, to_device ? host : device);
  }

  /// After a sample: where both write the same array, it has to be checked before the next; else
  /// before one of the next sample would hide that a copy was not made.
  void end_sample(Doer doer) {
    Side& side               = of(doer);
    std::size_t const sample = side.written - side.of_samples;
    side.of_samples          = side.written;
    if (writes_device() || is_batch(m_shape.layout) || side.written + sample > m_arrays)
      check(doer);
  }

  /// Elements that the copies so far got wrong.
  std::int64_t wrong(Doer doer) {
    check(doer);
    return of(doer).wrong;
  }

  /// Copies as ours, and makes an element wrong.
  void damage() {
    std::size_t const array = (of(Doer::ours).first + of(Doer::ours).written) % m_arrays;
    enqueue(Doer::ours);
    m_instance.fence();
    on_side(!writes_device(), [&](auto const& instance) {
      poison(instance, destination(Doer::ours) + std::int64_t(array) * placement_of(false).span, 1);
    });
    end_sample(Doer::ours);
  }

  CopyBaseline& baseline() { return *m_baseline; }
  void fence() const { m_instance.fence(); }

 private:
  static constexpr std::size_t most_elements = (std::size_t(256) << 20) / sizeof(double);

  struct Side {
    double *host, *host_for_kernels;
    std::size_t first = 0, written = 0;  // where arrays written since the last check begin
    std::size_t of_samples = 0;          // so many of these when the last sample ended
    std::int64_t wrong     = 0;
  };

  Side& of(Doer doer) { return m_sides[int(doer)]; }

  bool writes_device() const { return m_direction == CopyDirection::to_device; }

  Placement placement_of(bool source) const {
    return placement(m_shape, source == writes_device(), source);
  }

  double* destination(Doer doer) { return writes_device() ? m_device : of(doer).host_for_kernels; }

  // Does something by an execution space that reaches the memory.
  template <class Action>
  void on_side(bool host, Action action) const {
    if constexpr (is_pageable<Space>) {
      if (host) return action(Kokkos::DefaultHostExecutionSpace());
    }
    action(m_instance);
  }

  void prepare() {
    auto const elements = [this](bool source) {
      return std::int64_t(m_arrays) * placement_of(source).span;
    };
    for (Side const& side : m_sides)
      on_side(true, [&](auto const& instance) {
        if (writes_device())
          number(instance, side.host_for_kernels, elements(true));
        else
          poison(instance, side.host_for_kernels, elements(false));
      });
    if (writes_device())
      poison(m_instance, m_device, elements(false));
    else
      number(m_instance, m_device, elements(true));
  }

  void check(Doer doer) {
    Side& side = of(doer);
    if (side.written == 0) return;
    on_side(!writes_device(), [&](auto const& instance) {
      side.wrong += count_wrong_and_poison(
          instance, destination(doer), m_shape, placement_of(false), placement_of(true),
          std::int64_t(side.first), std::int64_t(std::min(side.written, m_arrays)),
          std::int64_t(m_arrays));
    });
    side.first   = (side.first + side.written) % m_arrays;
    side.written = side.of_samples = 0;
  }

  CopyShape m_shape;
  CopyDirection m_direction;
  std::size_t m_arrays;
  Execution m_instance;
  double* m_device;
  KokkosCopy<Space> m_ours;
  std::unique_ptr<CopyBaseline> m_baseline;
  Side m_sides[2];
};

}  // namespace KokkosHostSpaces::Perf

#endif
