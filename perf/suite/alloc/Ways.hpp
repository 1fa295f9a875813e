// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Ways to allocate. A way is a function object that returns an owner of `bytes` bytes, so that a pair of
// allocation and free is the lifetime of one object.

#ifndef KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_WAYS_HPP
#define KOKKOS_HOST_SPACES_PERF_SUITE_ALLOC_WAYS_HPP

#include "AllocBaseline.hpp"
#include "../../plain/Platform.hpp"

#include <KokkosHostSpaces/PinnedSpace.hpp>
#include <KokkosHostSpaces/Pool.hpp>

#include <Kokkos_Core.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace KokkosHostSpaces::Perf {

struct WayInfo {
  std::string name;
  bool caches;  ///< as AllocBaseline::caches
};

struct FreeInPinnedSpace {
  std::size_t bytes;
  void operator()(char* pointer) const { PinnedSpace().deallocate(pointer, bytes); }
};

struct FreePlain {
  AllocBaseline* baseline;
  std::size_t bytes;
  void operator()(char* pointer) const { baseline->free(pointer, bytes); }
};

template <class Space>
auto make_view(std::size_t bytes) {
  return Kokkos::View<char*, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "sample"),
                                    bytes);
}

/// Calls visit(WayInfo, way) for each way of this machine; the first is PinnedSpace.
template <class Visit>
void for_each_way(Visit visit) {
  visit(WayInfo{"PinnedSpace", true}, [](std::size_t bytes) {
    return std::unique_ptr<char, FreeInPinnedSpace>(
        static_cast<char*>(PinnedSpace().allocate(bytes)), {bytes});
  });
  visit(WayInfo{"View_PinnedSpace", true}, make_view<PinnedSpace>);
  visit(WayInfo{"zeroed_View_PinnedSpace", true},
        [](std::size_t bytes) { return Kokkos::View<char*, PinnedSpace>("sample", bytes); });
#ifdef KOKKOS_ENABLE_CUDA
  visit(WayInfo{"View_CudaHostPinnedSpace", false}, make_view<Kokkos::CudaHostPinnedSpace>);
#endif
  for (AllocBaseline& baseline : alloc_baselines()) {
    if (!baseline.why_not.empty()) continue;
    visit(WayInfo{baseline.name, baseline.caches}, [&baseline](std::size_t bytes) {
      return std::unique_ptr<char, FreePlain>(static_cast<char*>(baseline.allocate(bytes)),
                                              {&baseline, bytes});
    });
  }
}

inline bool has_way(std::string const& name) {
  bool found = false;
  for_each_way([&](WayInfo const& info, auto const&) { found |= info.name == name; });
  return found;
}

template <class Space>
char* begin_of(Kokkos::View<char*, Space> const& view) {
  return view.data();
}
template <class Deleter>
char* begin_of(std::unique_ptr<char, Deleter> const& block) {
  return block.get();
}

/// Frees the memory that caching ways keep.
inline void forget_kept_memory() {
  pool::trim(0);
  for (AllocBaseline const& baseline : alloc_baselines()) baseline.trim();
}

/// Writes both ends of a block and reads them back.
inline bool keeps_its_ends(char volatile* begin, std::size_t bytes, char mark,
                           bool damage = false) {
  begin[0]         = mark;
  begin[bytes - 1] = mark;
  if (damage) begin[bytes - 1] = char(~mark);
  return begin[0] == mark && begin[bytes - 1] == mark;
}

inline bool is_page_locked_throughout(char const* begin, std::size_t bytes) {
  return is_page_locked(begin) && is_page_locked(begin + bytes / 2) &&
         is_page_locked(begin + bytes - 1);
}

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace KokkosHostSpaces::Perf

#endif
