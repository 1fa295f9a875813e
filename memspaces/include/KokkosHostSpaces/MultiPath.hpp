// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_MULTI_PATH_HPP
#define KOKKOS_HOST_SPACES_MULTI_PATH_HPP

#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>
#include <KokkosHostSpaces/impl/multipath/RelayedCopies.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace KokkosHostSpaces {

/// An instance whose large copies also take the links of other GPUs, its *neighbours*, to which NVLink connects it.
/// May change in any release.
///
///     khs::MultiPath paths(instance);
///     khs::deep_copy(paths, device, host);
///
/// The front of the data goes over the own link, a part of the back through memory of each neighbour. The parts are
/// decided when deep_copy is called, by the rates of the links, which the first MultiPath of a process measures. A
/// neighbour that takes 1.5 times as long as expected, since its link is busy, is left out of the next 16 copies.
///
/// Takes of each neighbour 24 MiB of memory, three streams, and, if it was not used before, a context
/// (some 500 MB). Enables peer access between both, and never disables it. Ranks that share the GPUs of a node
/// should name their neighbours, or see only their own GPUs.
///
/// Thread-safe. Destroy it before Kokkos::finalize; that waits for its copies.
template <class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class MultiPath {
 public:
  using execution_space = ExecutionSpace;  ///< of the instance

  /// Waits for about 20 ms for each device whose link was not measured before.
  /// \param neighbours numbers of the devices that may help; by default all that are visible. Those without
  ///        NVLink, or whose link to the host shares an uplink with that of the instance, do not
  /// \throw Error if there is no such device
  explicit MultiPath(ExecutionSpace const& instance     = ExecutionSpace(),
                     std::vector<int> const& neighbours = Impl::all_devices())
      : m_instance(instance) {
    if constexpr (Impl::is_driven_v<ExecutionSpace>)
      m_links = Impl::make_relayed_copies(Impl::device_id_of(instance), neighbours);
  }

  /// Returns the instance on which the copies are ordered.
  ExecutionSpace const& instance() const { return m_instance; }

  /// Returns a text for people: the paths with their rates, which neighbours do not help, and why.
  std::string explain() const {
    return m_links != nullptr ? m_links->explain()
                              : "copies by the own link alone (of no device that is driven)";
  }

  /// Frees the memory on the neighbours; waits for the copies. The next copy allocates again.
  void release_memory() const {
    if (m_links != nullptr) m_links->release();
  }

  /// \cond for deep_copy
  Impl::RelayedCopies* links() const { return m_links.get(); }
  /// \endcond

 private:
  ExecutionSpace m_instance;
  std::shared_ptr<Impl::RelayedCopies> m_links;
};

/// \cond
namespace Impl {

template <class Dst, class Src>
inline constexpr bool takes_paths_v =
    OurCopy<DrivenDevice, Dst, Src> && (unsigned(Dst::rank) == unsigned(Src::rank)) &&
    std::is_same_v<typename Dst::value_type, typename Src::non_const_value_type>&& is_page_locked_v<
        typename Dst::memory_space> !=
        is_page_locked_v<typename Src::memory_space>&& is_device_only_v<
            typename Dst::memory_space> != is_device_only_v<typename Src::memory_space>;

/// Returns false, and does nothing, if the copy takes one path.
template <class ExecutionSpace, class Dst, class Src>
bool copy_over_paths(MultiPath<ExecutionSpace> const& paths, Dst const& dst, Src const& src) {
  if constexpr (is_driven_v<ExecutionSpace> && takes_paths_v<Dst, Src>) {
    if (paths.links() == nullptr || !check_views(dst, src)) return false;
    CopyPlan const plan = plan_for(dst, src);
    auto* const stream  = stream_of(paths.instance());
    if (!plan.contiguous() || !paths.links()->takes(dst.data(), src.data(), plan.run_bytes, stream))
      return false;
    DeepCopyEvent const event(dst, src);
    paths.links()->enqueue(dst.data(), src.data(), plan.run_bytes, stream);
    if (guards_copies()) guard_copy(side_of(dst), side_of(src), stream);
    return true;
  }
  return false;
}

}  // namespace Impl
/// \endcond

/// Copies as `Kokkos::deep_copy(paths.instance(), dst, src)`: asynchronous, and ordered on the instance; over
/// several links at once. It *is* that call for less than 4 MiB, Views that are not both contiguous, pairs other
/// than page-locked memory and that of cudaMalloc on the own device, while the stream captures, if no neighbour
/// helps, with KOKKOS_HOST_SPACES_MULTI_PATH=off, and where this library drives no device. The part of a neighbour
/// without memory, or with an error when the copy is enqueued, goes over the own link.
/// \throw as Kokkos::deep_copy
template <class ExecutionSpace, class DT, class... DP, class ST, class... SP>
void deep_copy(MultiPath<ExecutionSpace> const& paths, Kokkos::View<DT, DP...> const& dst,
               Kokkos::View<ST, SP...> const& src) {
  if (!Impl::copy_over_paths(paths, dst, src)) Kokkos::deep_copy(paths.instance(), dst, src);
}

}  // namespace KokkosHostSpaces

#endif
