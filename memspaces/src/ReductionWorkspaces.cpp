// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/DeviceTable.hpp>
#include <KokkosHostSpaces/impl/ReductionWorkspaces.hpp>

#include "../../backend/Driver.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>

namespace KokkosHostSpaces::Impl {

namespace {

// Enough for most reductions of numbers, so that there is but one for a stream.
constexpr std::size_t least_bytes = std::size_t(16) << 10;

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// What a thread was given last.
struct Latest {
  std::uint64_t state = 0;  ///< of the object that gave it; 0: of none
  void* stream        = nullptr;
  int device          = -1;
  std::size_t bytes   = 0;
  void* zeros         = nullptr;
};

// Numbers are not used again, as what the system calls a thread is: work of one that ended may go on.
std::uint64_t number_of_thread() {
  thread_local std::uint64_t const number = next_number();
  return number;
}

}  // namespace

ReductionWorkspaces::ReductionWorkspaces() : m_state(next_number()) {}

void* ReductionWorkspaces::of(void* stream, int device, std::size_t bytes) {
  thread_local Latest latest;
  if (latest.stream != stream || latest.device != device || latest.bytes < bytes ||
      latest.state != m_state) {
    Key const key(stream, device, Driver::is_default_stream(stream) ? number_of_thread() : 0);
    std::lock_guard const lock(m_mutex);
    Memory const found = find_or_make(key, bytes);
    latest = {m_state, stream, device, found.bytes, const_cast<void*>(found.zeros.get())};
  }
  return latest.zeros;
}

ReductionWorkspaces::Memory ReductionWorkspaces::find_or_make(Key const& key, std::size_t bytes) {
  std::vector<Memory>& known = m_of_streams[key];
  if (known.empty() || known.back().bytes < bytes) {
    bytes = std::bit_ceil(std::max(bytes, least_bytes));
    std::vector<char> const zeros(bytes);
    known.push_back({make_device_table(std::get<int>(key), zeros.data(), bytes), bytes});
    if (known.back().zeros == nullptr) {
      known.pop_back();
      throw Error("KokkosHostSpaces::VectorPolicy: device " + std::to_string(std::get<int>(key)) +
                  " has no memory left for the parts of a reduction (" + std::to_string(bytes) +
                  " bytes): free some of it");
    }
  }
  return known.back();
}

void ReductionWorkspaces::clear() noexcept {
  std::lock_guard const lock(m_mutex);
  m_of_streams.clear();
  m_state = next_number();
}

}  // namespace KokkosHostSpaces::Impl
