// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the loaded objects of this process (the program, its libraries) define and contain.

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_OBJECTS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_OBJECTS_HPP

#include <mutex>
#include <string>

namespace KokkosHostSpaces::Impl::Backend::Adopt::Objects {

/// Held while the list of objects is read, and over forks: the loader's lock would stay locked in a child.
extern std::mutex looking;

/// Changes whenever an object has been loaded.
unsigned long long loaded() noexcept;

/// True if a loaded object's file name begins so.
bool is_loaded(char const* file_name) noexcept;

/// Looks a function up behind this library: in the global scope, else in the first loaded object whose
/// file name begins with `file_name`, as where Python loaded it. nullptr if there is none. Calls dlsym.
void* find_next(char const* function, char const* file_name) noexcept;

/// The function that the object with the address `caller` would have called without this library, where
/// the process has several CUDA runtimes, as when a module brought its own. nullptr where it has one, for
/// the program itself, and if there is none.
void* find_for_caller(char const* function, void const* caller) noexcept;

/// Which function of memory is not this library's for all objects of the process, or cudaMemcpyAsync is
/// not; empty if all are. Calls dlsym.
std::string who_else_serves() noexcept;

/// True if the program has an aligned new of its own, which dlsym does not see.
bool program_has_its_own_new() noexcept;

/// Which object has a statically linked CUDA runtime, whose copies cannot be seen, in words; nullptr if none.
/// Remembers what it has looked at; to read the driver, which has none, would take 20 ms. NVIDIA's math
/// libraries, which have one, do not count: they copy memory of the host only in
/// cublas(Set|Get)(Vector|Matrix)Async, and count if an object calls these.
char const* static_cuda_runtime() noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt::Objects

#endif
