// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_CAPTURED_STDERR_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_CAPTURED_STDERR_HPP

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <unistd.h>

/// Keeps what the process writes to stderr during its life.
class CapturedStderr {
 public:
  CapturedStderr() : m_file(std::tmpfile()), m_stderr(dup(STDERR_FILENO)) {
    if (m_file == nullptr || m_stderr < 0) throw std::runtime_error("stderr cannot be captured");
    dup2(fileno(m_file), STDERR_FILENO);
  }
  ~CapturedStderr() {
    std::fflush(stderr);
    dup2(m_stderr, STDERR_FILENO);
    close(m_stderr);
    std::fclose(m_file);
  }
  CapturedStderr(CapturedStderr const&)            = delete;
  CapturedStderr& operator=(CapturedStderr const&) = delete;

  /// All of it so far.
  std::string text() const {
    std::fflush(stderr);
    std::array<char, 4096> buffer{};
    ssize_t const bytes = pread(fileno(m_file), buffer.data(), buffer.size(), 0);
    return std::string(buffer.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  }

 private:
  std::FILE* m_file;
  int m_stderr;
};

#endif
