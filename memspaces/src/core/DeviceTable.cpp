// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/DeviceTable.hpp>

#include "../../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

std::shared_ptr<void> make_device_table(int device, void const* data, std::size_t bytes) {
  std::shared_ptr<void> table(Driver::allocate_on_device(device, bytes), Driver::free_on_device);
  if (table == nullptr) return nullptr;
  Driver::Stream const stream = Driver::private_stream(device);
  Driver::copy(table.get(), data, bytes, stream);
  Driver::fence(stream);
  return table;
}

}  // namespace KokkosHostSpaces::Impl
