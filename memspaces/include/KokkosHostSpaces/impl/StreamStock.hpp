// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Streams for copies, made for two lanes at a time. A GPU has few queues for copies, and gives a
// stream the next one when it copies first, so it seems (four in each direction; seen on an H200).
// Loops whose streams share a queue run one after the other: so the streams of both lanes make their
// first copies here, before others come in between.

#ifndef KOKKOS_HOST_SPACES_IMPL_STREAM_STOCK_HPP
#define KOKKOS_HOST_SPACES_IMPL_STREAM_STOCK_HPP

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// For one lane: of each direction two.
struct StreamSet {
  using Pair = std::array<void*, 2>;

  StreamSet(int of_device, std::size_t number) : device(of_device), queues(number) {}
  ~StreamSet();
  StreamSet(StreamSet const&)            = delete;
  StreamSet& operator=(StreamSet const&) = delete;

  int device;
  std::size_t
      queues;  ///< of those that are made together 0 or 1: others share queues with one of these
  Pair in{}, out{};
};

class StreamStock {
 public:
  StreamStock() = default;
  ~StreamStock();
  StreamStock(StreamStock const&)            = delete;
  StreamStock& operator=(StreamStock const&) = delete;

  /// \param memory of the device, where first copies go if new streams are made
  /// \param done an event: recorded behind these copies, else as it was
  std::unique_ptr<StreamSet> take(int device, char* memory, void*& done);
  /// False, and nothing is done, if there is none of the other queues.
  bool exchange_for_other_queues(std::unique_ptr<StreamSet>& set) noexcept;
  void put_back(std::unique_ptr<StreamSet> set) noexcept;
  /// Waits for nothing.
  void release() noexcept { m_unused.clear(); }

 private:
  void make(int device, char* memory, void*& done);

  std::vector<std::unique_ptr<StreamSet>> m_unused;
  void* m_pinned = nullptr;  ///< the host's side of first copies; giving it back may wait
};

}  // namespace KokkosHostSpaces::Impl

#endif
