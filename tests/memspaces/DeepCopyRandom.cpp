// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Random strided copies of Views between spaces against copies element by element.

#include "RandomCopies.hpp"
#include "Rounds.hpp"

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <random>

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

template <class T, class View>
auto strided(Case const& c, Side const& side, View const& memory) {
  Numbers const s = c.strides(side);
  return Kokkos::View<T***, Kokkos::LayoutStride, typename View::memory_space,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      reinterpret_cast<T*>(memory.data()) + side.offset,
      Kokkos::LayoutStride(c.extents[0], s[0], c.extents[1], s[1], c.extents[2], s[2]));
}

template <class T, class Dst, class Src>
void check_pair(unsigned seed) {
  INFO(Dst::name() << " <- " << Src::name());
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
    Kokkos::deep_copy(instance, strided<T>(c, c.dst, dst.view), strided<T>(c, c.src, src.view));
    instance.fence();
    dst.get(bytes);
    return std::memcmp(dst.host.data(), wanted.data(), bytes) != 0;
  };
  int const count = rounds(150);
  for (int round = 0; round < count; ++round) {
    Case const c = make_case(random, sizeof(T), 3, 4000);
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

}  // namespace DeepCopyRandom
