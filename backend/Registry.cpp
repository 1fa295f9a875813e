// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Registry.hpp"

#include "Driver.hpp"
#include "Error.hpp"
#include "os/Fork.hpp"
#include "os/Mappings.hpp"
#include "os/Pages.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

struct Range {
  void* pointer;  ///< as the user gave it
  std::size_t bytes;
  std::string label;
  bool without_children = false;  ///< kept from children made by fork
  bool locked           = false;
  bool waits            = false;  ///< to be locked when a device has a context
  bool leaving          = false;  ///< being unlocked

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(pointer); }
  std::uintptr_t end() const { return begin() + bytes; }
};

// Registered ranges by address. A range is in the map before it is locked and until it is unlocked,
// both without the mutex, because unlocking waits for kernels. Ranges may share a page: CUDA counts
// its locks.
struct Ranges {
  std::mutex mutex{};
  std::map<std::uintptr_t, Range> by_address{};
  std::atomic<std::size_t> waiting{
      0};             ///< ranges that are to be locked when a device has a context
  std::mutex late{};  ///< held by who locks them, and who takes one out
};

constinit OfThisProcess<Ranges> ranges;

std::string describe(Range const& range) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "[%#zx, %#zx)", static_cast<std::size_t>(range.begin()),
                static_cast<std::size_t>(range.end()));
  return "'" + range.label + "', " + std::to_string(range.bytes) + " bytes at " + text.data();
}

[[noreturn]] void refuse(Range const& range, std::string const& why_and_advice) {
  throw RegistrationError("cannot page-lock " + describe(range) + " " + why_and_advice);
}

Range checked_range(void* pointer, std::size_t bytes, std::string const& label,
                    bool without_children) {
  Range const range{pointer, bytes, label, without_children};
  if (pointer == nullptr) refuse(range, "(the pointer is null): allocate the memory before");
  if (bytes == 0) refuse(range, "(the range is empty): register at least one byte");
  if (bytes > UINTPTR_MAX - range.begin()) {
    refuse(range, "(it goes beyond the end of the address space): check the size");
  }
  bool const is_whole = range.begin() % page_bytes() == 0 && bytes % page_bytes() == 0;
  if (without_children && !is_whole) {
    refuse(range,
           "and leave it out of forked children (they would miss what shares its first or last "
           "page): begin at a page and register whole pages, of " +
               std::to_string(page_bytes()) + " bytes, or let children copy it");
  }
  return range;
}

[[noreturn]] void refuse_read_only(Range const& range, RangeReport const& report) {
  std::string const of_file = report.file.starts_with('/') ? " of the file " + report.file : "";
  std::string const kind    = report.shared ? "a read-only shared mapping" : "a read-only mapping";
  refuse(range, "(part of it is " + kind + of_file +
                    ", which devices might write to): map it with PROT_WRITE, and with MAP_PRIVATE "
                    "if the file must not change, or copy it to writable memory");
}

// Advice for mappings that the runtime may refuse; empty for other memory.
std::string advice_on(RangeReport const& report) {
  bool const is_file   = report.file.starts_with('/');
  bool const is_memory = report.file.starts_with("/dev/shm/") ||
                         report.file.starts_with("/dev/zero") || report.file.starts_with("/memfd:");
  if (is_file && !is_memory && report.file.starts_with("/dev/"))
    return "; part of it is a mapping of the device " + report.file +
           ", which drivers may refuse: copy it to ordinary memory";
  if (is_file && !is_memory && report.shared)
    return "; part of it is a shared mapping of the file " + report.file +
           ", which systems may refuse to pin: map it with MAP_PRIVATE, or copy it to ordinary "
           "memory";
  return "";
}

void insist_on_lockable(Range const& range, RangeReport const& report) {
  switch (report.state) {
    case RangeState::not_mapped:
      refuse(range,
             "(part of it is not mapped): check pointer and size, and that it was not freed");
    case RangeState::read_only: refuse_read_only(range, report);
    case RangeState::writable: break;
  }
  if (!Driver::has_context()) return;  // nothing can be locked, and asking would make a context
  Driver::Extent const known = Driver::extent_of(range.pointer);
  if (known.device >= 0)
    refuse(range, "(it is the device's or managed memory): register ordinary host memory only");
  if (known.begin != nullptr)
    refuse(
        range,
        "(CUDA has it page-locked already): use it as it is, without a registration; if memory was "
        "freed here before its registration ended, end that one first");
}

// Enters the range in the map, so that overlapping registrations are refused from now on.
Range& reserve(Ranges& all, Range const& range) {
  std::lock_guard const lock(all.mutex);
  auto& by_address = all.by_address;
  auto next        = by_address.lower_bound(range.begin());
  if (next != by_address.begin() && std::prev(next)->second.end() > range.begin()) --next;
  //~ failure 15
  if (next != by_address.end() && next->second.begin() < range.end()) {
    refuse(range, "(it overlaps with " + describe(next->second) +
                      ", which is registered already): register both as one range, once, or end "
                      "that registration first, also if its memory was freed");
  }
  return by_address.emplace(range.begin(), range).first->second;
}

void forget(Ranges& all, Range const& range) {
  std::lock_guard const lock(all.mutex);
  all.by_address.erase(range.begin());
}

