// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Batches that are made again and again without being prepared: what is known of the last ones must
// not be taken for what lies there now.

#include "../copy/CopyCases.hpp"

#include <thread>
#include <utility>
#include <vector>

namespace DeepCopyAllAgain {

using namespace CopyCases;

using Execution   = Kokkos::DefaultExecutionSpace;
using DeviceSpace = Execution::memory_space;
using Host        = Kokkos::View<int*, khs::PinnedSpace>;
using Device      = Kokkos::View<int*, DeviceSpace>;
using Range       = std::pair<std::size_t, std::size_t>;

constexpr std::size_t length = 12, slot = 20;

// Parts of a View, in no regular order.
template <class View>
std::vector<View> parts_of(View const& view, std::size_t count, bool in_order) {
  std::vector<View> parts;
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t const begin = slot * (in_order ? k : k ^ (k >> 1));
    parts.push_back(Kokkos::subview(view, Range(begin, begin + length)));
  }
  return parts;
}

// There and back through memory that is the device's for that time alone.
struct Round {
  Round(Execution const& instance, std::size_t parts, int first_)
      : count(parts), first(first_), back("back", slot * 2 * parts) {
    Host const host("host", slot * 2 * count);
    Device const device(Kokkos::view_alloc(instance, "device"), slot * 2 * count);
    for (std::size_t i = 0; i < host.size(); ++i) host(i) = first + int(i);
    khs::deep_copy_all(instance, parts_of(device, count, true), parts_of(host, count, false));
    khs::deep_copy_all(instance, parts_of(back, count, false), parts_of(device, count, true));
    if (first % 7000 == 0) instance.fence();
    kept = device;
  }
  int wrong() const {
    int number = 0;
    for (Host const& part : parts_of(back, count, false))
      for (std::size_t i = 0; i < length; ++i)
        number += part(i) != first + int(&part(i) - back.data());
    return number;
  }

  std::size_t count;
  int first;
  Host back;
  Device kept;
};

int wrong_of_rounds(Execution const& instance, int rounds) {
  std::vector<Round> made;
  // More kinds than are known at a time, so that lists go while kernels read them.
  std::size_t const counts[] = {40, 64, 65, 3000, 1000, 500, 2000};
  for (int round = 0; round < rounds; ++round)
    made.emplace_back(instance, counts[round / 2 * 5 % 7], 1000 * round);
  instance.fence();
  int wrong = 0;
  for (Round const& round : made) wrong += round.wrong();
  return wrong;
}

TEST_CASE("batches at equal distances in other memory copy what lies there", "[deep_copy]") {
  CHECK(wrong_of_rounds(Execution(), 60) == 0);
}

TEST_CASE("batches of equal distances are made by several threads at a time", "[deep_copy]") {
  constexpr int most   = 3;
  auto const instances = Kokkos::Experimental::partition_space(Execution(), std::vector(most, 1));
  std::vector<int> wrong(most, -1);
  std::vector<std::thread> threads;
#ifdef KOKKOS_ENABLE_CUDA  // elsewhere Kokkos has no instances for threads
  for (int i = 0; i < most; ++i)
    threads.emplace_back([&, i] { wrong[i] = wrong_of_rounds(instances[i], 40); });
#else
  wrong = std::vector(most, wrong_of_rounds(instances[0], 40));
#endif
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector(most, 0));
}

TEST_CASE("a batch is refused although one at the same distances was not", "[deep_copy]") {
  Execution const instance;
  std::size_t const count = 200;
  Device const a("a", 2 * slot * 2 * count), b("b", slot * 2 * count);
  auto const from = parts_of(a, count, false);
  for (int time = 0; time < 3; ++time) {
    khs::deep_copy_all(instance, parts_of(b, count, true), from);
    // As far from each other, but the one is in the other.
    Device const within = Kokkos::subview(a, Range(slot * count, a.size()));
    CHECK_THROWS_AS(khs::deep_copy_all(instance, parts_of(within, count, true), from), khs::Error);
    auto spoiled = parts_of(b, count, true);
    spoiled[150] = Kokkos::subview(b, Range(slot * 77 + 1, slot * 77 + 1 + length));
    CHECK_THROWS_AS(khs::deep_copy_all(instance, spoiled, from), khs::Error);
    spoiled[150] = Kokkos::subview(b, Range(0, length - 1));
    CHECK_THROWS_AS(khs::deep_copy_all(instance, spoiled, from), khs::Error);
  }
  instance.fence();
}

TEST_CASE("neighbours are one copy, and refused if that writes what it reads", "[deep_copy]") {
  Execution const instance;
  std::size_t const count = 300, n = length * count;
  Host const host("host", n), back("back", n);
  Device const device("device", 2 * n);
  for (std::size_t i = 0; i < n; ++i) host(i) = int(i) + 7;
  auto const cut = [&](auto const& view, std::size_t begin) {
    std::vector<std::decay_t<decltype(view)>> parts;
    for (std::size_t k = 0; k < count; ++k)
      parts.push_back(Kokkos::subview(view, Range(begin + length * k, begin + length * (k + 1))));
    return parts;
  };
  khs::deep_copy_all(instance, cut(device, 0), cut(host, 0));
  khs::deep_copy_all(instance, cut(device, n), cut(device, 0));
  khs::deep_copy_all(instance, cut(back, 0), cut(device, n));
  CHECK_THROWS_AS(khs::deep_copy_all(instance, cut(device, n - 1), cut(device, 0)), khs::Error);
  instance.fence();
  int wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += back(i) != int(i) + 7;
  CHECK(wrong == 0);
}

}  // namespace DeepCopyAllAgain
