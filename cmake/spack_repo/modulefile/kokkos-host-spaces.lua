-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
-- SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

-- A module for Lmod, for what was installed with CMake. Change the two prefixes, and put the file in the
-- module path as kokkos-host-spaces/1.0.0.lua.

local prefix = "/opt/kokkos-host-spaces/1.0.0"
local kokkos = "/opt/kokkos/5.0.2"

help([[Kokkos memory spaces for host memory that a GPU reaches.
In CMake: find_package(KokkosHostSpaces) and KokkosHostSpaces::hostspaces.]])
whatis("Name: Kokkos Host Spaces")
whatis("Version: 1.0.0")

conflict("kokkos-host-spaces")
prepend_path("CMAKE_PREFIX_PATH", kokkos)
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
