// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A library that knows Kokkos alone: templates that call Kokkos' functions by their full names.

#ifndef KOKKOS_HOST_SPACES_TESTS_THIRD_PARTY_HPP
#define KOKKOS_HOST_SPACES_TESTS_THIRD_PARTY_HPP

#include <Kokkos_Core.hpp>

namespace ThirdParty {

template <class Dst, class Src>
void copy(Dst const& dst, Src const& src) {
  Kokkos::deep_copy(dst, src);
}

template <class ExecutionSpace, class Dst, class Src>
void copy(ExecutionSpace const& instance, Dst const& dst, Src const& src) {
  Kokkos::deep_copy(instance, dst, src);
}

// One for each caller, as a class template of the library would be.
template <class Caller, class ExecutionSpace, class Dst, class Src>
void copy_for(Caller, ExecutionSpace const& instance, Dst const& dst, Src const& src) {
  Kokkos::deep_copy(instance, dst, src);
}

template <class Space, class View>
auto mirror(Space const& space, View const& view) {
  return Kokkos::create_mirror(space, view);
}

template <class Space, class View>
auto mirror_and_copy(Space const& space, View const& view) {
  return Kokkos::create_mirror_view_and_copy(space, view);
}

template <class ExecutionSpace, class View>
void grow(ExecutionSpace const& instance, View& view, std::size_t extent) {
  Kokkos::resize(Kokkos::view_alloc(instance), view, extent);
}

}  // namespace ThirdParty

#endif
