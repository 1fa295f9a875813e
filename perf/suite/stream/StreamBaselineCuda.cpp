// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Baselines whose kernel accesses all of the data in place.

#include "../../plain/PlainBuffer.hpp"
#include "StreamKernelsCuda.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

// Run one kernel over all planes, in host memory or in a copy on the device.
class WholeBaseline : public StreamBaseline {
 public:
  explicit WholeBaseline(StreamLoop const& loop) : m_loop(loop), m_at(loop.arrays) {}

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (unsigned threads : blocks) names.push_back("block " + std::to_string(threads));
    return names;
  }
  void choose(int variant) override { m_threads = blocks[variant]; }

  double run() override {
    double sum        = 0;
    bool const is_dot = m_loop.operation == StreamOperation::dot;
    if (is_dot) check(cudaMemsetAsync(m_sum.get(), 0, sizeof sum, m_stream), "cudaMemsetAsync");
    launch({0, m_loop.shape.planes});
    if (is_dot) copy_async(&sum, m_sum.get(), sizeof sum, m_stream);
    synchronize(m_stream);
    return sum;
  }

 protected:
  std::size_t bytes() const { return std::size_t(m_loop.shape.elements()) * sizeof(double); }

  void launch(Planes planes) {
    std::int64_t const offset = planes.first * m_loop.shape.plane();
    launch_stream_kernel(m_loop, planes, {m_at.a + offset, m_at.b + offset, m_at.c + offset},
                         static_cast<double*>(m_sum.get()), m_threads, m_stream);
  }

  void copy(double* to, double const* from) {
    copy_async(to, from, bytes(), m_stream);
    synchronize(m_stream);
  }

  StreamLoop m_loop;
  StreamArrays m_at;  // addresses for kernels
  CudaStream m_stream;

 private:
  static constexpr unsigned blocks[] = {256, 128, 512, 1024};

  unsigned m_threads = blocks[0];
  PlainBuffer m_sum  = make_plain_buffer(PlainKind::device, sizeof(double));
};

// Has its own arrays, which begin as copies of the host's.
class CopiedBaseline : public WholeBaseline {
 public:
  template <class Allocate>
  CopiedBaseline(StreamLoop const& loop, Allocate allocate) : WholeBaseline(loop) {
    for (double** array : {&m_at.a, &m_at.b, &m_at.c}) {
      m_buffers.push_back(allocate(bytes()));
      *array = static_cast<double*>(m_buffers.back().get());
    }
    copy(m_at.b, loop.arrays.b);
    copy(m_at.c, loop.arrays.c);
  }

  void prepare() override { copy(m_at.a, m_loop.arrays.a); }
  void collect() override { copy(m_loop.arrays.a, m_at.a); }

 private:
  std::vector<PlainBuffer> m_buffers;
};

PlainBuffer on_device(std::size_t bytes) { return make_plain_buffer(PlainKind::device, bytes); }

PlainBuffer in_managed_memory(std::size_t bytes) {
  void* pointer;
  check(cudaMallocManaged(&pointer, bytes), "cudaMallocManaged");
  return {pointer, [](void* p) { (void)cudaFree(p); }};
}

class ManagedBaseline final : public CopiedBaseline {
 public:
  explicit ManagedBaseline(StreamLoop const& loop) : CopiedBaseline(loop, in_managed_memory) {
    check(cudaGetDevice(&m_device), "cudaGetDevice");
  }

  std::vector<std::string> variants() const override { return {"prefetched in chunks of 64 MiB"}; }
  void choose(int) override {}

  void prepare() override {
    CopiedBaseline::prepare();
    for (double* array : {m_at.a, m_at.b, m_at.c}) prefetch(array, bytes(), on_host, m_stream);
    synchronize(m_stream);
  }

  double run() override {
    std::int64_t const plane  = m_loop.shape.plane() * std::int64_t(sizeof(double));
    std::int64_t const planes = std::max<std::int64_t>(1, (std::int64_t(64) << 20) / plane);
    for (std::int64_t first = 0; first < m_loop.shape.planes; first += planes)
      enqueue({first, std::min(first + planes, m_loop.shape.planes)});
    for (cudaStream_t stream : {cudaStream_t(m_in), cudaStream_t(m_stream), cudaStream_t(m_out)})
      synchronize(stream);
    return 0;
  }

 private:
  static constexpr int on_host = -1;

  static void prefetch(double* array, std::size_t size, int device, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
    cudaMemLocation where{};
    where.type = device == on_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    where.id   = device == on_host ? 0 : device;
    check(cudaMemPrefetchAsync(array, size, where, 0, stream), "cudaMemPrefetchAsync");
#else
    check(cudaMemPrefetchAsync(array, size, device == on_host ? cudaCpuDeviceId : device, stream),
          "cudaMemPrefetchAsync");
#endif
  }

  void enqueue(Planes planes) {
    std::size_t const offset = std::size_t(planes.first * m_loop.shape.plane());
    std::size_t const size   = std::size_t(planes.count() * m_loop.shape.plane()) * sizeof(double);
    for (double* array : {m_at.a, m_at.b, m_at.c}) prefetch(array + offset, size, m_device, m_in);
    m_event.record(m_in);
    m_event.let_wait(m_stream);
    launch(planes);
    m_event.record(m_stream);
    m_event.let_wait(m_out);
    prefetch(m_at.a + offset, size, on_host, m_out);
  }

  int m_device = 0;
  CudaStream m_in, m_out;
  CudaEvent m_event;
};

}  // namespace

std::unique_ptr<StreamBaseline> make_stream_baseline(StreamWay way, StreamLoop const& loop) {
  switch (way) {
    case StreamWay::in_place: return std::make_unique<WholeBaseline>(loop);
    case StreamWay::resident: return std::make_unique<CopiedBaseline>(loop, on_device);
    case StreamWay::managed: return std::make_unique<ManagedBaseline>(loop);
    default: break;
  }
  return make_chunked_baseline(way, loop);
}

}  // namespace KokkosHostSpaces::Perf
