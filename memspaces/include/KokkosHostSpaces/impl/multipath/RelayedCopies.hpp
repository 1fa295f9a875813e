// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies between page-locked memory and a device, a part of them over the links of its neighbours.

#ifndef KOKKOS_HOST_SPACES_IMPL_RELAYED_COPIES_HPP
#define KOKKOS_HOST_SPACES_IMPL_RELAYED_COPIES_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Constants of copies over several links, for an H200 and PCIe 5. Twice the chunk is no faster there.
struct RelayRules {
  std::size_t least_bytes = std::size_t(4) << 20;  ///< smaller copies go over the own link alone
  std::size_t chunk       = std::size_t(8) << 20;  ///< largest one
  std::size_t first_chunk = std::size_t(1) << 20;  ///< to the device the last one
  double latency = 40e-6;  ///< seconds of a relay in which it moves nothing, at both ends together
  double enqueue = 10e-6;  ///< seconds for each neighbour before it
  double late    = 1.5;    ///< times the expected seconds: its link is busy with other copies
  int pause      = 16;     ///< copies for which a late neighbour, or one that failed, is left out

  static constexpr std::size_t lanes = 3;  ///< streams of a neighbour, each with memory for a chunk
};

/// Returns the bytes of each path, the own link first, such that all end at the same time; fewer paths
/// if the last ones would get less than a first chunk. \param rates bytes per second
std::vector<std::size_t> split_over_paths(std::size_t bytes, std::vector<double> const& rates,
                                          RelayRules const& rules);

/// Returns the bytes of the chunks of a relayed part, in their order: they grow to the host and shrink to the
/// device, since the first or last one crosses both links alone.
std::vector<std::size_t> relay_chunks(std::size_t bytes, bool to_device, RelayRules const& rules);

/// The paths of one device. Thread-safe.
class RelayedCopies {
 public:
  /// How to find out about links. Each is called once for a device.
  struct Probe {
    std::function<double(int device)> rate;  ///< bytes per second in a direction; 0: unknown
    std::function<bool(int device, int peer)> share_uplink;  ///< together as fast as one
  };

  /// Makes streams on the neighbours that help, and allocates memory there: rules.lanes chunks each.
  /// \param why_not why there are no neighbours, for explain()
  RelayedCopies(int device, std::vector<int> const& neighbours, Probe const& probe,
                std::string why_not = "", RelayRules const& rules = {});
  /// Waits for the relays.
  ~RelayedCopies();
  RelayedCopies(RelayedCopies const&)            = delete;
  RelayedCopies& operator=(RelayedCopies const&) = delete;

  /// True if a copy would go over several links.
  bool takes(void const* dst, void const* src, std::size_t bytes, void* stream) const;

  /// Enqueues a copy that is ordered on `stream`, of the device. Over the own link alone if a relay cannot
  /// be enqueued. \throw DeviceError if the own link fails, too
  void enqueue(void* dst, void const* src, std::size_t bytes, void* stream);

  /// Frees the memory on neighbours; waits for the relays. A later copy allocates again.
  void release();

  std::string explain() const;

 private:
  struct Neighbour;
  class Relay;
  std::vector<Neighbour*> ready();
  void prepare(Neighbour& neighbour) const;

  int m_device;
  RelayRules m_rules;
  double m_rate = 0;
  std::string m_left_out;
  mutable std::mutex m_mutex;
  std::vector<std::unique_ptr<Neighbour>> m_neighbours;
  void* m_begun = nullptr;  // event: on the stream of the copy
};

/// Returns the paths of a device of this machine. \param neighbours that may help
/// \throw Error if there is no such neighbour
std::unique_ptr<RelayedCopies> make_relayed_copies(int device, std::vector<int> const& neighbours);

/// Returns all visible devices.
std::vector<int> all_devices();

}  // namespace KokkosHostSpaces::Impl

#endif
