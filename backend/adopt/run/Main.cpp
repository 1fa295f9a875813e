// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// kokkos_host_spaces_run [options] program ...: becomes the program, with the library to adopt it in LD_PRELOAD.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "../../Text.hpp"
#include "../Settings.hpp"
#include "Verdict.hpp"

namespace {

using namespace KokkosHostSpaces::Impl::Backend;
using Adopt::why_not_adopted;

// As of env, nohup and timeout.
enum ExitCode { own_failure = 125, not_executable = 126, not_found = 127 };

constexpr char help[] =
    R"(Usage: kokkos_host_spaces_run [options] program [arguments]
       srun ... kokkos_host_spaces_run [options] program [arguments]

Runs a Kokkos program, unchanged, with page-locked host memory: Views in
HostSpace are locked when they are copied to or from a GPU again. The results
are those of the program alone; its exit code, output and signals are its own.

  --report[=FILE]  at exit, say what was adopted and what it gained: on stderr,
                   or in FILE, whose name may have %r: the rank, %p: the process
  --relaxed        do not wait for copies that the program may overlap: for
                   programs that fence before they use what was copied
  --check          as --relaxed, and tell on stderr where the program uses
                   memory of a copy that is not done: slow, for debugging
  --children       also adopt the programs that this one starts
  --help, --version

What cannot be adopted runs as it is, and one line says why. That is also so
with KOKKOS_HOST_SPACES_ADOPT=off, without the line.
Exit codes of its own: 125 it was used wrongly, 126 the program cannot be run,
127 it was not found.
)";

struct Option {
  char const *name, *variable, *value;
};
constexpr Option options[] = {
    {"--report", "KOKKOS_HOST_SPACES_ADOPT_REPORT", "1"},
    {"--relaxed", "KOKKOS_HOST_SPACES_ADOPT", "relaxed"},
    {"--check", "KOKKOS_HOST_SPACES_ADOPT", "check"},
    {"--children", "KOKKOS_HOST_SPACES_ADOPT_CHILDREN", "on"},
};

void say(std::string const& words) {
  std::fprintf(stderr, "kokkos_host_spaces_run: %s\n", words.c_str());
}

[[noreturn]] void refuse(int code, std::string const& words) {
  say(words);
  std::exit(code);
}

// Sets what the options say, as variables of the library. \return the position of the program
int read_options(int argc, char** argv) {
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    std::string const given = argv[at];
    if (given == "--") return at + 1;
    bool const helps = given == "--help" || given == "-h";
    if (helps || given == "--version") {
      char const* const text =
          helps ? help : "kokkos_host_spaces_run " KOKKOS_HOST_SPACES_RUN_VERSION "\n";
      std::exit(std::fputs(text, stdout) < 0 || std::fflush(stdout) != 0 ? own_failure : 0);
    } else if (given.starts_with("--report=") && given.size() > 9) {
      setenv(options[0].variable, given.c_str() + 9, 1);
      continue;
    }
    auto const* const option = std::ranges::find(options, given, &Option::name);
    if (option == std::end(options))
      refuse(own_failure, "unknown option " + given + ": see kokkos_host_spaces_run --help");
    setenv(option->variable, option->value, 1);
  }
  return at;
}

// The file that a shell would run by this name, or the name.
std::string find_in_path(std::string const& name) {
  char const* const path = std::getenv("PATH");
  InText folders(path != nullptr ? path : "/bin:/usr/bin");
  std::string folder;
  while (name.find('/') == name.npos && std::getline(folders, folder, ':')) {
    std::string const file = (folder.empty() ? "." : folder) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return name;
}

// Beside this program in a build, else where it is installed.
std::string library() {
  char self[PATH_MAX] = "", real[PATH_MAX];
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return {};
  std::string const folder = std::string(self).substr(0, std::string(self).rfind('/'));
  for (auto const* const place : {".", KOKKOS_HOST_SPACES_RUN_LIBRARIES})
    if (realpath((folder + "/" + place + "/libkokkos_host_spaces_adopt.so").c_str(), real))
      return real;
  return {};
}

// Sets LD_PRELOAD, or says why not.
void adopt(std::string const& name) {
  std::string const preload = library();
  char const* const given   = std::getenv("LD_PRELOAD");
  std::string const others  = given != nullptr ? given : "";
  std::string why;
  if (preload.empty()) {
    why = "libkokkos_host_spaces_adopt.so is not where it was installed): install it again";
  } else if (preload.find_first_of(" :") != preload.npos) {
    why = "LD_PRELOAD cannot hold the space or colon in " + preload + "): install it elsewhere";
  } else if (others.find("san.so") != others.npos || others.find("clang_rt.") != others.npos) {
    why = "LD_PRELOAD has a sanitizer, which must come first): leave it out";
  } else if (std::string const file = find_in_path(name); access(file.c_str(), X_OK) == 0) {
    why = why_not_adopted(file);
  }
  bool const tells = std::strcmp(Adopt::told_rank(), "0") == 0;  // of many ranks one is enough
  if (!why.empty() && tells) say(name + " runs as it is (" + why);
  if (!why.empty()) return;
  setenv("LD_PRELOAD", (preload + (others.empty() ? "" : ":") + others).c_str(), 1);
  if (tells) setenv("KOKKOS_HOST_SPACES_ADOPT_TELLS", "1", 1);
}

bool starts_ranks(std::string const& name) {
  static constexpr char const* launchers[] = {"srun",  "orterun", "prterun", "prun",      "aprun",
                                              "jsrun", "lrun",    "ibrun",   "ccc_mprun", "flux"};
  return name.starts_with("mpirun") || name.starts_with("mpiexec") ||
         std::ranges::find(launchers, name) != std::end(launchers);
}

}  // namespace

int main(int argc, char** argv) {
  int const at = read_options(argc, argv);
  if (at >= argc) refuse(own_failure, "no program is given: see kokkos_host_spaces_run --help");
  std::string const name = argv[at];
  if (starts_ranks(name.substr(name.rfind('/') + 1)))
    refuse(own_failure, name + " starts the program elsewhere: write it the other way around: " +
                            name + " [options] kokkos_host_spaces_run [options] program ...");
  char const* const mode = std::getenv("KOKKOS_HOST_SPACES_ADOPT");
  if (mode == nullptr || std::strcmp(mode, "off") != 0) adopt(name);
  execvp(argv[at], argv + at);
  refuse(errno == ENOENT ? not_found : not_executable,
         "cannot run " + name + ": " + std::strerror(errno));
}
