// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Mappings.hpp"

#include "Pages.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

struct Mapping {
  std::uintptr_t first = 0, last = 0;
  bool writable = false, shared = false;
  std::string file = {};
};

class MapsFile {
 public:
  MapsFile() : m_descriptor(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~MapsFile() {
    if (m_descriptor >= 0) close(m_descriptor);
  }
  MapsFile(MapsFile const&)            = delete;
  MapsFile& operator=(MapsFile const&) = delete;
  int descriptor() const { return m_descriptor; }

 private:
  int m_descriptor;
};

// struct procmap_query of Linux 6.11, for older headers.
struct Query {
  std::uint64_t size, flags, address;
  std::uint64_t first, last, found_flags, page_size, offset, inode;
  std::uint32_t device_major, device_minor, name_size, build_id_size;
  std::uint64_t name, build_id;
};
constexpr unsigned long ask_for_mapping      = _IOWR('f', 17, Query);
constexpr std::uint64_t is_writable          = 0x02;
constexpr std::uint64_t is_shared            = 0x08;
constexpr std::uint64_t covering_or_the_next = 0x10;

// Finds the first mapping that ends behind an address, by ioctl.
class ByQuery {
 public:
  explicit ByQuery(MapsFile const& maps) : m_maps(maps) {}

  std::optional<Mapping> find(std::uintptr_t address) {
    std::array<char, PATH_MAX> name{};
    Query query     = {};
    query.size      = sizeof query;
    query.flags     = covering_or_the_next;
    query.address   = address;
    query.name_size = name.size();
    query.name      = reinterpret_cast<std::uint64_t>(name.data());
    if (ioctl(m_maps.descriptor(), ask_for_mapping, &query) != 0) {
      m_works = errno == ENOENT;  // no such mapping; on other errors the kernel lacks the ioctl
      return std::nullopt;
    }
    return Mapping{query.first, query.last, (query.found_flags & is_writable) != 0,
                   (query.found_flags & is_shared) != 0, name.data()};
  }
  bool works() const { return m_works; }

 private:
  MapsFile const& m_maps;
  bool m_works = true;
};

// The same by reading the sorted list of mappings. Addresses must ascend.
class ByList {
 public:
  explicit ByList(MapsFile const& maps) : m_maps(maps) {}

  std::optional<Mapping> find(std::uintptr_t address) {
    while (m_current.last <= address) {
      auto const line = next_line();
      if (!line) return std::nullopt;
      parse(*line);
    }
    return m_current;
  }
  bool works() const { return m_works; }

 private:
  // "first-last rwxp offset device inode   file"
  void parse(std::string_view line) {
    char const* const end = line.data() + line.size();
    auto const first      = std::from_chars(line.data(), end, m_current.first, 16);
    auto const last       = std::from_chars(first.ptr + 1, end, m_current.last, 16);
    line.remove_prefix(static_cast<std::size_t>(last.ptr - line.data()) + 1);
    m_current.writable = line[1] == 'w';
    m_current.shared   = line[3] == 's';
    auto const name    = line.find_first_of("/[");
    m_current.file     = name == std::string_view::npos ? "" : line.substr(name);
  }

  std::optional<std::string_view> next_line() {
    auto end = m_text.find('\n', m_next);
    while (end == std::string::npos) {
      m_text.erase(0, m_next);
      m_next = 0;
      std::array<char, 1 << 16> more;
      ssize_t const count = read(m_maps.descriptor(), more.data(), more.size());
      m_works             = count >= 0;
      if (count <= 0) return std::nullopt;
      std::size_t const searched = m_text.size();
      m_text.append(more.data(), static_cast<std::size_t>(count));
      end = m_text.find('\n', searched);
    }
    std::string_view const line = std::string_view(m_text).substr(m_next, end - m_next);
    m_next                      = end + 1;
    return line;
  }

  MapsFile const& m_maps;
  std::string m_text;
  std::size_t m_next = 0;
  Mapping m_current;
  bool m_works = true;
};

template <class Source>
RangeReport report_by(Source source, std::uintptr_t next, std::uintptr_t end, bool& works) {
  RangeReport report;
  for (bool is_first = true; next < end; is_first = false) {
    std::optional<Mapping> const mapping = source.find(next);
    works                                = source.works();
    if (!mapping || mapping->first > next) return {RangeState::not_mapped};
    bool const is_first_read_only = !mapping->writable && report.state == RangeState::writable;
    if (is_first || is_first_read_only) {
      report.shared = mapping->shared;
      report.file   = mapping->file;
    }
    if (is_first_read_only) report.state = RangeState::read_only;
    next = mapping->last;
  }
  return report;
}

}  // namespace

RangeReport report_on_range(void const* pointer, std::size_t bytes, AskBy how) {
  MapsFile const maps;
  auto const begin = reinterpret_cast<std::uintptr_t>(pointer);
  bool works       = false;
  RangeReport report;
  if (maps.descriptor() >= 0 && how == AskBy::query)
    report = report_by(ByQuery(maps), begin, begin + bytes, works);
  if (maps.descriptor() >= 0 && !works)
    report = report_by(ByList(maps), begin, begin + bytes, works);
  if (works) return report;
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
