// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "PageLock.hpp"

#include "Driver.hpp"
#include "Error.hpp"
#include "os/Fork.hpp"
#include "os/Pages.hpp"
#include "os/Topology.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

namespace KokkosHostSpaces::Impl {

namespace {

// What is left out where the system does not have it.
enum Fallback { huge_pages, numa, address, registration };

void report(Fallback fallback, Config const& config, std::string const& what) {
  static std::array<std::atomic<bool>, 4> reported{};
  if (!config.verbose || reported[fallback].exchange(true)) return;
  std::fprintf(stderr, "KokkosHostSpaces: %s\n", what.c_str());
}

[[noreturn]] void refuse(std::size_t bytes, std::string const& why) {
  throw OutOfPinnedMemory("the system refused to page-lock " + std::to_string(bytes) +
                          " bytes: " + why);
}

std::size_t rounded(std::size_t bytes) {
  std::size_t const unit  = bytes < huge_page_bytes ? page_bytes() : huge_page_bytes;
  std::size_t const units = bytes / unit + (bytes % unit != 0 ? 1 : 0);
  return std::max<std::size_t>(units, 1) * unit;
}

// Pages that are unmapped again unless somebody keeps them.
class Mapping {
 public:
  explicit Mapping(std::size_t bytes) : m_pointer(map_pages(bytes)), m_bytes(bytes) {
    if (m_pointer == nullptr) refuse(bytes, "the system does not map so many pages");
  }
  ~Mapping() {
    if (m_pointer != nullptr) unmap_pages(m_pointer, m_bytes);
  }
  Mapping(Mapping const&)            = delete;
  Mapping& operator=(Mapping const&) = delete;

  void* get() const { return m_pointer; }
  void keep() { m_pointer = nullptr; }

 private:
  void* m_pointer;
  std::size_t m_bytes;
};

// Enough threads to keep the memory busy, each with enough to do.
int touch_threads(std::size_t bytes, int numa_node, Config const& config) {
  if (bytes < huge_page_bytes) return 1;
  if (config.touch_threads > 0) return config.touch_threads;
  constexpr std::size_t bytes_per_thread = std::size_t(32) << 20;
  constexpr int most                     = 16;
  int const cores = std::clamp(Topology::machine().allowed_cores(numa_node), 1, most);
  return static_cast<int>(
      std::min<std::size_t>(static_cast<std::size_t>(cores), bytes / bytes_per_thread + 1));
}

// Maps and places pages, and faults them in.
void prepare(Mapping const& pages, Region& region, int numa_node, Config const& config) {
  if (config.huge_pages && region.bytes >= huge_page_bytes) {
    region.huge_pages = use_huge_pages(pages.get(), region.bytes);
    if (!region.huge_pages)
      report(huge_pages, config, "no transparent huge pages: page-locking is slower");
  }
  if (config.numa && numa_node >= 0) {
    bool const bound = Topology::machine().bind_memory(pages.get(), region.bytes, numa_node);
    if (bound) region.numa_node = numa_node;
    if (!bound) report(numa, config, "memory cannot be bound to a NUMA node: copies may be slower");
  }
  int const threads = touch_threads(region.bytes, region.numa_node, config);
  first_touch(pages.get(), region.bytes, region.numa_node, threads);
}

Region from_driver(Region region, std::string const& why) {
  region.origin     = Origin::driver;
  region.huge_pages = false;
  region.numa_node  = -1;
  region.pointer = Driver::allocate_pinned(region.bytes, region.kind == MemoryKind::write_combined);
  if (region.pointer == nullptr)
    refuse(region.bytes, why + "the device's driver has no more memory");
  return region;
}

std::size_t to_next_multiple(void const* pointer, std::size_t chunk) {
  return chunk - reinterpret_cast<std::uintptr_t>(pointer) % chunk;
}

}  // namespace

void lock_in_chunks(void* pointer, std::size_t bytes, std::size_t chunk) {
  auto* const begin = static_cast<char*>(pointer);
  std::size_t done  = 0;
  try {
    while (done < bytes) {
      std::size_t const piece = std::min(to_next_multiple(begin + done, chunk), bytes - done);
      Driver::lock_pages(begin + done, piece);
      done += piece;
    }
  } catch (...) {
    unlock_in_chunks(pointer, done, chunk);
    throw;
  }
}

bool unlock_in_chunks(void* pointer, std::size_t bytes, std::size_t chunk) noexcept {
  auto* const begin = static_cast<char*>(pointer);
  bool unlocked     = true;
  for (std::size_t done = 0; done < bytes; done += to_next_multiple(begin + done, chunk)) {
    unlocked = Driver::unlock_pages(begin + done) && unlocked;
  }
  return unlocked;
}

Region lock_fresh_pages(std::size_t bytes, MemoryKind kind, int numa_node) {
  return lock_fresh_pages(bytes, kind, numa_node, config());
}

Region lock_fresh_pages(std::size_t bytes, MemoryKind kind, int numa_node, Config const& config) {
  bool const has_device = Driver::device_count() > 0;
  if (bytes > most_memory()) refuse(bytes, "that is more than this machine can have");
  Region region;
  region.bytes = rounded(bytes);
  region.kind  = kind;
  if (has_device && kind == MemoryKind::write_combined) return from_driver(region, "");
  if (has_device && !Driver::registered_memory_keeps_address()) {
    report(address, config,
           "the devices see registered memory at other addresses: using cudaHostAlloc");
    return from_driver(region, "");
  }

  std::string why;
  {
    Mapping pages(region.bytes);
    prepare(pages, region, numa_node, config);
    try {
      if (has_device) lock_in_chunks(pages.get(), region.bytes);
      region.pointer = pages.get();
      region.origin  = has_device ? Origin::mapped_and_registered : Origin::mapped;
      pages.keep();
      return region;
    } catch (CudaError const& error) {
      why = error.what();
    }
  }
  report(registration, config, "memory cannot be registered, using cudaHostAlloc: " + why);
  return from_driver(region, why + "; ");
}

void give_back(Region const& region) noexcept {
  if (region.pointer == nullptr || is_forked_child()) return;
  if (region.origin == Origin::driver) {
    Driver::free_pinned(region.pointer);
    return;
  }
  // Pages that a device still sees must stay.
  bool const locked = region.origin == Origin::mapped_and_registered;
  if (!locked || unlock_in_chunks(region.pointer, region.bytes))
    unmap_pages(region.pointer, region.bytes);
}

}  // namespace KokkosHostSpaces::Impl
