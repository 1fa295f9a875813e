# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# The target `docs`: a reference of the public headers, and all pages, by Doxygen. What is not documented
# is an error, as is everything else that Doxygen warns of.

option(KokkosHostSpaces_ENABLE_DOCS "Make the target docs (needs Doxygen)" OFF)
if(NOT KokkosHostSpaces_ENABLE_DOCS)
  return()
endif()

find_package(Doxygen 1.9 REQUIRED)
set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/docs)
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_WARN_IF_INCOMPLETE_DOC NO)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${PROJECT_SOURCE_DIR}/README.md)
set(DOXYGEN_IMAGE_PATH ${PROJECT_SOURCE_DIR}/perf ${PROJECT_SOURCE_DIR}/examples)
set(DOXYGEN_FILTER_PATTERNS "*.md=sed -z -E -f ${CMAKE_CURRENT_LIST_DIR}/docs_links.sed")
set(DOXYGEN_STRIP_FROM_INC_PATH ${PROJECT_SOURCE_DIR}/memspaces/include)

file(GLOB _khs_pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/*.md
  ${PROJECT_SOURCE_DIR}/*/*.md
  ${PROJECT_SOURCE_DIR}/*/*/*.md
  ${PROJECT_SOURCE_DIR}/perf/*/*/*.md)
list(FILTER _khs_pages EXCLUDE REGEX "^(build|[.])")
file(GLOB _khs_public RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/memspaces/include/KokkosHostSpaces/*.hpp)
doxygen_add_docs(docs
  ${_khs_pages}
  backend/Error.hpp
  backend/MemoryKind.hpp
  backend/pool/Control.hpp
  backend/pool/Statistics.hpp
  memspaces/include/KokkosHostSpaces.hpp
  ${_khs_public}
  memspaces/include/KokkosHostSpaces/impl/core/HostMemorySpace.hpp
  memspaces/include/KokkosHostSpaces/impl/spaces/Mirrors.hpp
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})

if(KokkosHostSpaces_ENABLE_TESTS)
  add_test(NAME docs COMMAND Doxygen::doxygen ${CMAKE_CURRENT_BINARY_DIR}/Doxyfile.docs
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(docs PROPERTIES FIXTURES_SETUP docs_html)
  add_test(NAME docs.html COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR}
    -D HTML=${DOXYGEN_OUTPUT_DIRECTORY}/html -P ${PROJECT_SOURCE_DIR}/tests/docs/pages.cmake)
  set_tests_properties(docs.html PROPERTIES FIXTURES_REQUIRED docs_html)
endif()
