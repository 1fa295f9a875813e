// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_CUDA_CHUNKS_HPP
#define KOKKOS_HOST_SPACES_BACKEND_CUDA_CHUNKS_HPP

#include "../os/Pages.hpp"

#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl::Backend::Driver {

/// Page-locked ranges are registered in chunks that end at multiples of this address, because the
/// runtime refuses to register 512 GiB at once. It also refuses a copy that spans two chunks.
inline constexpr std::size_t largest_chunk = page_window;

/// Bytes from an address to the end of its chunk. \param chunk a power of two
inline std::size_t to_chunk_end(char const* pointer, std::size_t chunk = largest_chunk) {
  return chunk - reinterpret_cast<std::uintptr_t>(pointer) % chunk;
}

/// lock_pages and unlock_pages with chunks that end at multiples of `chunk`.
void lock_in_chunks(void* pointer, std::size_t bytes, std::size_t chunk);
bool unlock_in_chunks(void* pointer, std::size_t bytes, std::size_t chunk) noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend::Driver

#endif
