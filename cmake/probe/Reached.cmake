# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# khs_forms_reached(<object of Forms.cpp> <all> <lost>): lists the forms of call in it, as <order>_<name>, and those
# for which it names no function of this library. A name of a function is a line to file(STRINGS), since a zero byte
# ends it.
function(khs_forms_reached object all lost)
  file(STRINGS ${object} forms REGEX "^khs_form_[a-z_]+$")
  list(TRANSFORM forms REPLACE "^khs_form_" "")
  file(STRINGS ${object} ours REGEX "^_ZNK?16KokkosHostSpaces.*5forms[0-9]+")
  set(missing)
  foreach(form IN LISTS forms)
    string(REGEX REPLACE "^(any|first)_" "" name ${form})
    string(LENGTH ${name} length)
    if(NOT ours MATCHES "5forms${length}${name}E")
      list(APPEND missing ${form})
    endif()
  endforeach()
  set(${all} ${forms} PARENT_SCOPE)
  set(${lost} ${missing} PARENT_SCOPE)
endfunction()
