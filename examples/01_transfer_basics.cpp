// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Squares of 1 to 10 in page-locked memory travel to the device and back, by copies in all four
// directions. Then two things that cannot work, to show how a failure tells its cause.

#include "support/Example.hpp"

#include <KokkosHostSpaces.hpp>

#include <cstdio>

namespace khs = KokkosHostSpaces;

using Device     = Kokkos::DefaultExecutionSpace;
using HostView   = Kokkos::View<int*, khs::PinnedSpace>;
using DeviceView = Kokkos::View<int*, Device::memory_space>;

constexpr int count = 10;

bool squares_travel() {
  HostView squares("squares", count), outgoing("outgoing", count), returned("returned", count);
  DeviceView on_device("on_device", count), second_on_device("second_on_device", count);
  for (int i = 0; i < count; ++i) squares(i) = (i + 1) * (i + 1);

  // All four are enqueued on one instance: they run in this order, and the host does not wait in
  // between.
  Device const instance;
  Kokkos::deep_copy(instance, outgoing, squares);
  Kokkos::deep_copy(instance, on_device, outgoing);
  Kokkos::deep_copy(instance, second_on_device, on_device);
  Kokkos::deep_copy(instance, returned, second_on_device);
  instance.fence("squares are back");

  std::printf("host -> host -> device -> device -> host:");
  for (int i = 0; i < count; ++i) std::printf(" %d", returned(i));
  std::printf("\n");
  return Example::count_wrong(returned, [](std::size_t i) { return int((i + 1) * (i + 1)); }) == 0;
}

// Every failure is a C++ exception whose message says what failed, why, and what to do.
template <class Failure, class Action>
bool fails(char const* what, Action const& action) {
  try {
    action();
  } catch (Failure const& error) {
    std::printf("\n%s fails, and says:\n  %s\n", what, error.what());
    return true;
  }
  std::printf("\n%s did not fail\n", what);
  return false;
}

bool run(Example::Options const&) {
  bool const travelled = squares_travel();

  bool const refused_size  = fails<khs::OutOfPinnedMemory>("A View of 1 PiB", [] {
    Kokkos::View<char*, khs::PinnedSpace> const petabyte("petabyte", std::size_t(1) << 50);
  });
  bool const refused_shape = fails<std::runtime_error>("A copy between unequal extents", [] {
    DeviceView const five("five", 5);
    HostView const ten("ten", count);
    Kokkos::deep_copy(five, ten);
  });
  return travelled && refused_size && refused_shape;
}

int main(int argc, char** argv) { return Example::run(argc, argv, {}, run); }
