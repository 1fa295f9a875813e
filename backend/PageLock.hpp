// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_PAGE_LOCK_HPP
#define KOKKOS_HOST_SPACES_BACKEND_PAGE_LOCK_HPP

#include "Config.hpp"
#include "Error.hpp"
#include "MemoryKind.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

/// Tells how a region was made, which decides how it is given back.
enum class Origin {
  mapped_and_registered,  ///< mmap, then Driver::lock_pages
  mapped,                 ///< mmap alone: there is no device to lock for, or not yet
  driver                  ///< Driver::allocate_pinned
};

/// A range of page-locked memory, which is given back as a whole.
struct Region {
  void* pointer                    = nullptr;                  ///< where it begins
  std::size_t bytes                = 0;                        ///< whole pages
  Origin origin                    = Origin::mapped;           ///< how it is given back
  MemoryKind kind                  = MemoryKind::page_locked;  ///< of its pages
  std::size_t offset_in_allocation = 0;  ///< bytes of the driver's allocation before `pointer`
  int numa_node   = -1;     ///< OS index of the node it is bound to, -1 if it is not bound
  bool huge_pages = false;  ///< transparent huge pages were asked for

  /// True for mmap; CUDA does not promise that its memory is zero.
  bool is_zero_filled() const noexcept { return origin != Origin::driver; }
};

/// Memory that cannot be had, with the one thing that helps beside asking for less.
class Refused : public OutOfPinnedMemory {
 public:
  /// \param remedy such as "raise ulimit -l"; empty: nothing else helps
  Refused(std::string const& what, std::string remedy)
      : OutOfPinnedMemory(what), m_remedy(std::move(remedy)) {}
  std::string const& remedy() const noexcept { return m_remedy; }

 private:
  std::string m_remedy;
};

/// Page-locks fresh memory, or prepares it for lock_mapped while no device has a context
/// (Driver::has_context): map, bind to `numa_node` (-1: anywhere), first touch by several threads
/// of that node, keep from children of a fork, register. Rounds `bytes` up to whole pages.
/// Undoes its steps in reverse when one fails. Blocks the calling thread, waits for no device;
/// thread-safe.
/// \throw Refused if the system does; the message names bytes and reason, the pool adds the rest
/// \throw DeviceError if the runtime fails for another reason; Driver::StillLocked if
/// as many bytes are lost to the process, because the runtime failed to lock and to unlock them.
Region lock_fresh_pages(std::size_t bytes, MemoryKind kind, int numa_node,
                        Config const& config = Backend::config());

/// Page-locks a region that was mapped when no device had a context; write-combined memory then stays
/// ordinary memory. The caller sets its origin to mapped_and_registered.
/// \throw Error if it stays as it was; Driver::StillLocked if a part is locked for good
void lock_mapped(Region const& region);

/// Gives a region back to the system. Waits for running kernels. Returns false if the runtime refused,
/// also because it has shut down: the memory then stays locked and mapped until the process ends. In
/// the child of a fork it does nothing to page-locked memory, and returns true.
bool give_back(Region const& region) noexcept;

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
