// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_ALL_LINKS_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_ALL_LINKS_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Shares of the bytes that go to the device and to the host at the same time.
struct Mix {
  int to_device, to_host;
  int parts() const { return to_device + to_host; }
};

/// Copies on the links of all devices at once. Several links carry less than the sum of what each carries
/// alone, since they share the memory of the host. Owns the page-locked and device buffers.
class AllLinks {
 public:
  /// \param bytes of a part; at most two parts go to the device, and one to the host
  /// \throw std::exception if there is not enough memory
  AllLinks(std::vector<int> const& devices, std::size_t bytes);
  ~AllLinks();
  AllLinks(AllLinks const&)            = delete;
  AllLinks& operator=(AllLinks const&) = delete;

  int links() const;

  /// Copies all parts of the mix on every device, cut into pieces. All copies are enqueued behind one
  /// gate, and the slowest device counts.
  /// \param meet a barrier with other processes, called before the gate is opened and at the end
  /// \return seconds by the host's clock
  double seconds(Mix mix, std::size_t piece, std::function<void()> const& meet);

  /// Bytes per second of all links together, for the best size of pieces.
  double best_rate(Mix mix, std::function<double(double)> const& slowest,
                   std::function<void()> const& meet);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace KokkosHostSpaces::Perf

#endif
