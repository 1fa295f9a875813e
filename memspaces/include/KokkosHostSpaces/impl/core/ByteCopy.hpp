// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Words of kernels that copy bytes. And copies between two page-locked host buffers on a device's
// stream, by a kernel that reads and writes both in place: cudaMemcpyAsync would wait for the stream
// and copy on the calling thread.

#ifndef KOKKOS_HOST_SPACES_IMPL_BYTE_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_BYTE_COPY_HPP

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

struct alignas(16) LongWord {
  std::uint64_t low, high;
};

/// Number of loads that a thread has in flight: a round trip over the link takes 1.1 us (H200).
/// Code between these loads must not branch, or the compiler waits for each load.
KOKKOS_FUNCTION constexpr std::uint32_t loads_at_once(std::size_t word) {
  return word >= 8 ? 2 : word == 4 ? 4 : 8;
}

template <class Word>
struct CopyWords {
  Word* dst;
  Word const* src;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { dst[i] = src[i]; }
};

template <class Word, class ExecutionSpace>
void enqueue_word_copy(ExecutionSpace const& instance, void* dst, void const* src,
                       std::size_t bytes) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>;
  Kokkos::parallel_for("Kokkos::deep_copy: page-locked to page-locked memory",
                       Policy(instance, 0, bytes / sizeof(Word)),
                       CopyWords<Word>{static_cast<Word*>(dst), static_cast<Word const*>(src)});
}

/// Enqueues the copy on `instance` and returns. Both addresses are page-locked and mapped.
template <class ExecutionSpace>
void enqueue_byte_copy(ExecutionSpace const& instance, void* dst, void const* src,
                       std::size_t bytes) {
  auto const address =
      reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src);
  if ((address | bytes) % sizeof(std::uint64_t) == 0)
    enqueue_word_copy<std::uint64_t>(instance, dst, src, bytes);
  else
    enqueue_word_copy<unsigned char>(instance, dst, src, bytes);
}

}  // namespace KokkosHostSpaces::Impl

#endif
