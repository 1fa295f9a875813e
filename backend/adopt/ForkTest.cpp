// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Driver.hpp"
#include "../os/Pages.hpp"
#include "Adoption.hpp"

#include <csignal>
#include <ctime>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

// A child that runs nothing of the program's, whatever other threads fork meanwhile, and waits.
pid_t start_child() noexcept {
  long const id = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (id == 0) {
    timespec const long_enough = {10, 0};
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    syscall(SYS_ppoll, nullptr, 0, &long_enough, nullptr, 0);
    syscall(SYS_exit_group, 0);
  }
  return static_cast<pid_t>(id);
}

// Writes to the page, and lets a device read it. The page stays locked, and a byte of the device allocated: to
// give them back would wait for kernels.
bool device_reads(char* page, char value) {
  int const device                   = Driver::current_device();
  Driver::Stream const stream        = Driver::private_stream(device);
  void* const on_device              = Driver::allocate_on_device(device, 1);
  char* const back                   = page + page_bytes() / 2;
  *static_cast<char volatile*>(page) = value;
  if (on_device == nullptr) return false;
  Driver::copy(on_device, page, 1, stream);
  Driver::copy(back, on_device, 1, stream);
  Driver::fence(stream);
  return *back == value;
}

}  // namespace

bool fork_leaves_pages_to_parent() noexcept {
  auto* const page = static_cast<char*>(map_pages(page_bytes()));
  if (page == nullptr) return false;
  bool reads  = false;
  pid_t child = -1;
  try {
    *page = 1;
    Driver::lock_pages(page, page_bytes());
    child = start_child();
    reads = child > 0 && device_reads(page, 2);
  } catch (std::exception const&) {
    // It did not read.
  }
  if (child > 0 && kill(child, SIGKILL) == 0) waitpid(child, nullptr, __WALL);
  return reads;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
