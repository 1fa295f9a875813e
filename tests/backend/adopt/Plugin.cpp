// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A plugin with a C++ library of its own, whose constructors call a function of the program.

#include <cstddef>
#include <new>

extern "C" __attribute__((weak)) void while_plugin_is_opened();
__attribute__((constructor)) static void start() {
  if (while_plugin_is_opened != nullptr) while_plugin_is_opened();
}

extern "C" __attribute__((visibility("default"))) void* plugin_new(std::size_t bytes) {
  return operator new(bytes, std::align_val_t(64), std::nothrow);
}
extern "C" __attribute__((visibility("default"))) void plugin_delete(void* memory) {
  operator delete(memory, std::align_val_t(64), std::nothrow);
}
extern "C" __attribute__((visibility("default"))) void plugin_delete_plainly(void* memory) {
  operator delete(memory);
}
