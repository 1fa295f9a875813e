// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The functions that Kokkos calls, with anything that a program may hand over.

#include "Audited.hpp"
#include "../support/Tests.hpp"

#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

namespace KokkosHostSpaces::Audit {
namespace {

constexpr std::uint64_t mib = 1 << 20;
char bytes_of_all[210 * mib];  // is read, and never written

void copy(char const* to, char const* from, std::uint64_t bytes = 1000) {
  kokkosp_begin_deep_copy(space("Cuda"), to, bytes_of_all, space("Host"), from, bytes_of_all + 1,
                          bytes);
  kokkosp_end_deep_copy();
}

void make(char const* in, char const* label, std::uint64_t bytes, int times = 1) {
  for (int i = 0; i != times; ++i) {
    kokkosp_allocate_data(space(in), label, bytes_of_all, bytes);
    kokkosp_deallocate_data(space(in), label, bytes_of_all, bytes);
  }
}

}  // namespace

TEST_CASE("Kokkos is asked for no fences around kernels", "[audit]") {
  ToolSettings settings{};
  settings.requires_global_fencing = true;
  kokkosp_request_tool_settings(1, &settings);
  CHECK_FALSE(settings.requires_global_fencing);
  kokkosp_request_tool_settings(1, nullptr);
}

TEST_CASE("events without the others of their kind do no harm", "[audit]") {
  auto const result = audited([] {
    kokkosp_end_deep_copy();
    kokkosp_end_fence(7);
    kokkosp_begin_fence(nullptr, 0xffffffff, nullptr);
    kokkosp_begin_fence("again", 0, nullptr);
    kokkosp_begin_parallel_for(nullptr, 0, nullptr);
    kokkosp_init_library(0, 0, 0, nullptr);
    copy("a", "b");
    kokkosp_begin_deep_copy(space("Cuda"), "a", bytes_of_all, space("Host"), "b", bytes_of_all + 1,
                            8);
  });
  CHECK_THAT(result.text, ContainsSubstring("in copies (1)"));
}

TEST_CASE("what was reported is not reported again", "[audit]") {
  copy("early", "b");
  auto const first = audited([] { copy("a", "b"); });
  CHECK_THAT(first.text, ContainsSubstring("`a`"));
  CapturedStderr const captured;
  kokkosp_finalize_library();
  CHECK(captured.text().empty());
  auto const second = audited([] { copy("c", "b"); });
  CHECK_THAT(second.text, ContainsSubstring("in copies (1)"));
  CHECK_THAT(second.text, !ContainsSubstring("`a`"));
}

TEST_CASE("page-locked memory of all spaces counts together, at its peak", "[audit]") {
  auto const result = audited([] {
    kokkosp_allocate_data(space("Host"), "pageable", bytes_of_all, 1000 * mib);
    kokkosp_allocate_data(space("CudaHostPinned"), "of CUDA", bytes_of_all, 32 * mib);
    make("Mapped", "first", 100 * mib);
    make("WriteCombined", "second", 200 * mib);
    kokkosp_deallocate_data(space("CudaHostPinned"), "of CUDA", bytes_of_all, 32 * mib);
    make("Pinned", "third", 210 * mib);
  });
  CHECK_THAT(result.text, ContainsSubstring("Page-locked at once: at most 232 MiB; ") &&
                              ContainsSubstring("no KOKKOS_HOST_SPACES_POOL_LIMIT below 580M\n") &&
                              ContainsSubstring("Nothing to mend."));
  auto const none = audited([] { make("Host", "pageable", mib); });
  CHECK_THAT(none.text, !ContainsSubstring("Page-locked"));
}

TEST_CASE("Views that are made and freed again and again are told of, where a pool spares that",
          "[audit]") {
  auto const result = audited([] {
    make("Host", "message", mib, 100);
    make("CudaHostPinned", "small message", 100, 10);
    make("CudaHostPinned", "rare", mib, 9);
    make("Host", "of malloc", 1000, 100);
    make("Pinned", "of our pool", mib, 100);
    make("Cuda", "of the device", mib, 100);
    for (int i = 0; i != 100; ++i) kokkosp_allocate_data(space("Host"), "kept", bytes_of_all, mib);
  });
  CHECK_THAT(result.text, ContainsSubstring("100 times    100 MiB in all  `message` (Host)\n") &&
                              ContainsSubstring("`small message` (CudaHostPinned)"));
  for (char const* other : {"rare", "of malloc", "of our pool", "of the device", "kept", "Nothing"})
    CHECK_THAT(result.text, !ContainsSubstring(other));
}

TEST_CASE("a DualView with a pageable side shall be a PinnedDualView", "[audit]") {
  auto const result = audited([] {
    kokkosp_begin_deep_copy(space("Host"), "x_mirror", bytes_of_all, space("Cuda"), "x",
                            bytes_of_all + 1, mib);
    kokkosp_end_deep_copy();
    kokkosp_dual_view_sync("x_mirror", bytes_of_all, false);
    copy("y", "halo", mib);
    kokkosp_begin_parallel_for("other work", 0, nullptr);
    kokkosp_dual_view_sync("z", bytes_of_all, true);
  });
  CHECK_THAT(result.text, ContainsSubstring("make the DualView `x` a PinnedDualView: ") &&
                              ContainsSubstring("put `halo` into PinnedSpace: ") &&
                              !ContainsSubstring("put `x_mirror`"));
}

TEST_CASE("a table that files of several ranks have is to be shared", "[audit]") {
  namespace fs    = std::filesystem;
  auto const file = [](std::string const& rank) {
    return fs::temp_directory_path() /
           ("khs_audit_" + std::to_string(getpid()) + "." + rank + ".txt");
  };
  auto const first_rank_wrote = [&](int hours_from_now) {
    fs::last_write_time(file("0"),
                        fs::file_time_type::clock::now() + std::chrono::hours(hours_from_now));
  };
  std::vector<int> table(mib / sizeof(int));
  auto const is_found_by = [&](char const* rank) {
    auto const result = audited([&] {
      setenv("OMPI_COMM_WORLD_RANK", rank, 1);
      kokkosp_allocate_data(space("Pinned"), "table", table.data(), mib);
      kokkosp_deallocate_data(space("Pinned"), "table", table.data(), mib);
    });
    unsetenv("OMPI_COMM_WORLD_RANK");
    return result.text.find("2 ranks have: `table` (Pinned), 1 MiB, contents like") !=
           std::string::npos;
  };
  CHECK_FALSE(is_found_by("0"));
  first_rank_wrote(1);
  CHECK_FALSE(is_found_by("1"));  // zeros, as many a View has
  std::iota(table.begin(), table.end(), 0);
  CHECK_FALSE(is_found_by("0"));
  first_rank_wrote(1);
  CHECK(is_found_by("1"));
  std::iota(table.begin(), table.end(), 1);
  CHECK_FALSE(is_found_by("1"));
  std::iota(table.begin(), table.end(), 0);
  first_rank_wrote(-1);  // in an earlier run
  CHECK_FALSE(is_found_by("1"));
  for (char const* rank : {"0", "1"}) fs::remove(file(rank));
}

TEST_CASE("copies of several threads are all counted", "[audit]") {
  auto const result = audited([] {
    std::vector<std::thread> threads;
    for (int t = 0; t != 4; ++t)
      threads.emplace_back([t] {
        for (int i = 0; i != 50000; ++i) copy(i % 100 == t ? "rare" : "a", "b");
      });
    for (std::thread& thread : threads) thread.join();
  });
  CHECK_THAT(result.text, ContainsSubstring(" 198000 "));
}

TEST_CASE("a child of fork says nothing, and waits for no thread of its parent", "[audit]") {
  int finished      = 0;
  auto const result = audited([&] {
    std::atomic<bool> end = false;
    std::thread other([&] {
      while (!end) copy("other", "b");
    });
    for (int i = 0; i != 50; ++i) {
      pid_t const child = fork();
      if (child == 0) {
        alarm(20);  // ends it, if it hangs
        copy("of a child", "b");
        kokkosp_finalize_library();
        _exit(0);
      }
      int status = -1;
      waitpid(child, &status, 0);
      finished += status == 0;
      if (status != 0) break;
    }
    end = true;
    other.join();
  });
  CHECK(finished == 50);
  CHECK(result.text.find("Kokkos copy audit") == result.text.rfind("Kokkos copy audit"));
  CHECK_THAT(result.text, ContainsSubstring("other") && !ContainsSubstring("of a child"));
}

TEST_CASE("a file has all lines, of which stderr has the most expensive ones", "[audit]") {
  auto const result = audited([] {
    for (int i = 0; i != 50; ++i) copy(("to " + std::to_string(i)).c_str(), "b");
  });
  auto const lines  = [](std::string const& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("<- `b` (Host)", at)) != text.npos; ++at) ++count;
    return count;
  };
  CHECK(lines(result.file) == 50);
  CHECK(lines(result.text) == 30);
  CHECK_THAT(result.text, ContainsSubstring("and 20 more: all are in the file"));
}

TEST_CASE("a file that cannot be written is told of, and nothing else happens", "[audit]") {
  CapturedStderr const captured;
  kokkosp_init_library(0, 0, 0, nullptr);
  copy("a", "b");
  setenv("KOKKOS_HOST_SPACES_AUDIT", "/no/such/folder/audit.txt", 1);
  kokkosp_finalize_library();
  unsetenv("KOKKOS_HOST_SPACES_AUDIT");
  CHECK_THAT(captured.text(), ContainsSubstring("cannot write all to /no/such/folder/audit.txt"));
}

}  // namespace KokkosHostSpaces::Audit
