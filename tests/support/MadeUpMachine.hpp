// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_MADE_UP_MACHINE_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_MADE_UP_MACHINE_HPP

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <stdlib.h>

/// The files of a machine, below a folder of their own, until the end of the scope.
class MadeUpMachine {
 public:
  MadeUpMachine() {
    char name[] = "/tmp/kokkos_host_spaces_XXXXXX";
    if (mkdtemp(name) == nullptr) throw std::runtime_error("no folder can be made in /tmp");
    root = name;
  }
  ~MadeUpMachine() { std::filesystem::remove_all(root); }
  MadeUpMachine(MadeUpMachine const&)            = delete;
  MadeUpMachine& operator=(MadeUpMachine const&) = delete;

  /// Returns the path of the file, which can be run if it is a program.
  std::string write(std::string const& name, std::string const& text) const {
    std::filesystem::path const file = root + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

  std::string root;
};

#endif
