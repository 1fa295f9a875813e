// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>

#include "../../../backend/Driver.hpp"
#include "../../../backend/Error.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

DeviceMemory try_allocate_on_device(int device, std::size_t bytes) {
  return {static_cast<char*>(Driver::allocate_on_device(device, bytes)), Driver::free_on_device};
}

DeviceMemory allocate_on_device(int device, std::size_t bytes, std::string const& user,
                                std::string const& advice) {
  DeviceMemory memory = try_allocate_on_device(device, bytes);
  if (memory == nullptr && bytes > 0)
    throw Error(user + " cannot have " + std::to_string(bytes) + " bytes of memory of device " +
                std::to_string(device) + " (it has less left): " + advice);
  return memory;
}

DeviceMemory try_copy_to_device(int device, void const* data, std::size_t bytes) {
  DeviceMemory memory = try_allocate_on_device(device, bytes);
  if (memory == nullptr) return nullptr;
  Driver::Stream const stream = Driver::private_stream(device);
  Driver::copy(memory.get(), data, bytes, stream);
  Driver::fence(stream);
  return memory;
}

}  // namespace KokkosHostSpaces::Impl
