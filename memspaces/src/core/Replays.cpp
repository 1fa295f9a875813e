// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Replays.hpp>

#include "../../../backend/Replays.hpp"

namespace KokkosHostSpaces::Impl {

void retain_for_graph(void* stream, void const* a, void const* b) {
  Backend::retain_for_graph(stream, a, b);
}

std::shared_ptr<void const> own_replayed_memory(std::function<void()> const& capture) {
  auto memory = std::make_shared<Backend::RetainedMemory>();
  Backend::ScopedRetention const by(*memory);
  capture();
  return memory;
}

}  // namespace KokkosHostSpaces::Impl
