# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Each public header compiles behind Kokkos, whose headers are precompiled, and twice; a test with the label long compiles
# it alone. Those of impl/ compile room by room.
set(include ${PROJECT_SOURCE_DIR}/memspaces/include)
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${include} ${include}/*.hpp ${include}/KokkosHostSpaces/*.hpp
  ${include}/KokkosHostSpaces/mpi/*.hpp)
set(library KokkosHostSpaces::mpi)
if(NOT KokkosHostSpaces_ENABLE_MPI)
  list(FILTER headers EXCLUDE REGEX /mpi/)
  set(library KokkosHostSpaces::hostspaces)
endif()
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(CONFIGURE OUTPUT headers/${name}.cpp CONTENT "#include <@header@>\n#include <@header@>\n" @ONLY)
  list(APPEND public ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
endforeach()
file(GLOB rooms CONFIGURE_DEPENDS RELATIVE ${include} ${include}/KokkosHostSpaces/impl/*)
if(NOT KokkosHostSpaces_ENABLE_MPI)
  list(FILTER rooms EXCLUDE REGEX /mpi$)
endif()
foreach(room IN LISTS rooms)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${include} ${include}/${room}/*.hpp)
  list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n" OUTPUT_VARIABLE text)
  list(JOIN text "" text)
  string(MAKE_C_IDENTIFIER ${room} name)
  file(CONFIGURE OUTPUT headers/${name}.cpp CONTENT "@text@" @ONLY)
  list(APPEND internal ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
endforeach()
# With the warnings that applications turn on. (Templates that are used: the code of the pages, docs_tests.)
add_library(headers OBJECT ${public} ${internal})
add_library(headers_alone OBJECT EXCLUDE_FROM_ALL ${public})
foreach(target headers headers_alone)
  target_link_libraries(${target} PRIVATE ${library})
  khs_project_target(${target} APART)
  target_compile_options(${target} PRIVATE -O0)
endforeach()
if(NOT _khs_by_nvcc STREQUAL "1")
  target_compile_options(headers PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion;-Wshadow>"
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wmissing-braces>
    # Applications may be compiled without run-time type information.
    $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
if(KokkosHostSpaces_ENABLE_CUDA)
  set_target_properties(headers PROPERTIES EXCLUDE_FROM_ALL ON)  # minutes of nvcc: build them by name
else()
  add_test(NAME memspaces.headers_alone
    COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target headers_alone)
  set_tests_properties(memspaces.headers_alone PROPERTIES LABELS long RESOURCE_LOCK ${CMAKE_BINARY_DIR})
endif()

# A label set for a name counts for tests of the same name in all build trees that ctest runs at once.
set(_khs_refused memspaces.must_not_compile)
if(KokkosHostSpaces_ENABLE_CUDA)
  set(_khs_refused memspaces.nvcc_must_not_compile)
endif()

# khs_must_not_compile(<name> <words> <code>): the compiler refuses the body of a function, and says why. Of a list of
# words it says all.
function(khs_must_not_compile name words code)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/must_not_compile/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include <KokkosHostSpaces.hpp>
using namespace KokkosHostSpaces;
namespace khs = KokkosHostSpaces;
using Kokkos::HostSpace, Kokkos::View;
@code@
]])
  add_library(compile_fail_${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(compile_fail_${name} PRIVATE KokkosHostSpaces::hostspaces)
  khs_project_target(compile_fail_${name})
  list(JOIN words "\" \"" items)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/must_not_compile/${name}.cmake)
  file(CONFIGURE OUTPUT ${script} @ONLY CONTENT [[
execute_process(COMMAND "@CMAKE_COMMAND@" --build "@CMAKE_BINARY_DIR@" --target compile_fail_@name@
  OUTPUT_VARIABLE told ERROR_VARIABLE told)
foreach(words IN ITEMS "@items@")
  if(NOT told MATCHES "${words}")
    message(SEND_ERROR "not told: ${words}\n${told}")
  endif()
endforeach()
]])
  add_test(NAME ${_khs_refused}.${name} COMMAND ${CMAKE_COMMAND} -P ${script})
  set_tests_properties(${_khs_refused}.${name} PROPERTIES RESOURCE_LOCK ${CMAKE_BINARY_DIR})
  if(KokkosHostSpaces_ENABLE_CUDA)
    set_tests_properties(${_khs_refused}.${name} PROPERTIES LABELS long)  # nvcc takes its time
  endif()
endfunction()

# Where elements are taken as bytes, those whose access a library such as Sacado has customized are refused.
foreach(call IN ITEMS "streamed_for(\"f\", 9, [](std::int64_t, Chunk<Own const*>) {}, khs::read(pinned))"
    "snapshot(\"s\", instance, pinned, [](auto const&) {})" "element_wise(\"l\", instance, pinned, [](Own own) { return own; })"
    "element_sum(\"l\", instance, sum, [](Own own) { return own.value; }, pinned)" "Registration const registration(host)"
    "mapped_view(pinned)")
  string(REGEX MATCH "^[A-Za-z_]+" name "${call}")
  khs_must_not_compile(${name}_of_customized_views "pass a plain View, to which"
    "namespace other {
struct Own { int value; };
template <class L, class D, class T> auto customize_view_arguments(Kokkos::Impl::ViewArguments<Own, L, D, T>) {
  return Kokkos::Impl::ViewCustomArguments<std::size_t, Kokkos::Impl::CheckedReferenceCountedAccessor<Own, typename D::memory_space>>();
}
void f(Kokkos::DefaultHostExecutionSpace const& instance, View<Own*, PinnedSpace> const& pinned, View<Own*, HostSpace> const& host, int& sum) {
  ${call};
}
}")
  set_tests_properties(${_khs_refused}.${name}_of_customized_views PROPERTIES LABELS long)
endforeach()
# Containers of the standard library with another layout than in the library: the linker says so.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT KokkosHostSpaces_ENABLE_CUDA)
  file(CONFIGURE OUTPUT must_not_compile/other_containers.cpp @ONLY CONTENT [[
#include <KokkosHostSpaces/Pool.hpp>
int main() { return int(KokkosHostSpaces::pool::statistics().pools.size()); }
]])
  foreach(switch IN ITEMS _GLIBCXX_DEBUG _GLIBCXX_USE_CXX11_ABI=0)
    string(MAKE_C_IDENTIFIER ${switch} name)
    add_executable(link_fail_${name} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/must_not_compile/other_containers.cpp)
    target_compile_definitions(link_fail_${name} PRIVATE ${switch})
    target_compile_options(link_fail_${name} PRIVATE -fdata-sections)
    target_link_libraries(link_fail_${name} PRIVATE KokkosHostSpaces::hostspaces -Wl,--gc-sections)
    khs_project_target(link_fail_${name} APART)
    add_test(NAME memspaces.must_not_link.${name}
      COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target link_fail_${name})
    set_tests_properties(memspaces.must_not_link.${name} PROPERTIES
      PASS_REGULAR_EXPRESSION "undefined reference to .KokkosHostSpaces::Impl::library_was_built_with_${name}" RESOURCE_LOCK ${CMAKE_BINARY_DIR})
  endforeach()
  set_tests_properties(memspaces.must_not_link._GLIBCXX_USE_CXX11_ABI_0 PROPERTIES LABELS long)
endif()
# Headers of another Kokkos than the library was built for.
khs_must_not_compile(headers_of_another_kokkos "This Kokkos has another minor version than the one" "")
target_compile_definitions(compile_fail_headers_of_another_kokkos PRIVATE
  KOKKOS_HOST_SPACES_IMPL_BUILT_FOR_KOKKOS_HPP KOKKOS_HOST_SPACES_BUILT_FOR_KOKKOS=50099)
# What nvcc says of a generic lambda is on the pages for users.
if(KokkosHostSpaces_ENABLE_CUDA)
  khs_must_not_compile(generic_lambda "extended lambdas cannot be generic lambdas"
    "void f(View<double*, PinnedSpace> const& a) { streamed_for(\"l\", 9, KOKKOS_LAMBDA(auto, auto) {}, khs::update(a)); }")
endif()
# Wrong calls of which nothing else tells what is right. Where the type of the result tells it, nvcc ends before it looks
# into other functions: such calls are compiled apart.
macro(khs_wrong_call sentence call)
  string(APPEND _khs_wrong_calls "  ${call};\n")
  list(APPEND _khs_sentences_of_calls "${sentence}")
endmacro()
macro(khs_wrong_type sentence call)
  string(APPEND _khs_wrong_types "  ${call};\n")
  list(APPEND _khs_sentences_of_types "${sentence}")
endmacro()
foreach(kind IN ITEMS calls types)
  set(_khs_wrong_${kind})
  set(_khs_sentences_of_${kind})
endforeach()
khs_wrong_call("a snapshot takes, in this order" "snapshot(\"label\", a, [](auto const&) {})")
khs_wrong_call("a snapshot takes, in this order" "queue.take(x, \"label\", a, [](auto const&) {})")
khs_wrong_call("deep_copy_all takes, in this order" "deep_copy_all(x, a, a)")
khs_wrong_call("element_wise takes, in this order" "element_wise(x, a, a, [](double q) { return q; })")
khs_wrong_call("element_sum takes, in this order" "element_sum(x, sum, a, [](double q) { return q; })")
# The words as often as there are such calls: each is told.
khs_wrong_call("element_wise takes.*element_wise takes" "element_wise(a, x, [](double q) { return q; }, a)")
khs_wrong_call("element_wise takes.*element_wise takes.*element_wise takes" "element_wise(\"l\", a, [](double q) { return q; }, a)")
khs_wrong_call("element_sum takes.*element_sum takes" "element_sum(a, x, [](double q) { return q; }, a)")
khs_wrong_call("element_sum takes.*element_sum takes.*element_sum takes" "element_sum(x, [](double q) { return q; }, sum, a)")
khs_wrong_call("prepare_deep_copy_all takes, in this order" "(void)prepare_deep_copy_all(copy_of(a, a), x)")
khs_wrong_type("create_pinned_mirror_view takes.*create_pinned_mirror_view takes"
  "create_pinned_mirror_view(a); create_pinned_mirror_view_and_copy(table, x)")
khs_wrong_type("device_view takes, in this order" "device_view(a)")
khs_wrong_type("mapped_view takes one View, which lies in PinnedSpace" "mapped_view(words)")
khs_wrong_call("khs::parallel_for takes, in this order" "KokkosHostSpaces::parallel_for(\"l\", 9, body)")
khs_wrong_call("khs::parallel_reduce takes, in this order" "KokkosHostSpaces::parallel_reduce(\"l\", 9, body, sum)")
set(_khs_loops "streamed loops take")
foreach(call IN ITEMS "streamed_for(\"l\", body, 9, khs::update(a))"
    "streamed_chain(\"l\", stage(body, khs::update(a)), 9)" "streamed_reduce(\"l\", 9, sum, body, khs::update(a))")
  string(APPEND _khs_loops ".*streamed loops take")
  khs_wrong_call("${_khs_loops}" "${call}")
endforeach()
khs_wrong_call("streamed loops take, in this order" "streamed_for(\"l\", 9, StreamOptions<>(), body, khs::update(a))")
khs_wrong_call("${_khs_loops}.*streamed loops take.*streamed loops take.*streamed loops take"
  "streamed_for(9, body, khs::update(a)); streamed_chain(9, stage(body, khs::update(a))); streamed_reduce(x, 9, body, sum, khs::read(a))")
khs_wrong_call("takes, behind the body, a reducer"
  "streamed_reduce(\"l\", 9, [](std::int64_t, double const&, double&) {}, khs::read(a))")
khs_wrong_call("arguments are made by khs::read, khs::write or khs::update" "streamed_for(\"l\", 9, [](auto, auto) {}, a)")
khs_wrong_call("the body cannot be called with the indices" "streamed_for(\"l\", 9, [](double) {}, khs::write(a))")
khs_wrong_call("streamed loops copy elements as bytes"
  "streamed_for(\"l\", 9, [](std::int64_t, Chunk<std::string*>) {}, khs::write(words))")
khs_wrong_call("must be trivially copyable"
  "(void)streamed_chain(\"l\", 9, stage([](std::int64_t, In, Chunk<std::string*>) {}, khs::read(a), khs::write(Intermediate<std::string*>())))")
khs_wrong_call("must be trivially destructible"
  "std::string all; streamed_reduce(\"l\", 9, [](std::int64_t, In, std::string&) {}, all, khs::read(a))")
khs_wrong_call("a chain has stages" "streamed_chain(\"l\", 9)")
khs_wrong_type("steps read and write Views of the same elements"
  "streamed_chain(\"l\", 9, steps(2, [](std::int64_t, Chunk<float const*>, Out) {}, khs::read(floats), khs::write(a)))")
khs_wrong_type("steps have a khs::read, the first of which"
  "streamed_chain(\"l\", 9, steps(2, [](std::int64_t, In, Out) {}, khs::read(a), khs::update(a)))")
khs_wrong_call("steps go over Views with as many dimensions"
  "streamed_chain(\"l\", 9, steps(2, [](std::int64_t, Chunk<double const**>, Chunk<double**>) {}, khs::read(table), khs::write(table)))")
khs_wrong_type("khs::read takes a View .of a DualView, one of its sides" "khs::read(dual)")
khs_wrong_type("khs::write and khs::update take a View whose elements are not const"
  "khs::update(View<double const*, PinnedSpace>(a))")
khs_wrong_call("a temporary container is gone at once"
  "Registration const memory(std::vector<double>(9), \"gone\")")
khs_wrong_type("Views of registered memory are in PinnedSpace or MappedSpace"
  "(void)registered.view<int*, WriteCombinedSpace>(10)")
khs_wrong_call("take an extent for each dimension" "PinnedDualView<double**>(\"d\", 5, 7).resize(5)")
# Kokkos' own DualView copies nothing there.
khs_wrong_type("the device side of a PinnedDualView lies in device memory" "PinnedDualView<int*, MappedSpace> const mapped")
khs_wrong_call("deep_copy requires non-const destination type" "Kokkos::deep_copy(View<double const*, PinnedSpace>(a), a)")
khs_wrong_call("is not atomic: pass a View without"
  "View<double*, PinnedSpace, Kokkos::MemoryTraits<Kokkos::Atomic>> const atomic = a; element_wise(\"l\", x, atomic, [](double q) { return q; }, atomic)")
foreach(kind IN ITEMS calls types)
  khs_must_not_compile(wrong_${kind} "${_khs_sentences_of_${kind}}"
  "void f(Kokkos::DefaultHostExecutionSpace const& x, View<double*, PinnedSpace> const& a, PinnedDualView<double*> const& dual, SnapshotQueue& queue, double& sum,
  Registration const& registered, View<double**, PinnedSpace> const& table, View<float*, PinnedSpace> const& floats, View<std::string*, HostSpace> const& words) {
  using In  = Chunk<double const*>;
  using Out = Chunk<double*>;
  auto const body = [](std::int64_t, double& p) { p = 1; };
${_khs_wrong_${kind}}}")
endforeach()
if(KokkosHostSpaces_ENABLE_CUDA)
  target_compile_options(compile_fail_wrong_calls PRIVATE "SHELL:-Xcudafe --error_limit=1000")  # nvcc ends at 100
endif()
