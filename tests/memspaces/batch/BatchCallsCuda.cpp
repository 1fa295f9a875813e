// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The calls of the CUDA runtime that DeepCopyAll.hpp and PreparedCopies.hpp promise.

#include "../DriverSpy.hpp"
#include "../KokkosTest.hpp"

#include <cuda_runtime_api.h>

namespace BatchCalls {
namespace {

using Host   = Kokkos::View<char*, khs::PinnedSpace>;
using Device = Kokkos::View<char*, Kokkos::CudaSpace>;
using Slices = std::vector<khs::Slice>;

/// Pieces that go to a device and back to other memory of the host: as Views, and as slices.
struct Pieces {
  explicit Pieces(Slices of) : to_device(std::move(of)) {
    std::size_t dst_end = 0, src_end = 0;
    for (khs::Slice const& slice : to_device) {
      to_host.push_back({slice.src, slice.dst, slice.count});
      dst_end = std::max(dst_end, slice.dst + slice.count);
      src_end = std::max(src_end, slice.src + slice.count);
    }
    host   = Host("host", src_end);
    back   = Host("back", src_end);
    device = Device("device", dst_end);
    for (std::size_t i = 0; i < host.size(); ++i) host(i) = char(1 + i * 2654435761u >> 20);
    for (khs::Slice const& slice : to_device) {
      std::pair const here(slice.src, slice.src + slice.count),
          there(slice.dst, slice.dst + slice.count);
      Device const on_device = Kokkos::subview(device, there);
      views_to_device.emplace_back(on_device, Kokkos::subview(host, here));
      views_to_host.emplace_back(Kokkos::subview(back, here), on_device);
    }
  }
  /// Irregular pieces with gaps, of about `bytes` bytes.
  Pieces(std::size_t count, std::size_t bytes) : Pieces(irregular(count, bytes)) {}

  static Slices irregular(std::size_t count, std::size_t bytes) {
    Slices slices;
    std::size_t const slot = 2 * bytes + 16;
    for (std::size_t i = 0; i < count; ++i)
      slices.push_back({slot * i + i % 5, slot * (i * 7 % count), bytes - i % 3});
    return slices;
  }
  void copy_views(Kokkos::Cuda const& instance) const {
    khs::deep_copy_all(instance, views_to_device);
    khs::deep_copy_all(instance, views_to_host);
  }
  void copy_slices(Kokkos::Cuda const& instance) const {
    khs::deep_copy_all(instance, device, host, to_device);
    khs::deep_copy_all(instance, back, device, to_host);
  }
  bool came_back(Kokkos::Cuda const& instance) const {
    instance.fence();
    std::vector<char> expected(back.size(), 0);
    for (khs::Slice const& slice : to_device)
      std::copy_n(host.data() + slice.src, slice.count,
                  expected.begin() + std::ptrdiff_t(slice.src));
    bool const is_right = std::equal(expected.begin(), expected.end(), back.data());
    Kokkos::deep_copy(back, 0);
    Kokkos::deep_copy(device, 0);
    return is_right;
  }

