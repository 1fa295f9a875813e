// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Calls of the CUDA runtime by deep_copy: their number, bytes and streams.

#include "../DriverSpy.hpp"
#include "../KokkosTest.hpp"

#include <Kokkos_DualView.hpp>
#include <cuda_runtime_api.h>

namespace {

constexpr int n = 300;
using Range     = std::pair<int, int>;
using Right     = Kokkos::LayoutRight;

template <class Space>
using Matrix = Kokkos::View<int**, Right, Space>;

// What `work` asks of the driver: copies, their bytes, and their streams.
template <class Work>
void check_calls(std::size_t copies, std::size_t bytes, std::set<void*> const& streams,
                 Work const& work) {
  DriverSpy const spy;
  work();
  CHECK(spy.copies == copies);
  CHECK(spy.bytes == bytes);
  CHECK(spy.streams == (copies > 0 ? streams : std::set<void*>()));
}

// An instance of its own, and its stream.
struct Second {
  Kokkos::Cuda instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1)[1];
  std::set<void*> const stream{instance.cuda_stream()};
};

template <class View>
auto part_of(View const& view) {
  return Kokkos::subview(view, Range(0, 100), Range(50, 150));
}

constexpr std::size_t bytes_of_all = sizeof(int) * n * n, bytes_of_part = sizeof(int) * 100 * 100;

}  // namespace

TEMPLATE_TEST_CASE("failure 22: a copy asks the driver once, for its bytes, on its instance alone",
                   "[driver_calls][cuda]", khs::PinnedSpace, khs::MappedSpace,
                   khs::WriteCombinedSpace) {
  Second const on;
  Matrix<TestType> const host("host", n, n);
  Matrix<Kokkos::CudaSpace> const device("device", n, n);
  check_calls(1, bytes_of_all, on.stream, [&] { Kokkos::deep_copy(on.instance, device, host); });
  check_calls(1, bytes_of_part, on.stream,
              [&] { Kokkos::deep_copy(on.instance, part_of(host), part_of(device)); });
  Kokkos::fence();
}

TEST_CASE("a copy by a host instance is on none of the user's streams", "[driver_calls][cuda]") {
  Matrix<khs::PinnedSpace> const host("host", n, n);
  Matrix<Kokkos::CudaSpace> const device("device", n, n);
  void* const users = Kokkos::Cuda().cuda_stream();
  DriverSpy const spy;
  Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), device, host);
  Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), part_of(host), part_of(device));
  CHECK((spy.copies == 2 && spy.bytes == bytes_of_all + bytes_of_part));
  CHECK(spy.streams.count(users) + spy.streams.count(nullptr) == 0);
}

TEST_CASE(
    "a broadcast of pageable memory is one call, and a DualView in mapped memory copies nothing",
    "[driver_calls][cuda]") {
  double const value = 3;
  Kokkos::View<double const*, Kokkos::LayoutStride, Kokkos::HostSpace> const source(
      &value, Kokkos::LayoutStride(1000000, 0));
  Kokkos::View<double*, khs::PinnedSpace> const host("host", 1000000);
  Second const on;
  check_calls(1, sizeof(double), on.stream, [&] { Kokkos::deep_copy(on.instance, host, source); });
  on.instance.fence();
  CHECK(host(999999) == 3);
  Kokkos::DualView<int*, Kokkos::Device<Kokkos::Cuda, khs::MappedSpace>> dual("dual", 1000);
  check_calls(0, 0, {}, [&] {
    dual.modify_host();
    dual.view_host()(999) = 999;
    dual.sync_device();
    CHECK(dual.view_device()(999) == 999);
  });
}

TEST_CASE("a mirror on an instance, resize and device_view copy what there is, and once",
          "[driver_calls][cuda]") {
  Kokkos::Cuda const instance;
  Matrix<Kokkos::CudaSpace> const device("device", n, n);
  {
    DriverSpy const spy;
    auto const mirror = Kokkos::create_mirror_view_and_copy(
        Kokkos::view_alloc(khs::PinnedSpace(), instance), device);
    CHECK((spy.copies == 1 && spy.bytes == bytes_of_all));
    auto const read = khs::device_view(instance, mirror);
    // Kokkos puts a label of 128 bytes before what it allocates on a device.
    CHECK((spy.copies == 3 && spy.bytes == 2 * bytes_of_all + 128));
    CHECK(khs::device_view(instance, khs::mapped_view(mirror)).data() == mirror.data());
    CHECK(spy.copies == 3);
  }
  Second const on;
  check_calls(1, bytes_of_all, on.stream, [&] {
    auto const mirror = khs::create_pinned_mirror_view_and_copy(on.instance, device);
    auto const empty  = khs::create_pinned_mirror_view(on.instance, device);
  });
  Kokkos::fence();
}

