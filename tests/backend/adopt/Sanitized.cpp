// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Compiled with AddressSanitizer by programs.sh.

#include <new>

int main() {
  for (int i = 0; i < 3; ++i) {
    auto* const memory =
        static_cast<char*>(operator new(1 << 20, std::align_val_t(64), std::nothrow));
    memory[i] = 1;
    operator delete(memory, std::align_val_t(64), std::nothrow);
  }
}
