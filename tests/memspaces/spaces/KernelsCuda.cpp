// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kernels on mapped memory, asynchrony, and lifetime, on a GPU.

#include "../Stall.hpp"
#include "../KokkosTest.hpp"

TEST_CASE(
    "kernels read and write mapped memory, pinned memory by mapped_view, and Views of the Cuda device type",
    "[kernels][cuda]") {
  constexpr int n = 10000;
  Kokkos::View<int*, khs::PinnedSpace> const pinned("pinned", n);
  Kokkos::View<int*, Kokkos::Device<Kokkos::Cuda, khs::MappedSpace>> const on_cuda("on_cuda", n);
  Kokkos::View<int*, khs::WriteCombinedSpace> const read("read", n);
  auto const mapped = khs::mapped_view(pinned);
  for (int i = 0; i < n; ++i) read(i) = on_cuda(i) = i;
  Kokkos::parallel_for(
      "write", n, KOKKOS_LAMBDA(int i) {
        mapped(i)  = read(i);
        on_cuda(i) = 2 * on_cuda(i);
      });
  Kokkos::fence();
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += pinned(i) != i || on_cuda(i) != 2 * i;
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE(
    "deep_copy on an instance returns before the copy is done, and holds up no other instance",
    "[async][cuda]", khs::PinnedSpace, khs::MappedSpace, khs::WriteCombinedSpace) {
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  constexpr int n      = 1 << 20;
  Kokkos::View<int*, TestType> const host("host", n);
  Kokkos::View<int*, khs::PinnedSpace> const back("back", n);
  Kokkos::View<int*, khs::MappedSpace> const copy("copy", n);
  Kokkos::View<int*, Kokkos::CudaSpace> const device("device", n);
  Kokkos::View<int**, Kokkos::LayoutRight, khs::PinnedSpace> const wide("wide", n, 2);
  Kokkos::View<int*, khs::PinnedSpace> const of_other("of_other", 1000);
  Kokkos::View<int*, Kokkos::CudaSpace> const other("other", 1000);
  auto const enqueue_all = [&](int value) {
    Kokkos::deep_copy(instances[0], device, host);
    Kokkos::deep_copy(instances[0], back, device);
    Kokkos::deep_copy(instances[0], copy, back);
    Kokkos::deep_copy(instances[0], Kokkos::subview(wide, Kokkos::ALL, 1), device);
    Kokkos::deep_copy(instances[0], Kokkos::subview(wide, Kokkos::ALL, 0), value);
  };
  enqueue_all(0);  // CUDA loads a kernel at its first launch, and waits for others to do so
  Kokkos::fence();
  for (int i = 0; i < n; ++i) host(i) = i;
  {
    Stall stall(instances[0]);
    auto const start = std::chrono::steady_clock::now();
    enqueue_all(9);
    CHECK(seconds_since(start) < 0.2);
    Kokkos::deep_copy(instances[1], other, of_other);
    instances[1].fence();  // would hang for seconds behind the stall
    Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), of_other, other);
    CHECK(back(n - 1) == 0);  // nothing has run: the stream is stalled
    CHECK(copy(n - 1) == 0);
    CHECK(wide(n - 1, 1) == 0);
    CHECK(wide(n - 1, 0) == 0);
    stall.open();
    instances[0].fence();
  }
  CHECK(back(n - 1) == n - 1);
  CHECK(copy(n - 1) == n - 1);
  CHECK(wide(n - 1, 1) == n - 1);
  CHECK(wide(n - 1, 0) == 9);
}

