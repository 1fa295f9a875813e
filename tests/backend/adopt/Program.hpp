// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the programs share that are run with the library preloaded. They include nothing of it.

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_ADOPT_PROGRAM_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_ADOPT_PROGRAM_HPP

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <cuda_runtime_api.h>

#define REQUIRE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

namespace Program {

constexpr std::align_val_t alignment{64};
constexpr std::size_t MiB = std::size_t(1) << 20;

/// Memory as a View of HostSpace has it.
class View {
 public:
  explicit View(std::size_t bytes) : m_bytes(bytes) {
    m_memory = static_cast<char*>(operator new(bytes, alignment, std::nothrow));
    REQUIRE(m_memory != nullptr);
    REQUIRE(reinterpret_cast<std::size_t>(m_memory) % 64 == 0);
  }
  ~View() { operator delete(m_memory, alignment, std::nothrow); }
  View(View const&)            = delete;
  View& operator=(View const&) = delete;

  char* data() const { return m_memory; }
  std::size_t bytes() const { return m_bytes; }
  void fill(char value) { std::memset(m_memory, value, m_bytes); }
  bool holds(char value) const {
    return m_memory[0] == value && std::memcmp(m_memory, m_memory + 1, m_bytes - 1) == 0;
  }

 private:
  std::size_t m_bytes;
  char* m_memory = nullptr;
};

/// Memory of a device.
class OnDevice {
 public:
  explicit OnDevice(std::size_t bytes) { REQUIRE(cudaMalloc(&m_memory, bytes) == cudaSuccess); }
  ~OnDevice() { cudaFree(m_memory); }
  OnDevice(OnDevice const&)            = delete;
  OnDevice& operator=(OnDevice const&) = delete;
  char* data() const { return static_cast<char*>(m_memory); }

 private:
  void* m_memory = nullptr;
};

inline void to_host(View const& view, OnDevice const& device) {
  REQUIRE(cudaMemcpy(view.data(), device.data(), view.bytes(), cudaMemcpyDefault) == cudaSuccess);
}
inline void to_device(OnDevice const& device, View const& view) {
  REQUIRE(cudaMemcpy(device.data(), view.data(), view.bytes(), cudaMemcpyDefault) == cudaSuccess);
}

/// What the runtime says of memory.
inline cudaMemoryType type_of(void const* pointer) {
  cudaPointerAttributes attributes = {};
  REQUIRE(cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess);
  return attributes.type;
}

/// A case of a program, by its name.
struct Case {
  char const* name;
  void (*run)();
};
#define CASE(name) \
  { #name, &name }

/// Runs the case that is the program's argument; what main returns.
template <std::size_t count>
int run_case(int argc, char** argv, Case const (&cases)[count]) {
  for (Case const& candidate : cases) {
    if (argc < 2 || std::strcmp(argv[1], candidate.name) != 0) continue;
    candidate.run();
    return 0;
  }
  std::fprintf(stderr, "usage: %s <case>\n", argv[0]);
  return 2;
}

}  // namespace Program

#endif
