// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the audit reads beside events, and how it writes names.

#include "../../perf/tools/audit/Findings.hpp"
#include "../support/Tests.hpp"

namespace KokkosHostSpaces::Audit {

TEST_CASE("labels are shown on one line, in ASCII", "[audit]") {
  CHECK(quoted("") == "(no label)");
  CHECK(quoted("a\nb") == "`a\\x0ab`");
  CHECK(quoted("a\x9b") == "`a\\x9b`");  // what terminals take for ESC and [
  CHECK(shown(std::string(5000, 'x')).size() < 80);
  CHECK(shown("Fl\u00e4che") == "Fl\\xc3\\xa4che");
}

TEST_CASE("the launcher's variables name the rank, if they are numbers", "[audit]") {
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
  CHECK(this_process().name().starts_with("rank 3 of 8 on "));
  CHECK_THAT(table_of({}, this_process(), 1), ContainsSubstring("rank 3 of 8 on "));
  setenv("OMPI_COMM_WORLD_RANK", "3; or worse", 1);
  CHECK(this_process().rank.find("worse") == std::string::npos);
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

TEST_CASE("each rank has a file of its own", "[audit]") {
  Process process;
  CHECK(file_of("a/audit.txt", process) == "a/audit.txt");
  process.rank = "3";
  CHECK(file_of("a/audit.txt", process) == "a/audit.3.txt");
  CHECK(file_of("a.b/audit", process) == "a.b/audit.3");
  CHECK(file_of("/.audit", process) == "/.audit.3");
  process.size = "1";
  CHECK(file_of("audit.txt", process) == "audit.txt");
}

}  // namespace KokkosHostSpaces::Audit
