// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "KokkosSide.hpp"

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/PinnedSpace.hpp>

#include <Kokkos_Core.hpp>

#include <utility>

namespace KokkosHostSpaces::Perf {
namespace {

using Execution = Kokkos::DefaultExecutionSpace;

Execution make_instance([[maybe_unused]] Stream stream) {
#ifdef KOKKOS_ENABLE_CUDA
  return Execution(static_cast<cudaStream_t>(stream));
#else
  return Execution();
#endif
}

template <class Space>
struct Vectors {
  using View = Kokkos::View<double*, Space>;
  View a, b, c;

  explicit Vectors(std::size_t n)
      : a(Kokkos::view_alloc(Kokkos::WithoutInitializing, "a"), n),
        b(Kokkos::view_alloc(Kokkos::WithoutInitializing, "b"), n),
        c(Kokkos::view_alloc(Kokkos::WithoutInitializing, "c"), n) {}
  Arrays pointers() const { return {a.data(), b.data(), c.data()}; }
};

template <class Space>
void launch(Execution const& instance, Operation op, Vectors<Space> const& v, std::size_t n) {
  Kokkos::View<double const*, Space> const a = v.a, b = v.b;
  Kokkos::View<double*, Space> const c = v.c;
  double const s                       = scale_factor;
  Kokkos::RangePolicy<Execution> const range(instance, 0, static_cast<std::int64_t>(n));
  if (op == Operation::add)
    Kokkos::parallel_for(
        "add", range, KOKKOS_LAMBDA(std::int64_t i) { c(i) = a(i) + b(i); });
  else if (op == Operation::scale)
    Kokkos::parallel_for(
        "scale", range, KOKKOS_LAMBDA(std::int64_t i) { c(i) = s * a(i); });
  else
    Kokkos::parallel_for(
        "triad", range, KOKKOS_LAMBDA(std::int64_t i) { c(i) = a(i) + s * b(i); });
}

template <class Space>
class KokkosSide final : public Side {
  using Staging = Execution::memory_space;

  // The space tells whether kernels may work in place.
  static constexpr bool in_place = Kokkos::SpaceAccessibility<Execution, Space>::accessible;

 public:
  KokkosSide(std::size_t capacity, Stream stream)
      : m_instance(make_instance(stream)), m_data(capacity), m_staging(in_place ? 0 : capacity) {}

  Arrays data() const override { return m_data.pointers(); }
  Arrays staging() const override { return in_place ? Arrays{} : m_staging.pointers(); }

  void enqueue(Operation op, std::size_t n) override {
    if constexpr (in_place) {
      launch(m_instance, op, m_data, n);
    } else {
      if (reads_a(op)) copy(m_staging.a, m_data.a, n);
      if (reads_b(op)) copy(m_staging.b, m_data.b, n);
      if (is_kernel(op)) launch(m_instance, op, m_staging, n);
      if (writes_c(op)) copy(m_data.c, m_staging.c, n);
    }
#ifndef KOKKOS_ENABLE_CUDA
    m_instance.fence();  // the twin's loop is done when it returns
#endif
  }

 private:
  template <class Dst, class Src>
  void copy(Dst const& dst, Src const& src, std::size_t n) const {
    auto const part = std::make_pair(std::size_t(0), n);
    Kokkos::deep_copy(m_instance, Kokkos::subview(dst, part), Kokkos::subview(src, part));
  }

  Execution m_instance;
  Vectors<Space> m_data;
  Vectors<Staging> m_staging;
};

}  // namespace

std::unique_ptr<Side> make_kokkos_side(Transport transport, std::size_t capacity, Stream stream) {
  switch (transport) {
    case Transport::pageable:
      return std::make_unique<KokkosSide<Kokkos::HostSpace>>(capacity, stream);
    case Transport::pinned: return std::make_unique<KokkosSide<PinnedSpace>>(capacity, stream);
    case Transport::mapped: return std::make_unique<KokkosSide<MappedSpace>>(capacity, stream);
    case Transport::resident: break;
  }
  return std::make_unique<KokkosSide<Execution::memory_space>>(capacity, stream);
}

}  // namespace KokkosHostSpaces::Perf
