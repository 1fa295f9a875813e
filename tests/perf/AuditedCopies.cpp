// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Copies as programs make them, for the audit to find. Compiled as a program that knows nothing of
// this library, and as one that uses its PinnedSpace: audited <pattern>. Exit code 4: no GPU.

#ifdef KOKKOS_HOST_SPACES_TEST_OURS
#include <KokkosHostSpaces.hpp>
#endif
#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

#if defined(KOKKOS_HOST_SPACES_TEST_OURS)
using PageLocked = KokkosHostSpaces::PinnedSpace;
#elif defined(KOKKOS_ENABLE_CUDA)
using PageLocked = Kokkos::CudaHostPinnedSpace;
#else
using PageLocked = Kokkos::HostSpace;
#endif

using Device         = Kokkos::DefaultExecutionSpace;
using OnHost         = Kokkos::View<double*, Kokkos::HostSpace>;
using OnDevice       = Kokkos::View<double*, Device::memory_space>;
using PageLockedView = Kokkos::View<double*, PageLocked>;

constexpr int n = 1 << 20;

void host_views() {
  OnHost const from("from", n), to("to", n);
  Kokkos::deep_copy(to, from);
}

// 10 bytes in a loop, on an instance.
void tiny() {
  constexpr int all = 5000, some = 10;
  Kokkos::View<char*, Kokkos::HostSpace> const letters("letters", all);
  Kokkos::View<char*, Device::memory_space> const box("box", all);
  Device const instance;
  for (int i = 0; i != all; i += some) {
    auto const range = Kokkos::make_pair(i, i + some);
    Kokkos::deep_copy(instance, Kokkos::subview(box, range), Kokkos::subview(letters, range));
  }
  instance.fence();
}

void fill(Device const& instance, OnDevice const& field, double value) {
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Device>(instance, 0, n),
      KOKKOS_LAMBDA(int i) { field(i) = value; });
}

// Fences of the whole device, but not beside a copy; on the host a mirror that is the View itself.
void clean() {
  PageLockedView const buffer("buffer", n);
  OnDevice const field("field", n);
  Device const instance;
  Kokkos::fence();
  for (int i = 0; i != 20; ++i) {
    fill(instance, field, i);
#ifdef KOKKOS_ENABLE_CUDA
    Kokkos::deep_copy(instance, buffer, field);
    Kokkos::deep_copy(instance, field, buffer);
#else
    Kokkos::deep_copy(Kokkos::create_mirror_view(field), field);
    Kokkos::deep_copy(instance, field, i);
#endif
  }
  instance.fence();
  fill(instance, field, 0);
  Kokkos::fence();
}

// Buffers of a message, made and freed in each step.
void exchange() {
  OnDevice const field("field", n);
  Device const instance;
  for (int step = 0; step != 20; ++step) {
    PageLockedView const message("message", n - step);
    Kokkos::deep_copy(instance, message, Kokkos::subview(field, Kokkos::make_pair(0, n - step)));
    instance.fence();
  }
}

// A table that all ranks have. They are there at the same time.
void table() {
  std::putchar('.');
  std::fflush(stdout);
  std::getchar();
  OnHost const table("table", n);
  for (int i = 0; i != n; ++i) table(i) = i;
  Kokkos::deep_copy(OnDevice("table of the device", n), table);
}

void labels() {
  OnHost const from("\"quotes\", \\ and\na line", n), to(std::string(5000, 'x') + "\xff", n);
  Kokkos::deep_copy(to, from);
  Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const unnamed(from.data(), n);
  Kokkos::deep_copy(to, unnamed);
}

// The end without a word to Kokkos.
void no_finalize() {
  host_views();
  std::exit(0);
}

// A sum that the host reads each time round.
void values() {
  OnDevice const field("field", n);
  Kokkos::View<double, Device::memory_space> const sum("sum");
  for (int i = 0; i != 10; ++i) {
    Kokkos::deep_copy(field, 1.);
    double value = 0;
    Kokkos::deep_copy(value, sum);
  }
}

#ifdef KOKKOS_ENABLE_CUDA

void pageable_source() {
  OnHost const halo("halo_send", n);
  OnDevice const field("field", n);
  Kokkos::Cuda const instance;
  for (int i = 0; i != 10; ++i) Kokkos::deep_copy(instance, field, halo);
  instance.fence();
}

void pageable_destination() {
  OnHost const halo("halo_receive", n);
  OnDevice const field("field", n);
  Kokkos::Cuda const instance;
  for (int i = 0; i != 10; ++i) Kokkos::deep_copy(instance, halo, field);
  instance.fence();
}

void host_instance() {
  PageLockedView const buffer("buffer", n);
  OnDevice const field("field", n);
  for (int i = 0; i != 10; ++i)
    Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), field, buffer);
}

void fence_inside() {
  PageLockedView const buffer("buffer", 16 * n);
  OnDevice const field("field", 16 * n);
  for (int i = 0; i != 10; ++i) Kokkos::deep_copy(field, buffer);
}

void fence_before() {
  PageLockedView const buffer("buffer", n);
  OnDevice const field("field", n);
  Kokkos::Cuda const instance;
  for (int i = 0; i != 10; ++i) {
    fill(instance, field, i);
    Kokkos::fence("the program's");
    Kokkos::deep_copy(instance, buffer, field);
    instance.fence();
  }
}

void fence_behind() {
  PageLockedView const buffer("buffer", n);
  OnDevice const field("field", n);
  Kokkos::Cuda const instance;
  for (int i = 0; i != 10; ++i) {
    Kokkos::deep_copy(instance, buffer, field);
    Kokkos::fence();
  }
}

bool has_device() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

#endif

std::map<std::string, void (*)()> const patterns = {
    {"host_views", host_views},
    {"tiny", tiny},
    {"clean", clean},
    {"exchange", exchange},
    {"table", table},
    {"labels", labels},
    {"no_finalize", no_finalize},
    {"values", values},
#ifdef KOKKOS_ENABLE_CUDA
    {"pageable_source", pageable_source},
    {"pageable_destination", pageable_destination},
    {"host_instance", host_instance},
    {"fence_inside", fence_inside},
    {"fence_before", fence_before},
    {"fence_behind", fence_behind},
#endif
};

}  // namespace

int main(int argc, char* argv[]) {
#ifdef KOKKOS_ENABLE_CUDA
  if (!has_device()) return 4;
#endif
  Kokkos::ScopeGuard const kokkos(argc, argv);
  auto const pattern = patterns.find(argc > 1 ? argv[1] : "");
  if (pattern == patterns.end()) {
    std::fprintf(stderr, "usage: %s <pattern>\n", argv[0]);
    return 2;
  }
  pattern->second();
}
