// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Whichever call to CUDA or the system fails, or which allocation of host memory: operations of the
// backend throw what they promise, leave nothing behind and work again.

#include "FailureSweep.hpp"

#include "../../backend/LinkProbe.hpp"
#include "../../backend/Placement.hpp"
#include "../../backend/Replays.hpp"
#include "../../backend/os/MemoryFile.hpp"
#include "../../backend/os/MemoryLimit.hpp"
#include "../../backend/os/Topology.hpp"
#include "CapturedStderr.hpp"

#include <csignal>
#include <fstream>
#include <regex>
#include <sstream>

#include <dlfcn.h>

using namespace FailureSweep;

namespace {

std::filesystem::path const backend = KOKKOS_HOST_SPACES_TEST_SOURCES "/backend";

struct Deallocate {
  void operator()(char* block) const { Pool::deallocate(block); }
};
using Memory = std::unique_ptr<char, Deallocate>;

Memory allocate(std::size_t bytes, MemoryKind kind = MemoryKind::page_locked, int node = -1) {
  Memory memory(static_cast<char*>(Pool::allocate({bytes, kind, node, "TestSpace", "of a test"})));
  std::memset(memory.get(), 'x', bytes);
  return memory;
}

struct Limit {
  explicit Limit(std::size_t bytes) { pool::set_limit(bytes); }
  ~Limit() { pool::set_limit(0); }
};

}  // namespace

TEST_CASE("whichever call fails: allocation and deallocation", "[failures]") {
  for (std::size_t const bytes : {std::size_t(1000), 100 * KiB, 3 * MiB}) {
    std::string const size = std::to_string(bytes) + " bytes";
    Sweep("allocate beside retired memory, " + size, [&](Setting&) { allocate(bytes); }, {bytes});
    Sweep("allocate twice, " + size, [&](Setting& setting) {
      for (int i = 0; i < 2; ++i) {
        Memory const memory = allocate(bytes);
        Driver::copy(memory.get(), memory.get() + bytes / 2, bytes / 2, setting.stream.get());
      }
    });
  }
  for (std::size_t const bytes : {20 * KiB, 2 * MiB})
    Sweep("deallocate on a stream", [=](Setting&) {
      RetiredBlock retired(bytes, [](void* block, cudaStream_t stream) {
        Pool::deallocate_on({stream, 1}, block);
      });
      for (int i = 0; i < 2; ++i) allocate(bytes);
      expect(retired.is_intact(), "memory was used again early");
    });
  Sweep("allocate with an old driver",
        [](Setting&) {
          for (int i = 0; i < 2; ++i) allocate(3 * MiB);
        },
        {3 * MiB, &FakeCuda::use_old_driver});
  Sweep("allocate where registered memory has other addresses", [](Setting&) { allocate(1000); },
        {0, &FakeCuda::registered_memory_moves});
  Sweep("allocate write-combined", [](Setting&) { allocate(1000, MemoryKind::write_combined); });
  Sweep("allocate on a node", [](Setting&) { allocate(3 * MiB, MemoryKind::page_locked, 0); });
}

TEST_CASE("whichever call fails: control of the pool", "[failures]") {
  for (auto const kind : {MemoryKind::page_locked, MemoryKind::write_combined})
    Sweep("trim", [=](Setting&) {
      allocate(100 * KiB, kind);
      pool::trim(0);
    });
  Sweep("trim beside work", [](Setting&) { pool::trim(0); }, {3 * MiB});
  Sweep("set a limit", [](Setting&) {
    allocate(3 * MiB);
    Limit const limit(1);
  });
  Sweep("allocate at the limit", [](Setting&) {
    Limit const limit(Pools::instance().ledger.locked() + 4 * MiB);  // what was lost counts, too
    allocate(3 * MiB);
    allocate(7 * MiB / 2);
  });
  Sweep("reserve", [](Setting&) { PoolTest::reserve(5 * MiB, 3 * MiB).wait(); });
  Sweep("ask for statistics", [](Setting&) {
    Memory const memory = allocate(1000);
    expect(pool::statistics().total.bytes_in_use > 0, "in use");
    expect(pool::describe(memory.get())->label == "of a test", "label");
  });
}

TEST_CASE("whichever call fails: the rates of a link", "[failures]") {
  static std::array<char, 8192> host;
  for (std::size_t i = 0; i < host.size() / 2; ++i) host[i] = static_cast<char>(i % 101);
  Sweep("measure a link", [](Setting&) {
    LinkProbe({{1, host.data()}}, host.size() / 2).seconds({1, 1});
    expect(std::memcmp(&host[0], &host[host.size() / 2], host.size() / 2) == 0, "wrong contents");
  });
  Sweep("ask for coherence", [](Setting&) { Driver::reaches_pageable_memory(1); });
}

