// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The launcher reads files that anybody wrote: whatever they hold, it neither fails nor reads outside of them.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>

#include "../../../../backend/adopt/run/Verdict.hpp"

using KokkosHostSpaces::Impl::Backend::Adopt::why_not_adopted;

namespace {

class File {
 public:
  File() : m_path("elf_file_" + std::to_string(getpid())) {}
  ~File() { std::remove(m_path.c_str()); }
  File(File const&)            = delete;
  File& operator=(File const&) = delete;

  std::string judged_with(std::string const& content) const {
    std::ofstream(m_path, std::ios::binary) << content;
    return why_not_adopted(m_path);
  }

 private:
  std::string m_path;
};

std::string front_of_this_program() {
  std::string front(1 << 16, '\0');
  std::ifstream("/proc/self/exe", std::ios::binary).read(front.data(), 1 << 16);
  return front;
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

TEST_CASE("a library can be preloaded into this program") {
  std::string const why = why_not_adopted("/proc/self/exe");
  CHECK((why.empty() || why.starts_with("it has the sanitizer")));
}

TEST_CASE("files of any content are read without an error") {
  File const file;
  CHECK(file.judged_with("").starts_with("it cannot be read"));
  CHECK(file.judged_with("#").starts_with("it is no program"));
  CHECK(file.judged_with("#!").starts_with("it cannot be read"));
  CHECK(file.judged_with("#! /bin/sh -e\nx").empty());
  CHECK(file.judged_with("#!" + std::string(1000, 'x')).starts_with("it cannot be read"));
  CHECK(file.judged_with("\177ELF").starts_with("it was built for another architecture"));
  CHECK(why_not_adopted("/").starts_with("it cannot be read"));
  CHECK(why_not_adopted("/dev/zero").starts_with("it cannot be read"));
}

TEST_CASE("headers with wrong places and sizes are read without an error") {
  File const file;
  std::mt19937 random(1);
  std::string const good[] = {front_of_this_program(),
                              with_sections_in_front(front_of_this_program())};
  int natives              = 0;
  for (int i = 0; i < 150; ++i) {
    std::string content = good[i % 2].substr(0, 1 + random() % good[i % 2].size());
    for (std::size_t n = random() % 6; n > 0; --n) {
      std::size_t const end = random() % 2 ? 512 : 5000;
      std::size_t const at  = 32 + random() % end;
      if (at < content.size()) content[at] = static_cast<char>(random());
    }
    std::string const why = file.judged_with(content);
    natives += !why.starts_with("it cannot") && !why.starts_with("it was built");
  }
  CHECK(natives > 15);
}
