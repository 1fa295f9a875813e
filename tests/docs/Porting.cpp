// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The code of Porting.md and Snapshots.md in memspaces/docs, run and checked. The pages hold copies of
// lines from here.

#include <KokkosHostSpaces.hpp>

#include <catch2/catch_test_macros.hpp>

#include <numeric>
#include <vector>

namespace khs = KokkosHostSpaces;

namespace Porting {

namespace {

constexpr int n = 10000;

using DeviceView = Kokkos::View<double*>;

DeviceView on_device(double value) {
  DeviceView device("device", n);
  Kokkos::deep_copy(device, value);
  return device;
}

// clang-format off
// A field of a simulation, in host memory that the user of the class picks.
template <class HostSpace = khs::PinnedSpace>
struct Field {
  Kokkos::View<double*> device;
  Kokkos::View<double*, HostSpace> host;

  explicit Field(int size) : device("field", size), host("field", size) {}

  void to_host(Kokkos::DefaultExecutionSpace const& instance) {
    Kokkos::deep_copy(instance, host, device);
  }
};
// clang-format on

}  // namespace

TEST_CASE("a buffer for copies", "[docs]") {
  DeviceView const device = on_device(3);
  Kokkos::View<double*, khs::PinnedSpace> buffer("buffer", n);

  Kokkos::DefaultExecutionSpace instance;
  Kokkos::deep_copy(instance, buffer, device);  // returns at once
  instance.fence();                             // before the host reads
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += buffer(i);
  CHECK(sum == 3. * n);
}

TEST_CASE("a buffer that kernels read and write in place", "[docs]") {
  Kokkos::View<double*, khs::MappedSpace> flags("flags", n);
  Kokkos::parallel_for(
      "mark", n, KOKKOS_LAMBDA(int i) { flags(i) = i; });
  Kokkos::fence();
  CHECK(flags(n - 1) == n - 1);
}

TEST_CASE("a buffer for both", "[docs]") {
  Kokkos::View<double*, khs::PinnedSpace> buffer("buffer", n);
  auto in_place = khs::mapped_view(buffer);  // the same memory
  Kokkos::parallel_for(
      "fill", n, KOKKOS_LAMBDA(int i) { in_place(i) = 2 * i; });
  Kokkos::fence();
  CHECK(buffer(n - 1) == 2 * (n - 1));
}

// clang-format off
using CopiedSpace  = khs::PinnedSpace;  // buffers of messages and output, mirrors
using InPlaceSpace = khs::MappedSpace;  // flags, counters, what a kernel reads or writes once
// clang-format on

TEST_CASE("two aliases, and buffers without a View", "[docs]") {
  Kokkos::View<double*, CopiedSpace> copied("copied", n);
  Kokkos::View<double*, InPlaceSpace> in_place("in_place", n);
  Kokkos::deep_copy(in_place, 2.0);
  Kokkos::deep_copy(copied, in_place);
  CHECK(copied(n - 1) == 2);
  std::size_t const bytes = 1000;
  // clang-format off
  void* raw = Kokkos::kokkos_malloc<khs::PinnedSpace>("raw", bytes);
  raw       = Kokkos::kokkos_realloc<khs::PinnedSpace>(raw, 2 * bytes);
  Kokkos::kokkos_free<khs::PinnedSpace>(raw);
  // clang-format on
}

TEST_CASE("memory near the device of an instance", "[docs]") {
  Kokkos::DefaultExecutionSpace instance;
  Kokkos::View<double*, khs::PinnedSpace> near_it(
      Kokkos::view_alloc("near_it", khs::PinnedSpace(instance)), n);
  near_it(n - 1) += 1;
  CHECK(near_it(n - 1) == 1);
}

TEST_CASE("a mirror in page-locked memory", "[docs]") {
  DeviceView const device = on_device(5);

  auto host = Kokkos::create_mirror_view_and_copy(khs::PinnedSpace(), device);
  CHECK(host(n - 1) == 5);
}

TEST_CASE("mirrors and resizing on an instance", "[docs]") {
  DeviceView const device = on_device(5);
  Kokkos::View<double*, khs::PinnedSpace> buffer("buffer", n);
  Kokkos::deep_copy(buffer, 3);
  Kokkos::DefaultExecutionSpace instance;
  auto later =
      Kokkos::create_mirror_view_and_copy(Kokkos::view_alloc(khs::PinnedSpace(), instance), device);
  Kokkos::resize(Kokkos::view_alloc(instance), buffer, 2 * n);
  instance.fence();  // before the host reads either
  CHECK(later(n - 1) == 5);
  CHECK(buffer(n - 1) == 3);
  CHECK(buffer(2 * n - 1) == 0);
}

TEST_CASE("the type of a mirror of two dimensions", "[docs]") {
  using DeviceField = Kokkos::View<double**>;
  using HostField   = Kokkos::View<double**, DeviceField::array_layout, khs::PinnedSpace>;
  DeviceField const field("field", 3, 4);
  HostField const mirror = khs::create_pinned_mirror_view(Kokkos::DefaultExecutionSpace(), field);
  CHECK(mirror.data() != field.data());
}

TEST_CASE("a mirror and a DualView on an instance", "[docs]") {
  DeviceView const device = on_device(5);
  Kokkos::DefaultExecutionSpace instance;
  auto mirror = khs::create_pinned_mirror_view_and_copy(instance, device);
  khs::PinnedDualView<double*> dual("dual", n);
  for (int i = 0; i < n; ++i) dual.view_host()(i) = i;
  dual.modify_host();
  dual.sync_device(instance);  // returns at once: fence before view_host() is written again
  instance.fence();
  CHECK(mirror(n - 1) == 5);
  auto const copied = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dual.view_device());
  CHECK(copied(n - 1) == n - 1);
}

