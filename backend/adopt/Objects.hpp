// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the loaded objects of this process (the program, its libraries) define and contain.

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_OBJECTS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_OBJECTS_HPP

#include <array>

namespace KokkosHostSpaces::Impl::Backend::Adopt::Objects {

/// A short text without a destructor, cut if need be.
using Text = std::array<char, 256>;

/// Changes whenever an object has been loaded.
unsigned long long loaded() noexcept;

/// True if a loaded object's file name begins so.
bool is_loaded(char const* file_name) noexcept;

/// Looks a function up behind this library: in the global scope, else in the first loaded object whose
/// file name begins with `file_name`, as where Python loaded it. nullptr if there is none. Calls dlsym.
void* find_next(char const* function, char const* file_name) noexcept;

/// True if the process has several CUDA runtimes, as when a module brought its own.
bool has_several_runtimes() noexcept;

/// The CUDA runtime's function that the object with the address `caller` would have called; nullptr for
/// the program itself, and if there is none.
void* find_for_caller(char const* function, void const* caller) noexcept;

/// Which of some functions are not this library's for all objects of the process; empty if all are.
/// Calls dlsym.
/// \param names the functions; nullptr behind the last
Text who_else_defines(char const* const* names) noexcept;

/// Which of them the program defines for itself, where dlsym does not see it; empty if none. The first
/// one is aligned new: only a program that does not import it may have its own of all.
Text defined_by_program(char const* const* names) noexcept;

/// Where a statically linked CUDA runtime was found, whose copies cannot be seen; empty if nowhere.
/// Remembers what it has looked at. NVIDIA's math libraries, which have one, do not count: they copy
/// memory of the host only in cublas(Set|Get)(Vector|Matrix)Async, and count if an object calls these.
Text static_cuda_runtime() noexcept;

/// A function of a sanitizer in the process; nullptr: none.
char const* sanitizer() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt::Objects

#endif