TEST_CASE("whichever call fails: registration", "[failures]") {
  for (bool const keep_from_children : {false, true}) {
    Sweep("register", [&](Setting& setting) {
      void* const pages = setting.foreign_pages();
      register_range(pages, page_bytes(), "a label that does not fit into a short string",
                     keep_from_children);
      std::string const why = unregister_range(pages);
      if (!why.empty() && refusals_to_take_back() == 0 && why != "out of memory") throw Wrong(why);
    });
  }
}

TEST_CASE("whichever call fails: copies", "[failures]") {
  static std::array<char, 4096> from, to;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i % 101);
  std::size_t const run    = 10;
  auto const expect_copied = [](std::size_t begin, std::size_t bytes) {
    expect(std::memcmp(&to[begin], &from[begin], bytes) == 0, "the copy is wrong");
  };
  Sweep("copy bytes", [&](Setting& setting) {
    to.fill(0);
    Driver::copy(to.data(), from.data(), 100, setting.stream.get());
    Driver::fence(setting.stream.get());
    expect_copied(0, 100);
  });
  Sweep("copy rows, planes and irregular rows", [&](Setting& setting) {
    for (Driver::Box const& box :
         {Driver::Box{run, 4, 1, 16, 64, 16, 64}, Driver::Box{run, 4, 3, 16, 64, 16, 64},
          Driver::Box{run, 1, 3, run, 64, run, 64}, Driver::Box{run, 4, 1, 5, 64, 5, 64}}) {
      to.fill(0);
      Driver::copy(to.data(), from.data(), box, setting.stream.get());
      Driver::fence(setting.stream.get());
      expect_copied((box.planes - 1) * 64, run);
    }
  });
  Sweep("copy a batch", [&](Setting& setting) {
    Memory const a = allocate(1000), b = allocate(1000);
    void* const dsts[]        = {a.get(), a.get() + 500};
    void const* const srcs[]  = {b.get(), b.get() + 500};
    std::size_t const sizes[] = {100, 200};
    std::memset(b.get(), 'b', 1000);
    if (!Driver::copy_batch(dsts, srcs, sizes, 2, setting.stream.get()))
      for (int i : {0, 1}) Driver::copy(dsts[i], srcs[i], sizes[i], setting.stream.get());
    Driver::fence(setting.stream.get());
    expect(a.get()[99] == 'b' && a.get()[699] == 'b', "the batch is wrong");
  });
  Sweep("a private stream of the current device", [](Setting&) { Driver::private_stream(-1); });
  Sweep("copy to another device by a private stream, and call a function then", [](Setting&) {
    std::unique_ptr<void, void (*)(void*)> const memory(Driver::allocate_on_device(2, 100),
                                                        &Driver::free_on_device);
    if (memory == nullptr) return;
    static std::atomic<int> called;
    called                      = 0;
    Driver::Stream const stream = Driver::private_stream(2);
    try {
      Driver::copy(memory.get(), from.data(), 100, stream);
      Driver::enqueue_host_function(
          stream, [](void*) { ++called; }, nullptr);
      Driver::fence(stream, 2);
    } catch (Error const&) {
      FailNth::Exempt const of_test;
      cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
      throw;
    }
    expect(called == 1, "the function is not called");
    expect(Driver::device_of(memory.get()) == 2 || FailNth::is_met(), "the device is wrong");
  });
}

