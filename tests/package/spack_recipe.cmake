# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# The Spack recipe is Python, and has the versions that can be fetched: those which the changelog gives a date, by
# their tags; while there is none, the branch is preferred. The index at the root leads to the recipe.
# cmake -D RECIPE=<package.py> -D VERSION=<version> -D PYTHON=<python3, or false> -P spack_recipe.cmake

cmake_minimum_required(VERSION 3.25)
cmake_path(SET root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../)

file(READ ${RECIPE} recipe)
file(STRINGS ${root}CHANGELOG.md headings REGEX "^## .[0-9.]+. - ")
set(known OFF)
set(released OFF)
foreach(heading IN LISTS headings)
  string(REGEX MATCH "([0-9.]+). - (.*)$" heading "${heading}")
  set(version ${CMAKE_MATCH_1})
  set(date ${CMAKE_MATCH_2})
  if(version STREQUAL VERSION)
    set(known ON)
  endif()
  string(FIND "${recipe}" "version(\"${version}\", tag=\"v${version}\")" found)
  if(date STREQUAL "unreleased" AND NOT found EQUAL -1)
    message(SEND_ERROR "${RECIPE} has version ${version}, which CHANGELOG.md calls unreleased (there is no tag to fetch): remove it, or write the date of the release")
  elseif(NOT date STREQUAL "unreleased")
    set(released ON)
    if(found EQUAL -1)
      message(SEND_ERROR "${RECIPE} has no version ${version} (released ${date}): add a line version(\"${version}\", tag=\"v${version}\")")
    endif()
  endif()
endforeach()
if(NOT known)
  message(SEND_ERROR "CHANGELOG.md has no version ${VERSION} (the project's): add a heading \"## [${VERSION}] - unreleased\"")
endif()

string(REGEX MATCH "version\\(\"main\", branch=\"main\"(, preferred=True)?\\)" main "${recipe}")
if(CMAKE_MATCH_1)
  set(preferred ON)
else()
  set(preferred OFF)
endif()
if(NOT main OR preferred STREQUAL released)
  message(SEND_ERROR "${RECIPE} has to prefer the branch main exactly while nothing is released (else Spack installs by default what is not there, or not the release): see its line version(\"main\", ...)")
endif()

cmake_path(GET RECIPE PARENT_PATH repository)
cmake_path(SET repository NORMALIZE ${repository}/../../)
file(STRINGS ${root}spack-repo-index.yaml paths REGEX "^ +- ")
list(TRANSFORM paths REPLACE "^ +- " "${root}")
list(TRANSFORM paths APPEND "/")
if(NOT repository IN_LIST paths)
  message(SEND_ERROR "spack-repo-index.yaml does not name ${repository} (where the recipe is), so that \"spack repo add <address>\" fails: it names ${paths}")
endif()

if(NOT PYTHON)
  message("skipped: there is no python3 to read the recipe")
  return()
endif()
execute_process(COMMAND ${PYTHON} -c "import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])" ${RECIPE}
  COMMAND_ERROR_IS_FATAL ANY)
