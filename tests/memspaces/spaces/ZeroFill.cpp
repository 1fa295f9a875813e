// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Initialised Views are zero in used and in fresh memory; fresh memory is not written.

#include "Spaces.hpp"

namespace {

constexpr std::size_t mebibyte = std::size_t(1) << 20;

struct Constructed {
  int a = 7, b = -1;
};
struct Plain {
  double x;
  char c;
};
enum class Colour : short { red, green };

// The bytes of an element of a new View.
template <class Value>
std::vector<char> initial_bytes() {
  if constexpr (std::is_trivially_default_constructible_v<Value>) {
    return std::vector<char>(sizeof(Value), 0);
  } else {
    Value const value{};
    std::vector<char> bytes(sizeof(Value));
    std::memcpy(bytes.data(), &value, sizeof(Value));
    return bytes;
  }
}

template <class View>
bool is_initial(View const& view) {
  using Value           = typename View::value_type;
  auto const wanted     = initial_bytes<Value>();
  auto const* const all = reinterpret_cast<char const*>(view.data());
  for (std::size_t i = 0; i < view.span(); ++i)
    if (std::memcmp(all + i * sizeof(Value), wanted.data(), sizeof(Value)) != 0) return false;
  return true;
}

template <class View>
void spoil(View const& view) {
  std::memset(static_cast<void*>(view.data()), 0xff,
              view.span() * sizeof(typename View::value_type));
}

// Empties the pool, and page-locks `bytes` in one piece.
void start_with(std::size_t bytes) {
  Kokkos::fence();
  khs::pool::trim(0);
  khs::pool::reserve(bytes, khs::PinnedSpace(), bytes).wait();
}

auto uninitialized(std::size_t bytes) {
  return Kokkos::View<char*, khs::PinnedSpace>(
      Kokkos::view_alloc("first", Kokkos::WithoutInitializing), bytes);
}

// Kernels and fences as tools see them.
std::vector<std::string> seen_by_tools;

template <class Make>
std::vector<std::string> tools_see(Make make) {
  using namespace Kokkos::Tools::Experimental;
  EventSet const before = get_callbacks();
  seen_by_tools.clear();
  set_begin_parallel_for_callback([](char const* name, std::uint32_t, std::uint64_t*) {
    seen_by_tools.push_back(std::string("kernel ") + name);
  });
  set_end_parallel_for_callback([](std::uint64_t) { seen_by_tools.push_back("end"); });
  set_begin_fence_callback([](char const* name, std::uint32_t, std::uint64_t*) {
    seen_by_tools.push_back(std::string("fence ") + name);
  });
  make();
  set_callbacks(before);
  return seen_by_tools;
}

}  // namespace

TEMPLATE_TEST_CASE("every space hands out zeros after use: padding, realloc and resize",
                   "[zero_fill]", KOKKOS_HOST_SPACES_ALL) {
  Kokkos::fence();
  khs::pool::trim(0);
  for (std::size_t n : {1ul, 3ul, 50ul, 333ul})
    for (int round = 0; round < 2; ++round) {
      Kokkos::View<double**, Kokkos::LayoutLeft, TestType> const padded(
          Kokkos::view_alloc("padded", Kokkos::AllowPadding), n, 7);
      Kokkos::View<float*, TestType> line("line", n);
      CHECK(is_initial(padded));
      for (std::size_t const extent : {n, 2 * n}) {
        spoil(line);
        Kokkos::realloc(line, extent);
        CHECK(is_initial(line));
      }
      Kokkos::resize(line, 4 * n);
      CHECK(is_initial(line));
      spoil(padded);
      spoil(line);
    }
}

TEMPLATE_TEST_CASE(
    "new Views are zero, although a tool writes to their memory when it is told of them",
    "[zero_fill]", KOKKOS_HOST_SPACES_ALL) {
  using namespace Kokkos::Tools::Experimental;
  EventSet const before = get_callbacks();
  set_allocate_data_callback(
      [](Kokkos_Profiling_SpaceHandle, char const*, void const* memory, std::uint64_t bytes) {
        std::memset(const_cast<void*>(memory), 0xff, bytes);
      });
  Kokkos::fence();
  khs::pool::trim(0);
  bool right = true;
  for (std::size_t n : {1ul, 100ul, 10000ul, 3000000ul})
    right = right && is_initial(Kokkos::View<double*, TestType>("v", n));
  set_callbacks(before);
  CHECK(right);
}

