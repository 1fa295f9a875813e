// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Mappings.hpp"

#include "Pages.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string_view>

#include <sys/mman.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

struct Mapping {
  std::uintptr_t first = 0, last = 0;
  bool writable = false, shared = false;
  std::string_view file;
};

// Reads a line: "first-last rwxp offset device inode   file".
Mapping mapping_of(std::string_view line) {
  Mapping mapping;
  char const* const end = line.data() + line.size();
  auto const first      = std::from_chars(line.data(), end, mapping.first, 16);
  auto const last       = std::from_chars(first.ptr + 1, end, mapping.last, 16);
  line.remove_prefix(static_cast<std::size_t>(last.ptr - line.data()) + 1);
  mapping.writable = line[1] == 'w';
  mapping.shared   = line[3] == 's';
  auto const name  = line.find_first_of("/[");
  if (name != std::string_view::npos) mapping.file = line.substr(name);
  return mapping;
}

}  // namespace

RangeReport report_on_range(void const* pointer, std::size_t bytes) {
  auto next      = reinterpret_cast<std::uintptr_t>(pointer);
  auto const end = next + bytes;
  bool is_first  = true;
  RangeReport report;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; next < end && std::getline(maps, line);) {
    Mapping const mapping = mapping_of(line);
    if (mapping.last <= next) continue;
    if (mapping.first > next) return {RangeState::not_mapped};
    bool const is_first_read_only = !mapping.writable && report.state == RangeState::writable;
    if (is_first || is_first_read_only) {
      report.shared = mapping.shared;
      report.file   = mapping.file;
    }
    if (is_first_read_only) report.state = RangeState::read_only;
    is_first = false;
    next     = mapping.last;
  }
  if (next >= end) return report;
  if (maps.eof()) return {RangeState::not_mapped};
  // Leave it to the runtime whether it is writable.
  return {is_mapped(pointer, bytes) ? RangeState::writable : RangeState::not_mapped};
}

// msync(MS_ASYNC) checks that all is mapped; since Linux 2.6.19 it does nothing else.
bool is_mapped(void const* pointer, std::size_t bytes) noexcept {
  auto const address     = reinterpret_cast<std::uintptr_t>(pointer);
  std::size_t const into = address % page_bytes();
  auto* const first_page = reinterpret_cast<void*>(address - into);
  return msync(first_page, bytes + into, MS_ASYNC) == 0 || errno != ENOMEM;
}

}  // namespace KokkosHostSpaces::Impl::Backend
