// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "LinkProbe.hpp"

#include "CheckCuda.hpp"
#include "Numbers.hpp"
#include "PlainBuffer.hpp"
#include "Stopwatch.hpp"

#include <cstdint>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr int threads_per_block = 256;

// Load two numbers at a time, 16 bytes, the widest load of a thread.
__global__ void add_up(ulonglong2 const* numbers, std::size_t pairs, unsigned long long* sum) {
  unsigned long long mine  = 0;
  std::size_t const stride = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < pairs; i += stride)
    mine += numbers[i].x + numbers[i].y;
  atomicAdd(sum, mine);
}

int blocks_to_fill_device() {
  int device = 0, processors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  return 2 * processors;
}

class Probe {
 public:
  Probe(void* host, std::size_t bytes, double seconds)
      : m_seconds(seconds),
        m_half(bytes / 2 / sizeof(ulonglong2) * sizeof(ulonglong2)),
        m_count(m_half / sizeof(std::uint64_t)),
        m_source(static_cast<std::uint64_t*>(host)),
        m_target(m_source + m_count),
        m_expected_sum(fill(m_source, m_count)) {
    poison(m_target, m_count);
  }

  void one_direction(LinkRates& rates) {
    rates.to_device = rate(m_half, [this] { to_device(); });
    rates.to_host   = rate(m_half, [this] { to_host(m_arrived, m_stopwatch.stream()); });
    rates.verified  = matches(m_target, m_count);
  }

  void both_directions(LinkRates& rates) {
    copy(m_leaving.get(), m_arrived.get(), m_stopwatch.stream());
    check(cudaMemsetAsync(m_arrived.get(), 0, m_half, stream()), "cudaMemsetAsync");
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    poison(m_target, m_count);
    rates.both = rate(2 * m_half, [this] {
      to_device();
      to_host(m_leaving, m_stopwatch.other_stream());
    });
    rates.verified &= matches(m_target, m_count);
    poison(m_target, m_count);
    m_stopwatch.time_with_host_clock([this] { to_host(m_arrived, m_stopwatch.stream()); });
    rates.verified &= matches(m_target, m_count);
  }

  // Registered memory has the same address on the device.
  void in_place(LinkRates& rates) {
    PlainBuffer const sum     = make_plain_buffer(PlainKind::device, sizeof(unsigned long long));
    int const blocks          = blocks_to_fill_device();
    rates.zero_copy_read      = rate(m_half, [&] {
      check(cudaMemsetAsync(sum.get(), 0, sizeof(unsigned long long), stream()), "cudaMemsetAsync");
      add_up<<<blocks, threads_per_block, 0, stream()>>>(
          reinterpret_cast<ulonglong2 const*>(m_source), m_half / sizeof(ulonglong2),
          static_cast<unsigned long long*>(sum.get()));
      check(cudaGetLastError(), "the kernel that reads host memory");
    });
    unsigned long long actual = 0;
    check(cudaMemcpy(&actual, sum.get(), sizeof actual, cudaMemcpyDefault), "cudaMemcpy");
    rates.verified &= actual == m_expected_sum;
  }

  void under_load(std::function<void()> const& while_busy) {
    for (int i = 0; i < 8; ++i) to_device();
    while_busy();
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  }

 private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(m_stopwatch.stream()); }

  void copy(void* to, void const* from, Stream stream) const {
    check(cudaMemcpyAsync(to, from, m_half, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)),
          "cudaMemcpyAsync");
  }
  void to_device() const { copy(m_arrived.get(), m_source, m_stopwatch.stream()); }
  void to_host(PlainBuffer const& from, Stream stream) const { copy(m_target, from.get(), stream); }

  double rate(std::size_t bytes, Stopwatch::Work const& work) {
    m_stopwatch.time_with_host_clock(work);  // loads the kernels, which waits for the device
    return double(bytes) /
           median_time(m_seconds, [&] { return m_stopwatch.time_queued_on_both(work); });
  }

  double m_seconds;
  std::size_t m_half, m_count;
  std::uint64_t *m_source, *m_target;
  std::uint64_t m_expected_sum;
  Stopwatch m_stopwatch;
  PlainBuffer m_arrived = make_plain_buffer(PlainKind::device, m_half),
              m_leaving = make_plain_buffer(PlainKind::device, m_half);
};

}  // namespace

LinkRates measure_link(void* host, std::size_t bytes, double seconds,
                       std::function<void()> const& while_busy) {
  Probe probe(host, bytes, seconds);
  LinkRates rates;
  probe.one_direction(rates);
  probe.both_directions(rates);
  probe.in_place(rates);
  probe.under_load(while_busy);
  return rates;
}

}  // namespace KokkosHostSpaces::Perf
