// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// deep_copy of Views of random shapes is compared with a loop on the host, in each way to call it.

#ifndef KOKKOS_HOST_SPACES_TESTS_RANDOM_DEEP_COPIES_HPP
#define KOKKOS_HOST_SPACES_TESTS_RANDOM_DEEP_COPIES_HPP

#include "RandomCopies.hpp"
#include "../Rounds.hpp"
#include "../KokkosTest.hpp"

#include <typeinfo>

namespace DeepCopyRandom {

using namespace RandomCopies;

using DeviceSpace = Kokkos::DefaultExecutionSpace::memory_space;

// Bytes in a space, and what the host sees of them.
template <class Space>
struct Memory {
  static constexpr std::size_t most = std::size_t(1) << 20;
  Kokkos::View<unsigned char*, Space> view{"view", most};
  Kokkos::View<unsigned char*, khs::PinnedSpace> host{"host", most};

  void put(std::size_t bytes) const { copy(bytes, view, host); }
  void get(std::size_t bytes) const { copy(bytes, host, view); }

  template <class To, class From>
  static void copy(std::size_t bytes, To const& to, From const& from) {
    std::pair const part(std::size_t(0), bytes);
    Kokkos::deep_copy(Kokkos::subview(to, part), Kokkos::subview(from, part));
  }
};

template <class T, int rank>
struct Array {
  using type = typename Array<T*, rank - 1>::type;
};
template <class T>
struct Array<T, 0> {
  using type = T;
};

constexpr bool is_left(Kokkos::LayoutLeft) { return true; }
constexpr bool is_left(Kokkos::LayoutRight) { return false; }

// LayoutLeft and LayoutRight have no gaps and repeat nothing.
template <class Layout>
void fit(Side& side) {
  if constexpr (!std::is_same_v<Layout, Kokkos::LayoutStride>) {
    std::sort(side.order.begin(), side.order.end());
    if (!is_left(Layout())) std::reverse(side.order.begin(), side.order.end());
    std::fill(side.gaps.begin(), side.gaps.end(), std::size_t(0));
    side.repeat.assign(side.repeat.size(), false);
  }
}

template <class T, int rank, class Layout, class View>
auto part_of(Case const& c, Side const& side, View const& memory) {
  Numbers const strides = c.strides(side);
  Layout layout;
  for (std::size_t r = 0; r < c.extents.size(); ++r) {
    layout.dimension[r] = c.extents[r];
    if constexpr (std::is_same_v<Layout, Kokkos::LayoutStride>) layout.stride[r] = strides[r];
  }
  return Kokkos::View<typename Array<T, rank>::type, Layout, typename View::memory_space,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      reinterpret_cast<T*>(memory.data()) + side.offset, layout);
}

template <int rank, class To, class From, class Dst, class Src,
          class DstLayout = Kokkos::LayoutStride, class SrcLayout = Kokkos::LayoutStride>
void check() {
  INFO(Dst::name() << " <- " << Src::name() << ", rank " << rank << ", " << typeid(DstLayout).name()
                   << " <- " << typeid(SrcLayout).name() << ", " << typeid(To).name() << " <- "
                   << typeid(From).name());
  Kokkos::DefaultExecutionSpace const instance;
  Memory<Dst> const dst;
  Memory<Src> const src;
  auto* const from = reinterpret_cast<From*>(src.host.data());
  for (std::size_t i = 0; i < Memory<Src>::most / sizeof(From); ++i)
    from[i] = From(double(i * 37 % 127));
  src.put(Memory<Src>::most);
  int way          = 0;
  auto const fails = [&](Case const& c) {
    std::size_t const bytes = c.span(c.dst) * sizeof(To) + 64;
    if (bytes > Memory<Dst>::most || c.span(c.src) * sizeof(From) > Memory<Src>::most) return false;
    std::vector<unsigned char> wanted(bytes, 0xee);
    std::memset(dst.host.data(), 0xee, bytes);
    dst.put(bytes);
    c.for_each_element([&](std::size_t to, std::size_t i) {
      To const value = To(from[i]);
      std::memcpy(wanted.data() + to * sizeof(To), &value, sizeof(To));
    });
    auto const to = part_of<To, rank, DstLayout>(c, c.dst, dst.view);
    auto const of = part_of<From, rank, SrcLayout>(c, c.src, src.view);
    switch (way % 4) {
      case 0: Kokkos::deep_copy(to, of); break;
      case 1: Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), to, of); break;
#ifdef KOKKOS_ENABLE_CUDA
      case 2: {
        Kokkos::Cuda const legacy(static_cast<cudaStream_t>(nullptr));
        Kokkos::deep_copy(legacy, to, of);
        legacy.fence();
        break;
      }
#endif
      default: Kokkos::deep_copy(instance, to, of); instance.fence();
    }
    dst.get(bytes);
    return std::memcmp(dst.host.data(), wanted.data(), bytes) != 0;
  };
  std::mt19937 random(20251122);
  int const count = rounds(100);
  for (int round = 0; round < count; ++round) {
    way    = round;
    Case c = make_case(random, rank, 4000);
    fit<DstLayout>(c.dst);
    fit<SrcLayout>(c.src);
    if (!fails(c)) continue;
    FAIL("round " << round << ", way " << way % 4 << ": " << shrink(c, fails).text());
  }
}

}  // namespace DeepCopyRandom

#endif