TEST_CASE("a copy by a host instance does not wait for kernels of the default instance",
          "[async][cuda]") {
  using Host      = Kokkos::DefaultHostExecutionSpace;
  constexpr int n = 500;
  Kokkos::View<int**, Kokkos::LayoutRight, khs::PinnedSpace> const host("host", n, n);
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::CudaSpace> const same("same", n, n);
  Kokkos::View<int**, Kokkos::LayoutLeft, Kokkos::CudaSpace> const other("other", n, n);
  auto const copy_all = [&] {
    Kokkos::deep_copy(Host(), same, host);
    Kokkos::deep_copy(Host(), Kokkos::subview(host, Kokkos::ALL, std::pair<int, int>(0, 100)),
                      Kokkos::subview(same, Kokkos::ALL, std::pair<int, int>(0, 100)));
    Kokkos::deep_copy(Host(), other, host);
    Kokkos::deep_copy(Host(), host, other);
  };
  copy_all();  // CUDA loads a kernel at its first launch, and waits for others to do so
  Kokkos::fence();
  for (int i = 0; i < n; ++i) host(i, i) = i;
  Kokkos::Cuda const standard;
  Stall stall(standard);
  auto const start = std::chrono::steady_clock::now();
  copy_all();
  CHECK(seconds_since(start) < 0.2);
  CHECK(host(n - 1, n - 1) == n - 1);
  stall.open();
  standard.fence();
}

TEST_CASE(
    "mirrors, resize, realloc, device_view and sync on an instance return before its work is done",
    "[async][cuda]") {
  auto const instances = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1);
  auto const& instance = instances[0];
  constexpr int n      = 100000;
  Kokkos::View<int*, Kokkos::CudaSpace> const device("device", n);
  Kokkos::View<int*, khs::PinnedSpace> grown("grown", n), fresh("fresh", n);
  Kokkos::View<int*, khs::PinnedSpace> const source("source", n);
  Kokkos::deep_copy(device, 3);
  khs::PinnedDualView<int*> dual("dual", n);
  auto const on_instance = [&](int extent) {
    dual.modify_host();
    dual.sync_device(instance);
    dual.modify_device();
    dual.sync_host(instance);
    Kokkos::resize(Kokkos::view_alloc(instance), grown, extent);
    Kokkos::realloc(Kokkos::view_alloc(instance), fresh, extent);
    Kokkos::deep_copy(instance, Kokkos::View<int*, khs::PinnedSpace>(grown.data(), n), device);
    auto const read = khs::device_view(instance, source);
    auto const back =
        Kokkos::create_mirror_view_and_copy(Kokkos::view_alloc(khs::PinnedSpace(), instance), read);
    // Keeps both: destroying device memory waits for the device.
    return std::pair(read, back);
  };
  on_instance(n + 1);
  Kokkos::fence();
  for (int i = 0; i < n; ++i) source(i) = grown(i) = i;
  Stall stall(instance);
  auto const start = std::chrono::steady_clock::now();
  auto const both  = on_instance(n + 2);
  CHECK(seconds_since(start) < 0.2);
  stall.open();
  instance.fence();
  CHECK(both.second(n - 1) == n - 1);
  CHECK(grown(n - 1) == 3);
  CHECK(grown(n + 1) == 0);
  CHECK(fresh(n + 1) == 0);
}

TEST_CASE("resize and realloc on an instance take an extent for each dimension, and strides",
          "[kernels][cuda]") {
  Kokkos::Cuda const instance;
  Kokkos::View<int** [2], khs::PinnedSpace> view("view", 3, 4);
  CHECK_THROWS_AS(Kokkos::resize(Kokkos::view_alloc(instance), view, 5), khs::Error);
  CHECK_THROWS_AS(Kokkos::realloc(Kokkos::view_alloc(instance), view, 5, 6, 2, 1), khs::Error);
  CHECK(view.extent(0) == 3);
  Kokkos::resize(Kokkos::view_alloc(instance), view, 5, 6);
  Kokkos::realloc(Kokkos::view_alloc(instance), view, 7, 8, 2);
  Kokkos::View<int*, Kokkos::LayoutStride, khs::PinnedSpace> strided("strided",
                                                                     Kokkos::LayoutStride(10, 1));
  for (int i = 0; i < 10; ++i) strided(i) = i;
  Kokkos::resize(Kokkos::view_alloc(instance), strided, Kokkos::LayoutStride(10, 3));
  instance.fence();
  CHECK(view.size() == 112);
  CHECK((strided.stride(0) == 3 && strided(9) == 9));
}
