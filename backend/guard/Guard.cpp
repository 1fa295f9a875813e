// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Guard.hpp"

#include "../os/Fork.hpp"
#include "../os/Pages.hpp"
#include "../pool/Pool.hpp"
#include "Protection.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace KokkosHostSpaces::Impl::Backend::Guard {

namespace {

using Address = std::uintptr_t;

Address address_of(void const* pointer) { return reinterpret_cast<Address>(pointer); }

// The pages of one side of a copy. The signal handler reads it without a lock: everything except the
// state is set while it is free.
struct Watched {
  enum State {
    free,       ///< of no copy; its pages are open
    active,     ///< its pages are protected
    reporting,  ///< a signal handler reads the texts; it sets the next state soon
    reported,   ///< its pages are open, since a race was reported
    ending      ///< its copy is done; its pages are being opened
  };
  std::atomic<int> state{free};
  std::atomic<Address> begin{0}, end{0};  ///< whole pages
  std::atomic<Address> from{0}, to{0};    ///< bytes of the copy, in the pages and beyond
  std::atomic<Address> first{0};          ///< first byte of the View
  std::atomic<PageAccess> allowed{PageAccess::all};
  std::array<char, 400> memory{}, advice{};
};

// Changed under the mutex, except for the states that signal handlers set.
constinit std::mutex the_mutex;
constinit std::array<Watched, 256> the_table;
constinit std::atomic<std::size_t> the_races{0};
constinit std::atomic<int> the_late_faults{0};  ///< that may still be tried again, see is_late()
constinit std::atomic<Address> the_lowest{~Address(0)}, the_highest{0};  ///< of all pages so far

bool holds(Watched const& watched, Address address) {
  return address >= watched.begin.load(std::memory_order_relaxed) &&
         address < watched.end.load(std::memory_order_relaxed);
}

// True for a byte of the copy. The pages also hold other data: the owner's header, which a deallocation
// reads, and elements behind those that are copied.
bool uses(Watched const& watched, Address address) {
  return address >= watched.from.load(std::memory_order_relaxed) &&
         address < watched.to.load(std::memory_order_relaxed);
}

// --- Called by the signal handler: no allocation, lock or CUDA ----------------------------------

// A line of text for stderr. Async-signal-safe; cuts text that is too long.
class SignalLine {
 public:
  void add(char const* text) {
    while (*text != '\0' && m_size + 1 < m_text.size()) m_text[m_size++] = *text++;
  }
  void add(std::uintptr_t number, int base) {
    m_size = static_cast<std::size_t>(
        std::to_chars(m_text.data() + m_size, m_text.end(), number, base).ptr - m_text.data());
  }
  void write() const { write_in_handler({m_text.data(), m_size}); }

 private:
  std::array<char, 1200> m_text{};
  std::size_t m_size = 0;
};

SignalLine report_on(Watched const& watched, Address address, bool is_write) {
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
  return line;
}

// Opens pages. Where the system has no mapping left to split (vm.max_map_count), opens the pages of
// all copies that touch them as well, which splits none. These are then not guarded any more.
bool open_pages(Address begin, Address end) {
  auto const opened = [&] {
    return protect_pages(reinterpret_cast<void*>(begin), end - begin, PageAccess::all);
  };
  if (opened()) return true;
  for (bool grows = true; grows;) {
    grows = false;
    for (Watched const& watched : the_table) {
      Address const from = watched.begin.load(), to = watched.end.load();
      if (watched.state.load() == Watched::free || from > end || to < begin) continue;
      grows |= from < begin || to > end;
      begin = std::min(begin, from);
      end   = std::max(end, to);
    }
  }
  return opened();
}

bool open_pages(Watched const& watched) {
  return open_pages(watched.begin.load(), watched.end.load());
}

bool open_page_of(Address address) {
  Address const begin = address / page_bytes() * page_bytes();
  return open_pages(begin, begin + page_bytes());
}

// Answers a fault on an active copy; returns true if the access can be tried again. Nothing waits for
// a handler that writes its report: the state is `reported` before.
bool answer(Watched& watched, Address address, bool is_write) {
  if (!holds(watched, address)) {  // another copy has taken the slot
    watched.state.store(Watched::active);
    return true;
  }
  if (!uses(watched, address)) {
    bool const again = open_page_of(address);
    watched.state.store(Watched::active);
    return again;
  }
  SignalLine const line = report_on(watched, address, is_write);
  bool const again      = open_pages(watched);
  watched.state.store(Watched::reported);
  the_races.fetch_add(1);
  line.write();
  return again;
}

// A fault on pages that were opened before the handler looked: trying again helps at once. It does not
// help with faults of other code in between, so that the number of tries is limited.
bool is_late(Address address) {
  return address >= the_lowest.load() && address < the_highest.load() &&
         the_late_faults.load() > 0 && the_late_faults.fetch_sub(1) > 0;
}

void expect_late_faults() {
  constexpr int for_each_copy = 64, most = 1024;
  if (the_late_faults.load() < most) the_late_faults.fetch_add(for_each_copy);
}

bool on_forbidden_access(char const* pointer, bool is_write) noexcept {
  if (is_forked_child()) return false;  // it does not have the pool's memory
  Address const address = address_of(pointer);
  bool again            = false;
  for (Watched& watched : the_table) {
    if (!holds(watched, address)) continue;
    int state = Watched::active;
    if (watched.state.compare_exchange_strong(state, Watched::reporting))
      again |= answer(watched, address, is_write);
    else if (state != Watched::free)
      again |= open_pages(watched);
  }
  return again || is_late(address);
}

// --- Protection ----------------------------------------------------------------------------------

// Sets what all active copies together allow in a range; false if the system refuses. Under the
// mutex. Does not allocate.
bool protect(Address begin, Address end) {
  bool all = true;
  while (begin < end) {
    PageAccess allowed = PageAccess::all;
    Address next       = end;
    for (Watched const& watched : the_table) {
      if (watched.state.load() != Watched::active) continue;
      if (holds(watched, begin)) allowed = std::max(allowed, watched.allowed.load());
      for (Address const cut : {watched.begin.load(), watched.end.load()})
        if (cut > begin) next = std::min(next, cut);
    }
    all &= protect_pages(reinterpret_cast<void*>(begin), next - begin, allowed);
    begin = next;
  }
  return all;
}

void forget(Watched& watched) noexcept {
  std::lock_guard const lock(the_mutex);
  for (int state = Watched::active; !watched.state.compare_exchange_weak(state, Watched::ending);) {
    if (state == Watched::reporting) std::this_thread::yield();
    if (state == Watched::reporting) state = Watched::active;
  }
  //~ failure 19a
  if (!protect(watched.begin.load(), watched.end.load())) open_pages(watched);
  expect_late_faults();
  watched.state.store(Watched::free);
}

struct Forget {
  void operator()(Watched* watched) const noexcept { forget(*watched); }
};
using WatchedSide = std::unique_ptr<Watched, Forget>;

struct Copy {
  WatchedSide dst, src;
};

// --- What is watched -----------------------------------------------------------------------------

// Says it once. No side is watched then.
WatchedSide unguarded(std::string const& label, std::string const& why) {
  static constinit std::mutex mutex;
  static auto& said = *new std::set<std::string>;  // never destroyed: copies are made until the end
  std::lock_guard const lock(mutex);
  if (said.insert(label + why).second)
    std::fprintf(stderr, "KokkosHostSpaces: a copy of '%s' is not guarded (%s)\n", label.c_str(),
                 why.c_str());
  return nullptr;
}

void put(std::array<char, 400>& to, std::string const& text) {
  std::size_t const length = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), length);
  to[length] = '\0';
}