// Kernels, and copies by kernels, take the host's address.
void lock(Range const& range) {
  if (!Driver::registered_memory_keeps_address()) {
    refuse(
        range,
        "(devices of this machine see registered memory at other addresses, and kernels would not find "
        "it): copy it to a View in PinnedSpace");
  }
  if (range.without_children && !keep_from_children(range.pointer, range.bytes)) {
    refuse(range,
           "and leave it out of forked children (the system does not do this for such memory): let "
           "children copy it");
  }
  try {
    Driver::lock_pages(range.pointer, range.bytes);
  } catch (...) {
    if (range.without_children) leave_to_children(range.pointer, range.bytes);
    throw;
  }
}

// With `late` held. What cannot be locked is told of once, and stays as it is.
void lock_late(Ranges& all, Range& range) noexcept {
  bool locked = false;
  try {
    lock(range);
    locked = true;
  } catch (Driver::StillLocked const&) {
    locked = true;  // unlocking will tell
  } catch (std::exception const& error) {
    std::fprintf(
        stderr,
        "KokkosHostSpaces: '%s', which was registered before a device was in use, cannot be "
        "page-locked (%s): register it once a device is in use\n",
        range.label.c_str(), error.what());
  }
  std::lock_guard const guard(all.mutex);
  range.waits  = false;
  range.locked = locked;
  --all.waiting;
}

// Marks the range that starts at `pointer` as being unregistered; nullptr if there is none.
Range* begin_to_leave(Ranges& all, void* pointer) noexcept {
  std::lock_guard const lock(all.mutex);
  auto const found = all.by_address.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == all.by_address.end() || found->second.leaving) return nullptr;
  found->second.leaving = true;
  return &found->second;
}

bool unlock(Range const& range) noexcept {
  if (!range.locked) return true;
  Driver::Devices
      devices{};  // none after the runtime has shut down, when nothing is left to unlock
  if (Driver::devices_in_use(devices) > 0 && !Driver::unlock_pages(range.pointer, range.bytes))
    return false;
  if (range.without_children) leave_to_children(range.pointer, range.bytes);
  return true;
}

// Unlocks and forgets without an allocation, and returns an error message or an empty string.
std::string leave(Ranges& all, Range& range) {
  if (range.waits) --all.waiting;
  bool const freed    = !is_mapped(range.pointer, range.bytes);
  bool const unlocked = unlock(range);
  auto const taken    = [&] {
    std::lock_guard const lock(all.mutex);
    return all.by_address.extract(range.begin());
  }();
  if (freed) {
    return "memory was freed while it was registered (" + describe(taken.mapped()) +
           "): end the registration before the memory";
  }
  if (!unlocked) {
    return "memory cannot be unlocked (the CUDA runtime refused " + describe(taken.mapped()) +
           "): check that nobody else unregistered it";
  }
  return {};
}

}  // namespace

void register_range(void* pointer, std::size_t bytes, std::string const& label,
                    bool keep_from_children) {
  Ranges& all       = ranges.get();  // from here on a fork is noticed
  Range const range = checked_range(pointer, bytes, label, keep_from_children);
  lock_waiting_ranges();
  Range& entered = reserve(all, range);
  RangeReport report;
  try {
    report = report_on_range(range.pointer, range.bytes);
    insist_on_lockable(range, report);
    bool const locks = Driver::has_context();
    bool const waits = !locks && Driver::presence() != Driver::Presence::none;
    if (locks) lock(range);
    std::lock_guard const guard(all.mutex);
    entered.locked = locks;
    entered.waits  = waits;
    all.waiting += waits ? 1 : 0;
  } catch (DeviceError const& error) {
    forget(all, range);
    //~ failure 16
    refuse(range, std::string("(the CUDA runtime refused): ") + error.what() + advice_on(report));
  } catch (...) {
    forget(all, range);
    throw;
  }
}

void lock_waiting_ranges() noexcept {
  Ranges* const all = ranges.existing();
  if (all == nullptr || all->waiting == 0 || !Driver::has_context()) return;
  std::lock_guard const late(all->late);
  for (std::uintptr_t from = 0;;) {
    Range* const range = [&]() -> Range* {
      std::lock_guard const lock(all->mutex);
      auto const waits = std::find_if(all->by_address.lower_bound(from), all->by_address.end(),
                                      [](auto const& entry) { return entry.second.waits; });
      return waits != all->by_address.end() ? &waits->second : nullptr;
    }();
    if (range == nullptr) return;
    lock_late(*all, *range);
    from = range->end();
  }
}

std::string unregister_range(void* pointer) noexcept {
  Ranges* const all = ranges.existing();
  std::unique_lock<std::mutex> late;
  if (all != nullptr && all->waiting > 0) late = std::unique_lock(all->late);
  Range* const range = all != nullptr ? begin_to_leave(*all, pointer) : nullptr;
  try {
    if (range != nullptr) return leave(*all, *range);
    // A child's copy of what its parent registered is not locked.
    if (is_forked_child()) return {};
    return "cannot unlock memory (no registered range starts there): unregister each range once";
  } catch (std::exception const&) {
    return "out of memory";  // even for a longer message
  }
}

bool is_registered(void const* pointer) noexcept {
  Ranges* const all = ranges.existing();
  if (all == nullptr) return false;
  auto const address = reinterpret_cast<std::uintptr_t>(pointer);
  std::lock_guard const lock(all->mutex);
  auto const behind = all->by_address.upper_bound(address);
  return behind != all->by_address.begin() && address < std::prev(behind)->second.end();
}

std::size_t registered_ranges() noexcept {
  Ranges* const all = ranges.existing();
  if (all == nullptr) return 0;
  std::lock_guard const lock(all->mutex);
  return all->by_address.size();
}

}  // namespace KokkosHostSpaces::Impl::Backend
