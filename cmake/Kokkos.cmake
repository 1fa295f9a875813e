# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Chooses the Kokkos: the one that the surrounding project has; else the first installed one whose
# version fits and which has CUDA, or has not, as KokkosHostSpaces_ENABLE_CUDA says (if that is not
# set, either will do); else the pinned archive.
# Then KokkosHostSpaces_ENABLE_CUDA tells what the chosen Kokkos has.

# Minor releases with which all tests passed. Others of the same major version are probed.
set(_khs_tested_kokkos 5.0 5.2)
option(KokkosHostSpaces_ALLOW_UNTESTED_KOKKOS "Also probe a Kokkos with a newer major version, instead of refusing it" OFF)

# Sets `result` to the reason why a Kokkos of this version and with these devices cannot be used; to
# nothing if it can.
function(_khs_objection result version devices)
  set(objection)
  if(version VERSION_LESS 5.0)
    set(objection "version ${version} is too old: install Kokkos 5.0 or later")
  elseif(version VERSION_GREATER_EQUAL 6 AND NOT KokkosHostSpaces_ALLOW_UNTESTED_KOKKOS)
    set(objection "version ${version} is too new: install Kokkos 5, or a newer release of this library, \
or try it with -DKokkosHostSpaces_ALLOW_UNTESTED_KOKKOS=ON")
  elseif(devices MATCHES "OPENMPTARGET|OPENACC")
    set(objection "has the device ${CMAKE_MATCH_0}, which has no pinned space: use a Kokkos with CUDA, HIP or SYCL, \
or one without a device")
  elseif(DEFINED KokkosHostSpaces_ENABLE_CUDA)
    if("CUDA" IN_LIST devices AND NOT KokkosHostSpaces_ENABLE_CUDA)
      set(objection "has CUDA, and KokkosHostSpaces_ENABLE_CUDA is OFF")
    elseif(KokkosHostSpaces_ENABLE_CUDA AND NOT "CUDA" IN_LIST devices)
      set(objection "has no CUDA, and KokkosHostSpaces_ENABLE_CUDA is ON")
    endif()
  endif()
  set(${result} "${objection}" PARENT_SCOPE)
endfunction()

# Stops if none of the folders named by Kokkos_ROOT has a Kokkos: another one is not what is wanted.
function(_khs_check_root roots configs)
  foreach(root IN LISTS roots)
    foreach(config IN LISTS configs)
      cmake_path(IS_PREFIX root ${config} NORMALIZE found)
      if(found)
        return()
      endif()
    endforeach()
  endforeach()
  message(FATAL_ERROR "There is no Kokkos in ${roots} (Kokkos_ROOT): correct it, or unset it to have one found or built.")
endfunction()

