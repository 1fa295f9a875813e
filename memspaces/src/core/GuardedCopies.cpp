// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/GuardedCopies.hpp>

#include "../../../backend/guard/Guard.hpp"

namespace KokkosHostSpaces::Impl {

bool guards_copies() { return Backend::Guard::is_on(); }

void guard_copy(CopySide const& dst, CopySide const& src, void* stream) {
  Backend::Guard::watch({dst.begin, dst.bytes, dst.label}, {src.begin, src.bytes, src.label},
                        stream);
}

std::size_t races_found() noexcept { return Backend::Guard::races(); }

}  // namespace KokkosHostSpaces::Impl
