// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "PageLock.hpp"

#include "Driver.hpp"
#include "Placement.hpp"
#include "os/Fork.hpp"
#include "os/Pages.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

// The step that the system refused; each is reported once.
enum Fallback { huge_pages, numa, address, registration };

void report(Fallback fallback, Config const& config, std::string const& what) {
  static std::array<std::atomic<bool>, 4> reported{};
  if (!config.verbose || reported[fallback].exchange(true)) return;
  std::fprintf(stderr, "KokkosHostSpaces: %s\n", what.c_str());
}

[[noreturn]] void refuse(std::size_t bytes, std::string const& why, std::string const& remedy) {
  throw Refused("the system refused to page-lock " + std::to_string(bytes) + " bytes: " + why,
                remedy);
}

struct Unmap {
  std::size_t bytes;
  void operator()(void* pages) const noexcept { unmap_pages(pages, bytes); }
};
using FreshPages = std::unique_ptr<void, Unmap>;

// Places pages and faults them in.
void prepare(FreshPages const& pages, Region& region, int numa_node, Config const& config) {
  if (config.huge_pages && region.bytes >= huge_page_bytes) {
    region.huge_pages = use_huge_pages(pages.get(), region.bytes);
    if (!region.huge_pages)
      report(huge_pages, config, "no transparent huge pages: page-locking is slower");
  }
  Placed const placed = place_pages(pages.get(), region.bytes, numa_node, config);
  region.numa_node    = placed.numa_node;
  if (config.numa && numa_node >= 0 && placed.numa_node < 0) {
    report(numa, config,
           "memory cannot be bound to a NUMA node: it lies where the threads run that touch it");
  }
  first_touch(pages.get(), region.bytes, placed.team);
}

// Pages that are mapped are cached as usual.
bool is_from_driver(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::page_locked: return false;
    case MemoryKind::write_combined: return true;
  }
  return true;
}

// cudaHostAlloc returns whole pages from 2 MiB on. Smaller memory is cut from an allocation that is a
// page longer.
Region from_driver(Region region, std::string const& why) {
  region.origin           = Origin::driver;
  region.huge_pages       = false;
  region.numa_node        = -1;
  std::size_t const spare = region.bytes < huge_page_bytes ? page_bytes() : 0;
  void* const allocated   = Driver::allocate_pinned(region.bytes + spare, region.kind);
  if (allocated == nullptr)
    refuse(region.bytes, why + "the device's driver has no more memory", raise_limit_of_locked());
  std::size_t const into_page = reinterpret_cast<std::uintptr_t>(allocated) % page_bytes();
  region.offset_in_allocation = into_page == 0 ? 0 : page_bytes() - into_page;
  if (region.offset_in_allocation > spare) {
    Driver::free_pinned(allocated);
    refuse(region.bytes, why + "the device's driver gave memory that does not begin on a page", "");
  }
  region.pointer = static_cast<char*>(allocated) + region.offset_in_allocation;
  return region;
}

}  // namespace

Region lock_fresh_pages(std::size_t bytes, MemoryKind kind, int numa_node, Config const& config) {
  bool const has_device = Driver::has_context();
  if (exceeds_memory(bytes)) refuse(bytes, more_than_can_be(bytes), raise_limit_of_groups(bytes));
  Region region;
  region.bytes = whole_pages(bytes);
  region.kind  = kind;
  if (has_device && is_from_driver(kind)) return from_driver(region, "");
  if (has_device && !Driver::registered_memory_keeps_address()) {
    report(address, config,
           "the devices see registered memory at other addresses: using cudaHostAlloc");
    return from_driver(region, "");
  }

  std::string why;
  {
    FreshPages pages(map_pages(region.bytes), Unmap{region.bytes});
    if (pages == nullptr)
      refuse(region.bytes, "the system does not map these pages", raise_limit_of_addresses());
    prepare(pages, region, numa_node, config);
    try {
      // The system would copy locked pages at a fork. Without a device, children may read them.
      if (has_device) {
        keep_from_children(pages.get(), region.bytes);
        Driver::lock_pages(pages.get(), region.bytes);
      }
      region.origin  = has_device ? Origin::mapped_and_registered : Origin::mapped;
      region.pointer = pages.release();
      return region;
    } catch (Driver::StillLocked const&) {
      (void)pages.release();  // a device may still see them
      throw;
    } catch (DeviceError const& error) {
      //~ failure 17
      why = error.what();
    }
  }
  report(registration, config, "memory cannot be registered, using cudaHostAlloc: " + why);
  return from_driver(region, why + "; ");
}

void lock_mapped(Region const& region) {
  if (!Driver::registered_memory_keeps_address())
    throw Error("the devices see registered memory at other addresses");
  keep_from_children(region.pointer, region.bytes);
  try {
    Driver::lock_pages(region.pointer, region.bytes);
  } catch (...) {
    leave_to_children(region.pointer, region.bytes);
    throw;
  }
}

bool give_back(Region const& region) noexcept {
  if (region.pointer == nullptr) return true;
  if (is_forked_child() && region.origin != Origin::mapped) return true;
  if (region.origin == Origin::driver)
    return Driver::free_pinned(static_cast<char*>(region.pointer) - region.offset_in_allocation);
  // Pages that a device still sees must stay.
  bool const locked = region.origin == Origin::mapped_and_registered;
  //~ ignored unlock
  if (locked && !Driver::unlock_pages(region.pointer, region.bytes)) return false;
  unmap_pages(region.pointer, region.bytes);
  return true;
}

}  // namespace KokkosHostSpaces::Impl::Backend
