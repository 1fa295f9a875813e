// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Makes the linker refuse an application whose containers of the standard library have another layout
// than those of the compiled library: "undefined reference to ...library_was_built_with__GLIBCXX_DEBUG"
// says that it was not. C++20 and C++23 may be mixed: what crosses is the same in both
// (tests/package/OtherStandard.cpp).

#ifndef KOKKOS_HOST_SPACES_IMPL_SAME_BUILD_HPP
#define KOKKOS_HOST_SPACES_IMPL_SAME_BUILD_HPP

#include <version>

// Adds members to all containers.
#ifdef _GLIBCXX_DEBUG
#define KOKKOS_HOST_SPACES_IMPL_CONTAINERS library_was_built_with__GLIBCXX_DEBUG
#else
#define KOKKOS_HOST_SPACES_IMPL_CONTAINERS library_was_built_without__GLIBCXX_DEBUG
#endif
// Is seen in the names of functions that take strings, but not of those that return structures of them.
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define KOKKOS_HOST_SPACES_IMPL_STRINGS library_was_built_with__GLIBCXX_USE_CXX11_ABI_0
#else
#define KOKKOS_HOST_SPACES_IMPL_STRINGS library_was_built_without__GLIBCXX_USE_CXX11_ABI_0
#endif

namespace KokkosHostSpaces::Impl {

extern char const KOKKOS_HOST_SPACES_IMPL_CONTAINERS;
extern char const KOKKOS_HOST_SPACES_IMPL_STRINGS;

// A reference from each source, whatever it calls, which --gc-sections leaves where compilers can say so.
#if defined(__has_cpp_attribute) && __has_cpp_attribute(gnu::retain)
[[gnu::retain]]
#endif
[[gnu::used]] static char const* const same_build[] = {&KOKKOS_HOST_SPACES_IMPL_CONTAINERS,
                                                       &KOKKOS_HOST_SPACES_IMPL_STRINGS};

}  // namespace KokkosHostSpaces::Impl

#endif
