# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# Which function of this library a form of call must reach, by the beginning of its name: a mangled name.
set(_khs_form_zero_fill 4Impl17ZeroDirtyElements)
set(_khs_form_resize 4Impl11resize_view)
set(_khs_form_realloc 4Impl12realloc_view)
set(_khs_form_mirror "4Impl[0-9]+mirror_")
set(_khs_form_dual_view 14PinnedDualView)
set(_khs_form_copy 4Impl10copy_views)
set(_khs_form_everywhere 4Impl10copy_views)
set(_khs_form_fill 4Impl9fill_view)

# khs_forms_reached(<object of Forms.cpp> <all> <lost>): lists the forms of call in it, as <order>_<name>, and those
# for which it names no such function. file(STRINGS) takes a name for a line; one that ends like another is stored at
# the end of that.
function(khs_forms_reached object all lost)
  file(STRINGS ${object} forms REGEX "khs_form_[a-z_]+$")
  list(TRANSFORM forms REPLACE "^.*khs_form_" "")
  list(REMOVE_DUPLICATES forms)
  list(SORT forms)
  file(STRINGS ${object} ours REGEX "_ZNK?16KokkosHostSpaces.*5forms[0-9]+")
  set(missing)
  foreach(form IN LISTS forms)
    string(REGEX MATCH "^(any|first|direct)_(zero_fill|resize|realloc|mirror|dual_view|copy|everywhere|fill)" kind ${form})
    string(LENGTH ${form} length)
    if(NOT kind OR NOT ours MATCHES "_ZNK?16KokkosHostSpaces${_khs_form_${CMAKE_MATCH_2}}[^;]*5forms${length}${form}E")
      list(APPEND missing ${form})
    endif()
  endforeach()
  set(${all} ${forms} PARENT_SCOPE)
  set(${lost} ${missing} PARENT_SCOPE)
endfunction()
