// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/guard/Excerpt.hpp"
#include "../CapturedStderr.hpp"
#include "../BackendTest.hpp"

#include <csignal>

namespace Excerpts {

using Edge = Excerpt::Edge;

std::vector<int> counted(std::size_t n) {
  std::vector<int> result(n);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

// Elements 100 to 199, as a loop would have them.
class Part {
 public:
  explicit Part(Edge edge, std::size_t n = 100000)
      : m_all(counted(n)),
        m_excerpt({"a loop", reinterpret_cast<char const*>(m_all.data()), n * sizeof(int)},
                  100 * sizeof(int), 200 * sizeof(int), edge) {}
  int volatile& operator[](std::ptrdiff_t i) const {
    return *reinterpret_cast<int volatile*>(m_excerpt.data() +
                                            (i - 100) * std::ptrdiff_t(sizeof(int)));
  }
  Excerpt const& operator*() const { return m_excerpt; }

 private:
  std::vector<int> m_all;
  Excerpt m_excerpt;
};

TEST_CASE("accesses to a part of an array are no strays") {
  Part const part(GENERATE(Edge::begin, Edge::end));
  for (int i = 100; i < 200; ++i) part[i] = part[i] + i;
  CHECK((part[100] == 100 && part[199] == 199));
  CHECK_FALSE((*part).stray());
}

TEST_CASE("the first access behind or before a part is told to the byte, and finds the array's") {
  auto const [edge, at] = GENERATE(table<Edge, int>(
      {{Edge::end, 200}, {Edge::end, 90000}, {Edge::begin, 99}, {Edge::begin, 0}}));
  bool const writes     = GENERATE(false, true);
  Part const part(edge);
  if (writes)
    part[at] = -1;
  else
    CHECK(part[at] == at);
  CHECK(part[at == 200 ? 5000 : 201] == (at == 200 ? 5000 : 201));
  auto const stray = (*part).stray();
  REQUIRE(stray);
  CHECK(stray->offset == at * std::ptrdiff_t(sizeof(int)));
#if defined(__x86_64__)
  CHECK(stray->is_write == writes);
#endif
}

TEST_CASE("accesses before and behind the whole array are told") {
  auto const [edge, at] = GENERATE(table<Edge, int>({{Edge::end, 100001}, {Edge::begin, -1}}));
  Part const part(edge);
  CHECK(part[at] == 0);
  CHECK((*part).stray()->offset == at * std::ptrdiff_t(sizeof(int)));
}

TEST_CASE("threads may stray at once, in parts of their own and in a common one") {
  Part const common(Edge::end);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int round = 0; round < 20; ++round) {
          Part const own(Edge::end, 2000);
          wrong += own[300 + t] != 300 + t || !(*own).stray();
          own[300 + t] = common[1000 * round + 1000 + t];
        }
      });
  }
  CHECK(wrong == 0);
  CHECK((*common).stray());
}

TEST_CASE("the child of a fork has parts of its own, whatever threads of its parent are at") {
  std::atomic<bool> done{false};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (!done) Part(Edge::end, 300)[250] = 1;
    });
  int status = 0;
  for (int i = 0; i < 25 && status == 0; ++i)
    status = ChildOfFork::status([] {
      Part const part(Edge::end, 300);
      return part[250] == 250 && (*part).stray() ? 0 : 1;
    });
  done = true;
  CHECK(status == 0);
}

TEST_CASE("a crash elsewhere stays one, and is told to come from a pretended device") {
  CapturedStderr const said;
  int const status = ChildOfFork::status([] {
    std::signal(SIGSEGV, SIG_DFL);  // instead of a sanitizer's
    Part const part(Edge::end);
    *reinterpret_cast<int volatile*>(page_bytes()) = 1;
    return 0;
  });
  CHECK(status == ChildOfFork::crashed);
  CHECK(said.text().find("a loop, on a pretended device: the body touches memory") !=
        std::string::npos);
}

}  // namespace Excerpts
