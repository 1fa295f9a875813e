// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/os/CacheFile.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <sys/stat.h>
#include <unistd.h>

using namespace KokkosHostSpaces::Impl::Backend;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("khs_cache_file." + std::to_string(getpid()));
  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(char const* name) const { return path / name; }
  long entries() const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  }
};

std::string folder_in(std::map<std::string, std::string> const& environment) {
  return cache_folder([&](std::string const& name) -> std::optional<std::string> {
    auto const found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace

TEST_CASE("caches lie where the XDG rules say") {
  CHECK(folder_in({{"XDG_CACHE_HOME", "/scratch"}, {"HOME", "/home/me"}}) == "/scratch");
  CHECK(folder_in({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/home/me"}}) == "/home/me/.cache");
  CHECK(folder_in({{"HOME", "/home/me"}}) == "/home/me/.cache");
  CHECK(folder_in({{"HOME", ""}}).empty());
  CHECK(folder_in({}).empty());
}

TEST_CASE("a file is made with its folders, replaced, and leaves nothing beside it") {
  Folder const folder;
  std::string const file = folder.file("deep/er/rates");
  CHECK_FALSE(read_cache_file(file));
  CHECK(replace_cache_file(file, "one\n").empty());
  CHECK(read_cache_file(file) == "one\n");
  CHECK(replace_cache_file(file, "").empty());
  CHECK(read_cache_file(file) == "");
  CHECK(folder.entries() == 1);
  CHECK(std::distance(fs::directory_iterator(folder.path / "deep/er"), fs::directory_iterator()) ==
        1);
}

TEST_CASE("what is no regular file is neither read nor replaced") {
  Folder const folder;
  std::string const pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (std::string const& path : {pipe, folder.path.string()}) {
    CAPTURE(path);
    CHECK_FALSE(read_cache_file(path));
    CHECK(replace_cache_file(path, "text") == "it is no regular file");
  }
  CHECK(fs::is_fifo(pipe));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that cannot be written is a problem in words, and leaves nothing") {
  Folder const folder;
  std::ofstream(folder.file("file")) << "text";
  CHECK_FALSE(replace_cache_file(folder.file("file/rates"), "text").empty());
  CHECK_FALSE(replace_cache_file("/proc/no/such/rates", "text").empty());
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file keeps its mode when it is replaced") {
  Folder const folder;
  std::string const file = folder.file("rates");
  REQUIRE(replace_cache_file(file, "one").empty());
  for (fs::perms const mode : {fs::perms(0600), fs::perms(0640), fs::perms(0664)}) {
    fs::permissions(file, mode);
    REQUIRE(replace_cache_file(file, "two").empty());
    CHECK(fs::status(file).permissions() == mode);
  }
}

TEST_CASE("a path that is a link stays one, and the file that it leads to is replaced") {
  Folder const folder;
  std::string const file = folder.file("deep/rates"), link = folder.file("link");
  fs::create_directory(folder.path / "deep");
  fs::create_symlink("second", link);
  fs::create_symlink("deep/rates", folder.file("second"));
  for (char const* text : {"one", "two"}) {
    REQUIRE(replace_cache_file(link, text).empty());
    CHECK(fs::is_symlink(link));
    CHECK(read_cache_file(file) == text);
  }
  fs::create_symlink("circle", folder.file("circle"));
  CHECK_FALSE(replace_cache_file(folder.file("circle"), "text").empty());
}

TEST_CASE("a link that another user has laid is not followed") {
  if (geteuid() != 0) SKIP("only root can make links of others");
  Folder const folder;
  std::string const victim = folder.file("victim");
  std::ofstream(victim) << "precious";
  fs::create_symlink("victim", folder.file("rates"));
  fs::create_symlink("rates", folder.file("own"));
  REQUIRE(lchown(folder.file("rates").c_str(), 12345, 12345) == 0);
  for (char const* name : {"rates", "own"}) {
    CHECK(replace_cache_file(folder.file(name), "text") == "a link of another user leads there");
    CHECK_FALSE(read_cache_file(folder.file(name)));
  }
  CHECK(read_cache_file(victim) == "precious");
}

TEST_CASE("a file that is replaced does not become one that runs as its owner") {
  Folder const folder;
  std::string const file = folder.file("rates");
  std::ofstream(file) << "text";
  REQUIRE(chmod(file.c_str(), 06644) == 0);
  REQUIRE(replace_cache_file(file, "two").empty());
  CHECK(fs::status(file).permissions() == fs::perms(0644));
}

TEST_CASE("links that lie where a temporary file was to be expected are not followed") {
  Folder const folder;
  std::string const file = folder.file("rates"), victim = folder.file("victim");
  std::ofstream(victim) << "precious";
  for (int i = 0; i < 1000; ++i)
    fs::create_symlink("victim", file + "." + host_name() + "." + std::to_string(getpid()) + "." +
                                     std::to_string(i));
  REQUIRE(replace_cache_file(file, "text").empty());
  CHECK(read_cache_file(file) == "text");
  CHECK(read_cache_file(victim) == "precious");
}

TEST_CASE("who reads while others write sees all of one text") {
  Folder const folder;
  std::string const file    = folder.file("rates");
  std::string const texts[] = {std::string(100'000, 'a'), std::string(70'000, 'b')};
  REQUIRE(replace_cache_file(file, texts[0]).empty());
  std::atomic<int> writing{2};
  std::vector<std::thread> writers;
  for (std::string const& text : texts)
    writers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) (void)replace_cache_file(file, text);
      --writing;
    });
  int torn = 0;
  while (writing > 0) {
    auto const seen = read_cache_file(file);
    torn += seen != texts[0] && seen != texts[1];
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(torn == 0);
  CHECK(folder.entries() == 1);
}

TEST_CASE("the machine has a name, and the driver the version that the system tells") {
  CHECK_FALSE(host_name().empty());
  Folder const folder;
  CHECK(gpu_driver_version(folder.path) == "unknown");
  fs::create_directories(folder.path / "sys/module/nvidia");
  std::ofstream(folder.path / "sys/module/nvidia/version") << "580.65.06\n";
  CHECK(gpu_driver_version(folder.path) == "580.65.06");
}
