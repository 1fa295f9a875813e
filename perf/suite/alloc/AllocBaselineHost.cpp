// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "AllocBaseline.hpp"

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Perf {
namespace {

class TouchedMalloc final : public AllocBaseline {
 public:
  std::string name() const override { return "malloc_touch"; }
  void trim() override { malloc_trim(0); }

  void* allocate(std::size_t bytes) override {
    void* pointer = std::malloc(bytes);
    if (pointer == nullptr) throw std::bad_alloc();
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t i = 0; i < bytes; i += page) static_cast<char volatile*>(pointer)[i] = 0;
    return pointer;
  }
  void free(void* pointer, std::size_t) noexcept override { std::free(pointer); }
};

}  // namespace

AllocBaselines const& alloc_baselines() {
  static AllocBaselines const baselines = [] {
    AllocBaselines all;
    all.push_back(std::make_unique<TouchedMalloc>());
    all.push_back(std::make_unique<TouchedPages>());
    return all;
  }();
  return baselines;
}

}  // namespace KokkosHostSpaces::Perf
