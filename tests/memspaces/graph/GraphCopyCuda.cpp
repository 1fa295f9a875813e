// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Captured copies, and graphs on the legacy default stream, on a GPU.

#include "../KokkosTest.hpp"

#include <Kokkos_Graph.hpp>
#include <cuda_runtime_api.h>

namespace GraphCopyCuda {

using Right = Kokkos::LayoutRight;
using Left  = Kokkos::LayoutLeft;
template <class Space, class Layout = Right>
using Matrix = Kokkos::View<int**, Layout, Space>;

namespace {

constexpr int side  = 200;
constexpr int other = -7;

void require(cudaError_t error) { REQUIRE(error == cudaSuccess); }

// A stream, its instance, and the graph that it captured.
class Capturing {
 public:
  explicit Capturing(unsigned flags = cudaStreamDefault) {
    require(cudaStreamCreateWithFlags(&m_stream, flags));
    m_instance.emplace(m_stream);
    Kokkos::fence();
  }
  ~Capturing() {
    if (m_ready != nullptr) cudaGraphExecDestroy(m_ready);
    m_instance.reset();
    cudaStreamDestroy(m_stream);
  }
  Capturing(Capturing const&)            = delete;
  Capturing& operator=(Capturing const&) = delete;

  template <class Work>
  void capture(Work const& work) {
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(m_stream, cudaStreamCaptureModeGlobal));
    work(*m_instance);
    check_after("the work");
    if (!m_broken_after.empty()) FAIL_CHECK("broken after " << m_broken_after);
    require(cudaStreamEndCapture(m_stream, &graph));
    require(cudaGraphInstantiate(&m_ready, graph, 0));
    require(cudaGraphDestroy(graph));
  }

  // Names the step that breaks a capture; the runtime reports it only at the end.
  void check_after(char const* step) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(m_stream, &status);
    if (status != cudaStreamCaptureStatusActive && m_broken_after.empty()) m_broken_after = step;
  }

  void launch() {
    require(cudaGraphLaunch(m_ready, m_stream));
    require(cudaStreamSynchronize(m_stream));
  }

  void destroy_graph() { require(cudaGraphExecDestroy(std::exchange(m_ready, nullptr))); }

 private:
  cudaStream_t m_stream = nullptr;
  std::optional<Kokkos::Cuda> m_instance;
  std::string m_broken_after;
  cudaGraphExec_t m_ready = nullptr;
};

template <class View>
void fill(View const& view, int offset) {
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) view(i, j) = offset + side * i + j;
}

template <class View>
int wrong(View const& view, int offset) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  int count       = 0;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) count += host(i, j) != offset + side * i + j;
  return count;
}

// Other Views, in memory that the pool considers free.
template <class View>
class Others {
 public:
  explicit Others(View const& like) {
    for (int i = 0; i < 8; ++i) {
      m_views.emplace_back(Kokkos::view_alloc("others", Kokkos::WithoutInitializing),
                           like.layout());
      Kokkos::deep_copy(m_views.back(), other);
    }
  }
  int overwritten() const {
    int count = 0;
    for (View const& view : m_views)
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) count += view(i, j) != other;
    return count;
  }

 private:
  std::vector<View> m_views;
};

