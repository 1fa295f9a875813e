// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "ChildProcess.hpp"

#include "../support/System.hpp"

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <dlfcn.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace KokkosHostSpaces::Perf {
namespace {

// A program with libstdc++ inside is left as it is, and would measure stock Kokkos under the name of what is adopted.
bool has_its_own_new() {
  Dl_info here{}, found{};
  void* const aligned_new = dlsym(RTLD_DEFAULT, "_ZnwmSt11align_val_tRKSt9nothrow_t");
  return aligned_new == nullptr || dladdr(aligned_new, &found) == 0 ||
         dladdr(reinterpret_cast<void*>(&adopting_launcher), &here) == 0 ||
         found.dli_fbase == here.dli_fbase;
}

}  // namespace

std::string adopting_launcher() {
  if (has_its_own_new()) return {};
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

ChildProcess::ChildProcess(std::string const& mode, int device) {
  std::vector<std::string> command = {adopting_launcher(),
                                      std::filesystem::read_symlink("/proc/self/exe"),
                                      "--serve-idioms", mode, "--kokkos-disable-warnings"};
  // Under MPI Kokkos might choose another one there.
  if (device >= 0) command.push_back("--kokkos-device-id=" + std::to_string(device));
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2];  // ours, and its input and output
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  m_socket = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  int const error = posix_spawn(&m_process, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) return;
  close(m_socket);
  throw std::system_error(error, std::generic_category(), command[0]);
}

ChildProcess::~ChildProcess() {
  close(m_socket);  // its input ends, so that it ends
  while (waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string ChildProcess::ask(std::string const& word) {
  std::string const line = word + '\n';
  // Without a signal: a process that ended must not end this one.
  bool const asked = send(m_socket, line.data(), line.size(), MSG_NOSIGNAL) == ssize_t(line.size());
  std::string answer;
  for (char c = 0; asked;) {
    ssize_t const got = read(m_socket, &c, 1);
    if (got == 1 && c == '\n') return answer;
    if (got == 1) answer += c;
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  throw std::runtime_error(
      "a process that measures for this one ended early (see above): run it by hand, or measure less");
}

}  // namespace KokkosHostSpaces::Perf
