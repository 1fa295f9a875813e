// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The pipeline that users write by hand: chunks through buffers on the device.

#include "../../plain/PlainBuffer.hpp"
#include "StreamKernelsCuda.hpp"

#include <array>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr unsigned threads_per_block = 256;

cudaEvent_t make_event() {
  cudaEvent_t event;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  return event;
}

// Device memory for a chunk of each used array, and its events.
class Slot {
 public:
  Slot(StreamLoop const& loop, std::int64_t planes) {
    Traffic const traffic   = traffic_of(loop.operation);
    std::size_t const bytes = std::size_t(planes * loop.shape.plane()) * sizeof(double);
    std::size_t const halo  = std::size_t(traffic.halo * loop.shape.plane()) * sizeof(double);
    auto const make         = [](bool used, std::size_t size) {
      return make_plain_buffer(PlainKind::device, used ? size : 1);
    };
    m_buffers = {make(traffic.a_in || traffic.a_out, bytes), make(traffic.b_in, bytes + 2 * halo),
                 make(traffic.c_in, bytes)};
    auto const at = [this](int k) { return static_cast<double*>(m_buffers[k].get()); };
    arrays        = {at(0), at(1) + traffic.halo * loop.shape.plane(), at(2)};
  }
  ~Slot() {
    for (cudaEvent_t event : {arrived, computed, left}) (void)cudaEventDestroy(event);
  }
  Slot(Slot const&)            = delete;
  Slot& operator=(Slot const&) = delete;

  StreamArrays arrays;
  cudaEvent_t arrived = make_event(), computed = make_event(), left = make_event();

 private:
  static PlainBuffer nothing() {
    return {nullptr, [](void*) {}};
  }
  std::array<PlainBuffer, 3> m_buffers = {nothing(), nothing(), nothing()};
};

struct Chunking {
  std::size_t chunk_bytes;  // of an array
  bool by_slot;  // a stream for each slot, else one each for copies in, kernels, copies out
};

