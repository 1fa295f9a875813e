# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Finds hwloc, makes the target hwloc::hwloc. Installed with our package: its config file needs it.

find_path(hwloc_INCLUDE_DIR hwloc.h)
find_library(hwloc_LIBRARY hwloc)
find_file(hwloc_CONFIG_HEADER hwloc/autogen/config.h HINTS ${hwloc_INCLUDE_DIR})
mark_as_advanced(hwloc_INCLUDE_DIR hwloc_LIBRARY hwloc_CONFIG_HEADER)
if(hwloc_CONFIG_HEADER)
  file(STRINGS ${hwloc_CONFIG_HEADER} hwloc_VERSION REGEX "define HWLOC_VERSION \"")
  string(REGEX MATCH "[0-9.]+" hwloc_VERSION "${hwloc_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hwloc
  REQUIRED_VARS hwloc_LIBRARY hwloc_INCLUDE_DIR VERSION_VAR hwloc_VERSION
  REASON_FAILURE_MESSAGE "install its development package (libhwloc-dev on Debian and Ubuntu, \
hwloc-devel on Fedora), or name the folder it is installed in by -Dhwloc_ROOT=...")

if(hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(hwloc::hwloc PROPERTIES
    IMPORTED_LOCATION ${hwloc_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${hwloc_INCLUDE_DIR})
endif()
