// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The instruments without a device: all memory is from malloc, all times are of the host's clock.

#include "PlainBuffer.hpp"
#include "Platform.hpp"
#include "Stopwatch.hpp"

#include <chrono>
#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Perf {

PlainBuffer make_plain_buffer(PlainKind, std::size_t bytes) {
  void* const pointer = std::malloc(bytes);
  if (pointer == nullptr) throw std::bad_alloc();
  return {pointer, std::free};
}

bool const baselines_use_cuda = false;

std::string why_no_device() { return ""; }
std::vector<Device> list_devices() { return {}; }
void use_device(int) {}
int current_device() { return -1; }
std::size_t free_device_memory() { return 0; }
std::string cuda_driver_version() { return ""; }
std::string cuda_runtime_version() { return ""; }
bool is_page_locked(void const*) { return true; }

struct Stopwatch::State {};

Stopwatch::Stopwatch()  = default;
Stopwatch::~Stopwatch() = default;

Stream Stopwatch::stream() const { return nullptr; }
Stream Stopwatch::other_stream() const { return nullptr; }

double Stopwatch::time_queued(Work const& work) { return time_with_host_clock(work); }

double Stopwatch::time_queued_cold(Work const& work) { return time_with_host_clock(work); }

double Stopwatch::time_queued_on_both(Work const& work) { return time_with_host_clock(work); }

double Stopwatch::time_queued_beside(Work const& work) { return time_with_host_clock(work); }

double Stopwatch::time_with_host_clock(Work const& work) {
  auto const begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace KokkosHostSpaces::Perf
