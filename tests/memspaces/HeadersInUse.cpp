// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Uses the templates of the public headers, as an application does that turns on many warnings. Only
// compiled.

#include <KokkosHostSpaces.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace khs = KokkosHostSpaces;

namespace {

using Instance = Kokkos::DefaultExecutionSpace;
using Pinned   = Kokkos::View<double*, khs::PinnedSpace>;
using Matrix   = Kokkos::View<double**, khs::PinnedSpace>;
using Mapped   = Kokkos::View<float*, khs::MappedSpace>;
using OnDevice = Kokkos::View<double*, Instance::memory_space>;

struct Twice {
  KOKKOS_FUNCTION double operator()(double a) const { return 2 * a; }
};
struct One {
  KOKKOS_FUNCTION double operator()() const { return 1; }
};
struct Copy {
  template <class From, class To>
  KOKKOS_FUNCTION void operator()(std::int64_t i, From const& from, To const& to) const {
    to(i) = from(i);
  }
};
struct Copy2 {
  template <class From, class To>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, From const& from,
                                  To const& to) const {
    to(i, j) = from(i, j);
  }
};
struct Add {
  template <class From>
  KOKKOS_FUNCTION void operator()(std::int64_t i, From const& from, double& sum) const {
    sum += from(i);
  }
};

}  // namespace

void use_views(Instance const& instance, std::size_t n) {
  Pinned pinned("pinned", n);
  Mapped const mapped("mapped", n);
  OnDevice const device("device", n);
  Matrix const matrix("matrix", n, 3);
  Kokkos::resize(pinned, n + 1);
  Kokkos::realloc(pinned, n);
  Kokkos::deep_copy(instance, device, pinned);
  Kokkos::deep_copy(matrix, Matrix("other", n, 3));
  (void)khs::mapped_view(pinned);
  (void)khs::device_view(instance, pinned);
  (void)khs::explain(device, pinned);
  (void)khs::create_pinned_mirror_view_and_copy(instance, device);
  std::vector<double, khs::Allocator<double>> numbers(3);
  std::vector<double> memory(3);
  khs::Registration const registration(memory, "memory");
  (void)registration.view<double**, Kokkos::LayoutLeft>(n, 1);
  khs::PinnedDualView<int*> dual("dual", n);
  dual.resize(n + 1);
  dual.realloc(Kokkos::view_alloc(Kokkos::SequentialHostInit), n);
  dual.sync_device(instance);
  khs::snapshot("snapshot", instance, device, [](auto const&) {}).fence();
}

void use_batches(Instance const& instance, OnDevice const& device, Pinned const& pinned) {
  khs::deep_copy_all(instance, std::vector{khs::copy_of(device, pinned)});
  khs::deep_copy_all(instance, khs::copy_of(device, pinned));
  khs::deep_copy_all(instance, device, pinned, std::vector{khs::Slice{0, 1, 2}});
}

void use_vectors(Instance const& instance, Pinned const& pinned, Mapped const& mapped) {
  auto const in = khs::mapped_view(pinned);
  double sum    = 0;
  khs::element_wise("twice", instance, mapped, Twice(), in);
  khs::element_wise("one", instance, mapped, One());
  khs::element_sum("sum", instance, sum, Twice(), in);
}

void use_streams(Instance const& instance, Pinned const& a, Pinned const& b, Matrix const& m) {
  int const n = a.extent_int(0);
  double sum  = 0;
  khs::streamed_for("copy", instance, n, Copy(), khs::read(a), khs::write(b)).fence();
  khs::streamed_for("copy", instance, khs::Box<2>({0, 0}, {n, m.extent(1)}), Copy2(), khs::read(m),
                    khs::write(m))
      .fence();
  khs::streamed_reduce("add", instance, n, Add(), sum, khs::read(a));
  khs::streamed_chain("chain", instance, n, khs::stage(Copy(), khs::read(a), khs::write(b)))
      .fence();
}
