// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Guard.hpp"

#include "../os/Fork.hpp"
#include "../os/Pages.hpp"
#include "Protection.hpp"
#include "SignalLine.hpp"
#include "../pool/Pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend::Guard {

namespace {

using Address = std::uintptr_t;

Address address_of(void const* pointer) { return reinterpret_cast<Address>(pointer); }

// Pages that a copy uses. The signal handler reads it without a lock: all but the state is set while
// it is free.
struct Watched {
  enum State { free, active, reporting, reported };
  std::atomic<int> state{free};
  std::atomic<Address> begin{0}, end{0};  ///< whole pages
  std::atomic<Address> from{0}, to{0};    ///< of the copy, in them or beyond
  std::atomic<Address> first{0};          ///< of the View
  std::atomic<Access> allowed{Access::all};
  std::array<char, 400> memory{}, advice{};
};

// What changes is changed under the mutex, but for the states that the signal handler sets.
std::mutex the_mutex;
std::array<Watched, 256> the_table;
std::atomic<std::size_t> the_races{0};
std::atomic<Address> the_lowest{~Address(0)}, the_highest{0};  ///< of all that was ever watched

bool holds(Watched const& watched, Address address) {
  return address >= watched.begin.load(std::memory_order_relaxed) &&
         address < watched.end.load(std::memory_order_relaxed);
}

// Beside the bytes of the copy its pages hold what is anybody's: the header of Kokkos, which
// kokkos_free reads, and elements behind those that are copied.
bool uses(Watched const& watched, Address address) {
  return address >= watched.from.load(std::memory_order_relaxed) &&
         address < watched.to.load(std::memory_order_relaxed);
}

// --- What the signal handler does: nothing that allocates, locks or calls CUDA ------------------

void report(Watched const& watched, Address address, bool is_write) {
  SignalLine line;
  line.add("KokkosHostSpaces: race: the host ");
  line.add(is_write ? "writes" : "reads");
  line.add(" byte ");
  line.add(address - watched.first.load(std::memory_order_relaxed), 10);
  line.add(" of ");
  line.add(watched.memory.data());
  line.add(", at 0x");
  line.add(address, 16);
  line.add(watched.advice.data());
  line.add("\n");
  line.write_to_stderr();
}

bool open(Address begin, Address end) {
  return protect_pages(reinterpret_cast<void*>(begin), end - begin, Access::all);
}

// After a report the whole range is open, so that the program goes on.
bool open(Watched const& watched) {
  return open(watched.begin.load(std::memory_order_relaxed),
              watched.end.load(std::memory_order_relaxed));
}

bool open_page_of(Address address) {
  Address const begin = address / page_bytes() * page_bytes();
  return open(begin, begin + page_bytes());
}

// With the state `reporting`, in which nobody else changes what is watched; returns the next.
Watched::State answer(Watched const& watched, Address address, bool is_write, bool& again) {
  if (!holds(watched, address)) return Watched::active;  // it got free, and another copy's
  if (!uses(watched, address)) {
    again |= open_page_of(address);
    return Watched::active;
  }
  report(watched, address, is_write);
  the_races.fetch_add(1);
  again |= open(watched);
  return Watched::reported;
}

// Pages that were opened between the access and the signal, or are about to be by a thread that
// another one keeps from running: it is tried again, unless that does not help for half a second, for
// somebody else protects memory that lies between ours.
bool is_late(Address address) {
  constexpr int at_once = 1000, most = at_once + 500;
  static thread_local Address last = 0;
  static thread_local int times    = 0;
  if (address < the_lowest.load() || address >= the_highest.load()) return false;
  times = address == last ? times + 1 : 0;
  last  = address;
  if (times > at_once) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return times < most;
}

bool on_forbidden_access(char const* pointer, bool is_write) noexcept {
  Address const address = address_of(pointer);
  bool again            = false;
  for (Watched& watched : the_table) {
    if (!holds(watched, address)) continue;
    int state = Watched::active;
    if (watched.state.compare_exchange_strong(state, Watched::reporting)) {
      watched.state.store(answer(watched, address, is_write, again));
    } else if (state != Watched::free) {
      again |= open(watched);
    }
  }
  return again || is_late(address);
}

// --- What is protected ---------------------------------------------------------------------------

// Sets what all active copies together allow in a range; false if the system refuses. Under the
// mutex.
bool protect(Address begin, Address end) {
  std::vector<Address> cuts{begin, end};
  std::vector<Watched const*> active;
  for (Watched const& watched : the_table) {
    if (watched.state.load() != Watched::active) continue;
    Address const from = std::max(begin, watched.begin.load());
    Address const to   = std::min(end, watched.end.load());
    if (from >= to) continue;
    cuts.insert(cuts.end(), {from, to});
    active.push_back(&watched);
  }
  std::sort(cuts.begin(), cuts.end());
  bool all = true;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] == cuts[i + 1]) continue;
    Access allowed = Access::all;
    for (Watched const* watched : active)
      if (holds(*watched, cuts[i])) allowed = std::max(allowed, watched->allowed.load());
    all &= protect_pages(reinterpret_cast<void*>(cuts[i]), cuts[i + 1] - cuts[i], allowed);
  }
  return all;
}

