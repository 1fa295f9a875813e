// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies between two page-locked host buffers on a device's stream, by a kernel that reads and
// writes both in place: cudaMemcpyAsync would wait for the stream and copy on the calling thread.

#ifndef KOKKOS_HOST_SPACES_IMPL_BYTE_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_BYTE_COPY_HPP

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#ifdef KOKKOS_ENABLE_CUDA

namespace KokkosHostSpaces::Impl {

template <class Word>
struct CopyWords {
  Word* dst;
  Word const* src;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { dst[i] = src[i]; }
};

template <class Word>
void enqueue_word_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                       std::size_t bytes) {
  using Policy = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::size_t>>;
  Kokkos::parallel_for("Kokkos::deep_copy: page-locked to page-locked memory",
                       Policy(instance, 0, bytes / sizeof(Word)),
                       CopyWords<Word>{static_cast<Word*>(dst), static_cast<Word const*>(src)});
}

/// Enqueues the copy on `instance` and returns. Both addresses are page-locked and mapped.
inline void enqueue_byte_copy(Kokkos::Cuda const& instance, void* dst, void const* src,
                              std::size_t bytes) {
  auto const address =
      reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src);
  if ((address | bytes) % sizeof(std::uint64_t) == 0)
    enqueue_word_copy<std::uint64_t>(instance, dst, src, bytes);
  else
    enqueue_word_copy<unsigned char>(instance, dst, src, bytes);
}

}  // namespace KokkosHostSpaces::Impl

#endif  // KOKKOS_ENABLE_CUDA

#endif
