// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../KokkosTest.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <span>

namespace {

// data += 1 by the default execution space, through memory that its kernels may access.
template <class View>
void add_one(View const& view) {
  Kokkos::parallel_for(
      "add_one", view.extent(0), KOKKOS_LAMBDA(std::size_t i) { view(i) += 1; });
  Kokkos::fence();
}

std::vector<double> numbers(std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = double(i);
  return v;
}

}  // namespace

TEST_CASE("a std::vector is worked on in place, and copied from", "[registration]") {
  auto data = numbers(100000);
  khs::Registration registration(data, "data");
  CHECK(registration.bytes() == 800000);
  add_one(registration.view<double*, khs::MappedSpace>(data.size()));
  CHECK(data[99999] == 100000.);

  Kokkos::View<double*, Kokkos::DefaultExecutionSpace> const device("device", data.size());
  Kokkos::DefaultExecutionSpace const instance;
  Kokkos::deep_copy(instance, device, registration.view<double*>(data.size()));
  instance.fence();
  auto const back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  CHECK(back(99999) == 100000.);
  registration.release();
  CHECK(registration.data() == nullptr);
  data.push_back(1);  // the vector is free to move again
}

TEST_CASE("own allocations, two vectors in one page, and a moved Registration", "[registration]") {
  auto* const memory = static_cast<double*>(std::aligned_alloc(64, 6400));
  {
    khs::Registration first(memory, 3200, "first half");
    khs::Registration second(memory + 400, 3200, "second half");
    khs::Registration moved = std::move(first);
    CHECK(first.data() == nullptr);
    CHECK(moved.label() == "first half");
    auto const rest = second.view<double*, khs::MappedSpace>(400);
    rest(0)         = 0;
    moved.release();
    add_one(rest);  // still locked, although it shared a page
    CHECK(rest(0) == 1);
    moved = std::move(second);
    CHECK(moved.data() == memory + 400);
  }
  khs::Registration again(memory, 6400, "again");
  again.release();
  std::free(memory);
}

TEST_CASE("a memory-mapped file is changed in place", "[registration]") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  auto const data = numbers(100000);
  REQUIRE(std::fwrite(data.data(), 8, data.size(), file) == data.size());
  std::fflush(file);
  void* const mapping = mmap(nullptr, 800000, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
  REQUIRE(mapping != MAP_FAILED);
  {
    khs::Registration registration(mapping, 800000, "file");
    add_one(registration.view<double*, khs::MappedSpace>(data.size()));
  }
  CHECK(static_cast<double*>(mapping)[99999] == 100000.);
  munmap(mapping, 800000);
  std::fclose(file);
}

TEST_CASE("a Registration holds its HostSpace View, and view_of has its shape", "[registration]") {
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> host("host", 100, 50);
  khs::Registration const registration(host);
  CHECK(registration.label() == "host");
  auto const mapped = registration.view_of<khs::MappedSpace>(host);
  STATIC_CHECK(std::is_same_v<decltype(mapped)::array_layout, Kokkos::LayoutLeft>);
  auto* const data = host.data();
  host             = {};
  add_one(Kokkos::subview(mapped, Kokkos::ALL, 49));
  CHECK(mapped(99, 49) == 1.);
  CHECK(mapped.data() == data);
}

TEST_CASE("const elements are registered, and have Views of const elements", "[registration]") {
  auto const data = numbers(1000);
  // A std::span that is made for the call is taken, too.
  khs::Registration const registration(std::span(data.data(), 1000), "constants");
  CHECK((registration.data() == data.data() && registration.bytes() == 8000));
  CHECK(registration.view<double const*, khs::MappedSpace>(1000)(999) == 999.);
  CHECK_THROWS_WITH(registration.view<double*>(1000),
                    ContainsSubstring("constants") && ContainsSubstring("const elements"));
  Kokkos::View<double const*, Kokkos::HostSpace> const host =
      Kokkos::View<double*, Kokkos::HostSpace>("host", 10);
  khs::Registration of_view(host);
  auto const mapped = of_view.view_of<khs::MappedSpace>(host);
  STATIC_CHECK(std::is_same_v<decltype(mapped)::value_type, double const>);
  CHECK(mapped(9) == 0);
  khs::Registration const moved = std::move(of_view);
  CHECK_THROWS_AS(moved.view<double*>(10), khs::RegistrationError);
}

TEST_CASE("Views of registered memory have the layout and the traits that are asked for",
          "[registration]") {
  auto data = numbers(6);
  khs::Registration const registration(data, "data");
  auto const left = registration.view<double**, Kokkos::LayoutLeft, khs::MappedSpace>(2, 3);
  CHECK(left(1, 0) == 1);
  CHECK(registration.view<double**, Kokkos::LayoutRight>(2, 3)(1, 0) == 3);
  using Atomic            = Kokkos::MemoryTraits<Kokkos::Atomic>;
  auto const of_extents   = registration.view<double*, khs::MappedSpace, Atomic>(6);
  auto const without_name = registration.view<double*, Atomic>(6);
  Kokkos::View<double*, Kokkos::HostSpace, Atomic> const host(data.data(), 6);
  auto const of_view = registration.view_of<khs::MappedSpace>(host);
  STATIC_CHECK(decltype(of_extents)::memory_traits::is_atomic);
  STATIC_CHECK(decltype(without_name)::memory_traits::is_atomic);
  STATIC_CHECK(std::is_same_v<decltype(without_name)::memory_space, khs::PinnedSpace>);
  STATIC_CHECK(decltype(of_view)::memory_traits::is_atomic);
}