  Slices to_device, to_host;
  Host host, back;
  Device device;
  std::vector<std::pair<Device, Host>> views_to_device;
  std::vector<std::pair<Host, Device>> views_to_host;
};

bool has_batch_call() { return CUDART_VERSION >= 13000; }

/// Calls check(spy) after copies there and back as Views, and as slices.
template <class Check>
void check_calls(Pieces const& pieces, Kokkos::Cuda const& instance, Check const& check) {
  for (bool const by_slices : {false, true}) {
    INFO((by_slices ? "slices" : "Views"));
    DriverSpy const spy;
    by_slices ? pieces.copy_slices(instance) : pieces.copy_views(instance);
    check(spy);
    CHECK(pieces.came_back(instance));
  }
}

}  // namespace

TEST_CASE(
    "failure 25: deep_copy_all on the legacy default stream needs no call that it does not take",
    "[driver_calls][cuda]") {
  Kokkos::Cuda const instance(static_cast<cudaStream_t>(nullptr));
  for (std::size_t const bytes : {3000, 300000})
    check_calls(Pieces(100, bytes), instance, [bytes](DriverSpy const& spy) {
      CHECK((spy.batches == 0 && spy.copies == (bytes == 3000 ? 0 : 200)));
    });
}

TEST_CASE(
    "deep_copy_all is captured in a graph: short pieces as one kernel, long ones by themselves",
    "[driver_calls][cuda]") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  for (int const way : {0, 1, 2})  // Views, slices, prepared
    for (std::size_t const bytes : {3000, 300000}) {
      INFO("way " << way << ", pieces of " << bytes << " bytes");
      Kokkos::Cuda const instance(stream);
      Pieces const pieces(100, bytes);
      cudaGraph_t graph = nullptr;
      {
        auto const there = khs::prepare_deep_copy_all(instance, pieces.views_to_device);
        auto const back  = khs::prepare_deep_copy_all(instance, pieces.views_to_host);
        DriverSpy const spy;
        REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        if (way == 0) pieces.copy_views(instance);
        if (way == 1) pieces.copy_slices(instance);
        if (way == 2) {
          khs::deep_copy_all(instance, there);
          khs::deep_copy_all(instance, back);
        }
        REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
        CHECK(spy.copies == (bytes == 3000 ? 0 : 200));
      }
      std::size_t nodes = 0;
      REQUIRE(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
      CHECK(nodes == (bytes == 3000 ? 2 : 200));
      khs::pool::trim(0);
      cudaGraphExec_t runnable = nullptr;
      REQUIRE(cudaGraphInstantiate(&runnable, graph, 0) == cudaSuccess);
      REQUIRE(cudaGraphLaunch(runnable, stream) == cudaSuccess);
      REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
      CHECK(pieces.came_back(instance));
      cudaGraphExecDestroy(runnable);
      cudaGraphDestroy(graph);
    }
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("prepared short pieces are one launch of a graph, and long ones one call",
          "[driver_calls][cuda]") {
  auto const instance = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1, 1)[1];
  for (auto const& [count, bytes] :
       {std::pair<std::size_t, std::size_t>(20, 64), {100, 3000}, {4096, 64}, {100, 300000}}) {
    Pieces const pieces(count, bytes);
    auto const there = khs::prepare_deep_copy_all(instance, pieces.views_to_device);
    auto const back =
        khs::prepare_deep_copy_all(instance, pieces.back, pieces.device, pieces.to_host);
    for (int step = 0; step < 3; ++step) {
      DriverSpy const spy;
      khs::deep_copy_all(instance, there);
      khs::deep_copy_all(instance, back);
      CHECK(spy.launches == (bytes < 300000 ? 2 : 0));
      if (has_batch_call()) CHECK((spy.copies == 0 && spy.batches == (bytes < 300000 ? 0 : 2)));
      CHECK(pieces.came_back(instance));
    }
  }
}

// The driver refuses rows that lie in two registrations.
TEST_CASE("prepared rows that the driver refuses are not tried again", "[driver_calls][cuda]") {
  constexpr std::size_t half = 1 << 16, pitch = 1024, bytes = 64;
  auto* const memory = static_cast<char*>(std::aligned_alloc(half, 2 * half));
  REQUIRE(cudaHostRegister(memory, half, cudaHostRegisterMapped) == cudaSuccess);
  REQUIRE(cudaHostRegister(memory + half, half, cudaHostRegisterMapped) == cudaSuccess);
  Host const host(memory, 2 * half);
  Device const device("device", 2 * half);
  std::fill_n(memory, 2 * half, 'a');
  Slices rows;
  for (std::size_t begin = 0; begin < 2 * half; begin += pitch)
    rows.push_back({begin, begin, bytes});
  Kokkos::Cuda const instance;
  auto const there = khs::prepare_deep_copy_all(instance, device, host, rows);
  std::size_t calls[2];
  for (std::size_t& of_this_time : calls) {
    DriverSpy const spy;
    khs::deep_copy_all(instance, there);
    of_this_time = spy.copies;
    instance.fence();
  }
  CHECK(calls[0] >= 1);
  CHECK(calls[1] + 1 == calls[0]);
  Host const back("back", 2 * half);
  Kokkos::deep_copy(back, device);
  for (khs::Slice const& row : rows) CHECK(back(row.dst + bytes - 1) == 'a');
  REQUIRE(cudaHostUnregister(memory + half) == cudaSuccess);
  REQUIRE(cudaHostUnregister(memory) == cudaSuccess);
  std::free(memory);
}

TEST_CASE("copies cannot be prepared in a capture, nor run on another device",
          "[driver_calls][cuda]") {
  Pieces const pieces(100, 200);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  {
    Kokkos::Cuda const instance(stream);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK_THROWS_AS((void)khs::prepare_deep_copy_all(instance, pieces.views_to_device), khs::Error);
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    cudaGraphDestroy(graph);
  }
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  int devices = 0;
  REQUIRE(cudaGetDeviceCount(&devices) == cudaSuccess);
  if (devices < 2) return;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  {
    Kokkos::Cuda const other(stream);
    auto const there = khs::prepare_deep_copy_all(Kokkos::Cuda(), pieces.views_to_device);
    CHECK_THROWS_AS(khs::deep_copy_all(other, there), khs::Error);
    using Device = Kokkos::View<char*, Kokkos::Device<Kokkos::Cuda, Kokkos::CudaSpace>>;
    std::vector<std::pair<Device, Host>> in_pairs;
    std::vector<std::pair<Host, Device>> out_pairs;
    Device const on_other(Kokkos::view_alloc(other, "on_other"), pieces.device.size());
    for (std::size_t i = 0; i < pieces.to_device.size(); ++i) {
      khs::Slice const& slice = pieces.to_device[i];
      Device const part = Kokkos::subview(on_other, std::pair(slice.dst, slice.dst + slice.count));
      in_pairs.emplace_back(part, pieces.views_to_device[i].second);
      out_pairs.emplace_back(pieces.views_to_host[i].first, part);
    }
    auto const in  = khs::prepare_deep_copy_all(other, in_pairs);
    auto const out = khs::prepare_deep_copy_all(other, out_pairs);
    khs::deep_copy_all(other, in);
    khs::deep_copy_all(other, out);
    CHECK(pieces.came_back(other));
  }
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
}

}  // namespace BatchCalls
