// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory of containers and registrations that are made before Kokkos::initialize, as by static
// constructors: no device gets a context by it, Kokkos::initialize page-locks it for the device that
// the program chooses, and kernels then use it. On a GPU, or with a fake CUDA runtime.

#include <KokkosHostSpaces.hpp>

#include "../../../backend/Driver.hpp"

#ifdef KOKKOS_HOST_SPACES_TEST_FAKE_CUDA
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#endif

#include <cstdio>
#include <vector>

namespace khs    = KokkosHostSpaces;
namespace Driver = khs::Impl::Backend::Driver;

namespace {

int failures = 0;

void check(bool right, char const* what) {
  if (right) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

bool is_locked(void const* pointer) {
  Driver::Extent const extent = Driver::extent_of(pointer);
  return extent.device < 0 && extent.begin != nullptr;
}

int sum_of(int const* data, int size) {
  Kokkos::View<int const*, khs::MappedSpace, Kokkos::MemoryUnmanaged> const view(data,
                                                                                 std::size_t(size));
  int sum = 0;
  Kokkos::parallel_reduce(
      "sum", size, KOKKOS_LAMBDA(int i, int& result) { result += view(i); }, sum);
  return sum;
}

void initialize_last_device() {
#ifdef KOKKOS_HOST_SPACES_TEST_FAKE_CUDA
  DeviceWork::require(cudaSetDevice(1), "cudaSetDevice");  // as a Kokkos with CUDA does
  Kokkos::initialize();
#else
  Kokkos::initialize(Kokkos::InitializationSettings().set_device_id(Driver::device_count() - 1));
#endif
}

}  // namespace

int main() {
#ifdef KOKKOS_HOST_SPACES_TEST_FAKE_CUDA
  FakeCuda::reset(2, false);
#endif
  if (Driver::device_count() == 0) {
    std::puts("SKIPPED: needs a GPU");
    return 4;
  }
  constexpr int size = 100000;
  std::vector<int> mine(size, 2);
  std::vector<int, khs::Allocator<int, khs::MappedSpace>> early(size, 1);
  khs::Registration registered(mine.data(), mine.size() * sizeof(int), "mine");
  check(!Driver::has_context(), "an allocation or registration made a context");
  initialize_last_device();
  Driver::Devices devices{};
  check(Driver::devices_in_use(devices) == 1 && devices[0] == Driver::device_count() - 1,
        "a device has a context that the program did not choose");
  check(is_locked(early.data()), "early memory is not page-locked");
  check(is_locked(mine.data()), "an early registration is not page-locked");
  check(sum_of(early.data(), size) == size, "a kernel reads early memory");
  check(sum_of(mine.data(), size) == 2 * size, "a kernel reads an early registration");
  registered.release();
  early = {};
  Kokkos::finalize();
  if (failures == 0) std::puts("PASSED");
  return failures;
}
