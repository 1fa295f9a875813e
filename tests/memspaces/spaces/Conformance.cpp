// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Requirements that every space meets, with and without a device.

#include "../../../perf/tools/audit/Pair.hpp"
#include "Spaces.hpp"

TEMPLATE_TEST_CASE("a View is labelled, zero-filled, writable and readable", "[conformance]",
                   KOKKOS_HOST_SPACES_ALL) {
  Kokkos::View<double*, TestType> const view("temperature", 1000);
  CHECK(view.label() == "temperature");
  CHECK(view.span_is_contiguous());
  double sum = 0;
  for (std::size_t i = 0; i < view.extent(0); ++i) sum += view(i);
  CHECK(sum == 0);
  for (std::size_t i = 0; i < view.extent(0); ++i) view(i) = double(i);
  for (std::size_t i = 0; i < view.extent(0); ++i) sum += view(i);
  CHECK(sum == 999. * 1000. / 2.);
}

TEMPLATE_TEST_CASE(
    "memory is aligned to 256 bytes and distinct, from one byte to beyond a huge page",
    "[conformance]", KOKKOS_HOST_SPACES_ALL) {
  TestType const space;
  for (std::size_t bytes : {1ul, 8ul, 255ul, 4096ul, 65537ul, (2ul << 20) + 1, 9ul << 20}) {
    auto* const a = static_cast<char*>(space.allocate("a", bytes));
    auto* const b = static_cast<char*>(space.allocate("b", bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(a) % 256 == 0);
    CHECK((a + bytes <= b || b + bytes <= a));
    a[0] = a[bytes - 1] = 1;
    b[0] = b[bytes - 1] = 2;
    CHECK(int(a[bytes - 1]) == 1);
    space.deallocate("a", a, bytes);
    space.deallocate("b", b, bytes);
  }
}

TEMPLATE_TEST_CASE("zero bytes and empty Views are fine", "[conformance]", KOKKOS_HOST_SPACES_ALL) {
  TestType const space;
  CHECK(space.allocate(0) == nullptr);
  space.deallocate(nullptr, 0);
  Kokkos::View<double*, TestType> const empty("empty", 0);
  CHECK(empty.size() == 0);
  Kokkos::deep_copy(empty, Kokkos::View<double*, Kokkos::HostSpace>("none", 0));
}

TEMPLATE_TEST_CASE("a request that nothing can serve names itself, and the next one works",
                   "[conformance]", KOKKOS_HOST_SPACES_ALL) {
  using View                  = Kokkos::View<char*, TestType>;
  constexpr std::size_t bytes = std::size_t(1) << 46;
  CHECK_THROWS_AS(View(Kokkos::view_alloc("too_big", Kokkos::WithoutInitializing), bytes),
                  khs::OutOfPinnedMemory);
  CHECK_THROWS_WITH(
      View(Kokkos::view_alloc("too_big", Kokkos::WithoutInitializing), bytes),
      ContainsSubstring(std::string(TestType::name()) + " memory space failed to allocate") &&
          ContainsSubstring("(label=\"too_big\")") &&
          ContainsSubstring(std::to_string(bytes + 128)));
  CHECK_THROWS_WITH((Kokkos::View<double*, TestType>("my_label", std::size_t(-1) - 42)),
                    ContainsSubstring("memory space failed to allocate") &&
                        ContainsSubstring("(label=\"my_label\")"));
  View const small("small", 1000);
  small(999) = 7;
  CHECK(int(small(999)) == 7);
}

namespace {

// As the mappings of Views: the size wraps around.
struct Wraps {
  Kokkos::dextents<std::size_t, 2> all;
  Wraps(std::size_t rows, std::size_t columns) : all(rows, columns) {}
  std::size_t required_span_size() const { return all.extent(0) * all.extent(1); }
  auto const& extents() const { return all; }
};

}  // namespace

TEMPLATE_TEST_CASE("extents that overflow are refused, and not taken for a small View",
                   "[conformance]", KOKKOS_HOST_SPACES_ALL) {
  int const one_below        = -1;
  constexpr std::size_t many = std::size_t(1) << 32;
  auto const refused         = ContainsSubstring(
              "(label=\"wrong\"): with Kokkos' header the size overflows size_t (check the extents)");
  CHECK_THROWS_WITH((Kokkos::View<char*, TestType>("wrong", one_below)), refused);
  CHECK_THROWS_WITH((Kokkos::View<double*, TestType>("wrong", many << 29)), refused);
  CHECK_THROWS_AS((Kokkos::View<char*, TestType>("wrong", std::size_t(-1) - 8)),
                  khs::OutOfPinnedMemory);
  CHECK_THROWS_WITH((Kokkos::View<char*, TestType>("wrong", std::size_t(-1) - 8)),
                    ContainsSubstring("(label=\"wrong\"): with Kokkos' header"));
  Kokkos::View<double*, TestType> view("wrong", 3);
  view(2) = 5;
  CHECK_THROWS_WITH(Kokkos::resize(view, many << 29), refused);
  CHECK((view.extent(0) == 3 && view(2) == 5));
  CHECK(Kokkos::View<double**, TestType>("empty", many, 0).size() == 0);
  CHECK(Kokkos::View<int, TestType>("scalar")() == 0);
  // Of two dimensions and more: with NDEBUG Kokkos 5.0 itself ends the program.
  typename Kokkos::View<double**, TestType>::accessor_type const accessor;
  constexpr std::size_t too_many = std::size_t(-1) / sizeof(double) - 10;
  for (auto const& wrong :
       {Wraps(many, many), Wraps(std::size_t(-1), std::size_t(-1)), Wraps(many * 3, many / 2)})
    CHECK(allocation_size_from_mapping_and_accessor(wrong, accessor) > too_many);
  CHECK(allocation_size_from_mapping_and_accessor(Wraps(many, 5), accessor) == many * 5);
  CHECK(allocation_size_from_mapping_and_accessor(Wraps(many, 0), accessor) == 0);
}

// What a library does that needs more memory than there are elements.
namespace Wide {

struct Element {
  double value;
};

template <class Layout, class Device, class Traits>
constexpr auto customize_view_arguments(
    Kokkos::Impl::ViewArguments<Element, Layout, Device, Traits>) {
  using Accessor =
      Kokkos::Impl::CheckedReferenceCountedAccessor<Element, typename Device::memory_space>;
  return Kokkos::Impl::ViewCustomArguments<std::size_t, Accessor>();
}

template <class Mapping, class Accessor>
requires std::is_same_v<typename Accessor::element_type, Element> std::size_t
allocation_size_from_mapping_and_accessor(Mapping const& mapping, Accessor const&) {
  return 1000 * mapping.required_span_size();
}

}  // namespace Wide

TEMPLATE_TEST_CASE("a library that customizes elements says how many a View allocates",
                   "[conformance]", KOKKOS_HOST_SPACES_ALL) {
  Kokkos::View<Wide::Element*, TestType> const view("wide", 10);
  CHECK(KokkosHostSpaces::pool::describe(view.data())->bytes >= 10000 * sizeof(double));
}

TEMPLATE_TEST_CASE("resize keeps the contents, realloc gives zeros, and both pad as Kokkos does",
                   "[conformance]", KOKKOS_HOST_SPACES_ALL) {
  Kokkos::View<double**, Kokkos::LayoutLeft, TestType> ours("ours", 3, 4);
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> stock("stock", 3, 4);
  Kokkos::DefaultExecutionSpace const instance;
  ours(2, 3)         = 7;
  auto const is_same = [&] {
    return ours.stride(1) == stock.stride(1) && ours.extent(0) == stock.extent(0);
  };
  Kokkos::resize(Kokkos::view_alloc(Kokkos::AllowPadding), ours, 1001, 100);
  Kokkos::resize(Kokkos::view_alloc(Kokkos::AllowPadding), stock, 1001, 100);
  CHECK((is_same() && ours(2, 3) == 7 && ours.label() == "ours"));
  Kokkos::resize(Kokkos::view_alloc(instance, Kokkos::AllowPadding), ours, 1003, 100);
  Kokkos::resize(Kokkos::view_alloc(Kokkos::AllowPadding), stock, 1003, 100);
  instance.fence();
  CHECK((is_same() && ours(2, 3) == 7));
  Kokkos::realloc(Kokkos::view_alloc(Kokkos::AllowPadding), ours, 1005, 10);
  Kokkos::realloc(Kokkos::view_alloc(Kokkos::AllowPadding), stock, 1005, 10);
  CHECK((is_same() && ours(2, 3) == 0));
  Kokkos::resize(ours, 1007, 10);
  Kokkos::resize(stock, 1007, 10);
  CHECK(is_same());
}

TEMPLATE_TEST_CASE("subviews, const, unmanaged and other layouts refer to the same memory",
                   "[conformance]", KOKKOS_HOST_SPACES_ALL) {
  Kokkos::View<int***, Kokkos::LayoutLeft, TestType> const view("cube", 4, 5, 6);
  Kokkos::View<int const***, Kokkos::LayoutLeft, TestType> const constant = view;
  auto const plane = Kokkos::subview(view, 2, Kokkos::ALL, Kokkos::ALL);
  Kokkos::View<int***, Kokkos::LayoutLeft, TestType, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const
      raw(view.data(), 4, 5, 6);
  view(2, 3, 4) = 42;
  CHECK(constant(2, 3, 4) == 42);
  CHECK(plane(3, 4) == 42);
  CHECK(raw(2, 3, 4) == 42);
  CHECK((plane.label() == "cube" && raw.label().empty()));
  CHECK((view.use_count() == 3 && raw.use_count() == 0));
}

TEMPLATE_TEST_CASE("mirrors live in the space that was asked for, and keep its device",
                   "[conformance]", KOKKOS_HOST_SPACES_ALL) {
  Kokkos::View<int*, TestType> const view("source", 100);
  for (int i = 0; i < 100; ++i) view(i) = i;

  auto const same = Kokkos::create_mirror_view(view);
  CHECK(same.data() == view.data());
  auto const fresh = Kokkos::create_mirror(view);
  CHECK(fresh.data() != view.data());
  STATIC_CHECK(std::is_same_v<typename decltype(fresh)::memory_space, TestType>);

  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  CHECK(host(99) == 99);
  host(99)        = 5;
  auto const back = Kokkos::create_mirror_view_and_copy(TestType(0), host, "back");
  STATIC_CHECK(std::is_same_v<typename decltype(back)::memory_space, TestType>);
  CHECK(back.label() == "back");
  CHECK(back(99) == 5);
  auto const without = Kokkos::create_mirror(Kokkos::WithoutInitializing, TestType(0), host);
  CHECK(without.extent(0) == 100);
  CHECK(Kokkos::create_mirror_view(Kokkos::WithoutInitializing, TestType(0), host).extent(0) ==
        100);
  CHECK(Kokkos::create_mirror_view(TestType(0), host).label() == "source_mirror");
}

TEMPLATE_TEST_CASE("the copy audit knows it as page-locked, with a pool", "[conformance]",
                   KOKKOS_HOST_SPACES_ALL) {
  auto const facts = khs::Audit::facts_of(TestType::name());
  CHECK(facts.memory == khs::Audit::Memory::page_locked);
  CHECK(facts.has_pool);
}

TEMPLATE_TEST_CASE("failure 22: threads of a parallel_for allocate, write and give back memory",
                   "[conformance][parallel]", KOKKOS_HOST_SPACES_ALL) {
  int wrong = 0;
  Kokkos::parallel_reduce(
      "allocate", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 2000),
      [](int i, int& sum) {
        TestType const space;
        std::size_t const bytes = std::size_t(8) << (i % 12);
        auto* const memory      = static_cast<int*>(space.allocate("of a thread", bytes));
        memory[0] = memory[bytes / sizeof(int) - 1] = i;
        sum += memory[0] != i || memory[bytes / sizeof(int) - 1] != i;
        space.deallocate("of a thread", memory, bytes);
      },
      wrong);
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("device_view gives kernels const elements: in place, or a copy", "[conformance]",
                   KOKKOS_HOST_SPACES_ALL) {
  Kokkos::View<int**, Kokkos::LayoutRight, TestType> const view("view", 20, 30);
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 30; ++j) view(i, j) = i + 100 * j;
  Kokkos::DefaultExecutionSpace const instance;
  auto const column  = Kokkos::subview(view, Kokkos::ALL, 7);
  auto const in_all  = khs::device_view(instance, view);
  auto const in_part = khs::device_view(instance, column);
  STATIC_CHECK(std::is_same_v<typename decltype(in_all)::value_type, int const>);
  constexpr bool in_place =
      Kokkos::SpaceAccessibility<Kokkos::DefaultExecutionSpace, TestType>::accessible;
  CHECK((in_all.data() == view.data()) == in_place);
  CHECK(in_all.label() == "view");
  int sum = 0;
  Kokkos::parallel_reduce(
      "sum", Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace>(instance, 0, 20),
      KOKKOS_LAMBDA(int i, int& s) { s += in_all(i, 7) + in_part(i); }, sum);
  CHECK(sum == 2 * (19 * 20 / 2 + 20 * 700));

  Kokkos::View<int, TestType> const scalar("scalar");
  scalar()             = 7;
  auto const in_kernel = khs::device_view(instance, scalar);
  instance.fence();  // work of a host instance does not wait for this one
  auto const by_host = khs::device_view(Kokkos::DefaultHostExecutionSpace(), in_kernel);
  CHECK(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), in_kernel)() == 7);
  CHECK(by_host() == 7);
  CHECK(khs::device_view(instance, Kokkos::View<int*, TestType>()).size() == 0);
}

TEST_CASE("mapped_view is the same memory, shape and layout", "[conformance]") {
  Kokkos::View<float**, Kokkos::LayoutLeft, khs::PinnedSpace> const pinned("pinned", 7, 3);
  auto const mapped = khs::mapped_view(pinned);
  STATIC_CHECK(std::is_same_v<decltype(mapped)::memory_space, khs::MappedSpace>);
  STATIC_CHECK(std::is_same_v<decltype(mapped)::array_layout, Kokkos::LayoutLeft>);
  CHECK(mapped.data() == pinned.data());
  CHECK(mapped.stride(1) == pinned.stride(1));

  auto const row        = Kokkos::subview(pinned, 2, Kokkos::ALL);
  auto const mapped_row = khs::mapped_view(row);
  pinned(2, 1)          = 3.f;
  CHECK(mapped_row(1) == 3.f);

  Kokkos::View<float const**, Kokkos::LayoutLeft, khs::PinnedSpace> const constant = pinned;
  CHECK(khs::mapped_view(constant)(2, 1) == 3.f);
}
