// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_POOL_HPP
#define KOKKOS_HOST_SPACES_POOL_HPP

#include <KokkosHostSpaces/CaptureGuard.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/backend/pool/Control.hpp>
#include <KokkosHostSpaces/backend/pool/Statistics.hpp>

#include <optional>
#include <string>

/// Control of the pool under the three memory spaces. Everything is thread-safe.
///
/// Destroying a View never waits for a device, and its memory is neither used again nor unmapped
/// while device work submitted before the destruction may touch it. Covered without any help from
/// the application: kernels, copies and graph launches of all streams of this process, blocking or
/// not, on all devices in use, by Kokkos and by any other library. Not covered:
/// - what is no device work: finish an MPI transfer of a buffer before you destroy the buffer;
/// - what is submitted later, such as launches of a graph which holds the address, unless it is a
///   copy by this library or was named to retain_for_graph: these stay in use as long as the graph;
/// - contexts that an application makes itself by the driver API: Kokkos uses the primary context
///   of a device.
///
/// Views may be destroyed while a stream captures; their memory stays retired until the capture has
/// ended. The library sees the captures of blocking streams, which are all that Kokkos makes.
/// Announce a capture of a stream made with cudaStreamNonBlocking by a CaptureGuard: CUDA has no
/// way to ask for those.
namespace KokkosHostSpaces::pool {

/// A table for people.
std::string to_text(Statistics const& statistics);

/// One JSON object; sizes in bytes, times in seconds.
std::string to_json(Statistics const& statistics);

/// Who owns the memory of a View.
template <class DataType, class... Properties>
std::optional<Description> describe(Kokkos::View<DataType, Properties...> const& view) {
  return describe(static_cast<void const*>(view.data()));
}

/// Page-locks memory for later allocations in a space, in the background, near the device of the
/// space instance: `bytes` in all. No later allocation may be larger than `largest_block` bytes, to
/// be served from it. Returns at once; the Reservation waits, and throws what went wrong.
template <Impl::HostSpace Space = PinnedSpace>
Reservation reserve(std::size_t bytes, Space const& space = Space(),
                    std::size_t largest_block = std::size_t(1) << 30) {
  return Impl::reserve(Space::describe(), space.device_id(), bytes, largest_block);
}

}  // namespace KokkosHostSpaces::pool

#endif
