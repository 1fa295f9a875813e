// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// An application of C++23 with a library of C++20, or the reverse: containers of the standard library, Views and
// exceptions cross in both directions, and arrive whole.

#include <KokkosHostSpaces.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace khs = KokkosHostSpaces;
using Kokkos::View, khs::PinnedSpace, khs::MappedSpace;

namespace {

int failed = 0;

void check(bool holds, char const* what) {
  if (!holds) std::printf("fails: %s\n", what);
  failed += !holds;
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (khs::Error const& error) {
    return error.what();
  }
  return "";
}

void structures() {
  View<double*, PinnedSpace> const view("of the application", 1000);
  auto const described = khs::pool::describe(view);
  check(described && described->label == "of the application" && described->space == "Pinned" &&
            described->bytes >= 8000,
        "describe");
  khs::pool::Statistics const now = khs::pool::statistics();
  check(!now.pools.empty() && now.pools.front().usage.bytes_in_use >= 8000, "pools of statistics");
  bool named = false;
  for (auto const& s : now.spaces) named = named || (s.space == "Pinned" && s.blocks == 1);
  check(named, "spaces of statistics");
  check(khs::pool::to_text(now).find("segments") != std::string::npos, "to_text");
  khs::pool::reserve(1 << 20).wait();
}

void exceptions() {
  khs::pool::set_limit(1 << 20);
  auto const too_large = [] { View<char*, PinnedSpace> const view("too large", 1 << 24); };
  check(message_of(too_large).find("'too large'") != std::string::npos, "OutOfPinnedMemory");
  khs::pool::set_limit(0);
}

void copies() {
  View<int**, Kokkos::LayoutRight, PinnedSpace> const src("src", 30, 40);
  View<int**, Kokkos::LayoutLeft, MappedSpace> const dst("dst", 30, 40);
  Kokkos::DefaultHostExecutionSpace const instance;
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 40; ++j) src(i, j) = 100 * i + j;
  Kokkos::deep_copy(instance, dst, src);
  check(khs::explain(instance, dst, src).find("dst") != std::string::npos, "explain");
  std::vector<int> mine(1200);
  khs::Registration const registration(mine.data(), mine.size(), "mine");
  std::string label;
  int last = 0;
  khs::snapshot("output", instance, dst, [&](auto const& host) {
    label = host.label();
    last  = host(29, 39);
  }).fence();
  check(label == "dst" && last == 2939, "snapshot");
  auto const throws = [&] {
    khs::snapshot("output", instance, dst, [](auto const&) {
      throw khs::Error("of a writer");
    }).fence();
  };
  check(message_of(throws) == "of a writer", "an exception through the library");
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  structures();
  exceptions();
  copies();
  std::printf("an application of C++ %ld: %s\n", __cplusplus,
              failed == 0 ? "all is right" : "wrong");
  return failed;
}
