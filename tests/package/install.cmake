# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Installs into an empty prefix: cmake -D BUILD=<folder> -D WORK=<folder> -P install.cmake

file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix
  COMMAND_ERROR_IS_FATAL ANY)