TEST_CASE("impossible registrations are refused with label and reason", "[registration]") {
  std::vector<double> data(10000);
  CHECK_THROWS_WITH(khs::Registration(nullptr, 8, "nothing"),
                    ContainsSubstring("nothing") && ContainsSubstring("null"));
  CHECK_THROWS_WITH(khs::Registration(data.data(), 0, "empty"),
                    ContainsSubstring("range is empty"));

  khs::Registration const registration(data, "data");
  CHECK_THROWS_WITH(khs::Registration(data, "twice"),
                    ContainsSubstring("twice") && ContainsSubstring("data"));
  CHECK_THROWS_WITH(khs::Registration(data.data() + 100, 80, "inside"),
                    ContainsSubstring("inside") && ContainsSubstring("data"));
  CHECK_THROWS_AS(registration.view<double*>(10001), khs::RegistrationError);
  Kokkos::View<double*, Kokkos::HostSpace> const elsewhere("elsewhere", 10);
  CHECK_THROWS_AS(registration.view_of(elsewhere), khs::RegistrationError);

  auto const page      = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const readable = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK_THROWS_WITH(khs::Registration(readable, page, "constants"),
                    ContainsSubstring("constants") && ContainsSubstring("read-only"));
  munmap(readable, page);
  CHECK_THROWS_WITH(khs::Registration(readable, page, "gone"),
                    ContainsSubstring("gone") && ContainsSubstring("not mapped"));
  Kokkos::View<double*, khs::PinnedSpace> pinned("pinned", 1 << 16);
  double* const address = pinned.data();
  CHECK_THROWS_WITH(khs::Registration(address, 8000, "again"),
                    ContainsSubstring("again") && ContainsSubstring("page-locked already"));
  pinned = {};
  CHECK_THROWS_WITH(khs::Registration(address, 8000, "freed"),
                    ContainsSubstring("freed") && !ContainsSubstring("use it as it is"));

  std::vector<double> next(10);
  CHECK_NOTHROW(khs::Registration(next, "next"));
}

TEST_CASE("extents whose product overflows are refused", "[registration]") {
  std::vector<double> data(1000);
  khs::Registration const registration(data, "data");
  std::size_t const huge = std::size_t(1) << 32, all = 1000;
  CHECK_THROWS_AS(registration.view<double**>(huge, huge), khs::RegistrationError);
  CHECK_THROWS_AS(registration.view<double*>(SIZE_MAX / 8 + 2), khs::RegistrationError);
  CHECK_THROWS_AS(registration.view<double * [1 << 16]>(std::size_t(1) << 45),
                  khs::RegistrationError);
  CHECK_THROWS_WITH(registration.view<double*>(-1),
                    ContainsSubstring("more bytes than size_t can count"));
  CHECK_NOTHROW(registration.view<double*>(all));
  CHECK_NOTHROW(registration.view<double* [10]>(all / 10));
  CHECK_THROWS_AS(registration.view<double* [10]>(all / 10 + 1), khs::RegistrationError);
  CHECK_NOTHROW(registration.view<double**>(0, huge));
}

TEST_CASE("AtFork::leave_out needs whole pages", "[registration]") {
  auto const page    = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const memory = static_cast<double*>(std::aligned_alloc(page, 4 * page));
  CHECK_NOTHROW(khs::Registration(memory, 4 * page, "pages", khs::AtFork::leave_out));
  CHECK_THROWS_WITH(khs::Registration(memory + 1, page, "part", khs::AtFork::leave_out),
                    ContainsSubstring("'part'") && ContainsSubstring("whole pages"));
  CHECK_NOTHROW(khs::Registration(memory + 1, page, "part"));
  std::free(memory);
}

TEST_CASE("a child of a fork can destroy Views of memory that is not mapped in it",
          "[registration]") {
  Kokkos::View<double*, khs::PinnedSpace> view("view", 1 << 20);
  auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  // Done for page-locked memory by the library; without a device the test does it.
  auto const begin = reinterpret_cast<std::uintptr_t>(view.data()) / page * page;
  REQUIRE(madvise(reinterpret_cast<void*>(begin), std::size_t(8) << 20, MADV_DONTFORK) == 0);
  pid_t const child = fork();
  if (child == 0) {
    alarm(20);
    view = {};
    _exit(0);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  madvise(reinterpret_cast<void*>(begin), std::size_t(8) << 20, MADV_DOFORK);
}

TEST_CASE("memory freed while it was registered is noticed at release", "[registration]") {
  std::size_t const bytes = 1 << 20;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  khs::Registration registration(memory, bytes, "freed too early");
  munmap(memory, bytes);
  CHECK_THROWS_WITH(registration.release(), ContainsSubstring("freed too early"));
  CHECK_NOTHROW(registration.release());
}
