// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Program.hpp"

#include "../../Text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

bool is_executable(std::string const& path) {
  struct stat found = {};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> words_of(std::string const& line) {
  InText text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

// What `env` would start, if the line is of it, and has nothing for it to do beside that.
std::vector<std::string> started_by_env(std::vector<std::string> words) {
  if (name_of(words[0]) != "env") return {};
  words.erase(words.begin());
  if (!words.empty() && words[0] == "-S") words.erase(words.begin());
  if (words.empty() || words[0][0] == '-' || words[0].find('=') != std::string::npos) return {};
  // env has rules of its own for these.
  bool const is_plain = std::all_of(words.begin(), words.end(), [](auto const& word) {
    return word.find_first_of("\"'\\$#") == std::string::npos;
  });
  return is_plain ? words : std::vector<std::string>();
}

// Runs the loader with what it writes going to the returned end of a pipe; -1 on failure.
int start_loader(Program const& program, std::string const& preload, pid_t& child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  child = fork();
  if (child == 0) {
    int const nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    unsetenv("LD_DEBUG");
    setenv("LD_PRELOAD", preload.c_str(), 1);
    char const* const loader = program.elf.loader.c_str();
    execl(loader, loader, "--list", program.judged.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  if (child > 0) return ends[0];
  close(ends[0]);
  return -1;
}

std::string read_all(int from) {
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = read(from, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  close(from);
  return text;
}

}  // namespace

std::string find_in_path(std::string const& name) {
  if (name.find('/') != std::string::npos) return name;
  char const* const path = std::getenv("PATH");
  InText folders(path ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string const file = (folder.empty() ? "." : folder) + "/" + name;
    if (is_executable(file)) return file;
  }
  return {};
}

std::string name_of(std::string const& path) { return path.substr(path.rfind('/') + 1); }

Program resolve(std::string file, std::vector<std::string> arguments) {
  Program program = {file, std::move(arguments), file, ElfFile::read(file)};
  // As many as Linux follows.
  for (int depth = 0; depth < 5 && program.elf.kind == ElfFile::Kind::script; ++depth) {
    std::vector<std::string> const words = words_of(program.elf.interpreter);
    if (words.empty()) break;
    auto started            = started_by_env(words);
    std::string const found = started.empty() ? std::string() : find_in_path(started[0]);
    if (!found.empty() && program.judged == program.file) {
      started.push_back(program.file);
      started.insert(started.end(), program.arguments.begin() + 1, program.arguments.end());
      program.arguments = std::move(started);
      program.file      = found;
    }
    program.judged = found.empty() ? words[0] : found;
    program.elf    = ElfFile::read(program.judged);
  }
  return program;
}

Rehearsal rehearse(Program const& program, std::string const& library, std::string const& preload) {
  Rehearsal result;
  pid_t child    = -1;
  int const from = start_loader(program, preload, child);
  if (from < 0) return result;
  InText lines(read_all(from));
  waitpid(child, nullptr, 0);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("required by " + library) != std::string::npos ||
        line.find("'" + library + "'") != std::string::npos) {
      result.complaint = line;
    }
    auto const words = words_of(line);
    if (!words.empty()) result.files.push_back(words[0]);
    if (words.size() > 2 && words[1] == "=>" && words[2][0] == '/') {
      result.files.push_back(words[2]);
    }
  }
  return result;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
