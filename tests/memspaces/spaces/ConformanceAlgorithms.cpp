// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kokkos' algorithms and random numbers on Views in each space.

#include "Spaces.hpp"

#include <Kokkos_NestedSort.hpp>
#include <Kokkos_Random.hpp>
#include <Kokkos_Sort.hpp>
#include <Kokkos_StdAlgorithms.hpp>

namespace {

constexpr int length = 1000;

// The numbers from 0 on in an order of their own.
template <class Device>
Kokkos::View<int*, Device> shuffled() {
  Kokkos::View<int*, Device> const view("shuffled", length);
  for (int i = 0; i < length; ++i) view(i) = i * 7 % length;
  return view;
}

template <class View>
bool is_iota(View const& view) {
  bool is = true;
  for (int i = 0; i < length; ++i) is = is && view(i) == i;
  return is;
}

}  // namespace

TEMPLATE_TEST_CASE("random numbers are those of the same seed in other spaces", "[conformance]",
                   OnHost<khs::PinnedSpace>) {
  Kokkos::View<double*, TestType> const ours("ours", length);
  Kokkos::View<double*, Kokkos::HostSpace> const theirs("theirs", length);
  Kokkos::Random_XorShift64_Pool<Kokkos::DefaultHostExecutionSpace> pool(1234), same(1234);
  Kokkos::Random_XorShift1024_Pool<TestType> const of_device(1234);
  Kokkos::fill_random(ours, pool, 2., 3.);
  Kokkos::fill_random(theirs, same, 2., 3.);
  Kokkos::fence();
  double least = 3, sum = 0, difference = 0;
  for (int i = 0; i < length; ++i) {
    least = ours(i) < least ? ours(i) : least;
    sum += ours(i);
    difference += ours(i) - theirs(i);
  }
  CHECK((least >= 2 && sum > 2.3 * length && sum < 2.7 * length));
  // Which thread draws which number is not promised.
  if (Kokkos::DefaultHostExecutionSpace().concurrency() == 1) CHECK(difference == 0);
}

TEMPLATE_TEST_CASE("sort puts a View in order, also a part, by keys and by bins",
                   "[conformance][scan_of_kokkos]", KOKKOS_HOST_SPACES_DEVICES) {
  typename TestType::execution_space const instance;
  auto const view = shuffled<TestType>();
  Kokkos::sort(instance, view);
  instance.fence();
  CHECK(is_iota(view));

  auto const keys = shuffled<TestType>(), values = shuffled<TestType>();
  Kokkos::Experimental::sort_by_key(instance, keys, values);
  instance.fence();
  CHECK((is_iota(keys) && is_iota(values)));

  auto const part = shuffled<TestType>();
  Kokkos::sort(instance, part, 10, 20);
  instance.fence();
  CHECK((part(9) == 63 && part(10) == 70 && part(19) == 133 && part(20) == 140));

  auto const binned = shuffled<TestType>();
  using Bin         = Kokkos::BinOp1D<Kokkos::View<int*, TestType>>;
  Kokkos::BinSort<Kokkos::View<int*, TestType>, Bin> sorter(binned, Bin(length, 0, length - 1),
                                                            true);
  sorter.create_permute_vector(instance);
  sorter.sort(instance, binned);
  instance.fence();
  CHECK(is_iota(binned));
  CHECK(view.label() == "shuffled");
}

TEMPLATE_TEST_CASE("the algorithms of the standard library work on it",
                   "[conformance][scan_of_kokkos]", KOKKOS_HOST_SPACES_DEVICES) {
  namespace KE = Kokkos::Experimental;
  typename TestType::execution_space const instance;
  auto const view = shuffled<TestType>();
  Kokkos::View<int*, TestType> const other("other", length);
  KE::copy(instance, view, other);
  CHECK(KE::equal(instance, view, other));
  CHECK(KE::find(instance, view, 7) - KE::begin(view) == 1);
  CHECK(KE::max_element(instance, view) - KE::begin(view) == 857);
  CHECK(KE::count(instance, view, 5) == 1);
  KE::transform(
      instance, view, other, KOKKOS_LAMBDA(int a) { return 2 * a; });
  CHECK(KE::reduce(instance, other) == length * (length - 1));
  KE::reverse(instance, view);
  KE::fill(instance, other, 1);
  instance.fence();
  CHECK(view(length - 2) == 7);
  KE::exclusive_scan(instance, other, view, 0);
  instance.fence();
  CHECK(is_iota(view));
  CHECK(KE::is_sorted(instance, view));
  auto const end = KE::remove_if(
      instance, view, KOKKOS_LAMBDA(int a) { return a % 2 == 1; });
  CHECK((end - KE::begin(view) == length / 2 && view(10) == 20));
}

TEMPLATE_TEST_CASE("kokkos_malloc, kokkos_realloc and kokkos_free work on it", "[conformance]",
                   KOKKOS_HOST_SPACES_ALL) {
  auto* memory = static_cast<int*>(Kokkos::kokkos_malloc<TestType>("labelled", 400));
  for (int i = 0; i < 100; ++i) memory[i] = i;
  memory = static_cast<int*>(Kokkos::kokkos_realloc<TestType>(memory, 800000));
  CHECK((memory[0] == 0 && memory[99] == 99));
  memory[199999] = 7;
  memory         = static_cast<int*>(Kokkos::kokkos_realloc<TestType>(memory, 200));
  CHECK(memory[49] == 49);
  Kokkos::View<int*, TestType, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const view(memory, 50);
  CHECK((view(49) == 49 && view.use_count() == 0));
  Kokkos::kokkos_free<TestType>(memory);
  Kokkos::kokkos_free<TestType>(Kokkos::kokkos_malloc<TestType>(8));
  Kokkos::kokkos_free<TestType>(nullptr);
  CHECK(Kokkos::kokkos_malloc<TestType>(0) == nullptr);
}
