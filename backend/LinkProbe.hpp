// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The rates of links, by copies: the one place that measures them.

#ifndef KOKKOS_HOST_SPACES_BACKEND_LINK_PROBE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_LINK_PROBE_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

/// Parts that cross a link in each direction at the same time.
struct LinkMix {
  int to_device = 0, to_host = 0;
};

/// Copies parts between page-locked memory and devices, over the links of all devices at once.
/// Several links carry less than the sum of what each carries alone, as they share the memory of
/// the host. For one thread.
class LinkProbe {
 public:
  /// `host` has two parts: the first one is sent, and what was sent comes back into the second one.
  struct Link {
    int device;
    void* host;
    double share = 1;  ///< of the bytes of a part
  };

  /// Bytes of a part that cross this link.
  static std::size_t bytes_of(Link const& link, std::size_t bytes) {
    return link.share == 1 ? bytes : std::size_t(link.share * double(bytes)) / 64 * 64;
  }

  /// \param bytes of a part \throw Error if a device lacks memory for two parts \throw DeviceError
  LinkProbe(std::vector<Link> const& links, std::size_t bytes);
  ~LinkProbe();
  LinkProbe(LinkProbe const&)            = delete;
  LinkProbe& operator=(LinkProbe const&) = delete;

  using Action = std::function<void()>;

  /// Returns the seconds from the first copy to the end of the last one, by the host's clock.
  /// \param meanwhile called while the copies run \throw DeviceError
  double seconds(LinkMix mix, Action const& meanwhile = {});

  /// Bytes that cross all links for a mix.
  double bytes(LinkMix mix) const;

  /// Returns the best rate of both directions and all links together, in bytes per second. The first
  /// rounds wake the links up. \throw DeviceError
  double best_rate(LinkMix mix, int rounds);

 private:
  struct Ends;
  std::vector<std::unique_ptr<Ends>> m_links;
};

/// Measures one link, both directions at once, in about 10 ms. Returns nothing if the device still
/// has other work after 10 ms, if a stream captures, or if memory is short.
/// \param host page-locked memory of 2 x `bytes`
std::optional<double> rate_of_idle_link(int device, void* host, std::size_t bytes) noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
