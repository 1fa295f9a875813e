# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# The Spack recipe is Python, and has the version of the project:
# cmake -D RECIPE=<package.py> -D VERSION=<version> -D PYTHON=<python3, or false> -P spack_recipe.cmake

file(READ ${RECIPE} recipe)
string(FIND "${recipe}" "version(\"${VERSION}\"," found)
if(found EQUAL -1)
  message(FATAL_ERROR "${RECIPE} has no version ${VERSION} (the project's): add a line version(\"${VERSION}\", tag=\"v${VERSION}\")")
endif()
if(NOT PYTHON)
  message("skipped: there is no python3 to read the recipe")
  return()
endif()
execute_process(COMMAND ${PYTHON} -c "import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])" ${RECIPE}
  COMMAND_ERROR_IS_FATAL ANY)
