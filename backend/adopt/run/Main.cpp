// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// kokkos_host_spaces_run [options] program ...: becomes the program, with the library to adopt it in LD_PRELOAD.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "Program.hpp"

namespace {

using namespace KokkosHostSpaces::Impl::Backend::Adopt;

// As of env, nohup and timeout.
enum ExitCode { own_failure = 125, not_executable = 126, not_found = 127 };

constexpr char help[] =
    R"(Usage: kokkos_host_spaces_run [options] program [arguments]
       srun ... kokkos_host_spaces_run [options] program [arguments]

Runs a Kokkos program, unchanged, with page-locked host memory: Views in
HostSpace are locked when they are copied to or from a GPU again. The results
are those of the program alone; its exit code, output and signals are its own.

  --report[=FILE]  at exit, say what was adopted and what it gained: on stderr,
                   or in FILE, whose name may have %r: the rank, %h: the host,
                   %p: the process
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

void say(std::string const& words) {
  std::fprintf(stderr, "kokkos_host_spaces_run: %s\n", words.c_str());
}

[[noreturn]] void refuse(int code, std::string const& words) {
  say(words);
  std::exit(code);
}

// Of many ranks one is enough to say it.
bool is_first_rank() {
  for (auto const* const variable :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    if (char const* const rank = std::getenv(variable)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

// Sets what the options say, as variables of the library. \return the position of the program
int read_options(int argc, char** argv, bool& children) {
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    std::string const option = argv[at];
    if (option == "--") return at + 1;
    if (option == "--report") {
      setenv("KOKKOS_HOST_SPACES_ADOPT_REPORT", "1", 1);
    } else if (option.starts_with("--report=") && option.size() > 9) {
      setenv("KOKKOS_HOST_SPACES_ADOPT_REPORT", option.c_str() + 9, 1);
    } else if (option == "--relaxed") {
      setenv("KOKKOS_HOST_SPACES_ADOPT", "relaxed", 1);
    } else if (option == "--check") {
      setenv("KOKKOS_HOST_SPACES_ADOPT", "check", 1);
    } else if (option == "--children") {
      setenv("KOKKOS_HOST_SPACES_ADOPT_CHILDREN", "on", 1);
      children = true;
    } else if (option == "--help" || option == "-h") {
      std::exit(std::fputs(help, stdout) < 0 || std::fflush(stdout) != 0 ? own_failure : 0);
    } else if (option == "--version") {
      std::puts("kokkos_host_spaces_run " KOKKOS_HOST_SPACES_RUN_VERSION);
      std::exit(0);
    } else {
      refuse(own_failure, "unknown option " + option + ": see kokkos_host_spaces_run --help");
    }
  }
  return at;
}

// Beside this program in a build, else where it is installed.
std::string library() {
  char self[PATH_MAX];
  ssize_t const length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return {};
  self[length]             = '\0';
  std::string const folder = std::string(self).substr(0, std::string(self).rfind('/'));
  for (auto const* const place : {".", KOKKOS_HOST_SPACES_RUN_LIBRARIES}) {
    char real[PATH_MAX];
    if (realpath((folder + "/" + place + "/libkokkos_host_spaces_adopt.so").c_str(), real))
      return real;
  }
  return {};
}

bool is_off() {
  char const* const mode = std::getenv("KOKKOS_HOST_SPACES_ADOPT");
  return mode && std::strcmp(mode, "off") == 0;
}

// Sets LD_PRELOAD, or says why not.
void adopt(Program const& program, std::string const& name, bool children) {
  std::string const path = library();
  std::string preload    = path;
  if (char const* const others = std::getenv("LD_PRELOAD"); others && *others) {
    preload += std::string(":") + others;
  }
  Verdict verdict = {
      false, "libkokkos_host_spaces_adopt.so is not where it was installed): install it again"};
  if (!path.empty()) verdict = judge(program, path, preload, children);
  if (verdict.adopted) setenv("LD_PRELOAD", preload.c_str(), 1);
  if (verdict.words.empty() || !is_first_rank()) return;
  std::string const script = program.judged == program.file ? "" : " by " + program.judged;
  say(name + script + (verdict.adopted ? " gains nothing (" : " runs as it is (") + verdict.words);
}

[[noreturn]] void become(Program const& program) {
  std::vector<char*> arguments;
  for (auto const& argument : program.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execv(program.file.c_str(), arguments.data());
  // As execvp and shells do.
  if (errno == ENOEXEC && program.elf.kind == ElfFile::Kind::other) {
    arguments.insert(arguments.begin(), const_cast<char*>("sh"));
    arguments[1] = const_cast<char*>(program.file.c_str());
    execv("/bin/sh", arguments.data());
  }
  refuse(errno == ENOENT ? not_found : not_executable,
         "cannot run " + program.file + ": " + std::strerror(errno));
}

}  // namespace

int main(int argc, char** argv) {
  bool children = false;
  int const at  = read_options(argc, argv, children);
  if (at >= argc) refuse(own_failure, "no program is given: see kokkos_host_spaces_run --help");
  std::vector<std::string> const arguments(argv + at, argv + argc);
  std::string const& name = arguments[0];
  if (std::string const order = right_order(arguments); !order.empty()) {
    refuse(own_failure,
           name + " starts the program elsewhere: write it the other way around:" + order);
  }
  std::string const file = find_in_path(name);
  if (file.empty()) refuse(not_found, "cannot find " + name + " in PATH: give its path");
  if (access(file.c_str(), X_OK) != 0) become({file, arguments, file, {}});
  Program const program = resolve(file, arguments);
  if (!is_off()) adopt(program, name, children);
  become(program);
}
