// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pipeline that users write by hand: chunks through buffers on the device.

#include "../../plain/PlainBuffer.hpp"
#include "StreamKernelsCuda.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

// Device memory for a chunk of each used array, and its events.
struct Slot {
  Slot(StreamLoop const& loop, Traffic const& traffic, std::int64_t planes) {
    std::int64_t const n = planes * loop.shape.plane(), halo = traffic.halo * loop.shape.plane();
    arrays = {make(traffic.a_in || traffic.a_out, n), make(traffic.b_in, n + 2 * halo) + halo,
              make(traffic.c_in, n)};
  }

  std::vector<PlainBuffer> buffers;
  StreamArrays arrays;
  CudaEvent arrived, computed, left;

 private:
  double* make(bool used, std::int64_t elements) {
    std::size_t const bytes = (used ? std::size_t(elements) : 1) * sizeof(double);
    buffers.push_back(make_plain_buffer(PlainKind::device, bytes));
    return static_cast<double*>(buffers.back().get());
  }
};

class ChunkedBaseline final : public StreamBaseline {
 public:
  ChunkedBaseline(StreamWay way, StreamLoop const& loop)
      : m_loop(loop), m_traffic(traffic_of(loop.operation)), m_serial(way == StreamWay::serial) {
    choose(0);
  }

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (int mebibytes : chunks) names.push_back("chunks of " + std::to_string(mebibytes) + " MiB");
    return names;
  }

  void choose(int variant) override {
    std::int64_t const plane = m_loop.shape.plane() * std::int64_t(sizeof(double));
    std::int64_t const bytes = std::int64_t(chunks[variant]) << 20;
    m_planes = std::min(std::max<std::int64_t>(1, bytes / plane), m_loop.shape.planes);
    m_slots.clear();
    for (int i = 0; i < (m_serial ? 1 : 3); ++i)
      m_slots.push_back(std::make_unique<Slot>(m_loop, m_traffic, m_planes));
  }

  double run() override {
    bool const is_dot     = m_loop.operation == StreamOperation::dot;
    cudaStream_t const in = m_streams[0], kernels = m_streams[m_serial ? 0 : 1],
                       out = m_streams[m_serial ? 0 : 2];
    if (is_dot) check(cudaMemset(m_sum.get(), 0, sizeof(double)), "cudaMemset");
    std::size_t chunk = 0;
    for (Planes planes{0, 0}; planes.last < m_loop.shape.planes; ++chunk) {
      planes          = {planes.last, std::min(planes.last + m_planes, m_loop.shape.planes)};
      Slot& slot      = *m_slots[chunk % m_slots.size()];
      bool const used = chunk >= m_slots.size();
      // An update copies back from the buffer it was copied to.
      if (used) (m_traffic.a_in ? slot.left : slot.computed).let_wait(in);
      copy_in(planes, slot.arrays, in);
      slot.arrived.record(in);
      slot.arrived.let_wait(kernels);
      if (used) slot.left.let_wait(kernels);
      launch_stream_kernel(m_loop, planes, slot.arrays, static_cast<double*>(m_sum.get()), 256,
                           kernels);
      slot.computed.record(kernels);
      slot.computed.let_wait(out);
      if (m_traffic.a_out)
        copy_planes(m_loop.arrays.a + planes.first * m_loop.shape.plane(), slot.arrays.a,
                    planes.count(), out);
      slot.left.record(out);
    }
    for (cudaStream_t stream : m_streams) synchronize(stream);
    double sum = 0;
    if (is_dot) check(cudaMemcpy(&sum, m_sum.get(), sizeof sum, cudaMemcpyDefault), "cudaMemcpy");
    return sum;
  }

 private:
  static constexpr int chunks[] = {4, 8, 16, 32, 64};  // MiB of an array

  void copy_in(Planes planes, StreamArrays const& to, cudaStream_t stream) const {
    std::int64_t const plane = m_loop.shape.plane();
    // Begin with the halo, as far as there are planes.
    std::int64_t const first = std::max<std::int64_t>(0, planes.first - m_traffic.halo);
    std::int64_t const last  = std::min(m_loop.shape.planes, planes.last + m_traffic.halo);
    std::int64_t const from  = planes.first * plane;
    if (m_traffic.a_in) copy_planes(to.a, m_loop.arrays.a + from, planes.count(), stream);
    if (m_traffic.b_in)
      copy_planes(to.b + (first - planes.first) * plane, m_loop.arrays.b + first * plane,
                  last - first, stream);
    if (m_traffic.c_in) copy_planes(to.c, m_loop.arrays.c + from, planes.count(), stream);
  }

  void copy_planes(double* to, double const* from, std::int64_t planes, cudaStream_t stream) const {
    copy_async(to, from, std::size_t(planes * m_loop.shape.plane()) * sizeof(double), stream);
  }

  StreamLoop m_loop;
  Traffic m_traffic;
  bool m_serial;              // one buffer and one stream
  std::int64_t m_planes = 0;  // of a chunk
  CudaStream m_streams[3];    // for copies in, kernels, copies out
  std::vector<std::unique_ptr<Slot>> m_slots;
  PlainBuffer m_sum = make_plain_buffer(PlainKind::device, sizeof(double));
};

}  // namespace

std::unique_ptr<StreamBaseline> make_chunked_baseline(StreamWay way, StreamLoop const& loop) {
  return std::make_unique<ChunkedBaseline>(way, loop);
}

}  // namespace KokkosHostSpaces::Perf
