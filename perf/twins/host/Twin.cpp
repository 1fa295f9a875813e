// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The vector kernels as plain C++ loops, by OpenMP where Kokkos uses it.

#include "../Side.hpp"

#include <cstdlib>
#include <new>

namespace KokkosHostSpaces::Perf {
namespace {

template <class Body>
void for_each_index(std::size_t n, Body body) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (std::size_t i = 0; i < n; ++i) body(i);
}

using Memory = std::unique_ptr<double, void (*)(void*)>;

Memory allocate(std::size_t bytes) {
  void* pointer = std::malloc(bytes);
  if (pointer == nullptr) throw std::bad_alloc();
  return {static_cast<double*>(pointer), std::free};
}

class HostTwin final : public Side {
 public:
  explicit HostTwin(std::size_t bytes)
      : m_a(allocate(bytes)), m_b(allocate(bytes)), m_c(allocate(bytes)) {}

  Arrays data() const override { return {m_a.get(), m_b.get(), m_c.get()}; }
  Arrays staging() const override { return {}; }

  void enqueue(Operation op, std::size_t n) override {
    double const *a = m_a.get(), *b = m_b.get();
    double* c = m_c.get();
    if (op == Operation::add)
      for_each_index(n, [=](std::size_t i) { c[i] = a[i] + b[i]; });
    else if (op == Operation::scale)
      for_each_index(n, [=](std::size_t i) { c[i] = scale_factor * a[i]; });
    else
      for_each_index(n, [=](std::size_t i) { c[i] = a[i] + scale_factor * b[i]; });
  }

 private:
  Memory m_a, m_b, m_c;
};

}  // namespace

std::unique_ptr<Side> make_twin(Transport, std::size_t capacity, Stream) {
  return std::make_unique<HostTwin>(capacity * sizeof(double));
}

}  // namespace KokkosHostSpaces::Perf
