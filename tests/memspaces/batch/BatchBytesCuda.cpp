// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Every byte of batches of many numbers and lengths, from lists that are new and that are kept.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace khs = KokkosHostSpaces;

namespace BatchBytes {

namespace {

using Host   = Kokkos::View<char*, khs::PinnedSpace>;
using Device = Kokkos::View<char*, Kokkos::CudaSpace>;
using Range  = std::pair<std::size_t, std::size_t>;

// Where pieces lie on one side.
std::vector<std::size_t> places(std::vector<std::size_t> const& lengths, std::size_t grain,
                                std::mt19937& random) {
  std::vector<std::size_t> begins;
  std::size_t next = 0;
  for (std::size_t const length : lengths) {
    begins.push_back(next);
    next += (length + grain - 1) / grain * grain + grain * (1 + random() % 3);
  }
  begins.push_back(next);
  return begins;
}

template <class View>
std::vector<View> cut(View const& view, std::size_t shift, std::vector<std::size_t> const& begins,
                      std::vector<std::size_t> const& lengths) {
  std::vector<View> parts;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    parts.push_back(
        Kokkos::subview(view, Range(shift + begins[i], shift + begins[i] + lengths[i])));
  return parts;
}

// Lengths and places are multiples of `grain`; all of one length, or each of another up to `most`.
void check(std::size_t count, std::size_t grain, std::size_t most, bool are_equal) {
  INFO(count << " pieces of up to " << most << " x " << grain << " bytes, equal: " << are_equal);
  std::mt19937 random(unsigned(count + grain));
  std::vector<std::size_t> lengths(count, grain * most);
  if (!are_equal)
    for (std::size_t& length : lengths) length = grain * (1 + random() % most);
  auto const from = places(lengths, grain, random), to = places(lengths, grain, random);
  Kokkos::Cuda const instance;
  Host const host("host", from.back() + 16), back("back", from.back() + 16);
  Device const device("device", to.back() + 16);
  for (std::size_t const shift : {0, 16, 1, 8, 0}) {  // the list is kept from the first one on
    char* const bytes = host.data();
    for (std::size_t i = 0; i < host.size(); ++i) bytes[i] = char((i + shift) * 2654435761u >> 24);
    Kokkos::deep_copy(device, 0);
    Kokkos::deep_copy(back, 0);
    khs::deep_copy_all(instance, cut(device, shift / 2, to, lengths),
                       cut(host, shift, from, lengths));
    khs::deep_copy_all(instance, cut(back, shift, from, lengths),
                       cut(device, shift / 2, to, lengths));
    instance.fence();
    std::vector<char> expected(back.size(), 0);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(host.data() + shift + from[i], lengths[i],
                  expected.begin() + std::ptrdiff_t(shift + from[i]));
    REQUIRE(std::equal(expected.begin(), expected.end(), back.data()));
  }
}

}  // namespace

TEST_CASE("batches of any number and length of pieces copy their bytes and no others",
          "[driver_calls][cuda]") {
  for (bool const are_equal : {true, false}) {
    for (std::size_t const count : {33, 63, 64, 65, 127, 1025, 4095, 4097})
      for (std::size_t const grain : {1, 4, 12, 16}) check(count, grain, 31, are_equal);
    for (std::size_t const count : {32769, 65535, 65536, 65537}) check(count, 1, 33, are_equal);
    check(300, 1, 16385, are_equal);
    check(2000, 16, 700, are_equal);
    check(130, 4, 30000, are_equal);
  }
}

}  // namespace BatchBytes
