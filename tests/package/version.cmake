# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# The installed package is seen, but not taken for this version:
# cmake -D VERSION=<version> -D FOLDER=<of the package's files> -P version.cmake

find_package(KokkosHostSpaces ${VERSION} CONFIG QUIET PATHS ${FOLDER} NO_DEFAULT_PATH)
if(KokkosHostSpaces_FOUND)
  message(FATAL_ERROR "${KokkosHostSpaces_VERSION} was taken for ${VERSION}")
elseif(NOT KokkosHostSpaces_CONSIDERED_VERSIONS)
  message(FATAL_ERROR "not refused, but not there: ${FOLDER}")
endif()
