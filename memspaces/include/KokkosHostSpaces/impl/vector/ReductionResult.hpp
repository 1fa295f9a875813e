// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The value of a reduction: which kernels of this library can hold it, how its parts are joined, and
// where it goes.

#ifndef KOKKOS_HOST_SPACES_IMPL_REDUCTION_RESULT_HPP
#define KOKKOS_HOST_SPACES_IMPL_REDUCTION_RESULT_HPP

#include <KokkosHostSpaces/impl/vector/KernelLaunch.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

class PoolMemory;

/// Page-locked memory for a value of at most 1 KiB, which a kernel writes and the host reads behind a
/// fence.
class ResultSlot {
 public:
  static constexpr std::size_t bytes = 1024;

  /// \param device whose kernel writes
  /// \throw OutOfPinnedMemory
  explicit ResultSlot(int device);
  ~ResultSlot();
  ResultSlot(ResultSlot const&)            = delete;
  ResultSlot& operator=(ResultSlot const&) = delete;

  void* data() const;

 private:
  int m_device;
  std::unique_ptr<PoolMemory> m_memory;
};

/// Sets a value to the identity of a reducer, or to that of its type, as Kokkos does.
template <class Reducer>
KOKKOS_FUNCTION void init_value(Reducer const& reducer, typename Reducer::value_type& value) {
  if constexpr (requires { reducer.init(value); })
    reducer.init(value);
  else
    new (&value) typename Reducer::value_type();
}

/// The reducer of a result that names none. Functions of the body come before its own.
template <class T>
struct Adding {
  using value_type = T;
  KOKKOS_FUNCTION void join(T& to, T const& from) const { to += from; }
};

/// Describes what holds a result: a variable, a View or a reducer of Kokkos. Of rank 0, it holds one value.
template <class Result>
struct ResultOf {
  using Value                       = Result;
  using Reducer                     = Adding<Value>;
  using Space                       = Kokkos::HostSpace;
  static constexpr std::size_t rank = std::is_array_v<Result> || std::is_pointer_v<Result> ? 1 : 0;

  static Value* data(Result& result) { return &result; }
  static Reducer reducer(Result const&) { return {}; }
};
template <class Result>
requires Kokkos::is_view_v<Result>
struct ResultOf<Result> {
  using Value                       = typename Result::value_type;
  using Reducer                     = Adding<Value>;
  using Space                       = typename Result::memory_space;
  static constexpr std::size_t rank = Result::rank();

  static Value* data(Result const& result) { return result.data(); }
  static Reducer reducer(Result const&) { return {}; }
};
template <class Result>
requires Kokkos::is_reducer_v<Result>
struct ResultOf<Result> : ResultOf<typename Result::result_view_type> {
  using Value   = typename Result::value_type;
  using Reducer = Result;

  static Value* data(Result const& result) { return result.view().data(); }
  static Reducer const& reducer(Result const& result) { return result; }
};

/// A kernel of this library can reduce to the result: it keeps one value in registers, and moves it as
/// bytes.
template <class ExecutionSpace, class Body, class Result>
inline constexpr bool is_reduced_in_registers = [] {
  using Value = typename ResultOf<Result>::Value;
  if constexpr (ResultOf<Result>::rank == 0)
    return takes_own_kernel<ExecutionSpace, sizeof(Body) + sizeof(Result)> &&
           std::is_trivially_copyable_v<Value> && sizeof(Value) <= ResultSlot::bytes;
  else
    return false;
}();

}  // namespace KokkosHostSpaces::Impl

#endif
