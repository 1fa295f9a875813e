// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Random strided copies of Views between spaces against copies element by element.

#include "RandomCopies.hpp"
#include "../Rounds.hpp"

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <type_traits>
#include <typeinfo>

namespace DeepCopyRandom {

using namespace RandomCopies;
namespace khs = KokkosHostSpaces;

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

// What a layout can be: without gaps, unless it is LayoutStride.
template <class Layout>
void fit(Side& side) {
  if constexpr (!std::is_same_v<Layout, Kokkos::LayoutStride>) {
    std::sort(side.order.begin(), side.order.end());
    if (!is_left(Layout())) std::reverse(side.order.begin(), side.order.end());
    std::fill(side.gaps.begin(), side.gaps.end(), std::size_t(0));
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

template <class T, class Dst, class Src, int rank = 3, class DstLayout = Kokkos::LayoutStride,
          class SrcLayout = Kokkos::LayoutStride>
void check_pair(unsigned seed) {
  INFO(Dst::name() << " <- " << Src::name() << ", rank " << rank << ", " << typeid(DstLayout).name()
                   << " <- " << typeid(SrcLayout).name());
  Kokkos::DefaultExecutionSpace const instance;
  Memory<Dst> const dst;
  Memory<Src> const src;
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < src.host.size(); ++i)
    src.host(i) = static_cast<unsigned char>(random());
  src.put(Memory<Src>::most);
  auto const fails = [&](Case const& c) {
    std::size_t const bytes = c.span(c.dst) * sizeof(T) + 64;
    if (bytes > Memory<Dst>::most || c.span(c.src) * sizeof(T) > Memory<Src>::most) return false;
    std::vector<unsigned char> wanted(bytes, 0xee);
    std::memset(dst.host.data(), 0xee, bytes);
    dst.put(bytes);
    c.copy(wanted.data(), src.host.data());
    Kokkos::deep_copy(instance, part_of<T, rank, DstLayout>(c, c.dst, dst.view),
                      part_of<T, rank, SrcLayout>(c, c.src, src.view));
    instance.fence();
    dst.get(bytes);
    return std::memcmp(dst.host.data(), wanted.data(), bytes) != 0;
  };
  int const count = rounds(150);
  for (int round = 0; round < count; ++round) {
    Case c = make_case(random, sizeof(T), rank, 4000);
    fit<DstLayout>(c.dst);
    fit<SrcLayout>(c.src);
    if (!fails(c)) continue;
    FAIL("seed " << seed << ", round " << round << ": " << shrink(c, fails).text());
  }
}

TEMPLATE_TEST_CASE("random strided copies between spaces are right in every element",
                   "[deep_copy_random]", char, double) {
  check_pair<TestType, DeviceSpace, khs::PinnedSpace>(1);
  check_pair<TestType, khs::PinnedSpace, DeviceSpace>(2);
  check_pair<TestType, khs::MappedSpace, khs::PinnedSpace>(3);
  check_pair<TestType, khs::PinnedSpace, Kokkos::HostSpace>(4);
}

TEST_CASE("random copies of few and of many dimensions, and between layouts, are right",
          "[deep_copy_random]") {
  using Left  = Kokkos::LayoutLeft;
  using Right = Kokkos::LayoutRight;
  check_pair<float, DeviceSpace, khs::PinnedSpace, 1>(5);
  check_pair<float, khs::PinnedSpace, DeviceSpace, 2>(6);
  check_pair<float, DeviceSpace, khs::PinnedSpace, 6>(7);
  check_pair<int, DeviceSpace, khs::PinnedSpace, 2, Left, Right>(8);
  check_pair<int, khs::PinnedSpace, DeviceSpace, 3, Left, Right>(9);
  check_pair<int, DeviceSpace, khs::MappedSpace, 4, Right, Right>(10);
}

}  // namespace DeepCopyRandom
