// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/batch/BatchPlan.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>
#include <KokkosHostSpaces/impl/batch/FewCopies.hpp>

#include "../../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

bool copy_few(FewCopies const& copies, bool to_device, Driver::Stream stream) {
  if (copies.count() != 1)
    return copies.count() >= copy_thresholds_in_use().batch_pieces &&
           Driver::copy_batch(copies.dsts(), copies.srcs(), copies.bytes(), copies.count(), stream);
  void* const dst         = copies.dsts()[0];
  void const* const src   = copies.srcs()[0];
  std::size_t const bytes = copies.bytes()[0];
  return (to_device && copy_short(dst, src, bytes, stream)) || copy_run(dst, src, bytes, stream);
}

}  // namespace KokkosHostSpaces::Impl
