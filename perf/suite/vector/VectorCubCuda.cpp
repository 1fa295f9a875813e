// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../plain/CheckCuda.hpp"
#include "../../plain/PlainBuffer.hpp"
#include "VectorKernelsCuda.hpp"

#include <cub/device/device_reduce.cuh>
#if __has_include(<cub/device/device_transform.cuh>)
#include <cub/device/device_transform.cuh>
#endif
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <memory>

namespace KokkosHostSpaces::Perf {
namespace {

template <VectorOperation Op, class T>
struct Term {
  T const *a, *b;
  __device__ T operator()(int i) const {
    return value_of<Op, T>(a[i], loads_b<Op> ? b[i] : T(), T());
  }
};

#if __has_include(<cub/device/device_transform.cuh>)
template <VectorOperation Op, class T>
cudaError_t transform(VectorArguments<T> const& v, int n, cudaStream_t stream) {
  T const *a = v.a, *b = v.b, *c = v.c;
  auto const from = [&](auto inputs) {
    return cub::DeviceTransform::Transform(inputs, v.c, n, ElementOperation<Op, T>(), stream);
  };
  if constexpr (reads_b(Op) && reads_c(Op)) return from(::cuda::std::make_tuple(c, a, b));
  if constexpr (reads_b(Op)) return from(::cuda::std::make_tuple(a, b));
  if constexpr (reads_c(Op)) return from(::cuda::std::make_tuple(c, a));
  return from(::cuda::std::make_tuple(a));
}
#endif

template <VectorOperation Op, class T>
std::function<void(VectorArguments<T> const&)> make(int n, cudaStream_t stream) {
  if constexpr (is_sum(Op)) {
    auto const sum = [=](void* temporary, std::size_t& bytes, VectorArguments<T> const& v) {
      auto const terms =
          thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Term<Op, T>{v.a, v.b});
      check(cub::DeviceReduce::Sum(temporary, bytes, terms, v.sum, n, stream), "DeviceReduce");
    };
    std::size_t bytes = 0;
    sum(nullptr, bytes, {});
    auto const temporary =
        std::make_shared<PlainBuffer>(make_plain_buffer(PlainKind::device, bytes));
    return [=](VectorArguments<T> const& v) mutable { sum(temporary->get(), bytes, v); };
  } else {
#if __has_include(<cub/device/device_transform.cuh>)
    return
        [=](VectorArguments<T> const& v) { check(transform<Op>(v, n, stream), "DeviceTransform"); };
#else
    return nullptr;
#endif
  }
}

}  // namespace

template <class T>
std::function<void(VectorArguments<T> const&)> make_cub_kernels(VectorOperation op,
                                                                std::size_t elements,
                                                                Stream stream) {
  return with_operation(op, [&](auto constant) {
    return make<decltype(constant)::value, T>(int(elements), static_cast<cudaStream_t>(stream));
  });
}

template std::function<void(VectorArguments<float> const&)> make_cub_kernels<float>(VectorOperation,
                                                                                    std::size_t,
                                                                                    Stream);
template std::function<void(VectorArguments<double> const&)> make_cub_kernels<double>(
    VectorOperation, std::size_t, Stream);

}  // namespace KokkosHostSpaces::Perf
