// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The functions that Kokkos calls. None throws, since a tool must not end the program, and none requests
// fences.

#include "Allocations.hpp"
#include "Interface.hpp"
#include "Findings.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include <pthread.h>

namespace KokkosHostSpaces::Audit {
namespace {

struct State {
  Recorder recorder;
  Allocations allocations;
  std::atomic<double> begin{0};
  std::atomic<bool> reported{false};  // nothing since, unless there are copies
};

// A child of fork has nothing to say: all so far was its parent's, and a thread which it does not
// have may hold the lock.
std::atomic<bool> is_child = false;

// Never destroyed: calls may come while the program ends.
State& state() {
  static State& only = *new State;
  return only;
}

Thread& thread() {
  static thread_local Thread mine;
  return mine;
}

std::string_view name_of_space(SpaceHandle const& space) {
  return {space.name, strnlen(space.name, sizeof space.name - 1)};
}

void write_file(std::string const& file, std::string const& text, std::ios::openmode mode) {
  std::ofstream out(file, std::ios::binary | mode);
  out << text;
  out.close();
  if (!out.fail()) return;
  std::string const problem = "Kokkos copy audit: cannot write all to " + file +
                              " (there is no such folder, no right or no space): set "
                              "KOKKOS_HOST_SPACES_AUDIT to a file that can be written\n";
  std::fwrite(problem.data(), 1, problem.size(), stderr);
}

void report() {
  State& all             = state();
  double const seconds   = now() - all.begin;
  auto const result      = all.recorder.result();
  Findings findings      = findings_of(result, result.best);
  findings.memory        = all.allocations.result();
  Process const process  = this_process();
  std::string table      = table_of(findings, process, seconds);
  char const* const file = std::getenv("KOKKOS_HOST_SPACES_AUDIT");
  if (file != nullptr && *file != '\0') {
    std::string const name = file_of(file, process);
    write_file(name, table_of(findings, process, seconds, true), std::ios::trunc);
    std::string const advice = advice_to_share(findings.memory.tables, file, process, seconds);
    // Append, for other ranks may be reading.
    if (!advice.empty()) write_file(name, advice, std::ios::app);
    table += advice;
  }
  // Write by one call, so that tables of several processes do not mix.
  std::fwrite(table.data(), 1, table.size(), stderr);
  all.recorder.clear();
  all.allocations.clear();
  all.reported = true;
}

template <class Function>
void guarded(Function const& function) noexcept {
  if (is_child.load(std::memory_order_relaxed)) return;
  try {
    function();
  } catch (...) {
  }
}

// Reports for a program that does not finalize Kokkos.
void report_at_exit() {
  guarded([] {
    if (state().recorder.result().copies > 0) report();
  });
}

void other_work(char const* kernel, std::uint64_t* id) {
  if (id != nullptr) *id = 0;
  guarded([&] { state().recorder.other_work(thread(), kernel); });
}

}  // namespace
}  // namespace KokkosHostSpaces::Audit

namespace audit = KokkosHostSpaces::Audit;

extern "C" {

void kokkosp_init_library(int, std::uint64_t, std::uint32_t, void*) {
  audit::guarded([] {
    auto& all = audit::state();
    if (all.begin.load() == 0 || all.reported.exchange(false)) all.begin = audit::now();
    static std::atomic_flag registered;
    if (!registered.test_and_set()) {
      std::atexit(audit::report_at_exit);
      pthread_atfork(nullptr, nullptr, [] { audit::is_child = true; });
    }
  });
}

void kokkosp_finalize_library() {
  audit::guarded([] {
    auto& all = audit::state();
    if (all.reported && all.recorder.result().copies == 0) return;
    audit::report();
  });
}

// Without this Kokkos fences before and after each kernel.
void kokkosp_request_tool_settings(std::uint32_t, audit::ToolSettings* settings) {
  if (settings != nullptr) settings->requires_global_fencing = false;
}

void kokkosp_print_help(char*) {
  std::puts(
      "Tells of copies by Kokkos::deep_copy which are not asynchronous, and what to do.\n"
      "KOKKOS_HOST_SPACES_AUDIT=<file>: write all lines of its table to a file.");
}

void kokkosp_begin_deep_copy(audit::SpaceHandle to_space, char const* to_label, void const* to,
                             audit::SpaceHandle from_space, char const* from_label,
                             void const* from, std::uint64_t bytes) {
  audit::guarded([&] {
    audit::state().recorder.begin_copy(
        audit::thread(), {audit::name_of_space(to_space), to_label, to},
        {audit::name_of_space(from_space), from_label, from}, bytes, audit::now());
  });
}

void kokkosp_end_deep_copy() {
  double const now = audit::now();
  audit::guarded([&] { audit::state().recorder.end_copy(audit::thread(), now); });
}

void kokkosp_begin_fence(char const* name, std::uint32_t device, std::uint64_t* id) {
  if (id != nullptr) *id = 0;
  audit::guarded(
      [&] { audit::state().recorder.begin_fence(audit::thread(), name, device, audit::now()); });
}

void kokkosp_end_fence(std::uint64_t) {
  double const now = audit::now();
  audit::guarded([&] { audit::state().recorder.end_fence(audit::thread(), now); });
}

// None calls another by its name, which may be that of another tool in the program.
void kokkosp_begin_parallel_for(char const* name, std::uint32_t, std::uint64_t* id) {
  audit::other_work(name, id);
}

void kokkosp_begin_parallel_reduce(char const* name, std::uint32_t, std::uint64_t* id) {
  audit::other_work(name, id);
}

void kokkosp_begin_parallel_scan(char const* name, std::uint32_t, std::uint64_t* id) {
  audit::other_work(name, id);
}

void kokkosp_allocate_data(audit::SpaceHandle space, char const* label, void const*,
                           std::uint64_t bytes) {
  audit::guarded([&] {
    audit::state().recorder.allocated(audit::name_of_space(space));
    audit::state().allocations.allocated(audit::name_of_space(space), label, bytes);
  });
}

void kokkosp_deallocate_data(audit::SpaceHandle space, char const* label, void const* memory,
                             std::uint64_t bytes) {
  audit::guarded(
      [&] { audit::state().allocations.freed(audit::name_of_space(space), label, memory, bytes); });
}

// Kokkos calls it after the copy.
void kokkosp_dual_view_sync(char const*, void const*, bool) {
  audit::guarded([] { audit::state().recorder.synced_dual_view(audit::thread()); });
}

}  // extern "C"
