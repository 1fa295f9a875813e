// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// As Copies.cpp, for memory that is adopted and need not be copied.

#include "../../support/ChildOfFork.hpp"
#include "../../support/FakeCuda.hpp"
#include "Program.hpp"

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace Program;

// The loader holds its lock meanwhile.
extern "C" __attribute__((visibility("default"))) void while_plugin_is_opened() {
  alarm(30);
  std::thread([] { View(MiB).fill(1); }).join();
}

namespace {

// Hides from the compiler where memory is from: other functions than the matching one may free it.
template <class... Arguments>
char* made(Arguments... arguments) {
  void* volatile memory = operator new(arguments...);
  return static_cast<char*>(memory);
}

void plugins_exchange_memory() {
  void* const plugin = dlopen(KOKKOS_HOST_SPACES_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(plugin != nullptr);
  auto* const make = reinterpret_cast<void* (*)(std::size_t)>(dlsym(plugin, "plugin_new"));
  auto* const drop = reinterpret_cast<void (*)(void*)>(dlsym(plugin, "plugin_delete"));
  auto* const drop_plainly =
      reinterpret_cast<void (*)(void*)>(dlsym(plugin, "plugin_delete_plainly"));
  for (int i = 0; i < 3; ++i) {
    drop(operator new(MiB, alignment, std::nothrow));
    drop_plainly(operator new(MiB, alignment));
    operator delete(make(MiB), alignment);
    std::free(made(MiB, alignment));
    operator delete(made(MiB, alignment));
    operator delete[](operator new[](MiB, alignment), alignment);
  }
  void* const kept = make(MiB);
  dlclose(plugin);
  operator delete(kept, alignment);
}

void memory_is_the_system_s() {
  char* const a = made(std::size_t(100000), alignment);
  REQUIRE(malloc_usable_size(a) >= 100000);
  std::memset(a, 9, 100000);
  char* const b = static_cast<char*>(std::realloc(a, 200000));
  REQUIRE(b != nullptr && b[0] == 9 && b[99999] == 9);
  std::free(b);
  REQUIRE(std::realloc(made(std::size_t(100000), alignment), 0) == nullptr);
  REQUIRE(operator new(std::size_t(1) << 46, alignment, std::nothrow) == nullptr);
}

// What is not copied keeps its pages, at the end up to twice the largest of at most 32 MiB.
void freed_pages_are_kept_and_trimmed() {
  auto const resident = [](char const* page) {
    unsigned char is = 0;
    return mincore(const_cast<char*>(page), 4096, &is) == 0 && (is & 1) != 0;
  };
  char* memory = nullptr;
  for (std::size_t size : {MiB / 16, MiB, 30 * MiB}) {
    View view(size);
    view.fill(1);
    memory = view.data();
  }
  REQUIRE(resident(memory));
  char* small = nullptr;
  {
    View view(MiB);
    small = view.data();
  }
  REQUIRE(resident(small));
  char* large = nullptr;
  {
    View view(64 * MiB);
    view.fill(1);
    large = view.data();
  }
  REQUIRE(!resident(large));
  std::vector<std::unique_ptr<View>> many, between;
  for (int i = 0; i < 8; ++i) {
    many.push_back(std::make_unique<View>(20 * MiB));
    many.back()->fill(1);
    between.push_back(std::make_unique<View>(64 * MiB));
  }
  std::vector<char*> freed;
  for (auto& view : many) freed.push_back(view->data());
  between.clear();
  many.clear();
  std::size_t kept = 0;
  for (char* block : freed) kept += resident(block) ? 1 : 0;
  REQUIRE(kept <= 3);
}

void threads_make_and_copy_views() {
  auto const work = [](unsigned seed) {
    OnDevice device(2 * MiB);
    std::vector<std::unique_ptr<View>> views(8);
    for (unsigned i = 0; i < 150; ++i) {
      seed           = seed * 1664525u + 1013904223u;
      auto& view     = views[seed >> 29];
      auto const tag = static_cast<char>(i);
      if (view == nullptr) view = std::make_unique<View>(MiB / 16 + ((seed >> 8) % 16) * (MiB / 8));
      view->fill(tag);
      if ((seed & 64) != 0) {
        to_device(device, *view);
        view->fill(0);
        to_host(*view, device);
      }
      REQUIRE(view->holds(tag));
      if ((seed & 128) != 0) view.reset();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

// Neither memory nor copies are points of cancellation, though the first View of a size reads files.
void no_thread_is_cancelled_here() {
  static OnDevice const device(64 * MiB);
  std::thread([] {
    pthread_cancel(pthread_self());
    for (std::size_t size = MiB; size <= 64 * MiB; size *= 2) {
      View const view(size);
      for (int i = 0; i < 3; ++i) to_host(view, device);
    }
    int old = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    REQUIRE(old == PTHREAD_CANCEL_ENABLE);
  }).join();
}

// gcore writes all of each mapping that may be dumped: only memory of Views may be.
void a_dump_has_the_views_alone() {
  View const view(MiB);
  { View(64 * MiB).fill(1); }
  std::size_t begin = 0, end = 0, dumped = 0;
  bool has_view = false;
  std::ifstream maps("/proc/self/smaps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t first = 0, last = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &first, &last) == 2) begin = first, end = last;
    if (!line.starts_with("VmFlags:") || line.find(" dd") != line.npos) continue;
    dumped += end - begin;
    auto const at = reinterpret_cast<std::size_t>(view.data());
    has_view |= begin <= at && at + MiB <= end;
  }
  REQUIRE(has_view && dumped < (std::size_t(1) << 30));
}

// As malloc's, memory is there for the fork handlers of others; these come before the first View.
void fork_handlers_make_views() {
  static std::unique_ptr<View> view;
  auto const drop = [] { view.reset(); };
  pthread_atfork([] { view = std::make_unique<View>(MiB); }, drop, drop);
  View(MiB).fill(1);
  alarm(30);
  for (int i = 0; i < 2; ++i)
    REQUIRE(ChildOfFork::status([] {
              View(MiB).fill(1);
              return 0;
            }) == 0);
}

// Whether or not the addresses were in use before.
void no_more_than_malloc_gives() {
  auto const memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(getpagesize());
  for (int i = 0; i < 2; ++i) {
    void* const stock = std::malloc(memory / 2 * 3);
    void* const ours  = operator new(memory / 2 * 3, alignment, std::nothrow);
    REQUIRE((ours == nullptr) == (stock == nullptr));
    std::free(stock);
    operator delete(ours, alignment);
    operator delete(operator new(memory / 10 * 9, alignment, std::nothrow), alignment);
  }
}

// A policy of memory other than the default binds it. Locking leaves the pages where they are.
void first_touch_decides_where_memory_is() {
  auto const is_bound = [](void const* memory) {
    int policy                         = 0;
    constexpr unsigned long of_address = 2;
    if (syscall(SYS_get_mempolicy, &policy, nullptr, 0, memory, of_address) == 0)
      return policy != 0;
    std::puts("skipped: the system tells no policies of memory");
    std::_Exit(4);
  };
  OnDevice device(8 * MiB);
  View never(8 * MiB), copied(8 * MiB);
  unsigned char resident = 0;
  REQUIRE(mincore(never.data() + MiB, 4096, &resident) == 0 && (resident & 1) == 0);
  REQUIRE(!is_bound(never.data()));
  for (int i = 0; i < 2; ++i) to_host(copied, device);
  // The page of the self-test of forks stays locked, too.
  REQUIRE(FakeCuda::outstanding().registrations == 2 && !is_bound(copied.data()));
}

constexpr Case cases[] = {CASE(fork_handlers_make_views),
                          CASE(no_more_than_malloc_gives),
                          CASE(no_thread_is_cancelled_here),
                          CASE(a_dump_has_the_views_alone),
                          CASE(plugins_exchange_memory),
                          CASE(memory_is_the_system_s),
                          CASE(freed_pages_are_kept_and_trimmed),
                          CASE(threads_make_and_copy_views),
                          CASE(first_touch_decides_where_memory_is)};

}  // namespace

int main(int argc, char** argv) { return run_case(argc, argv, cases); }
