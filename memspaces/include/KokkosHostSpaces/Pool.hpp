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
#include <type_traits>

/// Control and statistics of the pool below the three memory spaces. All functions are thread-safe.
///
/// Destroying a View never waits for a device, and its memory is neither used again nor unmapped
/// while device work submitted before the destruction may touch it. This holds without help from the
/// application for kernels, copies and graph launches of all streams of the process, blocking or not,
/// on all devices in use, of Kokkos and of any other library. It does not hold for:
/// - work that is not device work: finish an MPI transfer of a buffer before you destroy the buffer;
/// - work submitted later, such as launches of a graph that holds the address, except copies by this
///   library and Views passed to retain_for_graph: their memory stays in use as long as the graph;
/// - contexts that an application makes by the driver API: Kokkos uses the primary context of a device.
///
/// Views may be destroyed while a stream captures; their memory stays retired until the capture has
/// ended. The library sees captures of blocking streams, the only kind that Kokkos makes. Announce a
/// capture of a stream made with cudaStreamNonBlocking by a CaptureGuard, since CUDA offers no way to
/// find it. If several threads use the library, announce every capture.
namespace KokkosHostSpaces::pool {

/// The statistics as a table.
std::string to_text(Statistics const& statistics);

/// Describes the allocation that the memory of a View belongs to.
template <class DataType, class... Properties>
std::optional<Description> describe(Kokkos::View<DataType, Properties...> const& view) {
  return describe(static_cast<void const*>(view.data()));
}

/// Page-locks memory for later allocations in a space, in a thread of the library. Returns at once;
/// Reservation::wait waits, and throws the errors.
/// \param bytes in all
/// \param space near whose device the memory lies
/// \param largest_block bytes of the largest later allocation that the memory must serve
template <Impl::HostSpace Space = PinnedSpace>
Reservation reserve(std::size_t bytes, Space const& space = Space(),
                    std::size_t largest_block = std::size_t(1) << 30) {
  return Impl::reserve(Space::describe(), space.device_id(), bytes, largest_block);
}

/// Destroys a View that only work of `instance` uses. Its memory is ready for other Views as soon as the
/// work submitted to `instance` so far is done, whatever else runs, such as a kernel that never ends.
/// Other work may have used the memory only if the stream of `instance` waits for it. The call does not
/// wait. The instance and its stream may be destroyed afterwards.
///
/// The memory waits for all work of all devices, as that of any other View, if the stream captures, a
/// graph keeps the memory, CUDA refuses an event, or `instance` is one of the host. While another View
/// shares the memory, it stays in use.
/// \param view in one of our spaces; empty afterwards
template <Impl::ExecutionSpace ExecutionSpace, class DataType, class... Properties>
void retire_on([[maybe_unused]] ExecutionSpace const& instance,
               Kokkos::View<DataType, Properties...>&& view) {
  using View = Kokkos::View<DataType, Properties...>;
  static_assert(Impl::HostSpace<typename View::memory_space>,
                "retire_on destroys Views in PinnedSpace, MappedSpace or WriteCombinedSpace");
  if constexpr (Impl::is_driven_v<ExecutionSpace>) {
    Impl::ScopedRetirement const by(view.data(), Impl::stream_of(instance),
                                    Impl::device_id_of(instance));
    view = View();
    return;
  }
  view = View();
}

}  // namespace KokkosHostSpaces::pool

#endif