# Stops if a shared library cannot be linked to the chosen Kokkos, instead of the linker much later.
function(_khs_check_relocatable)
  get_target_property(type Kokkos::kokkoscore TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    if(_khs_imported)
      get_target_property(configurations Kokkos::kokkoscore IMPORTED_CONFIGURATIONS)
      list(GET configurations 0 configuration)
      get_target_property(archive Kokkos::kokkoscore IMPORTED_LOCATION_${configuration})
      # Links all of it to a shared library: nothing has to be resolved, but everything moved.
      try_compile(relocatable
        SOURCE_FROM_CONTENT empty.cpp ""
        COMPILE_DEFINITIONS -fPIC
        LINK_OPTIONS -shared -Wl,--whole-archive ${archive} -Wl,--no-whole-archive
        NO_CACHE)
    else()
      set(archive "this build")
      get_target_property(relocatable Kokkos::kokkoscore POSITION_INDEPENDENT_CODE)
    endif()
    if(NOT relocatable)
      message(FATAL_ERROR
        "A shared library cannot be linked to this Kokkos (${archive}: static, and not position-independent): "
        "build Kokkos with -DBUILD_SHARED_LIBS=ON or with -DCMAKE_POSITION_INDEPENDENT_CODE=ON, "
        "or this library with -DKokkosHostSpaces_BUILD_SHARED=OFF")
    endif()
  endif()
endfunction()

file(TO_CMAKE_PATH "${Kokkos_ROOT};$ENV{Kokkos_ROOT}" _khs_named_kokkos)
list(REMOVE_ITEM _khs_named_kokkos "")
set(_khs_earlier_kokkos ${Kokkos_DIR})
set(_khs_refused)
if(NOT TARGET Kokkos::kokkos)
  # Asked for a version that nobody has, find_package loads nothing and lists what there is.
  find_package(Kokkos 999 CONFIG QUIET)
  if(_khs_named_kokkos AND NOT CMAKE_DISABLE_FIND_PACKAGE_Kokkos)
    _khs_check_root("${_khs_named_kokkos}" "${Kokkos_CONSIDERED_CONFIGS}")
  endif()
  foreach(config version IN ZIP_LISTS Kokkos_CONSIDERED_CONFIGS Kokkos_CONSIDERED_VERSIONS)
    cmake_path(GET config PARENT_PATH folder)
    set(devices)
    if(EXISTS ${folder}/KokkosConfigCommon.cmake)
      file(STRINGS ${folder}/KokkosConfigCommon.cmake devices REGEX "^set\\(Kokkos_DEVICES ")
      string(REGEX MATCHALL "[A-Z]+" devices "${devices}")
    endif()
    _khs_objection(objection "${version}" "${devices}")
    if(NOT objection)
      set(Kokkos_DIR ${folder} CACHE PATH "Folder of KokkosConfig.cmake" FORCE)
      find_package(Kokkos CONFIG REQUIRED GLOBAL)
      break()
    endif()
    list(APPEND _khs_refused "${folder}: ${objection}")
    if(_khs_named_kokkos)
      break()  # it is looked at first, and nobody wants another one then
    endif()
  endforeach()
  if(_khs_refused AND NOT TARGET Kokkos::kokkos AND (_khs_named_kokkos OR _khs_earlier_kokkos))
    list(JOIN _khs_refused "\n  " _khs_refused)
    message(FATAL_ERROR "The Kokkos named by Kokkos_ROOT or Kokkos_DIR cannot be used. The one in\n  ${_khs_refused}\n"
                        "Name another, or none to build the pinned one.")
  endif()
endif()

if(NOT TARGET Kokkos::kokkos)
  # ThreadSanitizer does not understand the synchronisation inside GNU's OpenMP library.
  find_package(OpenMP QUIET COMPONENTS CXX)
  if(OpenMP_CXX_FOUND AND NOT KokkosHostSpaces_SANITIZE STREQUAL "thread")
    option(Kokkos_ENABLE_OPENMP "Kokkos with OpenMP" ON)
  endif()
  option(Kokkos_ENABLE_SERIAL "Kokkos with Serial" ON)
  option(Kokkos_ENABLE_HWLOC "Kokkos with hwloc" ${KokkosHostSpaces_ENABLE_HWLOC})
  if(DEFINED KokkosHostSpaces_ENABLE_CUDA)
    set(Kokkos_ENABLE_CUDA ${KokkosHostSpaces_ENABLE_CUDA} CACHE BOOL "Kokkos with CUDA" FORCE)
  endif()
  khs_add_archive(kokkos-5.0.2
    188817bb452ca805ee8701f1c5adbbb4fb83dc8d1c50624566a18a719ba0fa5e
    https://github.com/kokkos/kokkos/releases/download/5.0.2/kokkos-5.0.2.tar.gz
    pool/main/k/kokkos/kokkos_5.0.2.orig.tar.gz)
endif()

# What a Kokkos knows that the surrounding project found, or that is built along.
get_target_property(_khs_imported Kokkos::kokkos IMPORTED)
if(NOT _khs_imported)
  get_target_property(_khs_folder Kokkos::kokkoscore SOURCE_DIR)
  get_directory_property(Kokkos_VERSION DIRECTORY ${_khs_folder} DEFINITION Kokkos_VERSION)
  get_directory_property(Kokkos_DEVICES DIRECTORY ${_khs_folder} DEFINITION KOKKOS_ENABLED_DEVICES)
  get_directory_property(Kokkos_COMPILE_LANGUAGE DIRECTORY ${_khs_folder} DEFINITION KOKKOS_COMPILE_LANGUAGE)
  get_directory_property(Kokkos_CUDA_ARCHITECTURES DIRECTORY ${_khs_folder} DEFINITION KOKKOS_CUDA_ARCHITECTURES)
elseif(NOT Kokkos_DEVICES)
  find_package(Kokkos CONFIG REQUIRED)
endif()
_khs_objection(_khs_objection "${Kokkos_VERSION}" "${Kokkos_DEVICES}")
if(_khs_objection)
  message(FATAL_ERROR "The Kokkos of this build cannot be used: ${_khs_objection}")
endif()
if(CUDA IN_LIST Kokkos_DEVICES)
  set(KokkosHostSpaces_ENABLE_CUDA ON)
else()
  set(KokkosHostSpaces_ENABLE_CUDA OFF)
endif()
# Another device is left to Kokkos: memory of its own pinned space, and its own copies.
set(_khs_stock_device)
if(Kokkos_DEVICES MATCHES "HIP|SYCL")
  set(_khs_stock_device ${CMAKE_MATCH_0})
endif()
if(Kokkos_COMPILE_LANGUAGE STREQUAL "CUDA")
  set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES})
  enable_language(CUDA)
