# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Checks that an example uses each public header: a line each, with a name that the header declares.
# cmake -D ROOT=<source folder> -P headers_are_used.cmake

cmake_minimum_required(VERSION 3.25)

set(uses
  Allocator=khs::Allocator
  CaptureGuard=khs::pool::CaptureGuard
  DeepCopyAll=khs::deep_copy_all
  DeviceView=khs::device_view
  ElementSum=khs::element_sum
  ElementWise=khs::element_wise
  Error=khs::Error
  Exchange=khs::exchange
  Explain=khs::explain
  GraphCopy=khs::then_deep_copy
  MappedSpace=khs::MappedSpace
  MappedView=khs::mapped_view
  MultiPath=khs::MultiPath
  NodeShared=khs::NodeShared
  ParallelFor=khs::parallel_for
  ParallelReduce=khs::parallel_reduce
  PinnedDualView=khs::PinnedDualView
  PinnedMirror=khs::create_pinned_mirror_view
  PinnedSpace=khs::PinnedSpace
  Pool=khs::pool::statistics
  PreparedCopies=khs::prepare_deep_copy_all
  Registration=khs::Registration
  Slice=khs::Slice
  Snapshot=khs::snapshot
  StreamedArguments=khs::read
  StreamedChain=khs::streamed_chain
  StreamedFor=khs::streamed_for
  StreamedOptions=khs::StreamOptions
  StreamedReduce=khs::streamed_reduce
  StreamedTransport=khs::Staged
  Version=KOKKOS_HOST_SPACES_VERSION
  WriteCombinedSpace=khs::WriteCombinedSpace)

set(examples "")
file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/examples/*.cpp ${ROOT}/examples/*.hpp)
list(FILTER sources EXCLUDE REGEX "/build")
foreach(source IN LISTS sources)
  file(READ ${ROOT}/${source} text)
  string(APPEND examples "${text}")
endforeach()

file(GLOB headers RELATIVE ${ROOT}/memspaces/include/KokkosHostSpaces ${ROOT}/memspaces/include/KokkosHostSpaces/*.hpp
  ${ROOT}/memspaces/include/KokkosHostSpaces/mpi/*.hpp)
foreach(header IN LISTS headers)
  cmake_path(GET header STEM stem)
  set(use ${uses})
  list(FILTER use INCLUDE REGEX "^${stem}=")
  string(REPLACE "${stem}=" "" use "${use}")
  if(NOT use)
    message(SEND_ERROR "${header} is not in the list of ${CMAKE_CURRENT_LIST_FILE}: add a name that it declares")
    continue()
  endif()
  string(FIND "${examples}" "${use}" found)
  if(found EQUAL -1)
    message(SEND_ERROR "no example uses ${use} of ${header}: add one")
  endif()
endforeach()