void forget(Watched* watched) {
  if (watched == nullptr) return;
  std::lock_guard const lock(the_mutex);
  for (int state = Watched::active; !watched->state.compare_exchange_weak(state, Watched::free);) {
    if (state == Watched::reporting) std::this_thread::yield();
    if (state == Watched::reporting) state = Watched::active;
  }
  protect(watched->begin.load(), watched->end.load());
}

struct Copy {
  Watched* dst;
  Watched* src;
};

void copy_is_done(void* data) {
  std::unique_ptr<Copy> const copy(static_cast<Copy*>(data));
  forget(copy->dst);
  forget(copy->src);
}

// --- What is watched -----------------------------------------------------------------------------

void say_unguarded(std::string const& label, std::string const& why) {
  static std::set<std::string> said;
  std::lock_guard const lock(the_mutex);
  if (said.insert(label + why).second)
    std::fprintf(stderr, "KokkosHostSpaces: a copy of '%s' is not guarded (%s)\n", label.c_str(),
                 why.c_str());
}

void put(std::array<char, 400>& to, std::string const& text) {
  std::size_t const length = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), length);
  to[length] = '\0';
}

// The pages that a side has for itself: those at the ends of a block hold nothing else, but Kokkos'
// header in front of a View, and what fills a View up to 8 bytes.
struct Pages {
  Address begin, end;
};
constexpr std::size_t header = 128;

Pages pages_of(Side const& side, Pool::Extent const& block) {
  Address const page  = page_bytes();
  Address const first = address_of(block.begin);
  Address begin       = address_of(side.begin);
  Address end         = begin + side.bytes;
  if (begin - first <= header) begin = first;
  if (first + block.asked < end + 8) end = first + block.bytes;
  return {(begin + page - 1) / page * page, end / page * page};
}

// Begins to watch, but for the protection of the pages; under the lock.
void take(Watched& watched, Pages const& pages, Side const& side, Pool::Extent const& block) {
  watched.begin = pages.begin;
  watched.end   = pages.end;
  watched.from  = address_of(side.begin);
  watched.to    = address_of(side.begin) + side.bytes;
  watched.first = std::min(address_of(block.begin) + header, watched.from.load());
  the_lowest    = std::min(the_lowest.load(), pages.begin);
  the_highest   = std::max(the_highest.load(), pages.end);
  watched.state = Watched::active;
}

Watched* add(Side const& side, Access allowed, std::string const& advice) {
  auto const block = Pool::extent_of(side.begin);
  if (!block) return nullptr;
  if (!block->is_mapped) {
    say_unguarded(side.label, "its memory is from cudaHostAlloc");
    return nullptr;
  }
  Pages const pages = side.bytes > 0 ? pages_of(side, *block) : Pages{0, 0};
  if (pages.begin >= pages.end) {
    say_unguarded(side.label, "the part that it uses has gaps, or no page for itself");
    return nullptr;
  }
  auto const where = "'" + side.label + "' in the space " + block->space + " (" +
                     (block->numa_node < 0 ? std::string("on no certain NUMA node")
                                           : "NUMA node " + std::to_string(block->numa_node)) +
                     ")";
  std::unique_lock lock(the_mutex);
  auto* const watched = std::find_if(the_table.begin(), the_table.end(), [](Watched const& one) {
    return one.state.load() == Watched::free;
  });
  if (watched == the_table.end()) {
    lock.unlock();
    say_unguarded(side.label, std::to_string(the_table.size()) + " copies are watched already");
    return nullptr;
  }
  watched->allowed = allowed;
  put(watched->memory, where);
  put(watched->advice, advice);
  take(*watched, pages, side, *block);
  if (protect(pages.begin, pages.end)) return watched;
  lock.unlock();
  forget(watched);
  say_unguarded(side.label, "the system does not protect more pieces of memory, vm.max_map_count");
  return nullptr;
}

}  // namespace

void watch(Side const& dst, Side const& src, Driver::Stream stream) noexcept {
  try {
    if (!is_on() || is_forked_child() || Driver::device_count() == 0) return;
    if (Driver::is_capturing(stream)) return say_unguarded(dst.label, "its stream captures");
    handle_forbidden_accesses(&on_forbidden_access);
    std::string const fence = ": fence the instance of the copy before the host goes on";
    auto copy               = std::make_unique<Copy>();
    copy->dst               = add(dst, Access::none,
                                  ", while an asynchronous copy from '" + src.label + "' fills it" + fence);
    copy->src               = add(src, Access::read,
                                  ", while an asynchronous copy to '" + dst.label + "' reads it" + fence);
    if (copy->dst == nullptr && copy->src == nullptr) return;
    try {
      Driver::enqueue_host_function(stream, &copy_is_done, copy.get());
      copy.release();
    } catch (Error const&) {
      copy_is_done(copy.release());
      say_unguarded(dst.label, "the runtime takes no function behind it");
    }
  } catch (std::exception const& error) {
    std::fprintf(stderr, "KokkosHostSpaces: a copy is not guarded (%s)\n", error.what());
  }
}

std::size_t races() noexcept { return the_races.load(); }

std::size_t watched() noexcept {
  return static_cast<std::size_t>(
      std::count_if(the_table.begin(), the_table.end(),
                    [](Watched const& watched) { return watched.state.load() != Watched::free; }));
}

}  // namespace KokkosHostSpaces::Impl::Backend::Guard