TEST_CASE(
    "failure 23: sync of a PinnedDualView is one copy, on its instance alone, and none where none is due",
    "[driver_calls][cuda]") {
  Second const on;
  khs::PinnedDualView<int**, Right> dual("dual", n, n);
  auto part = part_of(dual);
  Kokkos::fence();
  auto const copied = [&](std::size_t bytes, auto const& sync) {
    check_calls(bytes > 0, bytes, on.stream, sync);
  };
  copied(0, [&] { dual.sync_device(on.instance); });
  dual.modify_host();
  copied(bytes_of_all, [&] { dual.sync_device(on.instance); });
  copied(0, [&] { dual.sync_device(on.instance); });
  dual.modify_device();
  copied(bytes_of_all, [&] { dual.sync<khs::PinnedSpace>(on.instance); });
  part.modify_host();
  copied(bytes_of_part, [&] { part.sync_device(on.instance); });
  Kokkos::DualView<int**, Right> known_to_others = dual;
  known_to_others.modify_device();
  copied(bytes_of_all, [&] { known_to_others.sync_host(on.instance); });
  Kokkos::fence();
}

// --- two devices ---

TEST_CASE("a copy without an instance runs on the device whose memory it is",
          "[driver_calls][cuda]") {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) SKIP("needs two devices");
  Kokkos::View<int*, khs::PinnedSpace> const host("host", 1000);
  auto const streams_for = [&](int device) {
    cudaStream_t stream = nullptr;
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    std::set<void*> used;
    {
      Kokkos::Cuda const instance(stream);
      Kokkos::View<int*, Kokkos::CudaSpace> const there(Kokkos::view_alloc(instance, "there"),
                                                        1000);
      instance.fence();
      REQUIRE(cudaSetDevice(0) == cudaSuccess);
      for (int i = 0; i < 1000; ++i) host(i) = i + device;
      DriverSpy const spy;
      Kokkos::deep_copy(there, host);
      Kokkos::deep_copy(host, 0);
      Kokkos::deep_copy(host, there);
      CHECK(host(999) == 999 + device);
      used = spy.streams;
    }
    REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
    return used;
  };
  std::set<void*> const first = streams_for(0), second = streams_for(1);
  CHECK(first.size() == 1);
  CHECK(second.size() == 1);
  CHECK(first != second);
}

// Its handle is that of the current device's, too.
TEST_CASE("a copy on the default stream of another device is on that", "[driver_calls][cuda]") {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) SKIP("needs two devices");
  Kokkos::View<int*, khs::PinnedSpace> const host("host", 1000), back("back", 1000);
  for (int i = 0; i < 1000; ++i) host(i) = i;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  {
    Kokkos::Cuda const instance(static_cast<cudaStream_t>(nullptr));
    REQUIRE(instance.cuda_device() == 1);
    Kokkos::View<int*, Kokkos::CudaSpace> const there(Kokkos::view_alloc(instance, "there"), 1000);
    instance.fence();
    std::atomic<bool> open = false;
    REQUIRE(cudaLaunchHostFunc(
                nullptr,
                [](void* is_open) { static_cast<std::atomic<bool>*>(is_open)->wait(false); },
                &open) == cudaSuccess);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    Kokkos::deep_copy(instance, there, host);
    khs::deep_copy_all(instance, khs::copy_of(back, there));
    CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);  // of device 0
    CHECK(back(999) == 0);
    open = true;
    open.notify_all();
    REQUIRE(cudaSetDevice(1) == cudaSuccess);  // a fence of Kokkos waits on the current device
    instance.fence();
    CHECK(back(999) == 999);
  }
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
}
