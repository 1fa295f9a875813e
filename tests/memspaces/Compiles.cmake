# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Each public header compiles behind Kokkos, whose headers are precompiled, and twice; a test with the label long compiles
# it alone. Those of impl/ compile room by room.
set(include ${PROJECT_SOURCE_DIR}/memspaces/include)
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${include} ${include}/*.hpp ${include}/KokkosHostSpaces/*.hpp)
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(CONFIGURE OUTPUT headers/${name}.cpp CONTENT "#include <@header@>\n#include <@header@>\n" @ONLY)
  list(APPEND public ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
endforeach()
file(GLOB rooms CONFIGURE_DEPENDS RELATIVE ${include} ${include}/KokkosHostSpaces/impl/*)
foreach(room IN LISTS rooms)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${include} ${include}/${room}/*.hpp)
  list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n" OUTPUT_VARIABLE text)
  list(JOIN text "" text)
  string(MAKE_C_IDENTIFIER ${room} name)
  file(CONFIGURE OUTPUT headers/${name}.cpp CONTENT "@text@" @ONLY)
  list(APPEND internal ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
endforeach()
# With the warnings that applications turn on, for templates of ours that are used, too.
add_library(headers OBJECT ${public} ${internal} HeadersInUse.cpp)
add_library(headers_alone OBJECT EXCLUDE_FROM_ALL ${public})
foreach(target headers headers_alone)
  target_link_libraries(${target} PRIVATE KokkosHostSpaces::hostspaces)
  khs_project_target(${target} APART)
  target_compile_options(${target} PRIVATE -O0)
endforeach()
if(NOT _khs_by_nvcc STREQUAL "1")
  target_compile_options(headers PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion;-Wshadow>"
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wmissing-braces>)
endif()
if(KokkosHostSpaces_ENABLE_CUDA)
  set_target_properties(headers PROPERTIES EXCLUDE_FROM_ALL ON)  # minutes of nvcc: build them by name
else()
  add_test(NAME memspaces.headers_alone
    COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target headers_alone)
  set_tests_properties(memspaces.headers_alone PROPERTIES LABELS long RESOURCE_LOCK ${CMAKE_BINARY_DIR})
endif()

# Applications may be compiled without run-time type information, and as C++23.
if(NOT KokkosHostSpaces_ENABLE_CUDA)
  add_library(headers_without_rtti OBJECT HeadersInUse.cpp)
  target_link_libraries(headers_without_rtti PRIVATE KokkosHostSpaces::hostspaces)
  khs_project_target(headers_without_rtti APART)
  target_compile_options(headers_without_rtti PRIVATE -O0 -fno-rtti)
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

set(no_conversion "could not convert|conversion from|no suitable user-defined conversion")
# Kernels would reach a View that is not meant for them.
khs_must_not_compile(mapped_from_pinned "${no_conversion}"
  "View<int*, MappedSpace> f(View<int*, PinnedSpace> const& pinned) { return pinned; }")
# Host code would read write-combined memory without knowing.
khs_must_not_compile(host_from_write_combined "${no_conversion}"
  "View<int*, HostSpace> f(View<int*, WriteCombinedSpace> const& combined) { return combined; }")
# Pageable memory would pass for page-locked.
khs_must_not_compile(pinned_from_host "${no_conversion}"
  "View<int*, PinnedSpace> f(View<int*, HostSpace> const& host) { return host; }")
# Only Views in PinnedSpace have a mapped address.
khs_must_not_compile(mapped_view_of_host "no match for call|no matching function|no instance of function template"
  "void f(View<int*, HostSpace> const& host) { (void)mapped_view(host); }")
# Registered memory is never write-combined.
khs_must_not_compile(registered_view_in_write_combined
  "Views of registered memory are in PinnedSpace or MappedSpace"
  "void f(Registration const& memory) { (void)memory.view<int*, WriteCombinedSpace>(10); }")
# The likeliest slip in a streamed loop.
khs_must_not_compile(streamed_for_of_views "arguments are made by khs::read, khs::write or khs::update"
  "void f(View<int*, PinnedSpace> const& view) { streamed_for(\"f\", 1, [](auto, auto) {}, view); }")
# Kokkos' own DualView copies nothing there.
khs_must_not_compile(pinned_dual_view_in_mapped "the device side of a PinnedDualView lies in device memory"
  "PinnedDualView<int*, MappedSpace> f() { return {}; }")
khs_must_not_compile(deep_copy_to_const "deep_copy requires non-const destination type"
  "void f(View<int const*, PinnedSpace> const& to, View<int*, PinnedSpace> const& from) { Kokkos::deep_copy(to, from); }")

khs_must_not_compile(element_wise_atomic "is not atomic: pass a View without"
  "void f(View<int*, MappedSpace, Kokkos::MemoryTraits<Kokkos::Atomic>> const& a) { element_wise(Kokkos::DefaultHostExecutionSpace(), a, [](int i) { return i; }, a); }")
# Where elements are taken as bytes, those whose access a library such as Sacado has customized are refused.
foreach(call IN ITEMS "streamed_for(\"f\", 9, [](std::int64_t, Chunk<Own const*>) {}, khs::read(pinned))"
    "snapshot(\"s\", instance, pinned, [](auto const&) {})" "element_wise(instance, pinned, [](Own own) { return own; })"
    "element_sum(instance, sum, [](Own own) { return own.value; }, pinned)" "Registration const registration(host)"
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
# Streamed loops say what they want.
khs_must_not_compile(streamed_wrong_body "the body cannot be called with the indices"
  "void f(View<double*, PinnedSpace> const& a) { streamed_for(\"f\", 9, [](double) {}, khs::write(a)); }")
khs_must_not_compile(streamed_not_bytes "streamed loops copy elements as bytes"
  "void f(View<std::string*, HostSpace> const& a) { streamed_for(\"f\", 9, [](std::int64_t, Chunk<std::string*>) {}, khs::write(a)); }")
khs_must_not_compile(streamed_no_reducer "takes, behind the body, a reducer"
  "void f(View<double*, PinnedSpace> const& a) { double const sum = 0; streamed_reduce(\"r\", 9, [](std::int64_t, Chunk<double const*>, double&) {}, sum, khs::read(a)); }")
khs_must_not_compile(streamed_intermediate_not_bytes "must be trivially copyable"
  "void f(View<double*, HostSpace> const& a, Intermediate<std::string*> const& t) { (void)streamed_chain(\"c\", 9, stage([](std::int64_t, Chunk<double const*>, Chunk<std::string*>) {}, khs::read(a), khs::write(t))); }")
khs_must_not_compile(streamed_reduction_not_bytes "must be trivially destructible"
  "void f(View<double*, HostSpace> const& a) { std::string all; streamed_reduce(\"r\", 9, [](std::int64_t, Chunk<double const*>, std::string&) {}, all, khs::read(a)); }")
khs_must_not_compile(streamed_no_stage "a chain has stages" "void f() { streamed_chain(\"c\", 9); }")
khs_must_not_compile(steps_of_two_types "steps read and write Views of the same elements"
  "void f(View<float*, PinnedSpace> const& a, View<double*, PinnedSpace> const& b) { streamed_chain(\"c\", 9, steps(2, [](std::int64_t, Chunk<float const*>, Chunk<double*>) {}, khs::read(a), khs::write(b))); }")
khs_must_not_compile(steps_of_update "steps have a khs::read, the first of which"
  "void f(View<double*, PinnedSpace> const& a, View<double*, PinnedSpace> const& b) { streamed_chain(\"c\", 9, steps(2, [](std::int64_t, Chunk<double const*>, Chunk<double*>) {}, khs::read(a), update(b))); }")
khs_must_not_compile(steps_of_more_dimensions "steps go over Views with as many dimensions"
  "void f(View<double**, PinnedSpace> const& a, View<double**, PinnedSpace> const& b) { streamed_chain(\"c\", 9, steps(2, [](std::int64_t, Chunk<double const**>, Chunk<double**>) {}, khs::read(a), khs::write(b))); }")

# Wrong calls of which nothing else tells what is right.
set(_khs_wrong_calls)
set(_khs_sentences)
macro(khs_wrong_call sentence call)
  string(APPEND _khs_wrong_calls "  ${call};\n")
  list(APPEND _khs_sentences "${sentence}")
endmacro()
khs_wrong_call("a snapshot takes, in this order" "snapshot(\"label\", a, [](auto const&) {})")
khs_wrong_call("a snapshot takes, in this order" "queue.take(x, \"label\", a, [](auto const&) {})")
khs_wrong_call("deep_copy_all takes, in this order" "deep_copy_all(x, a, a)")
khs_wrong_call("element_wise takes, in this order" "element_wise(x, a, a, [](double q) { return q; })")
khs_wrong_call("element_sum takes, in this order" "element_sum(x, sum, a, [](double q) { return q; })")
khs_wrong_call("streamed loops take, in this order" "streamed_for(\"l\", 9, StreamOptions<>(), body, khs::update(a))")
khs_wrong_call("takes, behind the body, a reducer"
  "streamed_reduce(\"l\", 9, [](std::int64_t, double const&, double&) {}, khs::read(a))")
khs_wrong_call("khs::read takes a View .of a DualView, one of its sides" "khs::read(dual)")
khs_wrong_call("khs::write and khs::update take a View whose elements are not const"
  "khs::update(View<double const*, PinnedSpace>(a))")
khs_wrong_call("a temporary container is gone at once"
  "Registration const memory(std::vector<double>(9), \"gone\")")
khs_wrong_call("take an extent for each dimension" "PinnedDualView<double**>(\"d\", 5, 7).resize(5)")
khs_must_not_compile(wrong_calls "${_khs_sentences}"
  "void f(Kokkos::DefaultHostExecutionSpace const& x, View<double*, PinnedSpace> const& a, PinnedDualView<double*> const& dual, SnapshotQueue& queue, double& sum) {
  auto const body = [](std::int64_t, double& p) { p = 1; };
${_khs_wrong_calls}}")
