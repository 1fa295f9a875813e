// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that lives as long as static objects: given back after the end of main, with and without
// the pool having been emptied. Nothing can be reserved any more. Exits with 0, and without a
// report of a sanitizer.

#include "../../../backend/Config.hpp"
#include "../../../backend/Error.hpp"
#include "../../../backend/pool/Pool.hpp"
#include "../Device.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl::Backend;

// Too long to lie in the string itself.
constexpr auto setting = "/a/file/that/nobody/makes/but/every/thread/may/ask/for";
bool const set         = setenv("KOKKOS_HOST_SPACES_THRESHOLDS", setting, 1) == 0;

class Holder {
 public:
  ~Holder() {
    if (config().thresholds != setting) fail("the settings are gone");
    try {
      Pool::reserve(1);
      fail("a thread was started that nobody stops");
    } catch (Error const&) {
    }
    for (void* const memory : {m_small, m_large}) {
      Pool::deallocate(memory);
      auto const description = pool::describe(memory);
      if (!description || description->state != pool::State::in_use) continue;
      fail("memory was not given back");
    }
  }
  void fill() {
    m_small =
        Pool::allocate({1000, KokkosHostSpaces::MemoryKind::page_locked, -1, "TestSpace", "small"});
    m_large = Pool::allocate({std::size_t(20) << 20, KokkosHostSpaces::MemoryKind::page_locked, -1,
                              "TestSpace", "large"});
  }

 private:
  [[noreturn]] static void fail(char const* what) {
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(1);
  }

  void* m_small = nullptr;
  void* m_large = nullptr;
};

Holder before_all;

}  // namespace

int main() {
  if (!set) return 1;
  start_test(1);
  static Holder during_main;
  before_all.fill();
  during_main.fill();
  Pool::release_all();
  Pool::reserve(std::size_t(64) << 20);
}