class ChunkedBaseline final : public StreamBaseline {
 public:
  ChunkedBaseline(StreamWay way, StreamLoop const& loop)
      : m_loop(loop),
        m_traffic(traffic_of(loop.operation)),
        m_slots_used(way == StreamWay::serial ? 1 : 3) {
    for (std::size_t mebibytes : {4, 8, 16, 32, 64}) {
      m_variants.push_back({mebibytes << 20, true});
      if (m_slots_used > 1) m_variants.push_back({mebibytes << 20, false});
    }
    for (cudaStream_t& stream : m_streams)
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    choose(0);
  }
  ~ChunkedBaseline() override {
    for (cudaStream_t stream : m_streams) (void)cudaStreamDestroy(stream);
  }

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (Chunking const& variant : m_variants)
      names.push_back("chunks of " + std::to_string(variant.chunk_bytes >> 20) + " MiB" +
                      (m_slots_used == 1 ? ""
                       : variant.by_slot ? ", a stream each"
                                         : ", streams for stages"));
    return names;
  }

  void choose(int variant) override {
    m_variant                = m_variants[std::size_t(variant)];
    std::size_t const plane  = std::size_t(m_loop.shape.plane()) * sizeof(double);
    std::size_t const planes = std::max<std::size_t>(1, m_variant.chunk_bytes / plane);
    m_planes                 = std::min(std::int64_t(planes), m_loop.shape.planes);
    m_slots.clear();
    for (int i = 0; i < m_slots_used; ++i)
      m_slots.push_back(std::make_unique<Slot>(m_loop, m_planes));
  }

  double run() override {
    double sum        = 0;
    bool const is_dot = m_loop.operation == StreamOperation::dot;
    if (is_dot) {
      check(cudaMemsetAsync(m_sum.get(), 0, sizeof sum, m_streams[0]), "cudaMemsetAsync");
      check(cudaStreamSynchronize(m_streams[0]), "cudaStreamSynchronize");
    }
    std::size_t chunk = 0;
    for (Planes planes{0, 0}; planes.last < m_loop.shape.planes; ++chunk) {
      planes     = {planes.last, std::min(planes.last + m_planes, m_loop.shape.planes)};
      Slot& slot = *m_slots[chunk % m_slots.size()];
      if (m_variant.by_slot)
        enqueue_on_one(planes, slot, m_streams[chunk % m_slots.size()]);
      else
        enqueue_on_three(planes, slot, chunk >= m_slots.size());
    }
    for (cudaStream_t stream : m_streams)
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (is_dot) check(cudaMemcpy(&sum, m_sum.get(), sizeof sum, cudaMemcpyDefault), "cudaMemcpy");
    return sum;
  }

 private:
  void enqueue_on_one(Planes planes, Slot& slot, cudaStream_t stream) {
    copy_in(planes, slot, stream);
    launch(planes, slot, stream);
    copy_out(planes, slot, stream);
  }

  void enqueue_on_three(Planes planes, Slot& slot, bool used) {
    auto const [in, kernels, out] = m_streams;
    // An update copies back from the buffer it was copied to.
    if (used) wait(in, m_traffic.a_in ? slot.left : slot.computed);
    copy_in(planes, slot, in);
    record(slot.arrived, in);
    wait(kernels, slot.arrived);
    if (used) wait(kernels, slot.left);
    launch(planes, slot, kernels);
    record(slot.computed, kernels);
    wait(out, slot.computed);
    copy_out(planes, slot, out);
    record(slot.left, out);
  }

  static void wait(cudaStream_t stream, cudaEvent_t event) {
    check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
  }
  static void record(cudaEvent_t event, cudaStream_t stream) {
    check(cudaEventRecord(event, stream), "cudaEventRecord");
  }

  void launch(Planes planes, Slot const& slot, cudaStream_t stream) {
    launch_stream_kernel(m_loop, planes, slot.arrays, static_cast<double*>(m_sum.get()),
                         threads_per_block, stream);
  }

  void copy_in(Planes planes, Slot const& slot, cudaStream_t stream) {
    std::int64_t const plane = m_loop.shape.plane();
    auto const copy_planes   = [&](double* to, double const* from, Planes const& which) {
      copy(to + (which.first - planes.first) * plane, from + which.first * plane,
             which.count() * plane, stream);
    };
    Planes const with_halo{std::max<std::int64_t>(0, planes.first - m_traffic.halo),
                           std::min(m_loop.shape.planes, planes.last + m_traffic.halo)};
    if (m_traffic.a_in) copy_planes(slot.arrays.a, m_loop.arrays.a, planes);
    if (m_traffic.b_in) copy_planes(slot.arrays.b, m_loop.arrays.b, with_halo);
    if (m_traffic.c_in) copy_planes(slot.arrays.c, m_loop.arrays.c, planes);
  }

  void copy_out(Planes planes, Slot const& slot, cudaStream_t stream) {
    std::int64_t const plane = m_loop.shape.plane();
    if (m_traffic.a_out)
      copy(m_loop.arrays.a + planes.first * plane, slot.arrays.a, planes.count() * plane, stream);
  }

  static void copy(double* to, double const* from, std::int64_t elements, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, std::size_t(elements) * sizeof(double), cudaMemcpyDefault,
                          stream),
          "cudaMemcpyAsync");
  }

  StreamLoop m_loop;
  Traffic m_traffic;
  int m_slots_used;
  std::vector<Chunking> m_variants;
  Chunking m_variant{};
  std::int64_t m_planes = 0;  // of a chunk
  std::array<cudaStream_t, 3> m_streams{};
  std::vector<std::unique_ptr<Slot>> m_slots;
  PlainBuffer m_sum = make_plain_buffer(PlainKind::device, sizeof(double));
};

}  // namespace

std::unique_ptr<StreamBaseline> make_chunked_baseline(StreamWay way, StreamLoop const& loop) {
  return std::make_unique<ChunkedBaseline>(way, loop);
}

}  // namespace KokkosHostSpaces::Perf
