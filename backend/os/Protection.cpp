// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Protection.hpp"

#include <atomic>
#include <cerrno>
#include <mutex>

#include <csignal>
#include <sys/mman.h>
#include <ucontext.h>

namespace KokkosHostSpaces::Impl {

namespace {

std::atomic<OnForbiddenAccess> the_handler{nullptr};

// Who handled the signal before. Never freed, since a signal may be reading it.
struct Former {
  struct sigaction action;
  Former const* before;
};
std::atomic<Former const*> the_former{nullptr};

// Where the processor does not say it, a forbidden access counts as a write.
bool is_write(void* context) {
#if defined(__x86_64__)
  return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
  return true;
#endif
}

// It may not return: programs jump out of handlers.
void pass_on(int number, siginfo_t* info, void* context) {
  Former const* const former  = the_former.load(std::memory_order_acquire);
  struct sigaction const none = {};
  struct sigaction const& to  = former != nullptr ? former->action : none;
  if ((to.sa_flags & SA_SIGINFO) != 0)
    to.sa_sigaction(number, info, context);
  else if (to.sa_handler != SIG_DFL && to.sa_handler != SIG_IGN)
    to.sa_handler(number);
  else
    signal(number, SIG_DFL);  // the access is tried again, and ends the process
}

void on_fault(int number, siginfo_t* info, void* context) {
  int const error    = errno;
  auto const handler = the_handler.load(std::memory_order_acquire);
  bool const is_ours = info->si_code == SEGV_ACCERR && handler != nullptr &&
                       handler(static_cast<char const*>(info->si_addr), is_write(context));
  if (!is_ours) pass_on(number, info, context);
  errno = error;
}

}  // namespace

void protect_pages(void* begin, std::size_t bytes, Access access) noexcept {
  int const flags = access == Access::all    ? PROT_READ | PROT_WRITE
                    : access == Access::read ? PROT_READ
                                             : PROT_NONE;
  mprotect(begin, bytes, flags);
}

void handle_forbidden_accesses(OnForbiddenAccess handler) noexcept {
  static std::mutex one_at_a_time;
  std::lock_guard const lock(one_at_a_time);
  the_handler.store(handler, std::memory_order_release);
  struct sigaction now = {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &on_fault) return;
  the_former.store(new Former{now, the_former.load()}, std::memory_order_release);
  struct sigaction ours = {};
  ours.sa_sigaction     = &on_fault;
  ours.sa_flags         = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace KokkosHostSpaces::Impl
