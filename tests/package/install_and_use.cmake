# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
# A Kokkos that was built along has been installed with us; another one is where it was found.
if(NOT EXISTS ${KOKKOS}/KokkosConfig.cmake)
  set(KOKKOS "")
endif()
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -D PROGRAM=${PROGRAM} -D Kokkos_ROOT=${KOKKOS}
  "-DCMAKE_PREFIX_PATH=${WORK}/prefix;${PREFIX_PATH}")
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/my_code)
