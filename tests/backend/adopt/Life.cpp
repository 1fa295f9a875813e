// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A program whose Views live before main and after it, in static objects and in functions that run at
// exit; with KOKKOS_HOST_SPACES_OWN_NEW it replaces the operators new and delete itself.

#include "Program.hpp"

#include <memory>

#ifdef KOKKOS_HOST_SPACES_OWN_NEW
namespace {
constexpr std::size_t front = 4096;
}
void* operator new(std::size_t bytes, std::align_val_t, std::nothrow_t const&) noexcept {
  char* const memory =
      static_cast<char*>(std::aligned_alloc(front, (bytes + 2 * front) / front * front));
  return memory + 64;
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(static_cast<char*>(memory) - 64);
}
void operator delete(void* memory, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  operator delete(memory, alignment);
}
#endif

namespace {

using namespace Program;

/// Makes its View before main, and checks and destroys it after main.
struct Early {
  Early() { view.fill(1); }
  ~Early() { REQUIRE(view.holds(1)); }
  View view{MiB};
};
Early early;

std::unique_ptr<View> of_exit;

void* of_constructor = nullptr;
__attribute__((constructor)) void make() {
  of_constructor = operator new(MiB, alignment, std::nothrow);
}
__attribute__((destructor)) void drop() {
  operator delete(of_constructor, alignment, std::nothrow);
}

}  // namespace

int main() {
  std::atexit([] { of_exit.reset(); });
  of_exit = std::make_unique<View>(MiB);
  of_exit->fill(2);
  OnDevice const device(MiB);
  for (int i = 0; i < 3; ++i) {
    to_device(device, early.view);
    to_host(early.view, device);
    to_host(*of_exit, device);
  }
  View* const leaked = new View(MiB);
  leaked->fill(3);
}
