// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Cold.hpp"

#include "../Groups.hpp"
#include "Ways.hpp"

#include <algorithm>
#include <cerrno>  // and program_invocation_short_name
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace KokkosHostSpaces::Perf {
namespace {

template <class Way>
ColdSample take_sample(Way const& way, std::size_t bytes, bool damage) {
  auto const begin     = Clock::now();
  auto const block     = way(bytes);
  double const seconds = seconds_since(begin);
  char* const data     = begin_of(block);
  return {seconds,
          is_page_locked_throughout(data, bytes) && keeps_its_ends(data, bytes, 'c', damage)};
}

void choose_by_name(AllocBaseline& baseline, std::string const& variant) {
  std::vector<std::string> const all = baseline.variants();
  auto const found                   = std::ranges::find(all, variant);
  if (found != all.end()) baseline.choose(int(found - all.begin()));
}

// Read to the end, and close.
std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  ssize_t got;
  while ((got = read(file, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  close(file);
  return text;
}

// Run this program with other arguments, and return its standard output.
// \throw std::runtime_error if it cannot be started or does not exit with 0
std::string run_again(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program_invocation_short_name);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child     = 0;
  int const error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string const output = read_all(ends[0]);
  if (error != 0)
    throw std::system_error(error, std::generic_category(), "starting this program again");

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("a process that measures allocations failed (" +
                             (WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                                : "signal " + std::to_string(WTERMSIG(status))) +
                             "): try smaller sizes");
  return output;
}

}  // namespace

void sample_cold_allocation(std::string const& what, std::ostream& out) {
  ColdCase wanted;
  bool damage = false;
  std::istringstream words(what);
  words >> wanted.bytes >> damage >> wanted.way;
  std::getline(words >> std::ws, wanted.variant);
  ColdSample const sample = sample_from_empty_pool(wanted, damage);
  out << sample.seconds << ' ' << sample.verified << '\n';
}

ColdSample sample_from_empty_pool(ColdCase const& what, bool damage) {
  ColdSample sample{};
  for_each_way([&](WayInfo const& info, auto const& way) {
    if (info.name != what.way) return;
    if (info.baseline != nullptr) choose_by_name(*info.baseline, what.variant);
    // Allocate a small block first, so that the figure does not include initialisation.
    take_sample(way, 4096, false);
    forget_kept_memory();
    sample = take_sample(way, what.bytes, damage);
  });
  return sample;
}

ColdSample sample_in_fresh_process(ColdCase const& what, bool damage) {
  std::ostringstream words;
  words << "alloc " << what.bytes << ' ' << damage << ' ' << what.way << ' ' << what.variant;
  std::vector<std::string> arguments = {"--in-fresh-process", words.str(),
                                        "--kokkos-disable-warnings"};
  // Use the device of this rank; under MPI Kokkos might choose another one there.
  if (int const device = Kokkos::device_id(); device >= 0)
    arguments.push_back("--kokkos-device-id=" + std::to_string(device));
  std::string const output = run_again(arguments);
  ColdSample sample;
  if (!(std::istringstream(output) >> sample.seconds >> sample.verified))
    throw std::runtime_error("a process that measures an allocation wrote something else: " +
                             output);
  return sample;
}

}  // namespace KokkosHostSpaces::Perf
