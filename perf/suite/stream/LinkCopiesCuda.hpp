// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies a part of a loop's arrays over the link of one device, in pieces, as fast as possible.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_LINK_COPIES_CUDA_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_STREAM_LINK_COPIES_CUDA_HPP

#include "../../plain/OnDeviceCuda.hpp"
#include "../../plain/PlainBuffer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Arrays that are copied to the device, and one that is copied from it.
struct LinkArrays {
  std::vector<double const*> in;
  double* out;           ///< or nullptr
  double const* sample;  ///< the contents of each piece that comes back
};

/// Elements [first, last), in pieces.
struct LinkPart {
  std::int64_t first, last, piece;
  std::int64_t count() const { return last - first; }
};

class LinkEvent {
 public:
  LinkEvent() { check(cudaEventCreate(&m_event), "cudaEventCreate"); }
  ~LinkEvent() { (void)cudaEventDestroy(m_event); }
  LinkEvent(LinkEvent const&)            = delete;
  LinkEvent& operator=(LinkEvent const&) = delete;

  void record(cudaStream_t stream) { check(cudaEventRecord(m_event, stream), "cudaEventRecord"); }
  void let_wait(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, m_event, 0), "cudaStreamWaitEvent");
  }
  double seconds_since(LinkEvent const& earlier) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, earlier.m_event, m_event), "cudaEventElapsedTime");
    return milliseconds / 1000.;
  }

 private:
  cudaEvent_t m_event{};
};

/// A buffer for a piece of each array, and a stream for each direction. Construct it with its device
/// current.
class LinkCopies {
 public:
  LinkCopies(int device, LinkArrays arrays) : m_device(device), m_arrays(std::move(arrays)) {
    for (cudaStream_t* stream : {&m_in, &m_out})
      check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~LinkCopies() {
    for (cudaStream_t stream : {m_in, m_out}) (void)cudaStreamDestroy(stream);
  }
  LinkCopies(LinkCopies const&)            = delete;
  LinkCopies& operator=(LinkCopies const&) = delete;

  void take(LinkPart const& part) {
    OnDevice const here(m_device);
    std::size_t const bytes = bytes_of(part.piece);
    m_part                  = part;
    m_arrived.clear();
    m_leaving.reset();
    for (std::size_t k = 0; k < m_arrays.in.size(); ++k)
      m_arrived.push_back(make_plain_buffer(PlainKind::device, bytes));
    if (m_arrays.out == nullptr) return;
    m_leaving = make_plain_buffer(PlainKind::device, bytes);
    check(cudaMemcpy(m_leaving.get(), m_arrays.sample, bytes, cudaMemcpyDefault), "cudaMemcpy");
  }

  /// Poisons the buffers before a run, so that it shows what arrived.
  void poison() {
    OnDevice const here(m_device);
    for (PlainBuffer const& buffer : m_arrived)
      check(cudaMemsetAsync(buffer.get(), 0xff, bytes_of(m_part.piece), m_in), "cudaMemsetAsync");
    check(cudaStreamSynchronize(m_in), "cudaStreamSynchronize");
  }

  void begin() {
    OnDevice const here(m_device);
    m_copied = 0;
    m_began.record(m_in);
  }

  /// Enqueues the next piece of each array.
  /// \param in_step copies to the host do not run ahead of those to the device
  /// \return false if there was none
  bool enqueue(std::int64_t step, bool in_step) {
    std::int64_t const first = m_part.first + step * m_part.piece;
    std::int64_t const count = std::min(m_part.piece, m_part.last - first);
    if (count <= 0) return false;
    OnDevice const here(m_device);
    if (in_step) {
      m_step.record(m_in);
      m_step.let_wait(m_out);
    }
    for (std::size_t k = 0; k < m_arrived.size(); ++k)
      copy(m_arrived[k].get(), m_arrays.in[k] + first, count, m_in);
    if (m_arrays.out != nullptr) copy(m_arrays.out + first, m_leaving.get(), count, m_out);
    return true;
  }

  void end() {
    OnDevice const here(m_device);
    m_ended_in.record(m_in);
    m_ended_out.record(m_out);
  }

  void wait() const {
    for (cudaStream_t stream : {m_in, m_out})
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  /// Seconds from begin to end, after wait; above 0 even if nothing was copied.
  double seconds() const {
    return std::max({m_ended_in.seconds_since(m_began), m_ended_out.seconds_since(m_began), 1e-9});
  }

  LinkPart const& part() const { return m_part; }
  std::size_t copied_bytes() const { return m_copied; }

  /// Counts pieces that came back and differ from the sample, and last pieces that did not arrive on the
  /// device. Earlier pieces there are overwritten; copied_bytes counts them.
  std::int64_t count_missing() const {
    std::int64_t missing = 0;
    if (m_part.count() == 0) return missing;
    for (std::int64_t first = m_part.first; first < m_part.last; first += m_part.piece) {
      std::int64_t const count = std::min(m_part.piece, m_part.last - first);
      if (m_arrays.out != nullptr) missing += differ(m_arrays.out + first, m_arrays.sample, count);
      if (first + count == m_part.last) missing += count_not_arrived(first, count);
    }
    return missing;
  }

 private:
  static std::size_t bytes_of(std::int64_t elements) {
    return std::size_t(elements) * sizeof(double);
  }

  void copy(void* to, void const* from, std::int64_t elements, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes_of(elements), cudaMemcpyDefault, stream),
          "cudaMemcpyAsync");
    m_copied += bytes_of(elements);
  }

  static int differ(double const* a, double const* b, std::int64_t elements) {
    return std::memcmp(a, b, bytes_of(elements)) != 0 ? 1 : 0;
  }

  std::int64_t count_not_arrived(std::int64_t first, std::int64_t count) const {
    std::int64_t missing = 0;
    std::vector<double> arrived(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < m_arrived.size(); ++k) {
      check(cudaMemcpy(arrived.data(), m_arrived[k].get(), bytes_of(count), cudaMemcpyDefault),
            "cudaMemcpy");
      missing += differ(arrived.data(), m_arrays.in[k] + first, count);
    }
    return missing;
  }

  int m_device;
  LinkArrays m_arrays;
  LinkPart m_part{0, 0, 1};
  std::vector<PlainBuffer> m_arrived;
  PlainBuffer m_leaving = {nullptr, [](void*) {}};
  cudaStream_t m_in{}, m_out{};
  LinkEvent m_began, m_step, m_ended_in, m_ended_out;
  std::size_t m_copied = 0;  // bytes
};

}  // namespace KokkosHostSpaces::Perf

#endif
