// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Contents.hpp"

#include <Kokkos_Core.hpp>

namespace KokkosHostSpaces::Perf {
namespace {

// An array of either side: kernels on the device fill and check device memory, host threads host
// memory, which they thereby place in the way of a first touch.
struct Range {
  double* pointer;
  std::size_t elements;
  bool on_device;
};

// Every element has a value of its own, and all results are small integers: exact in double.
KOKKOS_INLINE_FUNCTION double value_a(std::int64_t i) { return double(i); }
KOKKOS_INLINE_FUNCTION double value_b(std::int64_t i) { return double(2 * i + 1); }

KOKKOS_INLINE_FUNCTION double expected(Operation op, std::int64_t i) {
  switch (op) {
    case Operation::add: return value_a(i) + value_b(i);
    case Operation::scale: return scale_factor * value_a(i);
    case Operation::triad: return value_a(i) + scale_factor * value_b(i);
    case Operation::to_device:
    case Operation::to_host: break;
  }
  return value_a(i);
}

template <class Execution>
using Array = Kokkos::View<double*, typename Execution::memory_space,
                           Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Execution, class Value>
void fill_on(Range const& range, Value const& value) {
  Array<Execution> const array(range.pointer, range.elements);
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Execution>(0, std::int64_t(range.elements)),
      KOKKOS_LAMBDA(std::int64_t i) { array(i) = value(i); });
  Kokkos::fence("fill");
}

template <class Value>
void fill(Range const& range, Value const& value) {
  if (range.on_device)
    fill_on<Kokkos::DefaultExecutionSpace>(range, value);
  else
    fill_on<Kokkos::DefaultHostExecutionSpace>(range, value);
}

struct ValueA {
  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return value_a(i); }
};
struct ValueB {
  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return value_b(i); }
};
struct Poison {
  KOKKOS_FUNCTION double operator()(std::int64_t) const {
    return Kokkos::Experimental::quiet_NaN_v<double>;
  }
};

template <class Execution>
std::size_t count_wrong_on(Range const& range, Operation op) {
  Array<Execution> const array(range.pointer, range.elements);
  std::size_t wrong = 0;
  Kokkos::parallel_reduce(
      "check", Kokkos::RangePolicy<Execution>(0, std::int64_t(range.elements)),
      KOKKOS_LAMBDA(std::int64_t i, std::size_t & sum) { sum += !(array(i) == expected(op, i)); },
      wrong);
  return wrong;
}

Range result_of(Side& side, Transport transport, Operation op, std::size_t n) {
  if (op == Operation::to_device) return {side.staging().a, n, true};
  return {side.data().c, n, transport == Transport::resident};
}

}  // namespace

void prepare(Side& side, Transport transport, Operation op, std::size_t n) {
  bool const on_device = transport == Transport::resident;
  Arrays const data = side.data(), staging = side.staging();
  fill(Range{data.a, n, on_device}, ValueA());
  fill(Range{data.b, n, on_device}, ValueB());
  fill(Range{data.c, n, on_device}, Poison());
  if (staging.a == nullptr) return;
  fill(Range{staging.a, n, true}, Poison());
  fill(Range{staging.b, n, true}, Poison());
  if (op == Operation::to_host)
    fill(Range{staging.c, n, true}, ValueA());
  else
    fill(Range{staging.c, n, true}, Poison());
}

void damage(Side& side, Transport transport, Operation op, std::size_t n) {
  Range result = result_of(side, transport, op, n);
  result.pointer += n - 1;
  result.elements = 1;
  fill(result, Poison());
}

std::size_t count_wrong(Side& side, Transport transport, Operation op, std::size_t n) {
  Range const result = result_of(side, transport, op, n);
  return result.on_device ? count_wrong_on<Kokkos::DefaultExecutionSpace>(result, op)
                          : count_wrong_on<Kokkos::DefaultHostExecutionSpace>(result, op);
}

}  // namespace KokkosHostSpaces::Perf
