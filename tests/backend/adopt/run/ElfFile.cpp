// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The launcher reads files that anybody wrote: whatever they hold, it neither fails nor reads outside of them.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>

#include "../../../../backend/adopt/run/ElfFile.hpp"

using KokkosHostSpaces::Impl::Backend::Adopt::ElfFile;

namespace {

class File {
 public:
  File() : m_path("elf_file_" + std::to_string(getpid())) {}
  ~File() { std::remove(m_path.c_str()); }
  File(File const&)            = delete;
  File& operator=(File const&) = delete;

  ElfFile read(std::string const& content) const {
    std::ofstream(m_path, std::ios::binary) << content;
    return ElfFile::read(m_path);
  }

 private:
  std::string m_path;
};

// A library that every program has; small.
std::string a_library() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string const all((std::istreambuf_iterator<char>(file)), {});
  return all.substr(0, 1 << 16);
}

// The table of sections lies at the end of a file: one that is put behind the headers.
std::string with_sections_in_front(std::string content) {
  content.resize(1 << 13);
  std::size_t const at = 4096;
  content.replace(40, 8, std::string({'\0', '\x10', '\0', '\0', '\0', '\0', '\0', '\0'}));
  content.replace(60, 4, std::string({'\x20', '\0', '\1', '\0'}));
  for (std::size_t i = at; i < content.size(); ++i)
    content[i] = static_cast<char>(i % 7 == 0 ? 11 : 0);
  return content;
}

}  // namespace

TEST_CASE("what this program is, is read from its file") {
  ElfFile const self = ElfFile::read("/proc/self/exe");
  CHECK(self.kind == ElfFile::Kind::native);
  CHECK(self.loader.starts_with("/lib"));
  CHECK(self.has_cuda_runtime);  // it has the text by which one is known
  CHECK_FALSE(ElfFile::read("/bin/sh").has_cuda_runtime);
}

TEST_CASE("files of any content are read without an error") {
  File const file;
  CHECK(file.read("").kind == ElfFile::Kind::unreadable);
  CHECK(file.read("#").kind == ElfFile::Kind::other);
  CHECK(file.read("#!").interpreter.empty());
  CHECK(file.read("#! /bin/sh -e\nx").interpreter == " /bin/sh -e");
  CHECK(file.read("#!" + std::string(1000, 'x')).interpreter.size() == 253);
  CHECK(file.read("\177ELF").kind == ElfFile::Kind::foreign);
  CHECK(ElfFile::read("/").kind == ElfFile::Kind::unreadable);
  CHECK(ElfFile::read("/dev/zero").kind == ElfFile::Kind::unreadable);
}

TEST_CASE("headers with wrong places and sizes are read without an error") {
  File const file;
  std::mt19937 random(1);
  std::string const good[] = {a_library(), with_sections_in_front(a_library())};
  int natives              = 0;
  for (int i = 0; i < 400; ++i) {
    std::string content = good[i % 2].substr(0, 1 + random() % good[i % 2].size());
    for (std::size_t n = random() % 6; n > 0; --n) {
      std::size_t const end = random() % 2 ? 512 : 5000;
      std::size_t const at  = 32 + random() % end;
      if (at < content.size()) content[at] = static_cast<char>(random());
    }
    natives += file.read(content).kind == ElfFile::Kind::native;
  }
  CHECK(natives > 40);
}
