# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Checks who may know what: cmake -D ROOT=<source folder> -P layers.cmake

# Fails if a source below `folder` has a line that matches `pattern`, except where its path matches `allowed`; of sources
# whose path matches `only`, if it is given.
function(forbid folder pattern allowed why)
  set(only .)
  if(ARGC GREATER 4)
    set(only ${ARGV4})
  endif()
  file(GLOB_RECURSE sources ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.in)
  list(FILTER sources INCLUDE REGEX "${only}")
  if(NOT sources)
    message(SEND_ERROR "no sources in ${ROOT}/${folder}: nothing was checked")
  endif()
  foreach(source IN LISTS sources)
    if(allowed AND source MATCHES "/${allowed}")
      continue()
    endif()
    file(STRINGS ${source} lines REGEX "${pattern}")
    foreach(line IN LISTS lines)
      if(NOT line MATCHES "^[ ]*//")
        message(SEND_ERROR "${source}: ${why}: ${line}")
      endif()
    endforeach()
  endforeach()
endfunction()

set(include "^[ \t]*#[ \t]*include[ \t]*[<\"]")
set(system "(sys/|unistd|pthread|sched|fcntl|dlfcn|linux/|numa|hwloc)")

forbid(backend "${include}.*[Kk]okkos" "" "backend/ never includes Kokkos")
forbid(backend "${include}cuda" "backend/cuda/" "only backend/cuda/ includes CUDA")
forbid(backend "(^|[^A-Za-z0-9_])cu(da)?[A-Z][A-Za-z0-9]*[ ]*\\(" "backend/cuda/" "only backend/cuda/ calls CUDA")
forbid(backend "${include}hwloc" "backend/os/" "only backend/os/ includes hwloc")
forbid(memspaces "${include}cuda" "" "memspaces/ never includes CUDA")
forbid(memspaces "${include}${system}" "" "memspaces/ never includes system headers")
forbid(memspaces "(^|[^A-Za-z0-9_])cu(da)?[A-Z][A-Za-z0-9]*[ ]*\\(" "" "memspaces/ never calls CUDA")
forbid(memspaces "(Kokkos::Impl::|KOKKOS_IMPL_|impl/Kokkos_)" "(include/KokkosHostSpaces/impl/KokkosGlue.hpp|src/Records.cpp)"
  "only KokkosGlue.hpp, and Records.cpp for it, touches Kokkos' internals")
forbid(perf "${include}cuda" "perf/(plain|suite)/.*Cuda\\.[ch]pp" "only plain sides in CUDA include CUDA")
forbid(perf "(^|[^A-Za-z0-9_])cu(da)?[A-Z][A-Za-z0-9]*[ ]*\\(" "perf/(plain|suite)/.*Cuda\\.[ch]pp" "only plain sides in CUDA call CUDA")
forbid(perf "${include}.*(hwloc|numa\\.h)" "perf/suite/Binding.cpp" "only the binding of ranks includes hwloc")
forbid(perf/support "${include}(Kokkos|[.][.])" "" "perf/support/ includes nothing of ours")
forbid(perf/plain "${include}.*(Kokkos|backend/|suite/|info/)" "" "perf/plain/ includes perf/support/ alone")
forbid(perf/suite "${include}.*(backend/|info/)" "" "perf/suite/ takes the library as its users do")
forbid(perf/suite "${include}(<Kokkos|.*(Pair|Instance|Contents)\\.hpp)" "" "twins include neither Kokkos nor this library"
  "(Twin\\.hpp|Cuda\\.[ch]pp|Host\\.cpp|TouchedPages\\.[ch]pp)$")
forbid(perf/info "${include}.*(Kokkos|suite/)" "" "perf/info/ takes the backend alone")