namespace {

// Another host space than the default one, if Kokkos has one.
#ifdef KOKKOS_ENABLE_SERIAL
using OtherHost = Kokkos::Serial;
#else
using OtherHost = Kokkos::DefaultHostExecutionSpace;
#endif

// Views of this type in memory that was used without initialisation before.
template <class DataType, class... Extents>
bool is_zero_again(Extents... extents) {
  using View     = Kokkos::View<DataType, khs::PinnedSpace>;
  using Device   = Kokkos::Device<OtherHost, khs::PinnedSpace>;
  bool all_right = true;
  for (int round = 0; round < 3; ++round) {
    View const a("a", extents...);
    Kokkos::View<DataType, Device> const b(Kokkos::view_alloc("b", OtherHost()), extents...);
    View const c(Kokkos::view_alloc("c", Kokkos::SequentialHostInit), extents...);
    View const d(Kokkos::view_alloc("d", Kokkos::WithoutInitializing), extents...);
    all_right = all_right && is_initial(a) && is_initial(b) && is_initial(c);
    spoil(a), spoil(b), spoil(c), spoil(d);
    std::size_t const bytes = a.span() * sizeof(typename View::value_type);
    void* const raw         = Kokkos::kokkos_malloc<khs::PinnedSpace>("raw", bytes);
    std::memset(raw, 0xff, bytes);
    Kokkos::kokkos_free<khs::PinnedSpace>(raw);
    std::vector<char, khs::Allocator<char>> const own(bytes, char(0xff));
  }
  return all_right;
}

struct Base {
  int a;
};
using Member = int Base::*;  // whose null is not zero: Kokkos sets it to zero all the same

}  // namespace

TEST_CASE(
    "elements of Views of any kind are what Kokkos promises in used memory, also where threads share the pool",
    "[zero_fill]") {
  Kokkos::fence();
  khs::pool::trim(0);
  std::atomic<int> wrong{0};
  auto const work = [&](std::size_t n) {
    for (std::size_t i = n; i < 8000; i = 3 * i + 1) {
      wrong += !is_zero_again<double>();
      wrong += !is_zero_again<bool*>(i) + !is_zero_again<int**>(i, 3);
      wrong += !is_zero_again<Colour* [3]>(i) + !is_zero_again<Member*>(i);
      wrong += !is_zero_again<Plain*>(i) + !is_zero_again<Constructed*>(i);
      wrong += !is_zero_again<Kokkos::complex<double>*>(9 * i);
      wrong += !is_zero_again<int** [2][1][3][1][2][2]>(i % 200 + 1, 2);
      if (n == 2) khs::pool::trim(0);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t n = 1; n <= 4; ++n) threads.emplace_back(work, n);
  }
  CHECK(wrong == 0);
}

TEST_CASE("only the used part of the memory of a View is filled", "[zero_fill]") {
  start_with(64 * mebibyte);
  char* begin = nullptr;
  {
    auto const before = uninitialized(16 * mebibyte);
    begin             = before.data();
    spoil(before);
  }
  Kokkos::fence();
  khs::pool::trim(64 * mebibyte);  // makes the retired block ready
  begin[40 * mebibyte] = 42;       // fresh
  Kokkos::View<double*, khs::PinnedSpace> const view(
      Kokkos::view_alloc("view", Kokkos::SequentialHostInit), 6 * mebibyte);
  auto* const data = reinterpret_cast<char*>(view.data());
  REQUIRE(data == begin);
  CHECK(std::all_of(data, begin + 40 * mebibyte, [](char c) { return c == 0; }));
  CHECK(int(begin[40 * mebibyte]) == 42);
}

TEST_CASE("tools see the same events for fresh and for used memory", "[zero_fill]") {
  using View = Kokkos::View<double*, khs::PinnedSpace>;
  Kokkos::DefaultHostExecutionSpace const instance;
  constexpr std::size_t few = 10000;  // of more, Kokkos shows the kernel that fills as well
  start_with(64 * mebibyte);
  auto const make         = [] { View("density", few); };
  auto const on_instance  = [&] { View(Kokkos::view_alloc("density", instance), few); };
  auto const fresh        = tools_see(make);
  auto const used         = tools_see(make);
  auto const used_ordered = tools_see(on_instance);
  khs::pool::trim(0);
  auto const fresh_ordered = tools_see(on_instance);
  CHECK(fresh == used);
  CHECK(fresh_ordered == used_ordered);
  auto const has = [](auto const& all, std::string const& wanted) {
    return std::find(all.begin(), all.end(), wanted) != all.end();
  };
  CHECK(has(fresh, "kernel Kokkos::View::initialization [density] via memset"));
  CHECK(has(fresh, "fence Kokkos::View::initialization via memset"));
  auto kokkos = tools_see([] { Kokkos::View<double*, Kokkos::HostSpace>("density", few); });
  std::erase_if(kokkos, [](std::string const& event) {  // our spaces do not fence
    return event.ends_with("HostSpace::impl_deallocate before free");
  });
  CHECK(fresh == kokkos);
  CHECK_FALSE(has(fresh_ordered, "fence Kokkos::View::initialization via memset"));
}
