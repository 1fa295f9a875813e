// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Protection.hpp"

#include "../os/Fork.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include <csignal>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

std::array<std::atomic<OnForbiddenAccess>, 2> the_handlers{};

void add(OnForbiddenAccess handler) {
  for (auto& place : the_handlers) {
    OnForbiddenAccess has = nullptr;
    if (place.compare_exchange_strong(has, handler) || has == handler) return;
  }
}

// Counts as a write on processors that do not tell.
bool is_write(void* context) {
#if defined(__x86_64__)
  return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
  return true;
#endif
}

// The previous handler, for each of our handlers. A single one would not do: a handler that was set
// after ours and calls ours would be called back for ever, once ours is in front again.
constexpr std::size_t most_levels = 8;
std::array<struct sigaction, most_levels> the_formers{};
std::atomic<std::size_t> the_levels{0};

// Calls a handler as the system would. It need not return: programs jump out of handlers.
void pass_on(struct sigaction const& to, int number, siginfo_t* info, void* context) {
  bool const was_sent = info->si_code <= 0;  // by kill() and the like, without an access
  if (to.sa_handler == SIG_IGN && was_sent) return;
  bool const ends = to.sa_handler == SIG_DFL || to.sa_handler == SIG_IGN;
  if (ends || (to.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) signal(number, SIG_DFL);
  if (ends) {
    if (was_sent) raise(number);
    return;
  }
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, number);
  pthread_sigmask(SIG_BLOCK, &to.sa_mask, nullptr);
  if ((to.sa_flags & SA_NODEFER) != 0) pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  if ((to.sa_flags & SA_SIGINFO) != 0)
    to.sa_sigaction(number, info, context);
  else
    to.sa_handler(number);
}

template <std::size_t level>
void on_fault(int number, siginfo_t* info, void* context) {
  int const error = errno;
  bool is_ours    = false;
  for (auto const& place : the_handlers) {
    auto const handler = place.load(std::memory_order_acquire);
    if (is_ours || handler == nullptr) break;
    is_ours = (info->si_code == SEGV_ACCERR || info->si_code == SEGV_MAPERR) &&
              handler(static_cast<char const*>(info->si_addr), is_write(context));
  }
  if (!is_ours) pass_on(the_formers[level], number, info, context);
  errno = error;
}

using Action                = void (*)(int, siginfo_t*, void*);
constexpr auto our_handlers = []<std::size_t... level>(std::index_sequence<level...>) {
  return std::array<Action, most_levels>{&on_fault<level>...};
}
(std::make_index_sequence<most_levels>());

bool is_ours(struct sigaction const& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 &&
         std::find(our_handlers.begin(), our_handlers.end(), action.sa_sigaction) !=
             our_handlers.end();
}

// The index of our handler for `former`: the one that had it before, else an unused one, because a
// signal handler may be reading the others. most_levels if none is left.
std::size_t level_before(struct sigaction const& former) {
  auto const same = [&](struct sigaction const& known) {
    return known.sa_handler == former.sa_handler && known.sa_flags == former.sa_flags;
  };
  std::size_t const used = the_levels.load();
  auto const* const end  = the_formers.begin() + used;
  auto const level       = static_cast<std::size_t>(std::find_if(the_formers.cbegin(), end, same) -
                                              the_formers.cbegin());
  if (level == used && used < most_levels) {
    the_formers[used] = former;
    the_levels.store(used + 1);
  }
  return level;
}

}  // namespace

bool protect_pages(void* begin, std::size_t bytes, PageAccess access) noexcept {
  int const flags = access == PageAccess::all    ? PROT_READ | PROT_WRITE
                    : access == PageAccess::read ? PROT_READ
                                                 : PROT_NONE;
  return mprotect(begin, bytes, flags) == 0;
}

void write_in_handler(std::string_view text) noexcept {
  // An error cannot be reported anywhere.
  [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text.data(), text.size());
}

bool handle_forbidden_accesses(OnForbiddenAccess handler) noexcept {
  static constinit OfThisProcess<std::mutex> one_at_a_time;
  std::lock_guard const lock(one_at_a_time.get());
  add(handler);
  struct sigaction now = {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0) return false;
  if (is_ours(now)) return true;
  std::size_t const level = level_before(now);
  if (level == most_levels) return false;
  struct sigaction ours = {};
  ours.sa_sigaction     = our_handlers[level];
  ours.sa_flags         = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  return sigaction(SIGSEGV, &ours, nullptr) == 0;
}

}  // namespace KokkosHostSpaces::Impl::Backend