// The whole pages of a side. A side that begins or ends where its block does owns the pages there,
// with its owner's header in front and its padding to 8 bytes behind.
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

// Enters a side into a free slot. Under the mutex; does not protect the pages.
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

WatchedSide add(Side const& side, PageAccess allowed, std::string const& advice) {
  auto const block = Pool::extent_of(side.begin);
  if (!block) return nullptr;
  if (!block->is_mapped) return unguarded(side.label, "its memory is from cudaHostAlloc");
  Pages const pages = side.bytes > 0 ? pages_of(side, *block) : Pages{0, 0};
  if (pages.begin >= pages.end)
    return unguarded(side.label, "the part that it uses has gaps, or no page for itself");
  auto const where = "'" + side.label + "' in the space " + block->space + " (" +
                     (block->numa_node < 0 ? std::string("on no certain NUMA node")
                                           : "NUMA node " + std::to_string(block->numa_node)) +
                     ")";
  std::unique_lock lock(the_mutex);
  auto* const watched = std::find_if(the_table.begin(), the_table.end(), [](Watched const& one) {
    return one.state.load() == Watched::free;
  });
  if (watched == the_table.end())
    return unguarded(side.label, std::to_string(the_table.size()) + " copies are watched already");
  watched->allowed = allowed;
  put(watched->memory, where);
  put(watched->advice, advice);
  take(*watched, pages, side, *block);
  bool const is_protected = protect(pages.begin, pages.end);
  lock.unlock();
  WatchedSide taken(watched);
  if (is_protected) return taken;
  return unguarded(side.label,
                   "the system does not protect more pieces of memory, vm.max_map_count");
}

}  // namespace

void watch(Side const& dst, Side const& src, Driver::Stream stream) noexcept {
  try {
    if (!is_on() || is_forked_child() || Driver::device_count() == 0) return;
    if (Driver::is_capturing(stream)) return void(unguarded(dst.label, "its stream captures"));
    if (!handle_forbidden_accesses(&on_forbidden_access))
      return void(unguarded(dst.label, "the program has set too many handlers of SIGSEGV"));
    std::string const fence = ": fence the instance of the copy before the host goes on";
    auto copy               = std::make_unique<Copy>();
    //~ failure 21
    copy->dst = add(dst, PageAccess::none,
                    ", while an asynchronous copy from '" + src.label + "' fills it" + fence);
    copy->src = add(src, PageAccess::read,
                    ", while an asynchronous copy to '" + dst.label + "' reads it" + fence);
    if (copy->dst == nullptr && copy->src == nullptr) return;
    try {
      Driver::enqueue_host_function(
          stream, [](void* done) { delete static_cast<Copy*>(done); }, copy.get());
      copy.release();
    } catch (Error const&) {
      copy.reset();
      unguarded(dst.label, "the runtime takes no function behind it");
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
