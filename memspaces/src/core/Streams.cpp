// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Streams.hpp>

#include "../../../backend/Driver.hpp"

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

int device_of(void const* a, void const* b) {
  int const device = Driver::device_of(a);
  return device >= 0 ? device : Driver::device_of(b);
}

StreamHandle private_stream(int device) { return Driver::private_stream(device); }

StreamHandle make_stream(int device) { return Driver::make_stream(device); }

void copy_async(void* dst, void const* src, std::size_t bytes, StreamHandle stream) {
  if (bytes > 0) Driver::copy(dst, src, bytes, stream);
}

void copy_and_wait(void* dst, void const* src, std::size_t bytes) {
  Driver::Stream const stream = Driver::private_stream(device_of(dst, src));
  copy_async(dst, src, bytes, stream);
  Driver::fence(stream);
}

}  // namespace KokkosHostSpaces::Impl
