// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/copy/TiledCopy.hpp>

#ifdef KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE

#include <algorithm>
#include <bit>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t least_threads = 32, most_threads = 512;  // of a team

}  // namespace

void enqueue_tiled_copy(DrivenDevice const& instance, void* dst, void const* src,
                        CopyPlan const& plan, bool device_reads_host_memory) {
  auto const addresses =
      reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src);
  Tiling const tiling = *make_tiling(plan, addresses, !device_reads_host_memory);
  // Tiny tiles, as of 3 x 3 tensors, have small teams: more of them run at once.
  std::size_t const words = std::size_t(tiling.side_dst) * tiling.side_src;
  std::size_t const threads =
      std::clamp(std::bit_ceil(words / loads_at_once(tiling.word)), least_threads, most_threads);
  run_tiled_copy(instance, tiling, dst, src, int(threads));
}

}  // namespace KokkosHostSpaces::Impl

#endif
