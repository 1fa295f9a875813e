// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Reads files of the system. `root` is a prefix of all paths, for tests.

#ifndef KOKKOS_HOST_SPACES_PERF_SUPPORT_SYSTEM_HPP
#define KOKKOS_HOST_SPACES_PERF_SUPPORT_SYSTEM_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Perf {

/// The contents of a file; empty if it does not exist.
std::string text_of(std::string const& path);
std::string first_line(std::string const& path);

/// The choice in brackets: "madvise" of "always [madvise] never". Empty if there is none.
std::string selected_mode(std::string const& modes);

/// A PCIe link; a value is 0 if the system does not tell it.
struct Link {
  double speed = 0;  ///< gigatransfers per second of a PCIe lane
  int lanes    = 0;

  bool is_known() const { return speed > 0 && lanes > 0; }
};

/// Parses *_link_speed ("32.0 GT/s PCIe") and *_link_width ("16") of sysfs. A width of 63 and more means
/// unknown.
Link parse_link(std::string const& speed, std::string const& width);

/// The current and the best link of the PCI device.
Link current_link(std::string const& pci_bus_id, std::string const& root = "");
Link max_link(std::string const& pci_bus_id, std::string const& root = "");

/// 1 for 2.5 GT/s, 5 for 32 GT/s, and so on; 0 if it is none of PCIe's speeds.
int pcie_generation(double speed);

/// Such as "PCIe 5 x16".
std::string link_name(Link const& link);

/// Bytes per second of the link in one direction, without the overhead of packets.
double link_rate(Link const& link);

/// Parses a number of bytes; nothing for "unlimited", text that is no number, and impossible sizes.
std::optional<std::size_t> parse_bytes(std::string const& text);

/// The soft limit in the line "Max locked memory" of /proc/self/limits; nothing if there is none.
std::optional<std::size_t> locked_memory_limit(std::string const& limits);

/// Bytes of an entry such as "MemAvailable" of /proc/meminfo.
std::optional<std::size_t> meminfo_entry(std::string const& meminfo, std::string const& key);

/// Numbers in a list such as "0-3,8".
std::vector<int> numbers_of_list(std::string const& list);
inline int count_of_list(std::string const& list) { return int(numbers_of_list(list).size()); }

/// The value of a line "Cpus_allowed_list:\t0-3" of /proc/self/status.
std::string status_entry(std::string const& status, std::string const& key);

}  // namespace KokkosHostSpaces::Perf

#endif
