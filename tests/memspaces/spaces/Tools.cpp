// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Kokkos Tools see allocations under the name of the space and the label of the View, copies, and no
// hidden fences.

#include "Spaces.hpp"

namespace {

struct Event {
  std::string what, space, label;
  std::uint64_t bytes;
};
std::vector<Event> events;

// Records the events of Kokkos Tools during its lifetime.
class Spy {
 public:
  Spy() : m_before(Kokkos::Tools::Experimental::get_callbacks()) {
    using namespace Kokkos::Tools::Experimental;
    events.clear();
    set_allocate_data_callback([](Kokkos_Profiling_SpaceHandle space, char const* label,
                                  void const*, std::uint64_t bytes) {
      events.push_back({"allocate", space.name, label, bytes});
    });
    set_deallocate_data_callback([](Kokkos_Profiling_SpaceHandle space, char const* label,
                                    void const*, std::uint64_t bytes) {
      events.push_back({"deallocate", space.name, label, bytes});
    });
    set_begin_deep_copy_callback([](Kokkos_Profiling_SpaceHandle dst, char const* label,
                                    void const*, Kokkos_Profiling_SpaceHandle, char const*,
                                    void const*, std::uint64_t bytes) {
      events.push_back({"copy", dst.name, label, bytes});
    });
    set_end_deep_copy_callback([] { events.push_back({"copied", "", "", 0}); });
    set_begin_fence_callback([](char const* name, std::uint32_t, std::uint64_t*) {
      events.push_back({"fence", "", name, 0});
    });
  }
  ~Spy() { Kokkos::Tools::Experimental::set_callbacks(m_before); }
  Spy(Spy const&)            = delete;
  Spy& operator=(Spy const&) = delete;

 private:
  Kokkos::Tools::Experimental::EventSet m_before;
};

long count(std::string const& what) {
  return std::count_if(events.begin(), events.end(),
                       [&](Event const& e) { return e.what == what; });
}

}  // namespace

namespace {

// What tools see of allocations by View, realloc and kokkos_malloc.
template <class Space>
std::vector<Event> allocations() {
  Spy const spy;
  {
    auto const properties = Kokkos::view_alloc("pressure", Kokkos::WithoutInitializing);
    using Raw             = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    Kokkos::View<double*, Space> view(properties, 1000);
    Kokkos::realloc(Kokkos::WithoutInitializing, view, 2000);
    [[maybe_unused]] auto const copy                             = view;
    [[maybe_unused]] Kokkos::View<double*, Space, Raw> const raw = view;
    [[maybe_unused]] Kokkos::View<double*, Space> const empty("empty", 0);
    if constexpr (!std::is_same_v<Space, Kokkos::HostSpace>)
      Space().deallocate(Space().allocate(0), 0);  // an empty allocation is not told to tools
  }
  void* memory = Kokkos::kokkos_malloc<Space>("by hand", 400);
  memory       = Kokkos::kokkos_realloc<Space>(memory, 800);
  Kokkos::kokkos_free<Space>(memory);
  std::erase_if(events,
                [](Event const& e) { return e.what != "allocate" && e.what != "deallocate"; });
  return events;
}

}  // namespace

TEMPLATE_TEST_CASE("tools see allocations and deallocations with name, label and size", "[tools]",
                   KOKKOS_HOST_SPACES_ALL) {
  auto const ours   = allocations<TestType>();
  auto const stocks = allocations<Kokkos::HostSpace>();
  REQUIRE(ours.size() == 10);
  REQUIRE(stocks.size() == 10);
  CHECK((ours[0].what == "allocate" && ours[0].label == "pressure" && ours[0].bytes == 8000));
  CHECK((ours[6].what == "allocate" && ours[6].label == "by hand" && ours[6].bytes == 400));
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(ours[i].space == TestType::name());
    CHECK(ours[i].what == stocks[i].what);
    CHECK(ours[i].label == stocks[i].label);
    CHECK(ours[i].bytes == stocks[i].bytes);
  }
}

TEST_CASE(
    "tools see a deep_copy begin and end once, with the destination's label and the bytes copied",
    "[tools]") {
  Kokkos::View<double**, Kokkos::LayoutRight, khs::PinnedSpace> const from("from", 20, 10);
  Kokkos::View<double**, Kokkos::LayoutLeft, khs::MappedSpace> const to("to", 20, 10);
  Kokkos::DefaultExecutionSpace const instance;
  std::vector<std::uint64_t> wanted = {1600};
  Spy const spy;
  Kokkos::deep_copy(instance, to, from);
#ifdef KOKKOS_ENABLE_CUDA
  std::pair<int, int> const part(2, 7);
  Kokkos::deep_copy(instance, Kokkos::subview(to, part, part), Kokkos::subview(from, part, part));
  wanted.push_back(200);
#endif
  CHECK(count("copied") == long(wanted.size()));
  std::vector<std::uint64_t> bytes;
  for (Event const& event : events)
    if (event.what == "copy" && event.space == "Mapped" && event.label == "to")
      bytes.push_back(event.bytes);
  CHECK(bytes == wanted);
}

