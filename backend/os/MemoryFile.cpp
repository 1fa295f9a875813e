// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "MemoryFile.hpp"

#include "../Error.hpp"
#include "Cores.hpp"
#include "Pages.hpp"
#include "Team.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

[[noreturn]] void fail(std::string const& problem, int error, std::string const& advice) {
  throw Error(problem + " (" + std::strerror(error) +
              "): " + (error == EMFILE ? "raise ulimit -n, or close files" : advice));
}

// Beyond its limit the system ends the process, by a signal.
bool is_within_limit(std::size_t bytes) {
  rlimit limit = {};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

}  // namespace

MemoryFile::MemoryFile(std::size_t bytes)
    : m_descriptor(memfd_create("KokkosHostSpaces", MFD_CLOEXEC)) {
  if (m_descriptor < 0)
    fail("the system makes no memory file", errno,
         "allow memfd_create, which a container may forbid");
  errno = EFBIG;
  if (is_within_limit(bytes) && ftruncate(m_descriptor, off_t(bytes)) == 0) return;
  int const error = errno;
  close(m_descriptor);
  fail("the system makes no memory file of " + std::to_string(bytes) + " bytes", error,
       "raise ulimit -f, or ask for fewer bytes");
}

MemoryFile::MemoryFile(MemoryFileAddress const& address) {
  std::string const name =
      "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  std::string const advice =
      "run the ranks of a node as one user, with one /proc (in one container)";
  m_descriptor = open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (m_descriptor < 0) fail("the memory file " + name + " cannot be opened", errno, advice);
  struct stat file = {};
  if (fstat(m_descriptor, &file) == 0 && file.st_dev == address.device &&
      file.st_ino == address.inode)
    return;
  close(m_descriptor);
  throw Error(name + " is not the memory file (processes have other numbers there): " + advice);
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)) {}

MemoryFile& MemoryFile::operator=(MemoryFile&& other) noexcept {
  std::swap(m_descriptor, other.m_descriptor);
  return *this;
}

MemoryFile::~MemoryFile() {
  if (m_descriptor >= 0) close(m_descriptor);
}

MemoryFileAddress MemoryFile::address() const {
  struct stat file = {};
  if (fstat(m_descriptor, &file) != 0)
    fail("the system does not know its memory file", errno, "check who closes files of others");
  return {getpid(), m_descriptor, file.st_dev, file.st_ino};
}

void* MemoryFile::map(std::size_t bytes) const {
  std::string const problem = "the system does not map " + std::to_string(bytes) + " bytes";
  std::string const advice  = "raise ulimit -v, or ask for fewer bytes";
  void* const pages         = reserve_for_pages(bytes);
  if (pages == nullptr) fail(problem, errno, advice);
  if (mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m_descriptor, 0) ==
      MAP_FAILED) {
    int const error = errno;
    unmap_pages(pages, bytes);
    fail(problem, error, advice);
  }
  use_huge_pages(pages, bytes);
  return pages;
}

// A page for which there is no memory is an error of the call; touched by a store it ends the process.
void fault_in(void* pointer, std::size_t bytes) {
#ifndef MADV_POPULATE_WRITE
  constexpr int MADV_POPULATE_WRITE = 23;
#endif
  constexpr std::size_t of_thread = 32 * huge_page_bytes;
  auto* const begin               = static_cast<char*>(pointer);
  std::atomic<std::size_t> next{0};
  std::atomic<int> error{0};
  auto populate_in_turn = [&] {
    for (std::size_t i; error == 0 && (i = next.fetch_add(huge_page_bytes)) < bytes;)
      if (madvise(begin + i, std::min(huge_page_bytes, bytes - i), MADV_POPULATE_WRITE) != 0)
        error = errno;
  };
  Team team;
  team.cores   = Cores::allowed();
  team.threads = int(std::min<std::size_t>(
      {std::size_t(std::max(team.cores.count(), 1)), 16, bytes / of_thread + 1}));
  run(team, populate_in_turn);
  if (error == 0) return;
  if (error == EINVAL) return first_touch(pointer, bytes, team);  // before Linux 5.14
  fail("the system has no memory for " + std::to_string(bytes) + " bytes", error,
       "ask for fewer bytes, or raise the memory limit of the job or container");
}

}  // namespace KokkosHostSpaces::Impl::Backend
