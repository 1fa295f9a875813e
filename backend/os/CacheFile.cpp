// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "CacheFile.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace fs = std::filesystem;

namespace {

constexpr off_t most_bytes = 16 << 20;  // far more than any cache file has

// Follows links to the file that they lead to, which need not exist. Returns an error message or an
// empty string. Anybody may lay links in a folder such as /tmp: those of others are not followed, as
// the system does not do it either (protected_symlinks).
std::string follow_links(fs::path& path) {
  for (int links = 0; links < 40; ++links) {
    struct stat link = {};
    if (lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return "";
    if (link.st_uid != 0 && link.st_uid != geteuid()) return "a link of another user leads there";
    std::error_code error;
    path = path.parent_path() / fs::read_symlink(path, error);
    if (error) return error.message();
  }
  return std::strerror(ELOOP);
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : m_descriptor(descriptor) {}
  ~Descriptor() {
    if (m_descriptor >= 0) close(m_descriptor);
  }
  Descriptor(Descriptor const&)            = delete;
  Descriptor& operator=(Descriptor const&) = delete;
  operator int() const { return m_descriptor; }

 private:
  int m_descriptor;
};

// A new file in the folder of `path`, under a random name.
class FreshFile {
 public:
  explicit FreshFile(fs::path const& path)
      : m_name(path.string() + ".XXXXXX"), m_descriptor(mkostemp(m_name.data(), O_CLOEXEC)) {}
  ~FreshFile() {
    if (m_descriptor >= 0 && !m_renamed) unlink(m_name.c_str());
  }
  FreshFile(FreshFile const&)            = delete;
  FreshFile& operator=(FreshFile const&) = delete;

  bool append(std::string_view text) const {
    while (m_descriptor >= 0 && !text.empty()) {
      ssize_t const written = ::write(m_descriptor, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return m_descriptor >= 0;
  }
  bool set_mode(mode_t mode) const { return fchmod(m_descriptor, mode) == 0; }
  bool replace(fs::path const& path) {
    m_renamed = rename(m_name.c_str(), path.c_str()) == 0;
    return m_renamed;
  }

 private:
  std::string m_name;
  Descriptor m_descriptor;
  bool m_renamed = false;
};

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
  fs::path name = path;
  if (!follow_links(name).empty()) return std::nullopt;
  // A pipe would block.
  Descriptor const file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat found = {};
  if (file < 0 || fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size > most_bytes)
    return std::nullopt;
  std::string text(static_cast<std::size_t>(found.st_size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    ssize_t const count = read(file, text.data() + done, text.size() - done);
    if (count <= 0) return std::nullopt;
    done += static_cast<std::size_t>(count);
  }
  return text;
}

std::string replace_cache_file(std::string const& path, std::string const& text) {
  std::error_code error;
  // A rename would replace /dev/null, too.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return "it is no regular file";
  fs::path file = path;
  if (std::string const problem = follow_links(file); !problem.empty()) return problem;
  if (fs::path const folder = file.parent_path(); !folder.empty()) {
    fs::create_directories(folder, error);
    if (error) return error.message();
  }
  struct stat before = {};
  bool const exists  = stat(file.c_str(), &before) == 0;
  FreshFile fresh(file);
  bool const done = fresh.append(text) && (!exists || fresh.set_mode(before.st_mode & 0777)) &&
                    fresh.replace(file);
  return done ? "" : std::strerror(errno);
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
