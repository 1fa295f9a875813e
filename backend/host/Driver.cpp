// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam without a device: all memory is pageable, and work is done when a call returns.

#include "../Driver.hpp"

#include <cstring>

namespace KokkosHostSpaces::Impl::Backend::Driver {

namespace {

constexpr int no_device = 100;  // the number of cudaErrorNoDevice

[[noreturn]] void refuse(std::string const& what) {
  throw DeviceError(
      what + " (this library was built without CUDA): build it with CUDA, or do not ask for it",
      no_device);
}

}  // namespace

int device_count() noexcept { return 0; }

Presence presence() noexcept { return Presence::none; }

int devices_in_use(Devices&) noexcept { return 0; }

bool has_context() noexcept { return false; }

int current_device() noexcept { return -1; }

void use_device(int) noexcept {}

void require_device(int) {}

void check_enqueued() {}

std::string pci_bus_id(int device) {
  refuse("device " + std::to_string(device) + " has no PCI bus id");
}

bool registered_memory_keeps_address() noexcept { return true; }

bool reaches_pageable_memory(int) noexcept { return false; }

void lock_pages(void*, std::size_t) { refuse("memory cannot be locked for a device"); }

bool unlock_pages(void*, std::size_t) noexcept { return false; }

void* allocate_pinned(std::size_t, MemoryKind) {
  refuse("the device's driver cannot allocate memory");
}

bool free_pinned(void*) noexcept { return false; }

void* allocate_on_device(int, std::size_t) { return nullptr; }

void free_on_device(void*) noexcept {}

Extent extent_of(void const*) noexcept { return {}; }

void copy(void* dst, void const* src, std::size_t bytes, Stream, int) {
  if (bytes > 0) std::memcpy(dst, src, bytes);
}

void copy(void* dst, void const* src, Box const& box, Stream stream) {
  auto* const to         = static_cast<char*>(dst);
  auto const* const from = static_cast<char const*>(src);
  for (std::size_t plane = 0; plane < box.planes; ++plane) {
    for (std::size_t row = 0; row < box.rows; ++row) {
      copy(to + plane * box.plane_pitch_dst + row * box.row_pitch_dst,
           from + plane * box.plane_pitch_src + row * box.row_pitch_src, box.run_bytes, stream);
    }
  }
}

bool copy_batch(void* const*, void const* const*, std::size_t const*, std::size_t, Stream) {
  return false;
}

Stream private_stream(int) { return nullptr; }

void fence(Stream, int) {}

void enqueue_host_function(Stream, void (*function)(void*), void* data) { function(data); }

bool is_capturing(Stream) noexcept { return false; }

Stream make_stream(int) { return nullptr; }

void release_stream(Stream) noexcept {}

void record(Event&, Stream, int, bool) {}

void make_wait(Stream, Event, int) {}

std::optional<double> seconds_between(Event, Event) noexcept { return std::nullopt; }

bool have_own_link(int, int) noexcept { return false; }

void let_reach(int, int) {}

bool follows_let_reach(void const*) noexcept { return false; }

bool captures(Stream) { return false; }

void retain_in_capture(Stream, void* object, void (*release)(void*)) {
  release(object);
  refuse("no stream captures");
}

bool record_beside_captures(Event&, Stream, int) { return false; }

Recorded record_all_work(int, Event&) noexcept { return Recorded::idle; }

EventState query(Event) noexcept { return EventState::done; }

bool wait(Event) noexcept { return true; }

void release_event(Event) noexcept {}

bool fence_device(int) noexcept { return true; }

bool do_if_idle(int, void (*)()) noexcept { return false; }

void announce_capture() noexcept {}

void end_announced_capture() noexcept {}

}  // namespace KokkosHostSpaces::Impl::Backend::Driver