TEST_CASE("whichever call fails: streams, events and captures", "[failures]") {
  Sweep("streams that wait for each other", [](Setting& setting) {
    struct Made {
      Driver::Stream stream = Driver::make_stream(2);
      Driver::Event event   = nullptr;
      ~Made() {
        Driver::release_event(event);
        Driver::release_stream(stream);
      }
    } made;
    Driver::record(made.event, setting.stream.get(), 1);
    Driver::make_wait(made.stream, made.event, 2);
    expect(Driver::wait(made.event) || FailNth::is_met(), "the event is not waited for");
  });
  Sweep("devices that reach each other, and times of events", [](Setting& setting) {
    struct Made {
      Driver::Event begin = nullptr, end = nullptr;
      ~Made() {
        for (Driver::Event const event : {begin, end}) Driver::release_event(event);
      }
    } made;
    if (Driver::have_own_link(1, 2)) Driver::let_reach(1, 2);
    expect(!Driver::follows_let_reach(&made), "it is memory of the host");
    for (Driver::Event* const event : {&made.begin, &made.end})
      Driver::record(*event, setting.stream.get(), 1, true);
    Driver::wait(made.end);
    expect(Driver::seconds_between(made.begin, made.end) || FailNth::is_met(), "no time is told");
  });
  Sweep("events of all work", [](Setting& setting) {
    Driver::Event event = nullptr;
    {
      FailNth::Exempt const of_test;
      setting.stream.run([] {});
    }
    auto const recorded = Driver::record_all_work(1, event);
    Driver::query(event);
    bool const fenced = Driver::fence_device(1);
    Driver::do_if_idle(1, [] {});
    Driver::release_event(event);
    // Where cuCtxRecordEvent is not found once, the driver counts as one that has none.
    bool const is_known =
        recorded == Driver::Recorded::yes || recorded == Driver::Recorded::unsupported;
    expect((is_known && fenced) || FailNth::is_met(), "nothing is recorded");
  });
  Sweep("record beside a capture", [](Setting&) {
    std::optional<FailNth::Exempt> of_test(std::in_place);
    DeviceWork::Stream stream(DeviceWork::Stream::Kind::blocking);  // whose capture can be seen
    Capture const capture(stream);
    Driver::device_count();
    of_test.reset();
    Driver::Event event = nullptr;
    expect(Driver::record_all_work(1, event) != Driver::Recorded::yes, "it is recorded");
    expect(!Driver::fence_device(1), "it is fenced");
    Driver::release_event(event);
    of_test.emplace();
  });
  Sweep("memory of a captured graph", [](Setting& setting) {
    std::optional<FailNth::Exempt> of_test(std::in_place);
    Memory const memory = allocate(1000);
    Capture const capture(setting.stream);
    of_test.reset();
    retain_for_graph(setting.stream.get(), memory.get(), nullptr);
  });
  Sweep("an announced capture",
        [](Setting& setting) {
          struct Announced {
            Announced() { Driver::announce_capture(); }
            ~Announced() { Driver::end_announced_capture(); }
          } const announced;
          Capture const capture(setting.stream);
          allocate(3 * MiB);
        },
        {3 * MiB});
  Sweep("launches", [](Setting&) {
    Driver::require_device(1);
    Driver::check_enqueued();
    FailNth::Exempt const of_test;
    expect(Driver::current_device() == 1, "it is not the current device");
  });
}

// Its current device, 0, has no context.
TEST_CASE("whichever call fails: a thread that never chose a device", "[failures]") {
  static std::array<char, 100> from, to;
  Sweep("copies and asks", [](Setting& setting) {
    std::optional<FailNth::Exempt> of_test(std::in_place);
    int device = -1;
    std::exception_ptr error;
    std::thread thread([&] {
      try {
        Driver::copy(to.data(), from.data(), from.size(), setting.stream.get());
        Driver::is_capturing(nullptr);
        Driver::device_of(to.data());
        Driver::fence(setting.stream.get());
        Driver::release_stream(Driver::make_stream(2));
      } catch (...) {
        error = std::current_exception();
      }
      FailNth::Exempt const of_test_too;
      cudaGetDevice(&device);
    });
    thread.join();
    if (error) std::rethrow_exception(error);
    expect(device == 0, "the thread has another device");
  });
}

TEST_CASE("whichever call fails: the guard", "[failures]") {
  CapturedStderr const said;
  bool& is_on = const_cast<Config&>(config()).guard;
  is_on       = true;
  Sweep("guard a copy", [](Setting& setting) {
    Memory const a = allocate(20 * KiB), b = allocate(20 * KiB);
    for (bool const is_race : {false, true}) {
      std::optional<FailNth::Exempt> of_test(std::in_place);
      std::signal(SIGSEGV, SIG_DFL);  // the guard sets its handler again
      setting.stream.run([=] { std::this_thread::sleep_for(std::chrono::milliseconds(is_race)); });
      of_test.reset();
      Guard::watch({a.get(), 20 * KiB, "a"}, {b.get(), 20 * KiB, "b"}, setting.stream.get());
      if (is_race && !setting.failure.lasts) a.get()[0] = 'x';
      of_test.emplace();
      setting.stream.wait();
    }
    FailNth::Exempt const of_test;
    // The library cannot open what the system never opens again.
    if (setting.failure.lasts)
      for (Memory const& memory : {std::cref(a), std::cref(b)})
        mprotect(memory.get(), 20 * KiB, PROT_READ | PROT_WRITE);
    a.get()[0] = b.get()[0] = 'x';
  });
  is_on = false;
}

