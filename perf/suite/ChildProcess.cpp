// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "ChildProcess.hpp"

#include "../support/System.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace KokkosHostSpaces::Perf {
namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe");
  }
};

}  // namespace

std::string adopting_launcher() {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path const beside =
      fs::read_symlink("/proc/self/exe", error).parent_path() / "kokkos_host_spaces_run";
  for (fs::path const& place : {beside, fs::path(KOKKOS_HOST_SPACES_PERF_RUN)})
    if (fs::exists(place, error)) return place;
  return {};
}

bool is_adopted() {
  return text_of("/proc/self/maps").find("libkokkos_host_spaces_adopt.so") != std::string::npos;
}

ChildProcess::ChildProcess(std::string const& what, int device, std::string const& launcher) {
  std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe"),
                                      "--in-fresh-process", what, "--kokkos-disable-warnings"};
  if (!launcher.empty()) command.insert(command.begin(), launcher);
  // Under MPI Kokkos might choose another one there.
  if (device >= 0) command.push_back("--kokkos-device-id=" + std::to_string(device));
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Pipe const there, back;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, there.ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, back.ends[1], STDOUT_FILENO);
  int const error = posix_spawn(&m_process, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(there.ends[0]);
  close(back.ends[1]);
  m_to   = there.ends[1];
  m_from = back.ends[0];
  if (error == 0) return;
  close(m_to);
  close(m_from);
  throw std::system_error(error, std::generic_category(), command[0]);
}

ChildProcess::~ChildProcess() {
  close(m_to);  // its input ends, so that it ends
  close(m_from);
  while (waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string ChildProcess::ask(std::string const& word) {
  std::string const line = word + '\n';
  // A process that ended must not end this one.
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  bool const asked = write(m_to, line.data(), line.size()) == ssize_t(line.size());
  sigaction(SIGPIPE, &before, nullptr);
  std::string answer;
  for (char c = 0; asked;) {
    ssize_t const got = read(m_from, &c, 1);
    if (got == 1 && c == '\n') return answer;
    if (got == 1) answer += c;
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  throw std::runtime_error(
      "a process that measures for this one ended early (see above): run it by hand, or measure less");
}

}  // namespace KokkosHostSpaces::Perf
