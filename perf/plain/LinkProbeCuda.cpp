// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "LinkProbe.hpp"
#include "Numbers.hpp"
#include "PlainBuffer.hpp"
#include "CheckCuda.hpp"

#include <chrono>
#include <cstdint>

namespace KokkosHostSpaces::Perf {
namespace {

constexpr int threads_per_block = 256;

class OwnStream {
 public:
  OwnStream() {
    check(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~OwnStream() { (void)cudaStreamDestroy(m_stream); }
  OwnStream(OwnStream const&)            = delete;
  OwnStream& operator=(OwnStream const&) = delete;

  operator cudaStream_t() const { return m_stream; }

 private:
  cudaStream_t m_stream = nullptr;
};

// Two numbers a load, as wide as a thread can read.
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

// Seconds by the host's clock from an idle device to an idle device.
double time_once(std::function<void()> const& enqueue) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  auto const begin = std::chrono::steady_clock::now();
  enqueue();
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void enqueue_copy(void* to, void const* from, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

void copy_and_wait(void* to, void const* from, std::size_t bytes, cudaStream_t stream) {
  enqueue_copy(to, from, bytes, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace

LinkRates measure_link(void* host, std::size_t bytes, double seconds,
                       std::function<void()> const& while_busy) {
  std::size_t const half    = bytes / 2 / sizeof(ulonglong2) * sizeof(ulonglong2);
  std::size_t const count   = half / sizeof(std::uint64_t);
  auto* const source        = static_cast<std::uint64_t*>(host);
  auto* const target        = source + count;
  PlainBuffer const arrived = make_plain_buffer(PlainKind::device, half);
  PlainBuffer const leaving = make_plain_buffer(PlainKind::device, half);
  PlainBuffer const sum     = make_plain_buffer(PlainKind::device, sizeof(unsigned long long));
  OwnStream const in, out;
  int const blocks = blocks_to_fill_device();

  LinkRates rates;
  std::uint64_t const expected_sum = fill(source, count);
  poison(target, count);
  rates.to_device = double(half) / median_time(seconds, [&] {
                      return time_once([&] { enqueue_copy(arrived.get(), source, half, in); });
                    });
  rates.to_host   = double(half) / median_time(seconds, [&] {
                    return time_once([&] { enqueue_copy(target, arrived.get(), half, out); });
                  });
  rates.verified  = matches(target, count);

  copy_and_wait(leaving.get(), arrived.get(), half, in);
  poison(target, count);
  check(cudaMemset(arrived.get(), 0, half), "cudaMemset");
  rates.both     = double(2 * half) / median_time(seconds, [&] {
                 return time_once([&] {
                   enqueue_copy(arrived.get(), source, half, in);
                   enqueue_copy(target, leaving.get(), half, out);
                 });
               });
  rates.verified = rates.verified && matches(target, count);
  poison(target, count);
  copy_and_wait(target, arrived.get(), half, out);
  rates.verified = rates.verified && matches(target, count);

  // Page-locked memory that was registered has the same address on the device.
  rates.zero_copy_read =
      double(half) / median_time(seconds, [&] {
        check(cudaMemset(sum.get(), 0, sizeof(unsigned long long)), "cudaMemset");
        return time_once([&] {
          add_up<<<blocks, threads_per_block, 0, in>>>(reinterpret_cast<ulonglong2 const*>(source),
                                                       half / sizeof(ulonglong2),
                                                       static_cast<unsigned long long*>(sum.get()));
          check(cudaGetLastError(), "the kernel that reads host memory");
        });
      });
  unsigned long long actual_sum = 0;
  copy_and_wait(&actual_sum, sum.get(), sizeof actual_sum, in);
  rates.verified = rates.verified && actual_sum == expected_sum;

  for (int i = 0; i < 8; ++i) enqueue_copy(arrived.get(), source, half, in);
  while_busy();
  check(cudaStreamSynchronize(in), "cudaStreamSynchronize");
  return rates;
}

}  // namespace KokkosHostSpaces::Perf