TEST_CASE("whichever call fails: questions to the system", "[failures]") {
  // More than the chunks of 64 GiB that they should begin with.
  Sweep("reserve addresses", [](Setting&) {
    std::size_t const bytes = 65 * 1024 * MiB;
    if (void* const begin = reserve_for_pages(bytes)) munmap(begin, bytes);
  });
  Sweep("look at a mapping", [&](Setting& setting) {
    char* const page = setting.foreign_pages();
    expect(report_on_range(page, page_bytes()).state == RangeState::writable, "it is mapped");
  });
  Sweep("place pages", [](Setting&) {
    Driver::pci_bus_id(1);
    std::unique_ptr<char, void (*)(void*)> const pages(static_cast<char*>(map_pages(3 * MiB)),
                                                       [](void* p) {
                                                         if (p != nullptr) unmap_pages(p, 3 * MiB);
                                                       });
    if (pages == nullptr) return;
    Placed const placed = place_pages(pages.get(), 3 * MiB, 0, config());
    first_touch(pages.get(), 3 * MiB, placed.team);
    Topology::machine().node_of(pages.get(), 3 * MiB);
  });
  Sweep("describe a machine", [](Setting&) {
    std::optional<FailNth::Exempt> of_test(std::in_place);
    std::ostringstream xml;
    xml << std::ifstream(KOKKOS_HOST_SPACES_TEST_SOURCES "/tests/backend/topologies/two-nodes.xml")
               .rdbuf();
    of_test.reset();
    Topology const machine = Topology::from_xml(xml.str());
    machine.nearest_node("0000:17:00.0");
    machine.cores_for(0);
    static std::array<char, 4096> memory;
    machine.interleave_memory(memory.data(), memory.size());
  });
  Sweep("a memory file", [](Setting&) {
    constexpr std::size_t bytes = 3 * MiB;
    MemoryFile const made(bytes), opened(made.address());
    std::unique_ptr<void, void (*)(void*)> const pages(opened.map(bytes),
                                                       [](void* p) { unmap_pages(p, bytes); });
    fault_in(pages.get(), bytes);
    protect_pages(pages.get(), bytes, PageAccess::read);
  });
  Sweep("limits", [](Setting&) {
    most_memory();
    locked_memory_limit();
    raise_limit_of_addresses();
    raise_limit_of_locked();
  });
}

#if CUDART_VERSION >= 13000  // the first that has all functions which the backend calls

namespace {

std::string text_of(std::filesystem::path const& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

using Calls = std::map<std::string, std::string>;

// Adds the lines of backend/<folder> that call one of these functions, by "file:line". Definitions are not indented.
void add_calls(Calls& calls, std::string const& folder, std::string const& functions) {
  std::regex const call(R"(^ +(?:.*(?:return |[^\w .>:] ?))?(?:::|\w+[.]|\w+->)?(?:)" + functions +
                        R"()\()");
  for (auto const& entry : std::filesystem::recursive_directory_iterator(backend / folder)) {
    std::string const path = entry.path().lexically_normal().string();
    if (path.find("/backend/adopt/") != std::string::npos) continue;  // not linked
    std::istringstream lines(text_of(entry.path()));
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
      if (std::regex_search(line.substr(0, line.find("//")), call) &&
          line.find("[[maybe_unused]]") == line.npos)
        calls[entry.path().filename().string() + ':' + std::to_string(number)] = line;
  }
}

// "file:line" of the calls of this program that return to these addresses.
std::set<std::string> places_of(std::set<void*> const& addresses) {
  std::ostringstream command;
  command << "addr2line -e /proc/" << getpid() << "/exe" << std::hex;
  for (void* const address : addresses) {
    Dl_info of = {};
    if (dladdr(address, &of) == 0) continue;
    command << " 0x" << static_cast<char*>(address) - static_cast<char*>(of.dli_fbase) - 1;
  }
  std::set<std::string> places;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const lines(popen(command.str().c_str(), "r"),
                                                              &pclose);
  std::array<char, 1000> line;
  while (std::fgets(line.data(), line.size(), lines.get()) != nullptr) {
    std::string const place = std::filesystem::path(line.data()).filename();
    places.insert(place.substr(0, place.find_first_of(" \n")));
  }
  return places;
}

}  // namespace

// Except those whose failure changes nothing, such as cudaGetErrorName, close, and writing a message to stderr.
TEST_CASE("each call to CUDA and to the system that the backend makes was made to fail",
          "[failures]") {
  std::string of_driver     = "record_context_event|copy_batch";
  std::string const runtime = text_of(backend / "cuda" / "Runtime.hpp");
  std::regex const member(R"(F\((\w+), (?!cuCtxPopCurrent)\w+\))");
  for (std::sregex_iterator found(runtime.begin(), runtime.end(), member), end; found != end;
       ++found)
    of_driver += '|' + (*found)[1].str();
  std::string of_system = KOKKOS_HOST_SPACES_FAILING_SYSTEM;
  std::replace(of_system.begin(), of_system.end(), ' ', '|');
  Calls calls;
  add_calls(calls, "cuda",
            "cuda(?!GetLastError|GetError|GetDriverEntryPoint\\()[A-Z]\\w+|" + of_driver);
  add_calls(calls, ".", of_system);
  CHECK(calls.size() > 80);
  for (std::string const& place : places_of(FailNth::failed_at())) calls.erase(place);
  for (auto const& [place, line] : calls) FAIL_CHECK(place << line);
}

#endif
