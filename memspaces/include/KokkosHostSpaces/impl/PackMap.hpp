// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a device gets of an element-wise kernel. Kernels of two microseconds are chains of waits, for
// their instructions and their arguments as well. So what each thread does comes first and in one
// piece, counts in 32 bits, and all that it needs is in the first 48 bytes, which arrive at once.

#ifndef KOKKOS_HOST_SPACES_IMPL_PACK_MAP_HPP
#define KOKKOS_HOST_SPACES_IMPL_PACK_MAP_HPP

#include <KokkosHostSpaces/impl/Packs.hpp>

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

  /// Of what `deal` deals out, the items from `first` on, at most `count`.
  PackMap part(Deal const& deal, std::uint64_t first, std::uint32_t count) const {
    std::uint64_t const elements = first * (deal.packs > 0 ? N : 1);
    PackMap result(m_out + elements, m_in.from(elements), m_op);
    result.m_packs = part(deal.packs, first, count);
    // Behind packs they are few: the first launch does them all.
    result.m_rest       = deal.packs > 0 && first > 0 ? 0 : part(deal.rest, first, count);
    result.m_rest_begin = deal.packs * N;
    return result;
  }

  KOKKOS_FUNCTION void operator()(std::uint32_t item) const {
    if (item < m_packs) do_pack(item);
    if (item < m_rest) do_element(m_rest_begin + item);
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
  static std::uint32_t part(std::uint64_t all, std::uint64_t first, std::uint32_t count) {
    return std::uint32_t(std::min<std::uint64_t>(all - std::min(all, first), count));
  }

  Out* m_out;
  InputsOf<In...> m_in;
  std::uint32_t m_packs = 0, m_rest = 0;
  std::uint64_t m_rest_begin = 0;
  Op m_op;
};

}  // namespace KokkosHostSpaces::Impl

#endif