TEST_CASE(
    "tools see each copy of a batch with its label and bytes, and no fence of a Cuda instance",
    "[tools]") {
  using Space = Kokkos::DefaultExecutionSpace::memory_space;
  Kokkos::View<int*, khs::PinnedSpace> const host("host", 4000);
  Kokkos::View<int*, Space> const device("device", 4000);
  std::vector<khs::Slice> slices;
  std::vector<std::pair<Kokkos::View<int*, Space>, Kokkos::View<int*, khs::PinnedSpace>>> pairs;
  for (std::size_t i = 0; i < 40; ++i) {
    khs::Slice const s{100 * i + i % 2, 100 * i, 10 + i % 3};
    slices.push_back(s);
    pairs.emplace_back(Kokkos::subview(device, std::pair(s.dst, s.dst + s.count)),
                       Kokkos::subview(host, std::pair(s.src, s.src + s.count)));
  }
  Kokkos::DefaultExecutionSpace const instance;
  for (bool const as_slices : {true, false}) {
    Spy const spy;
    if (as_slices)
      khs::deep_copy_all(instance, device, host, slices);
    else
      khs::deep_copy_all(instance, pairs);
#ifdef KOKKOS_ENABLE_CUDA
    CHECK(count("fence") == 0);
#endif
    instance.fence();
    CHECK(count("copied") == 40);
    std::vector<std::uint64_t> bytes;
    for (Event const& event : events)
      if (event.what == "copy" && event.label == "device") bytes.push_back(event.bytes);
    REQUIRE(bytes.size() == 40);
    CHECK((bytes[0] == 40 && bytes[1] == 44 && bytes[39] == 40));
  }
}

#ifdef KOKKOS_ENABLE_CUDA

TEMPLATE_TEST_CASE(
    "deep_copy, sync and mirrors on a Cuda instance make no fence, in any direction and layout",
    "[tools][cuda]", KOKKOS_HOST_SPACES_ALL) {
  Kokkos::View<double**, Kokkos::LayoutRight, TestType> const ours("ours", 200, 100);
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::CudaSpace> const same("same", 200, 100);
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::CudaSpace> const other("other", 200, 100);
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const pageable("pageable", 200,
                                                                               100);
  using Range      = std::pair<int, int>;
  auto const part  = Kokkos::subview(ours, Range(10, 20), Range(10, 30));
  auto const whole = Kokkos::subview(same, Range(20, 30), Range(20, 40));
  khs::PinnedDualView<double*> dual("dual", 1000);
  Kokkos::Cuda const instance;
  Kokkos::fence();
  {
    Spy const spy;
    dual.modify_host();
    dual.sync_device(instance);
    dual.modify_device();
    dual.sync_host(instance);
    auto const mirror = khs::create_pinned_mirror_view_and_copy(instance, dual.view_device());
    Kokkos::deep_copy(instance, same, ours);
    Kokkos::deep_copy(instance, ours, same);
    Kokkos::deep_copy(instance, other, ours);
    Kokkos::deep_copy(instance, ours, other);
    Kokkos::deep_copy(instance, part, whole);
    Kokkos::deep_copy(instance, whole, part);
    Kokkos::deep_copy(instance, ours, pageable);
    Kokkos::deep_copy(instance, ours, 1.);
    CHECK(count("fence") == 0);
    Kokkos::deep_copy(same, ours);  // positive control: the blocking form does fence
    CHECK(count("fence") > 0);
  }
  instance.fence();
}

TEST_CASE("tools see a fill on a Cuda instance with space and label of its View", "[tools][cuda]") {
  Kokkos::View<int**, Kokkos::LayoutRight, khs::PinnedSpace> const view("mine", 20, 30);
  auto const part = Kokkos::subview(view, Kokkos::ALL, std::pair(10, 20));
  Kokkos::Cuda const instance;
  {
    Spy const spy;
    Kokkos::deep_copy(instance, view, 3);
    Kokkos::deep_copy(instance, part, 4);
    CHECK((count("copy") == 2 && count("copied") == 2 && count("fence") == 0));
    CHECK((events[0].space == "Pinned" && events[0].label == "mine" && events[0].bytes == 2400));
  }
  instance.fence();
  bool right = true;
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 30; ++j) right = right && view(i, j) == (j / 10 == 1 ? 4 : 3);
  CHECK(right);
}

#endif
