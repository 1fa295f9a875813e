// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The guard and buffers that are grown while a copy uses them, or used by MPI after it. On the fake runtime, as
// GuardTests.cpp.

#include "GuardedCopies.hpp"

#include <fcntl.h>

using Copies = GuardedCopies;

TEST_CASE("failure 21: a buffer that is grown while a copy fills it is told of, by its label",
          "[.guard]") {
  Copies copies;
  TestView received{MiB, "received"};
  copies.begin(received.side(), on_device("halo"));
  TestView const grown{2 * MiB, "grown"};
  std::copy_n(received.data, MiB, grown.data);  // before the copy has filled it
  CHECK(copies.races() == 1);
  CHECK_THAT(copies.said.text(),
             ContainsSubstring("the host reads byte 0 of 'received'") &&
                 ContainsSubstring("while an asynchronous copy from 'halo' fills it"));
  received.destroy();
  copies.end();
  CHECK(copies.races() == 1);
}

TEST_CASE("a source that is grown while a copy reads it is told of only if it is written",
          "[.guard]") {
  Copies copies;
  TestView sent{MiB, "sent"};
  copies.begin(on_device("halo"), sent.side());
  TestView const grown{2 * MiB, "grown"};
  std::copy_n(sent.data, MiB, grown.data);
  sent.destroy();
  CHECK(copies.races() == 0);
  copies.end();
}

TEST_CASE("failure 19: the system reads and writes a buffer for MPI as soon as its copy is done",
          "[.guard]") {
  Copies copies;
  TestView const buffer{MiB, "buffer"};
  copies.begin(buffer.side(), on_device("halo"));
  copies.end();
  // No handler of SIGSEGV opens pages for the system, which would return EFAULT.
  int const zeros = open("/dev/zero", O_RDONLY);
  CHECK(read(zeros, const_cast<char*>(buffer.data), MiB) == static_cast<ssize_t>(MiB));
  close(zeros);
  CHECK(buffer.data[MiB - 1] == 0);
}
