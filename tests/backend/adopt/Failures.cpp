// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A program that makes Views and copies them while calls to CUDA fail, as one case of those below, whose name
// it is given.

#include "../../support/FailNth.hpp"
#include "Program.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace Program;

namespace {

// Fails the n-th call to CUDA from here on. Exits with 3 if there are less.
void one_failure() {
  OnDevice device(2 * MiB);
  FailNth::Failure failure{FailNth::Source::cuda};
  failure.n = std::strtoul(std::getenv("FAILS_AT"), nullptr, 10);
  FailNth::Planned const planned(failure);
  void* pinned = nullptr;
  for (std::size_t size : {MiB, 2 * MiB, MiB}) {
    View view(size);
    for (char tag = 1; tag < 3; ++tag) {
      view.fill(tag);
      bool const there =
          cudaMemcpy(device.data(), view.data(), size, cudaMemcpyDefault) == cudaSuccess;
      view.fill(0);
      bool const back = cudaMemcpyAsync(view.data(), device.data(), size, cudaMemcpyDefault,
                                        nullptr) == cudaSuccess;
      REQUIRE(!there || !back || view.holds(tag));
      cudaStreamSynchronize(nullptr);  // after an error it may run on
    }
    if (cudaHostAlloc(&pinned, size, cudaHostAllocDefault) != cudaSuccess) continue;
    std::memset(pinned, 1, size);
    cudaFreeHost(pinned);
  }
  if (!FailNth::is_met()) std::_Exit(3);
}

// Each in a process of its own, as the first calls are made once.
void whichever_call_fails_contents_are_right() {
  int status = 0;
  for (int n = 1; status == 0; ++n) {
    REQUIRE(n < 1000);
    setenv("FAILS_AT", std::to_string(n).c_str(), 1);
    char* const command[] = {program_invocation_name, const_cast<char*>("one_failure"), nullptr};
    pid_t child           = 0;
    REQUIRE(posix_spawn(&child, command[0], nullptr, nullptr, command, environ) == 0);
    REQUIRE(waitpid(child, &status, 0) == child);
  }
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

constexpr Case cases[] = {CASE(one_failure), CASE(whichever_call_fails_contents_are_right)};

}  // namespace

int main(int argc, char** argv) { return run_case(argc, argv, cases); }
