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

/// A child that waits as long as this lives, whatever other threads fork meanwhile.
class Child {
 public:
  Child() noexcept : m_id(syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr)) {
    if (m_id != 0) return;
    timespec const long_enough = {10, 0};
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    syscall(SYS_ppoll, nullptr, 0, &long_enough, nullptr, 0);
    syscall(SYS_exit_group, 0);
  }
  ~Child() {
    if (m_id <= 0) return;
    kill(static_cast<pid_t>(m_id), SIGKILL);
    waitpid(static_cast<pid_t>(m_id), nullptr, __WALL);
  }
  Child(Child const&)            = delete;
  Child& operator=(Child const&) = delete;
  bool lives() const noexcept { return m_id > 0; }

 private:
  long m_id;
};

}  // namespace

// The page stays locked, and a byte of the device allocated: to give them back would wait for kernels.
bool fork_leaves_pages_to_parent() noexcept {
  auto* const page = static_cast<char*>(map_pages(page_bytes()));
  if (page == nullptr) return false;
  *page = 1;
  try {
    Driver::lock_pages(page, page_bytes());
    int const device            = Driver::current_device();
    Driver::Stream const stream = Driver::private_stream(device);
    void* const on_device       = Driver::allocate_on_device(device, 1);
    char* const back            = page + page_bytes() / 2;
    Child const child;
    *static_cast<char volatile*>(page) = 2;
    if (on_device == nullptr || !child.lives()) return false;
    Driver::copy(on_device, page, 1, stream);
    Driver::copy(back, on_device, 1, stream);
    Driver::fence(stream);
    return *back == 2;
  } catch (std::exception const&) {
    return false;
  }
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
