// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Allocation.hpp>

#include <Kokkos_Core.hpp>

#include <mutex>
#include <utility>

namespace KokkosHostSpaces::Impl {

void at_finalize(std::function<void()> give_back) {
  static std::mutex mutex;
  std::lock_guard const lock(mutex);
  Kokkos::push_finalize_hook(std::move(give_back));
}

}  // namespace KokkosHostSpaces::Impl
