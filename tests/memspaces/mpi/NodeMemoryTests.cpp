// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Processes that share the memory of a NodeShared, without MPI, of which one is killed at a random time.

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/views/NodeMemory.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <sys/wait.h>
#include <unistd.h>

using KokkosHostSpaces::Impl::NodeMemory;

namespace {

constexpr std::size_t bytes  = std::size_t(16) << 20;
constexpr int readers        = 2;
constexpr int told_of_error  = 2;
constexpr unsigned nobody    = 99;
constexpr unsigned char mark = 0x5a;

class Pipe {
 public:
  Pipe() { REQUIRE(pipe(m_ends) == 0); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  int end(int i) const { return m_ends[i]; }
  void close_end(int i) {
    if (m_ends[i] >= 0) close(m_ends[i]);
    m_ends[i] = -1;
  }

 private:
  int m_ends[2];
};

bool all_marked(void const* data) {
  auto const* const begin = static_cast<unsigned char const*>(data);
  return std::all_of(begin, begin + bytes, [](unsigned char c) { return c == mark; });
}

// Makes and fills the memory, tells each reader, and waits until all have ended.
int make(std::array<int, readers> const& to, int until) {
  NodeMemory memory("made", bytes);
  memory.count(bytes);
  auto const place = memory.make(true);
  memory.fault_in(0, 1);
  std::memset(memory.data(), mark, bytes);
  memory.lock();
  for (int const reader : to)
    if (write(reader, &place, sizeof place) != sizeof place) return told_of_error;
  for (int const reader : to) close(reader);
  char byte = 0;
  if (read(until, &byte, 1) < 0) return 1;
  return all_marked(memory.data()) ? 0 : 1;
}

int read_all(int from) {
  NodeMemory::Place place;
  if (read(from, &place, sizeof place) != sizeof place) return told_of_error;
  NodeMemory memory("read", bytes);
  memory.open(place);
  memory.lock();
  return all_marked(memory.data()) ? 0 : 1;
}

// A process that does nothing but this, and ends without the parent's destructors.
template <class Work>
pid_t start(Work const& work) {
  pid_t const child = fork();
  if (child != 0) return child;
  std::signal(SIGPIPE, SIG_IGN);
  int result = 1;
  try {
    result = work();
  } catch (KokkosHostSpaces::Error const&) {
    result = told_of_error;
  } catch (...) {
  }
  _exit(result);
}

std::size_t kilobytes_of_shared_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Shmem:")) return std::stoul(line.substr(6));
  return 0;
}

// Returns how the processes ended, the maker first.
std::vector<int> run_with_a_victim(unsigned victim, unsigned microseconds) {
  Pipe until;
  std::array<Pipe, readers> tell;
  std::vector<pid_t> children{start([&] {
    until.close_end(1);
    for (Pipe& pipe : tell) pipe.close_end(0);
    return make({tell[0].end(1), tell[1].end(1)}, until.end(0));
  })};
  for (int i = 0; i < readers; ++i)
    children.push_back(start([&] {
      until.close_end(1);
      for (Pipe& pipe : tell) pipe.close_end(1);
      return read_all(tell[std::size_t(i)].end(0));
    }));
  // Only the children may hold the ends: who waits for a killed one then finds the end of its pipe.
  for (Pipe& pipe : tell) {
    pipe.close_end(1);
  }
  usleep(microseconds);
  if (victim < children.size()) kill(children[victim], SIGKILL);
  std::vector<int> ended(children.size());
  for (std::size_t i = children.size(); i-- > 1;) waitpid(children[i], &ended[i], 0);
  until.close_end(1);
  waitpid(children[0], &ended[0], 0);
  return ended;
}

}  // namespace

TEST_CASE("memory stays for who has mapped it when its maker is killed") {
  Pipe tell, until;
  pid_t const maker = start([&] {
    until.close_end(1);
    return make({tell.end(1), dup(tell.end(1))}, until.end(0));
  });
  NodeMemory::Place place;
  REQUIRE(read(tell.end(0), &place, sizeof place) == sizeof place);
  NodeMemory memory("read", bytes);
  memory.open(place);
  kill(maker, SIGKILL);
  waitpid(maker, nullptr, 0);
  CHECK(all_marked(memory.data()));
  memory.lock();
  CHECK(all_marked(memory.data()));
}

TEST_CASE("a process that is killed takes nothing along, and leaves nothing behind") {
  char const* const asked         = std::getenv("KOKKOS_HOST_SPACES_TEST_KILLS");
  int const kills                 = asked != nullptr ? std::atoi(asked) : 10;
  std::size_t const shared_before = kilobytes_of_shared_memory();
  std::mt19937 random(1);
  auto const begin = std::chrono::steady_clock::now();
  for (int const status : run_with_a_victim(nobody, 0)) REQUIRE(status == 0);
  auto const undisturbed = unsigned(std::chrono::duration_cast<std::chrono::microseconds>(
                                        std::chrono::steady_clock::now() - begin)
                                        .count());
  for (int i = 0; i < kills; ++i) {
    auto const victim = unsigned(random() % (1 + readers));
    auto const ended  = run_with_a_victim(victim, unsigned(random() % undisturbed));
    for (std::size_t process = 0; process < ended.size(); ++process) {
      int const status      = ended[process];
      bool const was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
      INFO("kill " << i << " of " << victim << ": process " << process << ", status " << status);
      if (process == victim && was_killed) continue;
      REQUIRE(WIFEXITED(status));
      // Without the maker the readers may be told that there is no memory.
      REQUIRE((WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == told_of_error));
      if (process != victim && victim != 0) REQUIRE(WEXITSTATUS(status) == 0);
    }
  }
  if (kills < 100) return;
  std::size_t const mappings = std::size_t(kills) * bytes / 1024;
  CHECK(kilobytes_of_shared_memory() < shared_before + mappings / 4);
}
