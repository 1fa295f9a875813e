# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Stops if a shared library cannot be linked to the chosen Kokkos, instead of the linker much later.

get_target_property(_khs_type Kokkos::kokkoscore TYPE)
if(_khs_type STREQUAL "STATIC_LIBRARY")
  if(_khs_imported)
    get_target_property(_khs_configurations Kokkos::kokkoscore IMPORTED_CONFIGURATIONS)
    list(GET _khs_configurations 0 _khs_configuration)
    get_target_property(_khs_archive Kokkos::kokkoscore IMPORTED_LOCATION_${_khs_configuration})
    # Links all of it to a shared library: nothing has to be resolved, but everything moved.
    try_compile(_khs_relocatable
      SOURCE_FROM_CONTENT empty.cpp ""
      COMPILE_DEFINITIONS -fPIC
      LINK_OPTIONS -shared -Wl,--whole-archive ${_khs_archive} -Wl,--no-whole-archive
      NO_CACHE)
  else()
    set(_khs_archive "this build")
    get_target_property(_khs_relocatable Kokkos::kokkoscore POSITION_INDEPENDENT_CODE)
  endif()
  if(NOT _khs_relocatable)
    message(FATAL_ERROR
      "A shared library cannot be linked to this Kokkos (${_khs_archive}: static, and not position-independent): "
      "build Kokkos with -DBUILD_SHARED_LIBS=ON or with -DCMAKE_POSITION_INDEPENDENT_CODE=ON, "
      "or this library with -DKokkosHostSpaces_BUILD_SHARED=OFF")
  endif()
endif()
