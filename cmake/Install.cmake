# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Installs the library as the package KokkosHostSpaces; a Kokkos that was built along goes with it.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(_khs_package ${CMAKE_INSTALL_LIBDIR}/cmake/KokkosHostSpaces)

install(TARGETS hostspaces hostspaces_everywhere EXPORT KokkosHostSpacesTargets
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(NOT KokkosHostSpaces_BUILD_SHARED)
  install(TARGETS hostspaces_backend_dependencies EXPORT KokkosHostSpacesTargets)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/memspaces/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/backend/Error.hpp ${PROJECT_SOURCE_DIR}/backend/MemoryKind.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/KokkosHostSpaces/backend)
install(FILES ${PROJECT_SOURCE_DIR}/backend/pool/Control.hpp ${PROJECT_SOURCE_DIR}/backend/pool/Statistics.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/KokkosHostSpaces/backend/pool)
install(EXPORT KokkosHostSpacesTargets NAMESPACE KokkosHostSpaces:: DESTINATION ${_khs_package})

string(REGEX MATCH "^[0-9]+\\.[0-9]+" _khs_kokkos_minor ${Kokkos_VERSION})
list(SORT Kokkos_DEVICES)
list(JOIN Kokkos_DEVICES ", " _khs_devices)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/KokkosHostSpacesConfig.cmake.in
  ${PROJECT_BINARY_DIR}/KokkosHostSpacesConfig.cmake INSTALL_DESTINATION ${_khs_package})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/KokkosHostSpacesConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KokkosHostSpacesConfig.cmake
              ${PROJECT_BINARY_DIR}/KokkosHostSpacesConfigVersion.cmake
        DESTINATION ${_khs_package})
if(KokkosHostSpaces_ENABLE_HWLOC)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/Findhwloc.cmake DESTINATION ${_khs_package})
endif()
