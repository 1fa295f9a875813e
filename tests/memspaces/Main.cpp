// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <Kokkos_Core.hpp>
#include <catch2/catch_session.hpp>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos;
  return Catch::Session().run(argc, argv);
}
