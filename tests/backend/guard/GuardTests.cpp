// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// KOKKOS_HOST_SPACES_GUARD=on, on the fake runtime: a stream that is held stands for the copy. (Its
// copies are made by threads of this process, which the guard would hold back.) The environment is
// read once, so that these tests have a run of their own.

#include "../../../backend/guard/Guard.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "../../support/WatchedThread.hpp"
#include "../CapturedStderr.hpp"
#include "../pool/PoolTest.hpp"

#include <csetjmp>
#include <csignal>
#include <deque>

#include <fcntl.h>

namespace {

constexpr std::size_t header = 128;

/// A View as Kokkos allocates it: with its header.
class TestView {
 public:
  TestView(std::size_t bytes, std::string label)
      : m_bytes(bytes),
        m_label(std::move(label)),
        m_block(PoolTest::allocate(bytes + header, m_label.c_str())),
        data(m_block + header) {}
  ~TestView() { destroy(); }
  TestView(TestView const&)            = delete;
  TestView& operator=(TestView const&) = delete;

  void destroy() { Pool::deallocate(std::exchange(m_block, nullptr)); }
  Guard::Side side() const { return part(0, m_bytes); }
  Guard::Side part(std::size_t from, std::size_t size) const {
    return {m_block + header + from, size, m_label};
  }

 private:
  std::size_t m_bytes;
  std::string m_label;
  char* m_block;

 public:
  char volatile* const data;
};

Guard::Side on_device(std::string const& label) { return {reinterpret_cast<void*>(64), 8, label}; }

/// Copies that last until the end of the test.
struct Copies {
  PoolTest const test{1};
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  CapturedStderr const said;
  std::size_t const before = Guard::races();
  Copies() {
    REQUIRE(Guard::is_on());
    stream.run(gate.hold());
  }
  void begin(Guard::Side const& dst, Guard::Side const& src) const {
    Guard::watch(dst, src, stream.get());
  }
  void end() {
    gate.open();
    stream.wait();
    CHECK(Guard::watched() == 0);
  }
  std::size_t races() const { return Guard::races() - before; }
};

}  // namespace

TEST_CASE("a host write during a copy to the device is told, once, and the program goes on",
          "[.guard]") {
  Copies copies;
  for (std::size_t bytes : {std::size_t(8), std::size_t(3000), 5 * MiB}) {
    std::size_t const races = copies.races();
    TestView const view{bytes, "halo_send"};
    copies.begin(on_device("halo"), view.side());
    CHECK(view.data[bytes - 1] == 0);
    CHECK(copies.races() == races);
    view.data[bytes - 1] = 'x';
    CHECK(copies.races() == races + 1);
    view.data[0] = 'y';
    CHECK(copies.races() == races + 1);
    CHECK(view.data[bytes - 1] == 'x');
    CHECK_THAT(copies.said.text(),
               ContainsSubstring("race: the host writes byte " + std::to_string(bytes - 1) +
                                 " of 'halo_send' in the space TestSpace") &&
                   ContainsSubstring("while an asynchronous copy to 'halo' reads it: fence"));
  }
  copies.end();
}

TEST_CASE("a host read, and a host write, during a copy to the host are told", "[.guard]") {
  Copies copies;
  TestView const a{100 * KiB, "received"}, b{100, "also_received"};
  copies.begin(a.side(), on_device("halo"));
  copies.begin(b.side(), on_device("halo"));
  CHECK(a.data[5000] == 0);
  CHECK(copies.races() == 1);
  b.data[7] = 'x';
  CHECK(copies.races() == 2);
  CHECK_THAT(copies.said.text(), ContainsSubstring("the host reads byte 5000 of 'received'") &&
                                     ContainsSubstring("writes byte 7 of 'also_received'") &&
                                     ContainsSubstring("copy from 'halo' fills it"));
  copies.end();
  a.data[5000] = 'x';
  CHECK(copies.races() == 2);
}

TEST_CASE("a write by another thread, or after the View was destroyed, is told", "[.guard]") {
  Copies copies;
  TestView const view{MiB, "sent"};
  TestView gone{MiB, "gone"};
  copies.begin(on_device("a"), view.side());
  copies.begin(on_device("b"), gone.side());
  std::jthread([&] { view.data[100] = 'x'; }).join();
  CHECK(copies.races() == 1);
  gone.destroy();
  gone.data[100] = 'x';
  CHECK(copies.races() == 2);
  CHECK_THAT(copies.said.text(),
             ContainsSubstring("byte 100 of 'sent'") && ContainsSubstring("byte 100 of 'gone'"));
  copies.end();
}

