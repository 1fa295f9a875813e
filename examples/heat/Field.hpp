// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_FIELD_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_FIELD_HPP

#include "Boxes.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <vector>

namespace Heat {

using Device = Kokkos::DefaultExecutionSpace;

/// Temperature of each cell (x, y, z), ghost cells included, in the device's own memory.
using Field = Kokkos::View<double***, Kokkos::LayoutLeft, Device::memory_space>;

/// Time step over square of the cell width; up to 1/6 is stable. A power of two, so that the
/// products in euler() are exact: its value does not depend on who computes a cell, in which
/// kernel, and whether with fused multiply-add.
inline constexpr double mesh_ratio = 0.125;

/// One step of the explicit Euler method with the 7-point stencil.
KOKKOS_INLINE_FUNCTION double euler(Field const& u, int x, int y, int z) {
  double const neighbours =
      ((u(x - 1, y, z) + u(x + 1, y, z)) + (u(x, y - 1, z) + u(x, y + 1, z))) +
      (u(x, y, z - 1) + u(x, y, z + 1));
  return (1 - 6 * mesh_ratio) * u(x, y, z) + mesh_ratio * neighbours;
}

/// Loops over a box, neighbours in x beside each other; on a GPU in tiles that share the cells of
/// the stencil in the cache.
inline auto box_policy(Device const& instance, Box const& box) {
  using Policy =
      Kokkos::MDRangePolicy<Device, Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                            Kokkos::IndexType<int>>;
  typename Policy::point_type begin, end;
  for (int axis = 0; axis < 3; ++axis) {
    begin[axis] = box.begin[axis];
    end[axis]   = box.end[axis];
  }
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Device::memory_space>::accessible)
    return Policy(instance, begin, end);
  else
    return Policy(instance, begin, end, {32, 4, 4});
}

/// Sets `after` in the cells of `box` to the step that follows `before`. Asynchronous.
inline void update(Device const& instance, Field after, Field before, Box const& box) {
  if (box.empty()) return;
  Kokkos::parallel_for(
      "heat: update interior", box_policy(instance, box),
      KOKKOS_LAMBDA(int x, int y, int z) { after(x, y, z) = euler(before, x, y, z); });
}

/// The same for several thin boxes, by one kernel.
inline void update(Device const& instance, Field after, Field before, Boxes const& boxes) {
  Kokkos::parallel_for(
      "heat: update shell", Kokkos::RangePolicy(instance, 0, boxes.size()), KOKKOS_LAMBDA(int i) {
        auto const [x, y, z] = boxes.cell(i);
        after(x, y, z)       = euler(before, x, y, z);
      });
}

/// Two execution space instances that work beside each other.
struct Instances {
  Device bulk, halo;
};

inline Instances make_instances() {
  auto const parts = Kokkos::Experimental::partition_space(Device(), 1, 1);
  return {parts[0], parts[1]};
}

/// An instance for each face, which share one on the host, where kernels are done on return.
inline std::vector<Device> instances_of_faces(Device const& instance, std::size_t faces) {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Device::memory_space>::accessible)
    return std::vector<Device>(faces, instance);
  else
    return Kokkos::Experimental::partition_space(instance, std::vector<int>(faces, 1));
}

}  // namespace Heat

#endif