// CUDA may release the memory later, in a thread of its own.
bool becomes_unused(void const* address) {
  for (int i = 0; i < 1000; ++i) {
    auto const known = khs::pool::describe(address);
    if (!known || known->state != khs::pool::State::in_use) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Captures a copy from a View that is destroyed before the launches.
template <class From, class To>
void check_from_destroyed(unsigned flags, bool of_part = false) {
  Capturing capturing(flags);
  To const to("to", side, side);
  std::optional<From> from(std::in_place, "from", side, side);
  From const shape = From(nullptr, side, side);
  std::pair const part(10, side - 10);
  fill(*from, 3);
  capturing.capture([&](Kokkos::Cuda const& on) {
    if (of_part)
      Kokkos::deep_copy(on, Kokkos::subview(to, Kokkos::ALL, part),
                        Kokkos::subview(*from, Kokkos::ALL, part));
    else
      Kokkos::deep_copy(on, to, *from);
  });
  void const* const address = from->data();
  from.reset();
  CHECK(khs::pool::describe(address)->state == khs::pool::State::in_use);
  Others<From> const others(shape);
  for (int launch = 0; launch < 2; ++launch) {
    Kokkos::deep_copy(to, 0);
    capturing.launch();
    CHECK(wrong(to, 3) == (of_part ? 20 * side : 0));  // elements that are not copied stay 0
  }
}

}  // namespace

TEST_CASE("failure 8: a captured copy replays the bytes of a View that was destroyed",
          "[graph_cuda]") {
  unsigned const flags = GENERATE(cudaStreamDefault, cudaStreamNonBlocking);
  check_from_destroyed<Matrix<khs::PinnedSpace>, Matrix<Kokkos::CudaSpace>>(flags);
  check_from_destroyed<Matrix<khs::MappedSpace, Left>, Matrix<Kokkos::CudaSpace>>(flags);
  check_from_destroyed<Matrix<khs::PinnedSpace>, Matrix<khs::PinnedSpace>>(flags);
  check_from_destroyed<Matrix<khs::PinnedSpace>, Matrix<Kokkos::CudaSpace>>(flags, true);
}

TEST_CASE("a captured copy writes no other memory after its destination was destroyed",
          "[graph_cuda]") {
  Capturing capturing;
  using Host = Matrix<khs::PinnedSpace>;
  Matrix<Kokkos::CudaSpace> const from("from", side, side);
  std::optional<Host> to(std::in_place, "to", side, side);
  bool const fills = GENERATE(true, false);
  capturing.capture([&](Kokkos::Cuda const& on) {
    if (fills)
      Kokkos::deep_copy(on, *to, 5);
    else
      Kokkos::deep_copy(on, *to, from);
  });
  Host const shape(nullptr, side, side);
  void const* const address = to->data();
  to.reset();
  {
    Others<Host> const others(shape);
    capturing.launch();
    CHECK(others.overwritten() == 0);
  }
  CHECK(khs::pool::describe(address)->state == khs::pool::State::in_use);
  capturing.destroy_graph();
  CHECK(becomes_unused(address));
}

TEST_CASE("staging memory of a captured copy belongs to the graph", "[graph_cuda]") {
  Capturing capturing;
  Matrix<Kokkos::HostSpace, Left> const from("from", side, side);
  Matrix<khs::MappedSpace> const to("to", side, side);
  capturing.capture([&](Kokkos::Cuda const& on) { Kokkos::deep_copy(on, to, from); });
  Others<Matrix<khs::MappedSpace>> const others(to);
  fill(from, 9);
  capturing.launch();
  CHECK(wrong(to, 9) == 0);
  CHECK(others.overwritten() == 0);
}

TEST_CASE("staging memory of a node belongs to the graph, not to the pool", "[graph_cuda]") {
  constexpr int large = 2200;  // 18 MiB: for such sizes the pool asks the device
  using Host          = Matrix<khs::MappedSpace>;
  Matrix<Kokkos::HostSpace, Left> const from("from", large, large);
  Host const to("to", large, large);
  Host("given back", large, large);
  Kokkos::Cuda const instance;
  Kokkos::Experimental::Graph<Kokkos::Cuda> const graph({instance});
  khs::then_deep_copy(graph.root_node(), to, from);
  std::vector<Host> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back("others", large, large);
    Kokkos::deep_copy(others.back(), other);
  }
  Kokkos::deep_copy(from, 9);
  graph.submit(instance);
  instance.fence();
  CHECK(to(large - 1, large - 1) == 9);
  CHECK(to(0, large - 1) == 9);
  for (Host const& view : others) CHECK(view(large - 1, 0) == other);
}

TEST_CASE("captured kernels read memory that retain_for_graph retains", "[graph_cuda]") {
  Capturing capturing;
  Kokkos::View<int, khs::MappedSpace> const sum("sum");
  std::optional<Kokkos::View<int*, khs::MappedSpace>> data(std::in_place, "data", 1000);
  Kokkos::deep_copy(*data, 1);
  void const* const address = data->data();
  capturing.capture([&](Kokkos::Cuda const& on) {
    khs::retain_for_graph(on, *data, sum);
    capturing.check_after("retain_for_graph");
    Kokkos::View<int*, khs::MappedSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const seen =
        *data;
    Kokkos::parallel_for(
        "count", Kokkos::RangePolicy<Kokkos::Cuda>(on, 0, 1000),
        KOKKOS_LAMBDA(int i) { Kokkos::atomic_add(&sum(), seen(i)); });
  });
  data.reset();
  CHECK(khs::pool::describe(address)->state == khs::pool::State::in_use);
  capturing.launch();
  CHECK(sum() == 1000);
}

TEST_CASE("graphs, DualViews and mirrors work on the legacy default stream", "[graph_cuda]") {
  Kokkos::Cuda const legacy(static_cast<cudaStream_t>(nullptr));
  Matrix<khs::PinnedSpace> const in("in", side, side), out("out", side, side);
  fill(in, 2);
  Kokkos::Experimental::Graph<Kokkos::Cuda> const graph({legacy});
  {
    Matrix<Kokkos::CudaSpace> const device("device", side, side);
    auto const there = khs::then_deep_copy(graph.root_node(), device, in);
    khs::then_deep_copy(there, out, device);
  }
  graph.submit(legacy);
  legacy.fence();
  CHECK(wrong(out, 2) == 0);

  khs::PinnedDualView<int**, Right> dual("dual", side, side);
  fill(dual.view_host(), 4);
  dual.modify_host();
  dual.sync_device(legacy);
  auto const mirror = khs::create_pinned_mirror_view_and_copy(legacy, dual.view_device());
  legacy.fence();
  CHECK(wrong(mirror, 4) == 0);
}

TEST_CASE("a copy in Kokkos' own capture node is right after its Views are destroyed",
          "[graph_cuda]") {
  Kokkos::Cuda const instance;
  Matrix<Kokkos::CudaSpace> const to("to", side, side);
  std::optional<Matrix<khs::PinnedSpace>> from(std::in_place, "from", side, side);
  fill(*from, 6);
  Kokkos::Experimental::Graph<Kokkos::Cuda> const graph({instance});
  graph.root_node().cuda_capture(instance,
                                 [&](Kokkos::Cuda const& on) { Kokkos::deep_copy(on, to, *from); });
  from.reset();
  Others<Matrix<khs::PinnedSpace>> const others(Matrix<khs::PinnedSpace>(nullptr, side, side));
  graph.submit(instance);
  instance.fence();
  CHECK(wrong(to, 6) == 0);
}

}  // namespace GraphCopyCuda
