// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that is given back after Kokkos::finalize, and by a static destructor, must neither crash
// nor leak; allocators also give memory before Kokkos::initialize and after Kokkos::finalize. A
// streamed loop in flight ends before Kokkos does, and its handle may be used afterwards. Snapshots
// without a fence are written before Kokkos ends, and their handles may be used afterwards. With the
// argument `at_exit` the program does not call Kokkos::finalize, and snapshots are written when it
// exits; with `in_hook` a hook of Kokkos::finalize is the first that uses parts of the library.

#include <KokkosHostSpaces.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace khs = KokkosHostSpaces;

std::optional<khs::Allocator<int>> allocator;
struct Holder {
  int* memory = nullptr;
  ~Holder() {
    if (memory != nullptr) allocator->deallocate(memory, 1000);
  }
} holder;

// Destroyed at the end of the program.
khs::StreamedLoop loop, reduction;
khs::Snapshot snapshot;

struct AddOne {
  KOKKOS_FUNCTION void operator()(std::int64_t i, khs::Chunk<int*> x) const { x(i) += 1; }
};

struct Sum {
  KOKKOS_FUNCTION void operator()(std::int64_t i, khs::Chunk<int const*> x, int& sum) const {
    sum += x(i);
  }
};

using Vector = std::vector<int, khs::Allocator<int>>;

constexpr std::size_t large_size = 32 << 20;

struct SlowWriter {
  int* written;
  template <class View>
  void operator()(View const& host) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *written += host(999);
  }
};

// Takes a snapshot in another queue when that has been idle for long.
struct TakesAnother {
  int* written;
  template <class View>
  void operator()(View const& host) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    khs::snapshot("another", Kokkos::DefaultHostExecutionSpace(), host, SlowWriter{written});
  }
};

void end_without_finalize(khs::SnapshotView<Kokkos::View<int*>> const&) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::puts("PASSED");
}

// The handle outlives the program.
int fail_without_a_fence() {
  static auto& handle = *new khs::Snapshot;
  Kokkos::ScopeGuard const kokkos;
  handle = khs::snapshot("last output", Kokkos::DefaultExecutionSpace(),
                         Kokkos::View<int*>("view", 1000),
                         [](auto const&) { throw std::runtime_error("the disk is full"); });
  return 0;
}

// Kokkos calls a hook twice if another one is registered in it.
int first_uses_in_hook() {
  Kokkos::initialize();
  int calls = 0, written = 0;
  Kokkos::View<int*, khs::PinnedSpace>("view", 1);
  Kokkos::push_finalize_hook([&] {
    ++calls;
    Kokkos::View<int*, khs::MappedSpace> const view("view", 1000);
    (void)khs::streamed_for<khs::Staged>("add one", 1000, AddOne(), khs::update(view));
    khs::snapshot("view", Kokkos::DefaultExecutionSpace(), view, SlowWriter{&written});
  });
  Kokkos::finalize();
  bool const right = calls == 1 && written == 1 && khs::stream_memory().held == 0;
  std::puts(right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}

int main(int argc, char* argv[]) {
  if (argc > 1 && argv[1] == std::string_view("in_hook")) return first_uses_in_hook();
  if (argc > 1 && argv[1] == std::string_view("fails")) return fail_without_a_fence();
  Vector early(1000, 5);
  int sum = 7, written = 0;
  Kokkos::initialize(argc, argv);
  if (argc > 1) {
    khs::snapshot("at exit", Kokkos::DefaultExecutionSpace(), Kokkos::View<int*>("view", 1000),
                  &end_without_finalize);
    std::exit(0);
  }
  khs::SnapshotQueue first;
  {
    Kokkos::View<int*, khs::MappedSpace> const view("view", 1000);
    allocator.emplace();
    holder.memory      = allocator->allocate(1000);
    holder.memory[999] = 1;
    Kokkos::View<int*, khs::MappedSpace, Kokkos::MemoryUnmanaged> const held(holder.memory, 1000);
    reduction = khs::streamed_reduce("sum", 1000, Sum(), Kokkos::Sum<int>(sum), khs::read(view));
    loop      = khs::streamed_for<khs::Staged>("add one", 1000, AddOne(), khs::update(held));
  }
  auto const before = khs::pool::statistics().total;
  auto* const raw   = static_cast<int*>(khs::PinnedSpace().allocate("raw", 4000));
  for (int i = 0; i < 3; ++i) {
    Kokkos::View<int*> const view("view", 1000);
    Kokkos::deep_copy(view, i + 1);
    snapshot = khs::snapshot("slow", Kokkos::DefaultExecutionSpace(), view, SlowWriter{&written});
  }
  {
    Kokkos::View<int*> const large("large", large_size);
    Kokkos::deep_copy(large, 10);
    first.take("first", Kokkos::DefaultExecutionSpace(), large, TakesAnother{&written});
  }
  Kokkos::finalize();

  loop.fence();
  reduction.fence();
  snapshot.fence();
  khs::release_stream_memory();
  // Cached memory is released, memory in use is not.
  auto const after = khs::pool::statistics().total;
  raw[999]         = 2;
  early.resize(2000, 6);
  Vector const late(1000, 7);
  bool const right = early[999] == 5 && early[1999] == 6 && late[999] == 7 &&
                     before.bytes_in_use > 0 && after.bytes_in_use > before.bytes_in_use &&
                     holder.memory[999] == 2 && loop.is_done() && reduction.is_done() && sum == 0 &&
                     written == 16 && after.bytes_locked < large_size * sizeof(int) &&
                     khs::stream_memory().held == 0 && raw[999] == 2;
  khs::PinnedSpace().deallocate("raw", raw, 4000);
  std::puts(right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
