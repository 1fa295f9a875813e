// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "RuntimeNames.hpp"

#include "../../cuda/Runtime.hpp"
#include "../../os/Pages.hpp"
#include "../ForkTest.hpp"

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

/// Copies the first byte of a page to the current device and back.
class RoundTrip {
 public:
  explicit RoundTrip(Driver::Runtime& runtime) noexcept : m_context(runtime), m_tolerance(runtime) {
    m_ready = Driver::succeeded(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking)) &&
              Driver::succeeded(cudaMalloc(&m_on_device, 1));
  }
  // A byte of the device stays allocated: freeing it would wait for all of its work.
  ~RoundTrip() {
    if (m_stream != nullptr) cudaStreamDestroy(m_stream);
  }
  RoundTrip(RoundTrip const&)            = delete;
  RoundTrip& operator=(RoundTrip const&) = delete;

  bool returns(char const* page, char expected) noexcept {
    char back       = 0;
    auto const copy = [&](void* dst, void const* src, cudaMemcpyKind kind) {
      return Driver::succeeded(cudaMemcpyAsync(dst, src, 1, kind, m_stream)) &&
             Driver::succeeded(cudaStreamSynchronize(m_stream));
    };
    return m_ready && copy(m_on_device, page, cudaMemcpyHostToDevice) &&
           copy(&back, m_on_device, cudaMemcpyDeviceToHost) && back == expected;
  }

 private:
  Driver::ContextInUse m_context;
  Driver::CaptureTolerance m_tolerance;
  cudaStream_t m_stream = nullptr;
  void* m_on_device     = nullptr;
  bool m_ready          = false;
};

}  // namespace

bool fork_leaves_pages_to_parent() noexcept {
  Driver::Runtime* const runtime = Driver::runtime();
  auto* const page = static_cast<char*>(runtime != nullptr ? map_pages(page_bytes()) : nullptr);
  if (page == nullptr) return false;
  *page = 1;
  try {
    Driver::lock_pages(page, page_bytes());
    Child const child;
    *static_cast<char volatile*>(page) = 2;
    // The page stays locked: unlocking it would wait for running kernels.
    return child.lives() && RoundTrip(*runtime).returns(page, 2);
  } catch (std::exception const&) {
    return false;
  }
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
