// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_INSTANCES_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_INSTANCES_HPP

#include "Field.hpp"

namespace Heat {

/// Two execution space instances that work beside each other.
struct Instances {
  Device bulk, halo;
};

inline Instances make_instances() {
  auto const parts = Kokkos::Experimental::partition_space(Device(), 1, 1);
  return {parts[0], parts[1]};
}

}  // namespace Heat

#endif
