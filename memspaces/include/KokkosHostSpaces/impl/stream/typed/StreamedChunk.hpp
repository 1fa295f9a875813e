// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Views of chunks, indexed as the whole array.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAMED_CHUNK_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAMED_CHUNK_HPP

#include <KokkosHostSpaces/impl/stream/plan/StreamBinding.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

/// Converts an index of the caller. Saturates: 2^63 - 1 is beyond all Views.
constexpr std::int64_t as_index(std::integral auto n) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if constexpr (std::is_unsigned_v<decltype(n)> && sizeof(n) >= sizeof(most))
    return n > static_cast<decltype(n)>(most) ? most : static_cast<std::int64_t>(n);
  else
    return static_cast<std::int64_t>(n);
}

/// A View of the rows of a chunk with global indices. Its pointer is shifted by the chunk's origin,
/// so global indices cost nothing. Other rows must not be touched.
template <class T, int Rank, class Layout>
class ChunkView {
  static_assert(Rank >= 1 && Rank <= 3, "streamed loops take Views of rank one to three");
  static constexpr bool right = std::is_same_v<Layout, Kokkos::LayoutRight>;

 public:
  using value_type = T;

  ChunkView() = default;
  /// \param first the address that element (0, ...) of the whole array would have
  /// \param strides in elements, of each dimension
  KOKKOS_FUNCTION ChunkView(T* first, std::int64_t const (&strides)[3]) : m_first(first) {
    if constexpr (Rank == 2) m_stride = right ? strides[0] : strides[1];
    if constexpr (Rank == 3) {
      m_stride       = right ? strides[0] : strides[2];
      m_inner_stride = static_cast<int>(strides[1]);
    }
  }
  /// Converts to a View of const elements.
  template <class U>
  requires std::is_same_v<U const, T> KOKKOS_FUNCTION
  ChunkView(ChunkView<U, Rank, Layout> const& other)
      : m_first(other.m_first), m_stride(other.m_stride), m_inner_stride(other.m_inner_stride) {}

  KOKKOS_FUNCTION T& operator()(std::int64_t i) const requires(Rank == 1) { return m_first[i]; }
  KOKKOS_FUNCTION T& operator()(std::int64_t i, std::int64_t j) const requires(Rank == 2) {
    return right ? m_first[i * m_stride + j] : m_first[j * m_stride + i];
  }
  KOKKOS_FUNCTION T& operator()(std::int64_t i, std::int64_t j, std::int64_t k) const
      requires(Rank == 3) {
    return right ? m_first[i * m_stride + j * m_inner_stride + k]
                 : m_first[k * m_stride + j * m_inner_stride + i];
  }

 private:
  template <class, int, class>
  friend class ChunkView;

  T* m_first            = nullptr;
  std::int64_t m_stride = 0;
  int m_inner_stride    = 0;
};

// Arrays of rank 1 are the same in every layout.
template <class Layout, int Rank>
using ChunkLayout = std::conditional_t<Rank == 1, Kokkos::LayoutRight, Layout>;

// A View of LayoutStride is taken if its strides are those of LayoutRight.
template <class View>
using LayoutOfChunks =
    std::conditional_t<std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>,
                       Kokkos::LayoutLeft, Kokkos::LayoutRight>;

template <class DataType>
using HostViewOf = Kokkos::View<DataType, Kokkos::LayoutRight, Kokkos::HostSpace>;

template <class DataType, class Layout>
using ChunkOf =
    ChunkView<typename HostViewOf<DataType>::value_type, int(HostViewOf<DataType>::rank()),
              ChunkLayout<Layout, int(HostViewOf<DataType>::rank())>>;

/// Chunks that a kernel passes on to the body. Not a std::tuple, which nvcc does not take in
/// kernels.
template <class... Chunks>
struct ChunkPack {
  template <class F, class... Before>
  KOKKOS_FUNCTION decltype(auto) pass_to(F const& f, Before const&... before) const {
    return f(before...);
  }
};

template <class First, class... Rest>
struct ChunkPack<First, Rest...> {
  First first;
  ChunkPack<Rest...> rest{};
  template <class F, class... Before>
  KOKKOS_FUNCTION decltype(auto) pass_to(F const& f, Before const&... before) const {
    return rest.pass_to(f, before..., first);
  }
};

inline ChunkPack<> pack_chunks() { return {}; }
template <class First, class... Rest>
ChunkPack<First, Rest...> pack_chunks(First const& first, Rest const&... rest) {
  return {first, pack_chunks(rest...)};
}

}  // namespace KokkosHostSpaces::Impl

#endif
