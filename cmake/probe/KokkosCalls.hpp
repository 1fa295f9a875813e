// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A library of templates that knows Kokkos alone, and calls its functions by their full names.

#ifndef KOKKOS_HOST_SPACES_PROBE_KOKKOS_CALLS_HPP
#define KOKKOS_HOST_SPACES_PROBE_KOKKOS_CALLS_HPP

#include <Kokkos_Core.hpp>

namespace KokkosCalls {

template <class... Args>
void deep_copy(Args&&... args) {
  Kokkos::deep_copy(args...);
}

template <class... Args>
void resize(Args&&... args) {
  Kokkos::resize(args...);
}

template <class... Args>
void realloc(Args&&... args) {
  Kokkos::realloc(args...);
}

template <class... Args>
auto create_mirror(Args&&... args) {
  return Kokkos::create_mirror(args...);
}

template <class... Args>
auto create_mirror_view(Args&&... args) {
  return Kokkos::create_mirror_view(args...);
}

template <class... Args>
auto create_mirror_view_and_copy(Args&&... args) {
  return Kokkos::create_mirror_view_and_copy(args...);
}

template <class View, class... Args>
auto make(Args&&... args) {
  return View(args...);
}

}  // namespace KokkosCalls

#endif