TEST_CASE("of two copies that overlap, the second keeps its guard when the first is done",
          "[.guard]") {
  Copies copies;
  DeviceWork::Stream other;
  TestView const view{MiB, "sent_twice"};
  copies.begin(on_device("a"), view.side());
  Guard::watch(on_device("b"), view.part(0, MiB / 2), other.get());
  other.wait();
  CHECK(Guard::watched() == 1);
  view.data[1000] = 'x';
  CHECK(copies.races() == 1);
  CHECK_THAT(copies.said.text(), ContainsSubstring("copy to 'a' reads it"));
  copies.end();
}

TEST_CASE(
    "what cannot be guarded is said: memory of the driver, gaps, captures, no function behind",
    "[.guard]") {
  Copies copies;
  auto* const combined = static_cast<char*>(Pool::allocate(
      {.bytes = MiB, .kind = MemoryKind::write_combined, .space = "WC", .label = "combined"}));
  copies.begin(on_device("device"), {combined, MiB, "combined"});
  TestView const strided{MiB, "strided"}, captured{MiB, "captured"}, unlucky{MiB, "unlucky"};
  copies.begin(on_device("device"), strided.part(0, 0));
  FakeCuda::fail_nth_call("cudaLaunchHostFunc", 1);
  copies.begin(on_device("lucky"), unlucky.side());
  DeviceWork::Stream capturing;
  capturing.begin_capture();
  Guard::watch(captured.side(), on_device("device"), capturing.get());
  CHECK(capturing.end_capture());
  combined[0]      = 'x';
  strided.data[0]  = 'x';
  captured.data[0] = 'x';
  unlucky.data[0]  = 'x';
  CHECK(copies.races() == 0);
  CHECK_THAT(copies.said.text(),
             ContainsSubstring("'combined' is not guarded (its memory is from cudaHostAlloc)") &&
                 ContainsSubstring("'strided' is not guarded (the part") &&
                 ContainsSubstring("'captured' is not guarded (its stream captures)") &&
                 ContainsSubstring("'lucky' is not guarded (the runtime takes no function"));
  copies.end();
  Pool::deallocate(combined);
}

TEST_CASE("what shares the pages of a copy is anybody's: Kokkos' header, an element behind",
          "[.guard]") {
  Copies copies;
  TestView const sent{100 * KiB, "sent"}, small{1000, "small"}, received{MiB, "received"};
  copies.begin(on_device("device"), sent.part(0, 100 * KiB - 4));
  copies.begin(on_device("device"), small.part(0, 996));
  copies.begin(received.side(), on_device("device"));
  sent.data[100 * KiB - 4] = 'x';
  small.data[996]          = 'x';
  CHECK(received.data[-std::ptrdiff_t(header)] == 0);  // kokkos_free looks there
  CHECK(copies.races() == 0);
  sent.data[100] = 'x';
  CHECK(received.data[MiB - 1] == 0);
  CHECK(copies.races() == 2);
  copies.end();
}

TEST_CASE("copies that are too many to be watched, or for the system, are said", "[.guard]") {
  Copies copies;
  TestView const view{MiB, "often"};
  for (int i = 0; i < 300; ++i) copies.begin(on_device("device"), view.side());
  CHECK(Guard::watched() == 256);
  CHECK_THAT(copies.said.text(), ContainsSubstring("'often' is not guarded (256"));
  view.data[0] = 'x';
  copies.end();
  view.data[0] = 'x';
  CHECK(copies.races() == 256);
}

namespace {

// Leaves the process no mapping to split.
class SystemWithoutMappings {
 public:
  SystemWithoutMappings() {
#ifdef __SANITIZE_THREAD__
    SKIP("ThreadSanitizer needs mappings of its own");
#endif
    std::size_t i = 0;
    while (i < pages && mprotect(m_many + i * 4096, 4096, PROT_READ) == 0) i += 2;
    if (i >= pages) SKIP("this system does not limit them");
    mprotect(m_many + (pages - 1) * 4096, 4096, PROT_READ);  // which takes one more, not two
  }
  ~SystemWithoutMappings() { munmap(m_many, pages * 4096); }
  SystemWithoutMappings(SystemWithoutMappings const&)            = delete;
  SystemWithoutMappings& operator=(SystemWithoutMappings const&) = delete;

