# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Installs the library as the package KokkosHostSpaces; a Kokkos that was built along goes with it.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

if(KokkosHostSpaces_ENABLE_ADOPT)
  install(TARGETS hostspaces_adopt EXPORT KokkosHostSpacesTargets)
  install(TARGETS kokkos_host_spaces_run)
endif()
if(NOT KokkosHostSpaces_ENABLE_KOKKOS)
  return()
endif()

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
install(FILES ${PROJECT_BINARY_DIR}/include/KokkosHostSpaces/impl/core/BuiltForKokkos.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/KokkosHostSpaces/impl/core)
install(EXPORT KokkosHostSpacesTargets NAMESPACE KokkosHostSpaces:: DESTINATION ${_khs_package})

list(SORT Kokkos_DEVICES)
list(JOIN Kokkos_DEVICES ", " _khs_devices)
# Where Kokkos was found; one that was built along is installed with this library.
set(_khs_kokkos_hint)
cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${Kokkos_DIR}" _khs_built_along)
if(Kokkos_DIR AND NOT _khs_built_along)
  set(_khs_kokkos_hint ${Kokkos_DIR})
endif()
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

# A module for Lmod that sets what the one does which Spack makes: `module use <prefix>/share/kokkos_host_spaces/modulefiles`.
set(_khs_needed)
if(_khs_imported)
  string(REGEX REPLACE "/(lib|share)[^/]*(/[^/]*)?/cmake/Kokkos/?$" "" _khs_prefix ${Kokkos_DIR})
  list(APPEND _khs_needed ${_khs_prefix})
endif()
if(KokkosHostSpaces_ENABLE_CUDA)
  cmake_path(GET CUDAToolkit_BIN_DIR PARENT_PATH _khs_prefix)
  list(APPEND _khs_needed ${_khs_prefix})
endif()
if(KokkosHostSpaces_ENABLE_HWLOC)
  cmake_path(GET hwloc_INCLUDE_DIR PARENT_PATH _khs_prefix)
  list(APPEND _khs_needed ${_khs_prefix})
endif()
list(REMOVE_ITEM _khs_needed /usr)
list(TRANSFORM _khs_needed REPLACE "(.+)" "\"\\1\", " OUTPUT_VARIABLE _khs_needed)
list(JOIN _khs_needed "" _khs_needed)
set(_khs_module ${CMAKE_INSTALL_DATADIR}/kokkos_host_spaces/modulefiles/kokkos-host-spaces/${PROJECT_VERSION}.lua)
install(CODE "
  set(PROJECT_VERSION ${PROJECT_VERSION})
  set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
  set(_khs_prefixes [[${_khs_needed}]])
  string(APPEND _khs_prefixes \"\\\"\${CMAKE_INSTALL_PREFIX}\\\"\")
  configure_file(\"${PROJECT_SOURCE_DIR}/cmake/modulefile.lua.in\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${_khs_module}\" @ONLY)
  message(STATUS \"Installing: \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${_khs_module}\")")
