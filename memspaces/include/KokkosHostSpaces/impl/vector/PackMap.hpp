// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a device gets of an element-wise kernel. Kernels of two microseconds are chains of waits, for
// their instructions and their arguments as well. So what each thread does comes first and in one
// piece, counts in 32 bits, and all that it needs is in the first 48 bytes, which arrive at once. That
// m_packs is needed for the elements behind the packs, too, makes nvcc load it before it is needed:
// in a graph 0.1 of 2 µs.

#ifndef KOKKOS_HOST_SPACES_IMPL_PACK_MAP_HPP
#define KOKKOS_HOST_SPACES_IMPL_PACK_MAP_HPP

#include <KokkosHostSpaces/impl/vector/Packs.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

/// out[i] = op(in[i]...) for the items of one launch.
template <int N, class Op, class Out, class... In>
class PackMap {
 public:
  PackMap(Out* out, InputsOf<In...> const& in, Op const& op) : m_out(out), m_in(in), m_op(op) {}

  /// Of what `deal` deals out, the items from `first` on, `count` of them: by so many threads, and at
  /// least a warp. The elements behind packs, fewer than N, are done beside the last packs.
  PackMap part(PackSplit const& deal, std::uint64_t first, std::uint32_t count) const {
    bool const by_packs          = deal.packs > 0;
    std::uint64_t const elements = first * (by_packs ? N : 1), end = first + count;
    PackMap result(m_out + elements, m_in.from(elements), m_op);
    result.m_packs = std::uint32_t(std::min(deal.packs, end) - std::min(deal.packs, first));
    if (!by_packs)
      result.m_rest = std::uint32_t(std::min(deal.rest, end) - first);
    else if (end >= deal.packs)
      result.m_rest = std::uint32_t(deal.rest);
    return result;
  }

  KOKKOS_FUNCTION void operator()(std::uint32_t item) const {
    if (item < m_packs) do_pack(item);
    if (item < m_rest) do_element(N * std::uint64_t(m_packs) + item);
  }

  KOKKOS_FUNCTION void do_pack(std::integral auto i) const {
    m_in.pass_to([&](auto const*... in) {
      pack_of<N>(m_out, i) = apply_to_packs<Out, N>(m_op, pack_of<N>(in, i)...);
    });
  }
  KOKKOS_FUNCTION void do_element(std::integral auto i) const {
    m_in.pass_to([&](auto const*... in) { m_out[i] = Out(m_op(in[i]...)); });
  }

 private:
  Out* m_out;
  InputsOf<In...> m_in;
  std::uint32_t m_packs = 0, m_rest = 0;
  Op m_op;
};

}  // namespace KokkosHostSpaces::Impl

#endif
