// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "CacheFile.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t most_bytes = 16 << 20;  // far more than any cache file has

// Differs from those of other threads, processes and, in a folder that they share, machines.
fs::path name_beside(fs::path const& path) {
  static std::atomic<unsigned> count{0};
  fs::path beside = path;
  beside += "." + host_name() + "." + std::to_string(getpid()) + "." + std::to_string(count++);
  return beside;
}

bool write(fs::path const& path, std::string const& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return !file.fail();
}

}  // namespace

std::string cache_folder(
    std::function<std::optional<std::string>(std::string const&)> const& lookup) {
  auto const absolute = [&](char const* name) {
    std::string const value = lookup(name).value_or("");
    return value.starts_with('/') ? value : "";
  };
  if (std::string const folder = absolute("XDG_CACHE_HOME"); !folder.empty()) return folder;
  std::string const home = absolute("HOME");
  return home.empty() ? "" : home + "/.cache";
}

std::string cache_folder() {
  return cache_folder([](std::string const& name) {
    char const* const value = std::getenv(name.c_str());
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  });
}

std::optional<std::string> read_cache_file(std::string const& path) {
  std::error_code error;
  // Reading a pipe would block.
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > most_bytes || error)
    return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (file.fail()) return std::nullopt;
  return text.str();
}

std::string replace_cache_file(std::string const& path, std::string const& text) {
  std::error_code error;
  // A rename would replace /dev/null, too.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return "it is no regular file";
  if (fs::path const folder = fs::path(path).parent_path(); !folder.empty()) {
    fs::create_directories(folder, error);
    if (error) return error.message();
  }
  fs::path const fresh = name_beside(path);
  errno                = 0;
  if (!write(fresh, text)) {
    std::string const problem = errno != 0 ? std::strerror(errno) : "it cannot be written";
    fs::remove(fresh, error);
    return problem;
  }
  fs::rename(fresh, path, error);
  if (!error) return "";
  std::string const problem = error.message();
  fs::remove(fresh, error);
  return problem;
}

std::string host_name() {
  char name[256] = "";
  bool const has = gethostname(name, sizeof name - 1) == 0 && name[0] != '\0';
  return has ? name : "unknown";
}

std::string gpu_driver_version(std::string const& root) {
  std::ifstream file(root + "/sys/module/nvidia/version");
  std::string version;
  return file >> version ? version : "unknown";
}

}  // namespace KokkosHostSpaces::Impl::Backend
