// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "MemoryLimit.hpp"

#include "../Text.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

constexpr auto max_line = std::numeric_limits<std::streamsize>::max();

// A mounted hierarchy of control groups: its folder, and the group at that folder.
struct Mount {
  std::string folder, group;
  bool version_2;
};

bool has_option(std::string const& options, std::string const& option) {
  return ("," + options + ",").find("," + option + ",") != std::string::npos;
}

// The system writes blanks, tabs, newlines and backslashes in names as \ and three octal digits.
std::string decoded(std::string const& name) {
  auto const is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    bool const is_escape =
        name[i] == '\\' && i + 3 < name.size() && std::all_of(&name[i + 1], &name[i + 4], is_octal);
    text += is_escape ? static_cast<char>(std::stoi(name.substr(i + 1, 3), nullptr, 8)) : name[i];
    if (is_escape) i += 3;
  }
  return text;
}

// Reads lines of mountinfo: "id parent major:minor group folder options ... - type source options".
std::vector<Mount> memory_mounts(std::string const& root) {
  std::vector<Mount> mounts;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    auto const middle = line.find(" - cgroup");
    if (middle == std::string::npos) continue;
    InText before(line), behind(line.substr(middle + 3));
    std::string skipped, type, source, options;
    Mount mount;
    before >> skipped >> skipped >> skipped >> mount.group >> mount.folder;
    behind >> type >> source >> options;
    mount.group     = decoded(mount.group);
    mount.folder    = decoded(mount.folder);
    mount.version_2 = type == "cgroup2";
    if (mount.version_2 || (type == "cgroup" && has_option(options, "memory")))
      mounts.push_back(mount);
  }
  return mounts;
}

// The group of this process. Lines: "0::/group" of version 2, "7:cpu,memory:/group" of version 1.
std::string own_group(std::string const& root, bool version_2) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string number, controllers, group;
  while (std::getline(file, number, ':') && std::getline(file, controllers, ':') &&
         std::getline(file, group))
    if (version_2 ? controllers.empty() : has_option(controllers, "memory")) return group;
  return "/";
}

// The path of a group below a mount. A container may see its own group as the root.
std::string below(Mount const& mount, std::string group) {
  bool const inside = mount.group != "/" && group.starts_with(mount.group) &&
                      (group.size() == mount.group.size() || group[mount.group.size()] == '/');
  if (inside) group.erase(0, mount.group.size());
  return group == "/" || group.find("/..") != std::string::npos ? "" : group;
}

// SIZE_MAX without a limit.
std::size_t number_in(std::string const& file_name) {
  constexpr std::size_t none_from = std::size_t(1) << 62;  // "no limit" in version 1
  std::size_t number              = 0;
  std::ifstream file(file_name);
  return file >> number && number < none_from ? number : SIZE_MAX;  // "max": no number
}

// The sum of the entries of a file with lines "name number" and one of these names.
std::size_t sum_in(std::string const& file_name, std::initializer_list<std::string_view> names) {
  std::size_t sum = 0, number = 0;
  std::ifstream file(file_name);
  for (std::string name; file >> name >> number; file.ignore(max_line, '\n'))
    if (std::find(names.begin(), names.end(), name) != names.end()) sum += number;
  return sum;
}

// Sums what a group uses and cannot give up: memory of processes, shared memory, and what the kernel needs
// for them. The rest are caches of files.
std::size_t held_by(std::string const& folder, bool version_2) {
  std::string const file = folder + "/memory.stat";
  return version_2
             ? sum_in(file, {"anon", "shmem", "kernel_stack", "pagetables", "slab_unreclaimable"})
             : sum_in(file, {"total_rss", "total_shmem"});
}

// Pages of the processes of a group may go there: version 2 limits swap space, version 1 the sum with memory.
std::size_t swap_left_by(std::string const& folder, bool version_2) {
  std::size_t const limit = version_2 ? number_in(folder + "/memory.swap.max")
                                      : number_in(folder + "/memory.memsw.limit_in_bytes");
  if (limit == SIZE_MAX) return SIZE_MAX;
  std::size_t const used = version_2 ? number_in(folder + "/memory.swap.current")
                                     : number_in(folder + "/memory.limit_in_bytes") +
                                           sum_in(folder + "/memory.stat", {"total_swap"});
  return used < limit ? limit - used : 0;
}

}  // namespace

GroupMemory memory_of_cgroups(std::string const& root) {
  GroupMemory memory;
  std::size_t swap   = SIZE_MAX;
  auto const look_at = [&](std::string const& folder, bool version_2) {
    swap = std::min(swap, swap_left_by(folder, version_2));
    std::size_t const limit =
        number_in(folder + (version_2 ? "/memory.max" : "/memory.limit_in_bytes"));
    if (limit == SIZE_MAX) return;
    memory.limit = std::min(memory.limit, limit);
    // More than the limit cannot be: such figures are not of this group.
    std::size_t const held = held_by(folder, version_2);
    memory.left            = std::min(memory.left, held > limit ? limit : limit - held);
  };
  // The groups of this process and those around them.
  for (Mount const& mount : memory_mounts(root)) {
    std::string group = below(mount, own_group(root, mount.version_2));
    for (;;) {
      look_at(root + mount.folder + group, mount.version_2);
      auto const parent = group.rfind('/');
      if (parent == std::string::npos) break;
      group.erase(parent);
    }
  }
  if (memory.left != SIZE_MAX)
    memory.left += std::min(swap, sum_in(root + "/proc/meminfo", {"SwapFree:"}) << 10);
  return memory;
}

bool GroupWatch::covers(std::size_t bytes, Clock::time_point now) noexcept {
  if (now >= m_until.load()) return false;
  std::size_t allowed = m_bytes.load();
  while (bytes <= allowed) {
    if (m_bytes.compare_exchange_weak(allowed, allowed - bytes)) return true;
  }
  return false;
}

void GroupWatch::allow(std::size_t bytes, Clock::time_point until) noexcept {
  m_bytes = bytes;
  m_until = until;
}

}  // namespace KokkosHostSpaces::Impl::Backend
