// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Registry.hpp"

#include "Driver.hpp"
#include "Error.hpp"
#include "PageLock.hpp"
#include "os/Fork.hpp"
#include "os/Pages.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>

namespace KokkosHostSpaces::Impl {

namespace {

struct Range {
  void* pointer;  ///< as the user gave it
  std::size_t bytes;
  std::string label;
  bool leaving = false;  ///< being unlocked

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(pointer); }
  std::uintptr_t end() const { return begin() + bytes; }
};

// Ranges by their address. A range stays in the map while it is locked or unlocked, which is done
// without the mutex: unlocking waits for kernels. Ranges may share a page: CUDA counts its locks.
struct Ranges {
  std::mutex mutex;
  std::map<std::uintptr_t, Range> by_address;
};

// Never destroyed: static destructors may unregister.
Ranges& ranges() {
  static auto* const the_ranges = new Ranges;
  return *the_ranges;
}

std::string describe(Range const& range) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "[%#zx, %#zx)", static_cast<std::size_t>(range.begin()),
                static_cast<std::size_t>(range.end()));
  return "'" + range.label + "', " + std::to_string(range.bytes) + " bytes at " + text.data();
}

[[noreturn]] void refuse(Range const& range, std::string const& why_and_advice) {
  throw RegistrationError("cannot page-lock " + describe(range) + " " + why_and_advice);
}

Range checked_range(void* pointer, std::size_t bytes, std::string const& label) {
  Range const range{pointer, bytes, label};
  if (pointer == nullptr) refuse(range, "(the pointer is null): allocate the memory before");
  if (bytes == 0) refuse(range, "(the range is empty): register at least one byte");
  if (bytes > UINTPTR_MAX - range.begin()) {
    refuse(range, "(it goes beyond the end of the address space): check the size");
  }
  return range;
}

void insist_on_lockable(Range const& range) {
  switch (inspect_range(range.pointer, range.bytes)) {
    case RangeState::not_mapped:
      refuse(range,
             "(part of it is not mapped): check pointer and size, and that it was not freed");
    case RangeState::read_only:
      refuse(range, "(part of it is read-only): map it writable, or copy it to writable memory");
    case RangeState::writable: break;
  }
  switch (Driver::inspect(range.pointer)) {
    case Driver::PointerKind::pinned:
      refuse(range, "(CUDA has it page-locked already): use it as it is, without a registration");
    case Driver::PointerKind::device:
    case Driver::PointerKind::managed:
      refuse(range, "(it is the device's or managed memory): register ordinary host memory only");
    case Driver::PointerKind::pageable: break;
  }
}

// Takes the range in the map, so that nobody else can register it meanwhile.
void reserve(Range const& range) {
  std::lock_guard const lock(ranges().mutex);
  auto& by_address = ranges().by_address;
  auto next        = by_address.lower_bound(range.begin());
  if (next != by_address.begin() && std::prev(next)->second.end() > range.begin()) --next;
  if (next != by_address.end() && next->second.begin() < range.end()) {
    refuse(range, "(it overlaps with " + describe(next->second) +
                      ", which is registered already): register both as one range, once");
  }
  by_address.emplace(range.begin(), range);
}

void forget(Range const& range) {
  std::lock_guard const lock(ranges().mutex);
  ranges().by_address.erase(range.begin());
}

// After the runtime has shut down there is nothing to unlock.
bool some_device_is_used() {
  std::array<int, Driver::max_devices> devices{};
  return Driver::devices_in_use(devices) > 0;
}

}  // namespace

void register_range(void* pointer, std::size_t bytes, std::string const& label) {
  Range const range = checked_range(pointer, bytes, label);
  reserve(range);
  try {
    insist_on_lockable(range);
    if (Driver::device_count() > 0) lock_in_chunks(range.pointer, range.bytes);
  } catch (CudaError const& error) {
    forget(range);
    refuse(range, std::string("(the CUDA runtime refused): ") + error.what());
  } catch (...) {
    forget(range);
    throw;
  }
}

std::string unregister_range(void* pointer) noexcept {
  // The child's copy of the memory is not locked, and the mutex may be held by a thread it lacks.
  if (is_forked_child()) return {};
  try {
    Range range;
    {
      std::lock_guard const lock(ranges().mutex);
      auto const found = ranges().by_address.find(reinterpret_cast<std::uintptr_t>(pointer));
      if (found == ranges().by_address.end() || found->second.leaving) {
        return "cannot unlock memory (no registered range starts there): unregister each range "
               "once";
      }
      found->second.leaving = true;
      range                 = found->second;
    }
    bool const freed   = inspect_range(range.pointer, range.bytes) == RangeState::not_mapped;
    bool const refused = some_device_is_used() && !unlock_in_chunks(range.pointer, range.bytes);
    forget(range);
    if (freed) {
      return "memory was freed while it was registered (" + describe(range) +
             "): end the registration before the memory";
    }
    if (refused) {
      return "memory cannot be unlocked (the CUDA runtime refused " + describe(range) +
             "): check that nobody else unregistered it";
    }
  } catch (std::exception const&) {
    return {};  // not even memory for a message
  }
  return {};
}

std::size_t registered_ranges() noexcept {
  std::lock_guard const lock(ranges().mutex);
  return ranges().by_address.size();
}

}  // namespace KokkosHostSpaces::Impl