 private:
  static constexpr std::size_t pages = 1 << 18;
  char* m_many                       = static_cast<char*>(
      mmap(nullptr, pages * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
};

}  // namespace

TEST_CASE("where the system protects no more pieces of memory, that is said", "[.guard]") {
  Copies copies;
  TestView const view{MiB, "late"};
  {
    SystemWithoutMappings const full;
    copies.begin(on_device("device"), view.side());
    CHECK(Guard::watched() == 0);
  }
  CHECK_THAT(copies.said.text(), ContainsSubstring("'late' is not guarded (the system"));
  copies.end();
}

namespace {

sigjmp_buf back;
extern "C" void jump_back(int) { siglongjmp(back, 1); }

bool write_is_handled(char volatile* pointer) {
  if (sigsetjmp(back, 1) != 0) return true;
  *pointer = 'x';
  return false;
}

// The program handles SIGSEGV, from before a copy to the end of the scope.
class TheirHandler {
 public:
  TheirHandler() {
    struct sigaction theirs = {};
    theirs.sa_handler       = &jump_back;
    REQUIRE(sigaction(SIGSEGV, &theirs, &m_before) == 0);
  }
  ~TheirHandler() { sigaction(SIGSEGV, &m_before, nullptr); }
  TheirHandler(TheirHandler const&)            = delete;
  TheirHandler& operator=(TheirHandler const&) = delete;

 private:
  struct sigaction m_before = {};
};

}  // namespace

TEST_CASE("faults that are not the guard's go to who handled them before", "[.guard]") {
  Copies copies;
  TheirHandler const theirs;
  TestView const view{MiB, "sent"};
  copies.begin(on_device("device"), view.side());
  auto* const forbidden = static_cast<char volatile*>(
      mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 3; ++i) CHECK(write_is_handled(forbidden));
  view.data[0] = 'x';
  CHECK(copies.races() == 1);
  munmap(const_cast<char*>(forbidden), 4096);
  copies.end();
}

TEST_CASE("memory of the pool that somebody else protects is theirs, at once", "[.guard]") {
  Copies copies;
  TheirHandler const theirs;
  TestView const first{MiB, "first"}, own{MiB, "own"}, last{MiB, "last"};
  DeviceWork::Stream other;
  for (TestView const* view : {&first, &own, &last})
    Guard::watch(on_device("b"), view->side(), other.get());
  other.wait();
  char* const page = const_cast<char*>(own.data) - header + 64 * KiB;
  REQUIRE(mprotect(page, 4096, PROT_NONE) == 0);
  auto const begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) CHECK(write_is_handled(page));
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(500));
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  CHECK(copies.races() == 0);
  copies.end();
}

