// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_ALL_LINKS_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_ALL_LINKS_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// Directions of a link that are used at once, as parts of the bytes.
struct Mix {
  int to_device, to_host;
  int parts() const { return to_device + to_host; }
};

/// What several links carry at once is less than the sum of what each carries alone: they share the
/// memory of the host. Keeps page-locked and device memory for copies on all of them.
class AllLinks {
 public:
  /// \param bytes of a part; two parts to the device, and one to the host, are the most
  /// \throw std::exception if there is not so much memory
  AllLinks(std::vector<int> const& devices, std::size_t bytes);
  ~AllLinks();
  AllLinks(AllLinks const&)            = delete;
  AllLinks& operator=(AllLinks const&) = delete;

  int links() const;

  /// Seconds, by the host's clock, in which every device copies all parts of the mix, cut into
  /// pieces. All begin at one gate, behind which everything is enqueued; the slowest counts.
  /// \param meet called before the gate is opened and when all is done: other processes that
  ///        measure at the same time are waited for
  double seconds(Mix mix, std::size_t piece, std::function<void()> const& meet);

  /// Bytes per second of all links together, the best of some sizes of pieces.
  double best_rate(Mix mix, std::function<double(double)> const& slowest,
                   std::function<void()> const& meet);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace KokkosHostSpaces::Perf

#endif
