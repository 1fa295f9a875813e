// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// How the blocks of a reduction hand their parts to the last one: each word of a part lies beside a
// mark, and both are written at once, so that who finds the mark has the word. That takes one way
// through the cache of the device; a fence, a counter and a load behind them take three.

#ifndef KOKKOS_HOST_SPACES_IMPL_BLOCK_MAILBOX_HPP
#define KOKKOS_HOST_SPACES_IMPL_BLOCK_MAILBOX_HPP

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace KokkosHostSpaces::Impl {

/// A value before its reducer makes it one: default constructors may be of the host alone.
template <class T>
union Uninitialized {
  T value;
  KOKKOS_FUNCTION Uninitialized() {}
};

/// Brings the line of device memory at `at` into the L2 cache, which all of the device shares: it
/// could be there as well since another kernel read it. So whatever is written afterwards, and by
/// whom, is found by those who wait for it, as without. That cannot be said of an L1.
KOKKOS_INLINE_FUNCTION void prefetch([[maybe_unused]] void const* at) {
  KOKKOS_IF_ON_DEVICE((asm volatile("prefetch.global.L2 [%0];"
                                    :
                                    : "l"(__cvta_generic_to_global(at)));))
}

/// In memory of the device that is zero before a kernel, and again after it.
template <class T>
class BlockMailbox {
  static constexpr unsigned words = (sizeof(T) + 3) / 4, pairs = (words + 1) / 2;

 public:
  /// At a multiple of 16.
  static constexpr std::size_t bytes(unsigned blocks) {
    return std::size_t(blocks) * sizeof(Pair) * pairs;
  }
  void use(void* zeros) { m_pairs = static_cast<Pair*>(zeros); }

#ifdef KOKKOS_ENABLE_CUDA
  /// Nodes of a graph have parts of their own, which nobody touched for long: without it sums of 2^14
  /// floats take 2.91 µs instead of 2.75.
  __device__ void await_part(unsigned block) const {
    prefetch(m_pairs + std::size_t(block) * pairs);
  }

  __device__ void post(unsigned block, T const& part) const {
    std::uint32_t word[2 * pairs] = {};
    std::memcpy(word, &part, sizeof(T));
    for (unsigned p = 0; p < pairs; ++p)
      store(m_pairs + std::size_t(block) * pairs + p, {mark | word[2 * p], mark | word[2 * p + 1]});
  }

  /// Waits for it. The hardware begins with blocks in the order of their numbers (CUB's scans rely on
  /// that, too), so that who waits for those of lower numbers does not keep them from running.
  __device__ T take(unsigned block) const {
    std::uint32_t word[2 * pairs];
    for (unsigned p = 0; p < pairs; ++p) {
      Pair* const at  = m_pairs + std::size_t(block) * pairs + p;
      Pair const pair = wait(at);
      *at             = {0, 0};
      word[2 * p]     = std::uint32_t(pair.first);
      word[2 * p + 1] = std::uint32_t(pair.second);
    }
    Uninitialized<T> part;
    std::memcpy(static_cast<void*>(&part), word, sizeof(T));
    return part.value;
  }
#endif

 private:
  struct alignas(16) Pair {
    std::uint64_t first, second;
  };
  static constexpr std::uint64_t mark = std::uint64_t(1) << 32;

#ifdef KOKKOS_ENABLE_CUDA
  // Each element of a vector is read and written at once.
  static __device__ void store(Pair* at, Pair const& pair) {
    auto const address = __cvta_generic_to_global(at);
#if __CUDA_ARCH__ >= 700
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
#else
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};"
#endif
                 :
                 : "l"(address), "l"(pair.first), "l"(pair.second)
                 : "memory");
  }

  static __device__ Pair load(Pair* at) {
    auto const address = __cvta_generic_to_global(at);
    Pair pair;
#if __CUDA_ARCH__ >= 700
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
#else
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
#endif
                 : "=l"(pair.first), "=l"(pair.second)
                 : "l"(address)
                 : "memory");
    return pair;
  }

  static __device__ Pair wait(Pair* at) {
    Pair pair = load(at);
    while (((pair.first & pair.second) & mark) == 0) pair = load(at);
    return pair;
  }
#endif

  Pair* m_pairs = nullptr;
};

}  // namespace KokkosHostSpaces::Impl

#endif
