// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Launches kernels of this library on an instance, and tells Kokkos Tools of them.

#ifndef KOKKOS_HOST_SPACES_IMPL_KERNEL_LAUNCH_HPP
#define KOKKOS_HOST_SPACES_IMPL_KERNEL_LAUNCH_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/core/KokkosGlue.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces::Impl {

inline constexpr unsigned warp_size = 32, most_threads_of_block = 1024;

template <class ExecutionSpace>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// The range of Kokkos for `n` indices, where its own kernels run.
template <class ExecutionSpace, class Index>
auto range_of(ExecutionSpace const& instance, Index n) {
  return Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(instance, Index(0), n);
}

/// \throw Error if n < 0
template <class Index>
void check_count(char const* function, std::string const& label, Index n) {
  if constexpr (std::signed_integral<Index>)
    if (n < 0)
      throw Error("KokkosHostSpaces::" + std::string(function) + ": \"" + label + "\" has " +
                  std::to_string(n) + " indices (there cannot be fewer than none): pass how many");
}

/// Tells Kokkos Tools of a kernel, as Kokkos does, from its construction to its destruction.
class ToldKernel {
 public:
  enum class Kind { loop, reduction };

  template <class ExecutionSpace>
  ToldKernel(Kind kind, std::string const& label, ExecutionSpace const& instance)
      : m_kind(kind), m_is_told(Kokkos::Tools::profileLibraryLoaded()) {
    if (!m_is_told) return;
    auto const device = Kokkos::Tools::Experimental::device_id(instance);
    if (kind == Kind::loop)
      Kokkos::Tools::beginParallelFor(label, device, &m_id);
    else
      Kokkos::Tools::beginParallelReduce(label, device, &m_id);
  }
  ~ToldKernel() {
    if (!m_is_told) return;
    if (m_kind == Kind::loop)
      Kokkos::Tools::endParallelFor(m_id);
    else
      Kokkos::Tools::endParallelReduce(m_id);
  }
  ToldKernel(ToldKernel const&)            = delete;
  ToldKernel& operator=(ToldKernel const&) = delete;

 private:
  Kind m_kind;
  bool m_is_told;
  std::uint64_t m_id = 0;
};

#ifdef KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE

// From Volta on kernels take longer parameters, and need no copy of them for each thread.
#if defined(KOKKOS_COMPILER_NVCC) && !defined(KOKKOS_ARCH_MAXWELL) && !defined(KOKKOS_ARCH_PASCAL)
#define KOKKOS_HOST_SPACES_PARAMETER __grid_constant__
inline constexpr std::size_t most_bytes_of_parameter = 32764;
#else
#define KOKKOS_HOST_SPACES_PARAMETER
inline constexpr std::size_t most_bytes_of_parameter = 4096;
#endif

/// A body of that size runs in kernels of this library, which are passed as a parameter; others in
/// kernels of Kokkos.
template <class ExecutionSpace, std::size_t bytes_of_body>
inline constexpr bool takes_own_kernel =
    is_driven_v<ExecutionSpace>&& bytes_of_body + 128 <= most_bytes_of_parameter;

template <class Kernel, unsigned most_threads>
static __global__ __launch_bounds__(most_threads, 1) void run_kernel(
    KOKKOS_HOST_SPACES_PARAMETER Kernel const kernel) {
  kernel();
}

#undef KOKKOS_HOST_SPACES_PARAMETER

/// Enqueues a kernel on `instance`.
/// \tparam most_threads upper bound of `threads`, for which registers are left
template <unsigned most_threads, class Kernel>
void launch(DrivenDevice const& instance, Kernel const& kernel, unsigned blocks, unsigned threads) {
  if (blocks == 0) return;
  ensure_lock_arrays();
  prepare_launch(device_id_of(instance));
  run_kernel<Kernel, most_threads><<<blocks, threads, 0, stream_of(instance)>>>(kernel);
  check_launch();
}

#else

template <class ExecutionSpace, std::size_t bytes_of_body>
inline constexpr bool takes_own_kernel = false;

#endif  // KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE

}  // namespace KokkosHostSpaces::Impl

#endif