TEST_CASE("faults of a forked child are its own", "[.guard]") {
  Copies copies;
  TheirHandler const theirs;
  TestView const view{MiB, "sent"};
  copies.begin(on_device("device"), view.side());
  CHECK(ChildOfFork::status([&] {
          mmap(const_cast<char*>(view.data) - header, MiB, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
          return write_is_handled(view.data + 8192) ? 0 : 1;
        }) == 0);
  CHECK(copies.said.text().empty());
  copies.end();
}

TEST_CASE("memory of a copy that is done is open also where the system protects no more pieces",
          "[.guard]") {
  Copies copies;
  DeviceWork::Stream other;
  DeviceWork::Gate first;
  other.run(first.hold());
  TestView const view{MiB, "late"};
  copies.begin(on_device("a"), view.part(0, MiB / 4));
  copies.begin(on_device("b"), view.part(MiB * 3 / 4, MiB / 4));
  Guard::watch(on_device("c"), view.side(), other.get());
  SystemWithoutMappings const full;
  first.open();
  other.wait();
  CHECK(Guard::watched() == 2);
  view.data[MiB / 2] = 'x';
  CHECK(copies.races() == 0);
  copies.end();
  view.data[0] = 'x';
}

TEST_CASE("a report that cannot be written holds nobody's copies", "[.guard]") {
  Copies copies;
  DeviceWork::Stream other;
  TestView const raced{MiB, "raced"}, clean{MiB, "clean"};
  copies.begin(on_device("device"), raced.side());
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  std::array<char, 4096> text{};
  while (write(ends[1], text.data(), text.size()) > 0) {
  }
  fcntl(ends[1], F_SETFL, 0);
  int const before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  WatchedThread writer([&] { raced.data[0] = 'x'; });
  writer.wait_until_asleep();
  copies.gate.open();
  auto done          = std::async(std::launch::async, [&] {
    copies.stream.wait();
    Guard::watch(on_device("device"), clean.side(), other.get());
    other.wait();
  });
  bool const in_time = done.wait_for(std::chrono::seconds(2)) == std::future_status::ready;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  while (read(ends[0], text.data(), text.size()) > 0) {
  }
  writer.join();
  done.get();
  dup2(before, STDERR_FILENO);
  for (int const end : {ends[0], ends[1], before}) close(end);
  CHECK(in_time);
  CHECK(copies.races() == 1);
  CHECK(Guard::watched() == 0);
}

TEST_CASE("threads that race with many copies are told, and nothing is lost or left", "[.guard]") {
  Copies copies;
  copies.gate.open();
  std::deque<TestView> views;
  for (int i = 0; i < 8; ++i) views.emplace_back(64 * KiB, "view");
  {
    std::jthread const writer([&](std::stop_token const& stop) {
      for (std::size_t i = 0; !stop.stop_requested(); ++i) {
        char volatile& element = views[i % 8].data[i % (64 * KiB)];
        element                = char(i);
        if (element != char(i)) std::abort();
      }
    });
    auto const copy = [&](DeviceWork::Stream& stream) {
      for (std::size_t i = 0; i < 1000; ++i) {
        bool const to_host = i % 2 == 0;
        Guard::watch(to_host ? views[i % 8].side() : on_device("device"),
                     to_host ? on_device("device") : views[i % 8].side(), stream.get());
        auto unguarded  = views[i % 8].part(0, 0);
        unguarded.label = std::to_string(i / 10);
        Guard::watch(unguarded, on_device("device"), stream.get());
      }
      stream.wait();
    };
    std::jthread const other([&] {
      DeviceWork::Stream own;
      copy(own);
    });
    copy(copies.stream);
  }
  copies.end();
}

TEST_CASE("without the variable copies are not watched, and small blocks share pages") {
  PoolTest const test(1);
  if (Guard::is_on()) SKIP("the guard is on");
  DeviceWork::Stream stream;
  TestView const a{100, "a"}, b{100, "b"};
  Guard::watch(on_device("device"), a.side(), stream.get());
  CHECK(Guard::watched() == 0);
  CHECK(FakeCuda::calls("cudaLaunchHostFunc") == 0);
  CHECK(std::abs(a.data - b.data) < 4096);
}

namespace {

template <int>
void theirs(int) {}

template <int... i>
std::array<void (*)(int), sizeof...(i)> many_handlers(std::integer_sequence<int, i...>) {
  return {&theirs<i>...};
}

}  // namespace

TEST_CASE("failure 21: a buffer that is grown while a copy fills it is told of, by its label",
          "[.guard]") {
  Copies copies;
  TestView received{MiB, "received"};
  copies.begin(received.side(), on_device("halo"));
  TestView const grown{2 * MiB, "grown"};
  std::copy_n(received.data, MiB, grown.data);  // before the copy has filled it
  CHECK(copies.races() == 1);
  CHECK_THAT(copies.said.text(),
             ContainsSubstring("the host reads byte 0 of 'received'") &&
                 ContainsSubstring("while an asynchronous copy from 'halo' fills it"));
  received.destroy();
  copies.end();
  CHECK(copies.races() == 1);
}

TEST_CASE("failure 19: the system reads and writes a buffer for MPI as soon as its copy is done",
          "[.guard]") {
  Copies copies;
  TestView const buffer{MiB, "buffer"};
  copies.begin(buffer.side(), on_device("halo"));
  copies.end();
  // No handler of SIGSEGV opens pages for the system, which would return EFAULT.
  int const zeros = open("/dev/zero", O_RDONLY);
  CHECK(read(zeros, const_cast<char*>(buffer.data), MiB) == static_cast<ssize_t>(MiB));
  close(zeros);
  CHECK(buffer.data[MiB - 1] == 0);
}

// The last one, since it uses up what the guard remembers.
TEST_CASE("a program that takes SIGSEGV again and again hears that its copies are not guarded",
          "[.guard]") {
  Copies copies;
  struct sigaction before = {};
  REQUIRE(sigaction(SIGSEGV, nullptr, &before) == 0);
  TestView const view{MiB, "unheard"};
  for (auto* const handler : many_handlers(std::make_integer_sequence<int, 20>())) {
    std::signal(SIGSEGV, handler);
    copies.begin(on_device("device"), view.side());
  }
  std::size_t const watched = Guard::watched();
  sigaction(SIGSEGV, &before, nullptr);
  CHECK(watched < 20);
  CHECK_THAT(copies.said.text(), ContainsSubstring("is not guarded (the program has set"));
  copies.end();
}
