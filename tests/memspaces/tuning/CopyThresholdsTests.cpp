// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#include "../../support/Tests.hpp"

using namespace KokkosHostSpaces::Impl;

namespace {

void refuses(std::string const& text, std::string const& line, std::string const& what) {
  CAPTURE(text);
  CHECK_THROWS_MATCHES(
      read_copy_thresholds(text, "my.file"), KokkosHostSpaces::ConfigurationError,
      MessageMatches(ContainsSubstring("my.file, line " + line) && ContainsSubstring(what)));
}

}  // namespace

TEST_CASE("a file overrides the thresholds that it names, and no others", "[thresholds]") {
  CopyThresholds const table = read_copy_thresholds(
      "# of this machine\n\nequal_run_bytes 256\r\n  longest_of_8_pieces_by_kernel 0 \nfew_calls 7",
      "my.file");
  CHECK(table.equal_run_bytes == 256);
  CHECK(table.by_kernel[0].most_bytes == 0);
  CHECK(table.few_calls == 7);
  CHECK(table.by_kernel[1].most_bytes == copy_thresholds.by_kernel[1].most_bytes);
  CHECK(table.staging_bytes == copy_thresholds.staging_bytes);
}

TEST_CASE("an unknown name is refused with its line and the names that are allowed",
          "[thresholds]") {
  refuses("few_calls 7\nslabs 8\n", "2", "'slabs' is unknown");
  refuses("equal_run_byte 64", "1", "equal_run_bytes");
}

TEST_CASE("a bad value is refused with its line, its name and the values that are allowed",
          "[thresholds]") {
  for (std::string const value : {"", "0", "-1", "1e2", "64 KiB", "4097", "99999999999999999999"}) {
    refuses("equal_run_bytes " + value, "1", "'" + value + "' is no value of equal_run_bytes");
    refuses("equal_run_bytes " + value, "1", "a number from 1 to 4096");
  }
}

// ctest names a file with this value in KOKKOS_HOST_SPACES_THRESHOLDS.
TEST_CASE("copies are planned by the file of thresholds", "[.][thresholds_of_a_file]") {
  CHECK(copy_thresholds_in_use().equal_run_bytes == 4096);
  std::size_t const extents[] = {100, 100}, dense[] = {1, 100}, gaps[] = {1, 200};
  CHECK_FALSE(copy_engine_is_faster(make_copy_plan(8, 2, extents, dense, gaps), true));
}

// ctest names a file that does not exist, and a folder.
TEST_CASE("a file of thresholds that cannot be read is an error at each use",
          "[.][thresholds_of_no_file][thresholds_of_a_folder]") {
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH(
        copy_thresholds_in_use(),
        ContainsSubstring("KOKKOS_HOST_SPACES_THRESHOLDS") && ContainsSubstring("cannot be read"));
}
