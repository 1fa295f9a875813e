// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Program.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

// The loader ignores LD_PRELOAD where a program gets the rights of somebody else.
bool has_rights_of_its_own(std::string const& file) {
  struct stat found = {};
  return (stat(file.c_str(), &found) == 0 && (found.st_mode & (S_ISUID | S_ISGID)) != 0) ||
         getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
}

bool begins(std::string const& name, std::initializer_list<char const*> with) {
  return std::any_of(with.begin(), with.end(), [&](auto text) { return name.starts_with(text); });
}

// By the name of a library: gcc's and clang's.
std::string sanitizer_in(std::string const& name) {
  for (auto const* const sanitizer : {"asan", "tsan", "msan", "lsan", "hwasan"}) {
    if (begins(name, {(std::string("lib") + sanitizer + ".so").c_str(),
                      (std::string("libclang_rt.") + sanitizer).c_str()})) {
      return sanitizer;
    }
  }
  return {};
}

// Python loads libstdc++ with its first module that is written in C++; Julia and R as well.
bool loads_modules(Program const& program, std::vector<std::string> const& files) {
  return begins(name_of(program.judged), {"python", "pypy", "julia", "R"}) ||
         std::any_of(files.begin(), files.end(), [](auto const& file) {
           return begins(name_of(file), {"libpython", "libjulia", "libR.so"});
         });
}

// Before the loader is asked.
std::string refusal_by_file(Program const& program) {
  using enum ElfFile::Kind;
  ElfFile const& elf = program.elf;
  if (elf.kind == unreadable) return "it cannot be read): allow reading";
  if (elf.kind == foreign)
    return "it was built for another architecture): use a build for this one";
  if (elf.kind == other) return "it is no program for Linux): give the program itself";
  if (elf.loader.empty()) return "it is statically linked): link it dynamically";
  if (has_rights_of_its_own(program.judged)) {
    return "it has the set-user-id bit or capabilities, where the system ignores LD_PRELOAD): use a copy without";
  }
  if (name_of(elf.loader) != name_of(ElfFile::read("/proc/self/exe").loader)) {
    return "its loader is " + elf.loader + ", and not that of glibc): build it for glibc";
  }
  return {};
}

std::string refusal_by_libraries(Program const& program, std::vector<std::string> const& files,
                                 bool children) {
  std::string sanitizer = program.elf.sanitizer;
  bool has_libstdcxx    = false;
  for (auto const& file : files) {
    std::string const name = name_of(file);
    has_libstdcxx          = has_libstdcxx || name.starts_with("libstdc++.so");
    if (sanitizer.empty()) sanitizer = sanitizer_in(name);
  }
  if (!sanitizer.empty()) {
    return "it has the sanitizer " + sanitizer +
           ", which replaces the same functions): use a build without";
  }
  if (has_libstdcxx || children || loads_modules(program, files)) return {};
  return "no libstdc++.so is among its libraries): write kokkos_host_spaces_run before the program that it starts, or "
         "give --children; one that has libstdc++ inside, link without -static-libstdc++";
}

// A copy through a runtime inside a file is not seen by the library.
std::string owner_of_cuda_runtime(Program const& program, std::vector<std::string> const& files) {
  if (program.elf.has_cuda_runtime) return program.judged;
  for (auto const& file : files) {
    // The runtime itself, and NVIDIA's libraries, which copy little by theirs.
    if (file[0] == '/' &&
        !begins(name_of(file), {"libcu", "libnv", "libnpp", "libnccl", "libkokkos_host_spaces"}) &&
        ElfFile::read(file).has_cuda_runtime) {
      return file;
    }
  }
  return {};
}

}  // namespace

Verdict judge(Program const& program, std::string const& library, std::string const& preload,
              bool children) {
  if (library.find_first_of(" :") != std::string::npos) {
    return {false,
            "LD_PRELOAD cannot hold the space or colon in " + library + "): install it elsewhere"};
  }
  if (auto why = refusal_by_file(program); !why.empty()) return {false, why};
  Rehearsal const rehearsal = rehearse(program, library, preload);
  if (!rehearsal.complaint.empty()) {
    return {false, "its loader refuses the library: " + rehearsal.complaint +
                       "): build the library for this system"};
  }
  if (std::find(rehearsal.files.begin(), rehearsal.files.end(), library) == rehearsal.files.end()) {
    return {false,
            "its loader " + program.elf.loader + " does not load the library): see LD_DEBUG=libs"};
  }
  auto const why = refusal_by_libraries(program, rehearsal.files, children);
  if (!why.empty()) return {false, why};
  auto const owner = owner_of_cuda_runtime(program, rehearsal.files);
  if (owner.empty()) return {true, {}};
  return {
      true,
      owner +
          " has a CUDA runtime inside, whose copies cannot be seen): link it with -cudart shared"};
}

std::string right_order(std::vector<std::string> const& arguments) {
  std::string const name                   = name_of(arguments[0]);
  static constexpr char const* launchers[] = {"srun",  "orterun", "prterun", "prun",      "aprun",
                                              "jsrun", "lrun",    "ibrun",   "ccc_mprun", "flux"};
  if (!begins(name, {"mpirun", "mpiexec"}) &&
      std::find(std::begin(launchers), std::end(launchers), name) == std::end(launchers)) {
    return {};
  }
  // The first that can be run is the program, rarely the value of an option.
  auto const program = std::find_if(arguments.begin() + 1, arguments.end(), [](auto const& word) {
    std::string const file = find_in_path(word);
    return word[0] != '-' && !file.empty() && access(file.c_str(), X_OK) == 0;
  });
  std::string order;
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    order += (word == program ? " kokkos_host_spaces_run " : " ") + *word;
  }
  if (program == arguments.end())
    order = " " + name + " [options] kokkos_host_spaces_run [options] program ...";
  return order;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