TEST_CASE("what kernels read of a View", "[docs]") {
  Kokkos::View<double*, khs::MappedSpace> view("view", n);
  Kokkos::deep_copy(view, 2);
  Kokkos::DefaultExecutionSpace instance;
  auto readable = khs::device_view(instance, view);  // a View of const elements
  CHECK(readable.data() == view.data());
}

TEST_CASE("memory in the style of cudaMallocHost", "[docs]") {
  DeviceView const device = on_device(7);
  Kokkos::View<double*, khs::PinnedSpace> buffer(
      Kokkos::view_alloc("buffer", Kokkos::WithoutInitializing), n);
  double* pointer = buffer.data();
  Kokkos::deep_copy(buffer, device);
  CHECK(pointer[n - 1] == 7);
}

TEST_CASE("containers in page-locked memory", "[docs]") {
  std::vector<double, khs::Allocator<double>> values(n, 1.0);
  CHECK(std::accumulate(values.begin(), values.end(), 0.) == n);
  CHECK(khs::pool::describe(values.data()).has_value());
}

TEST_CASE("memory that exists already", "[docs]") {
  std::vector<double> values(n, 1.0);
  DeviceView device("device", n);
  khs::Registration registration(values, "values");
  Kokkos::deep_copy(device, registration.view<double*>(n));
  registration.release();  // or at the end of the scope
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  CHECK(copy(n - 1) == 1);
}

TEST_CASE("a class whose user picks the space", "[docs]") {
  Kokkos::DefaultExecutionSpace const instance;
  Field<> pinned(n);
  Field<khs::MappedSpace> mapped(n);
  Kokkos::deep_copy(pinned.device, 11.);
  Kokkos::deep_copy(mapped.device, 12.);
  pinned.to_host(instance);
  mapped.to_host(instance);
  instance.fence();
  CHECK(pinned.host(n - 1) == 11);
  CHECK(mapped.host(n - 1) == 12);
}

TEST_CASE("memory of ours under a name that a library knows", "[docs]") {
  Kokkos::View<double*, khs::MappedSpace> const mapped("mapped", n);
  // clang-format off
  using Theirs = Kokkos::View<double*,
                              Kokkos::Device<Kokkos::DefaultExecutionSpace, Kokkos::SharedHostPinnedSpace>,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Theirs const for_library(mapped.data(), mapped.extent(0));
  // clang-format on
  Kokkos::parallel_for(
      "library", n, KOKKOS_LAMBDA(int i) { for_library(i) = i; });
  Kokkos::fence();
  CHECK(mapped(n - 1) == n - 1);
}

struct PackFace {
  Kokkos::View<double*> field;
  Kokkos::View<double*, khs::MappedSpace> face;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { face(i) = field(i); }
};

TEST_CASE("a message goes as soon as its face is there", "[docs]") {
  using Device = Kokkos::DefaultExecutionSpace;
  using Face   = Kokkos::View<double*, khs::MappedSpace>;
  Device const instance;
  Kokkos::View<double*> const field("field", n);
  Kokkos::deep_copy(field, 5);
  std::vector<Face> const faces = {Face("left", 10), Face("right", 20)};
  auto const of_face = Kokkos::Experimental::partition_space(Device(), std::vector{1, 1});
  auto const pack    = [](Device const& on, Kokkos::View<double*> const& from, Face const& face) {
    Kokkos::parallel_for("pack", Kokkos::RangePolicy(on, 0, face.size()), PackFace{from, face});
  };
  auto const compute_interior = [](Device const&, Kokkos::View<double*> const&) {};
  std::vector<double> sent;
  auto const send = [&](double const* data, std::size_t size, std::size_t f) {
    sent.push_back(data[size - 1] + double(f));
  };
  instance.fence("the boundary cells are computed");
  for (std::size_t f = 0; f < faces.size(); ++f)
    pack(of_face[f], field, faces[f]);  // a kernel that writes a View in MappedSpace
  compute_interior(instance, field);
  for (std::size_t f = 0; f < faces.size(); ++f) {
    of_face[f].fence("this face is on the host");
    send(faces[f].data(), faces[f].size(), f);  // MPI_Isend
  }
  CHECK(sent == std::vector{5., 6.});
}

TEST_CASE("output that does not stop the run", "[docs]") {
  Kokkos::DefaultExecutionSpace const instance;
  Kokkos::View<double*> const field("field", n);
  Kokkos::deep_copy(field, 5);
  double written        = 0;
  auto const write_file = [&](auto const& host) { written = host(n - 1); };
  khs::Snapshot last    = khs::snapshot("temperature", instance, field, write_file);
  last.fence();
  CHECK(written == 5);
}

#ifdef KOKKOS_ENABLE_CUDA

TEST_CASE("a View in CudaHostPinnedSpace and ours are copied to each other", "[docs][cuda]") {
  Kokkos::View<double*, Kokkos::CudaHostPinnedSpace> theirs("theirs", n);
  Kokkos::View<double*, khs::PinnedSpace> ours("ours", n);
  for (int i = 0; i < n; ++i) theirs(i) = i;
  Kokkos::deep_copy(ours, theirs);
  CHECK(ours(n - 1) == n - 1);
}

#endif

}  // namespace Porting