endif()
if(KokkosHostSpaces_BUILD_SHARED)
  _khs_check_relocatable()
endif()

string(REGEX MATCHALL "[0-9]+" _khs_numbers "${Kokkos_VERSION}.0.0")
list(GET _khs_numbers 0 1 2 _khs_numbers)
# Kokkos' branch develop, such as 5.2.99, has what the next minor release will have.
string(REGEX MATCH "^[0-9]+[.][0-9]+([.]99)?" _khs_kokkos_minor "${Kokkos_VERSION}")
list(TRANSFORM _khs_numbers REPLACE "^0+(.)" "\\1")
list(JOIN _khs_numbers ") * 100 + " _khs_kokkos_number)
math(EXPR _khs_kokkos_number "((${_khs_kokkos_number}")
set(_khs_untested)
if(NOT _khs_kokkos_minor IN_LIST _khs_tested_kokkos)
  set(_khs_untested ", not tested")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/BuiltForKokkos.hpp.in
  ${PROJECT_BINARY_DIR}/include/KokkosHostSpaces/impl/core/BuiltForKokkos.hpp @ONLY)

# Says what was chosen, and what was not: to be called last, so that nobody has to look for it.
function(khs_say_which_kokkos)
  foreach(reason IN LISTS _khs_refused)
    message(STATUS "Passed over the Kokkos in ${reason}")
  endforeach()
  set(whose "${Kokkos_DIR}")
  if(NOT _khs_imported)
    set(whose "built along")
  endif()
  set(what "for CUDA")
  if(_khs_stock_device)
    set(what "for ${_khs_stock_device} by memory and copies of Kokkos: names and semantics are there, gains are not")
  elseif(NOT KokkosHostSpaces_ENABLE_CUDA)
    set(what "for the host only")
    find_program(_khs_nvcc nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
    if(_khs_nvcc AND NOT KokkosHostSpaces_SANITIZE)
      string(APPEND what ", although ${_khs_nvcc} is there (for CUDA: -DKokkosHostSpaces_ENABLE_CUDA=ON)")
    endif()
  endif()
  if(_khs_untested)
    message(STATUS "Kokkos ${Kokkos_VERSION} was not tested with this library; all calls that are this library's reach it")
  endif()
  message(STATUS "Kokkos Host Spaces ${what}, with Kokkos ${Kokkos_VERSION} (${whose})")
endfunction()
