// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_POOL_HPP
#define KOKKOS_HOST_SPACES_POOL_HPP

#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/backend/Pool.hpp>

#include <optional>
#include <string>

/// Control of the pool under the three memory spaces. Everything is thread-safe.
///
/// Destroying a View never waits for a device, and its memory is neither used again nor unmapped
/// while device work submitted before the destruction may touch it. Covered without any help from
/// the application: kernels, copies and graph launches of all streams of this process, blocking or
/// not, on all devices in use, by Kokkos and by any other library. Not covered:
/// - what is no device work: finish an MPI transfer of a buffer before you destroy the buffer;
/// - what is submitted later: a graph that was captured or instantiated with the address must not
///   be launched after the View is gone;
/// - contexts that an application makes itself by the driver API: Kokkos uses the primary context
///   of a device.
///
/// Views may be destroyed while a stream captures; their memory stays retired until the capture has
/// ended. The library sees the captures of blocking streams, which are all that Kokkos makes.
/// Announce a capture of a stream made with cudaStreamNonBlocking by a CaptureGuard: CUDA has no
/// way to ask for those.
///
/// What is declared here by `using` is documented in the namespace Impl::Pool.
namespace KokkosHostSpaces::pool {

using Impl::Pool::Description;
using Impl::Pool::PoolUsage;
using Impl::Pool::Reservation;
using Impl::Pool::SpaceUsage;
using Impl::Pool::State;
using Impl::Pool::Statistics;
using Impl::Pool::Usage;

/// What the pool holds now, in total, for each pool (kind of memory and NUMA node), and for each
/// space.
using Impl::Pool::statistics;

/// A table for people.
std::string to_text(Statistics const& statistics);

/// One JSON object; sizes in bytes, times in seconds.
std::string to_json(Statistics const& statistics);

/// Who owns, or last owned, the memory around an address; nothing if it is not from the pool.
using Impl::Pool::describe;

/// Who owns the memory of a View.
template <class DataType, class... Properties>
std::optional<Description> describe(Kokkos::View<DataType, Properties...> const& view) {
  return describe(static_cast<void const*>(view.data()));
}

/// Gives ready memory back to the system until at most `bytes_to_keep` of it are left; returns the
/// bytes given back. Waits for running kernels if there is something to give back.
using Impl::Pool::trim;

/// Limits the memory had from the system, in bytes; 0: no limit. As KOKKOS_HOST_SPACES_POOL_LIMIT.
using Impl::Pool::set_limit;

/// Page-locks memory for later allocations in a space, in the background, near the device of the
/// space instance: `bytes` in all. No later allocation may be larger than `largest_block` bytes, to
/// be served from it. Returns at once; the Reservation waits, and throws what went wrong.
template <class Space = PinnedSpace>
requires Impl::is_host_space_v<Space> Reservation reserve(std::size_t bytes,
                                                          Space const& space        = Space(),
                                                          std::size_t largest_block = std::size_t(1)
                                                                                      << 30) {
  return Impl::reserve(Space::describe(), space.device_id(), bytes, largest_block);
}

/// While one lives, the pool leaves the devices alone, for a stream captures that it cannot see.
class CaptureGuard {
 public:
  CaptureGuard() noexcept;  ///< before the capture begins
  ~CaptureGuard();          ///< after it has ended
  CaptureGuard(CaptureGuard const&)            = delete;
  CaptureGuard& operator=(CaptureGuard const&) = delete;
};

}  // namespace KokkosHostSpaces::pool

#endif
