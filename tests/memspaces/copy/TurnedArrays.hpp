// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Arrays that are turned on their way over the link, on a made-up CUDA runtime, whose streams are
// threads: nothing but events orders them, so that what is turned too early, or written over too
// early, is wrong.

#ifndef KOKKOS_HOST_SPACES_TESTS_MEMSPACES_TURNED_ARRAYS_HPP
#define KOKKOS_HOST_SPACES_TESTS_MEMSPACES_TURNED_ARRAYS_HPP

#include "../../../backend/Driver.hpp"
#include "../../support/DeviceWork.hpp"
#include "../../support/FakeCuda.hpp"
#include "DenseStrides.hpp"

#include <KokkosHostSpaces/impl/copy/SlabCopies.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

namespace SlabCopyTests {

using namespace KokkosHostSpaces::Impl;

using Extents = std::vector<std::size_t>;

inline CopyPlan plan_of(Extents const& extents, Extents const& dst, Extents const& src) {
  return make_copy_plan(8, int(extents.size()), extents.data(), dst.data(), src.data());
}

inline void copy_loops(CopyPlan const& plan, int loop, char* dst, char const* src) {
  if (loop < 0) {
    std::memcpy(dst, src, plan.run_bytes);
    return;
  }
  for (std::size_t i = 0; i < plan.extent[std::size_t(loop)]; ++i)
    copy_loops(plan, loop - 1, dst + i * plan.dst_stride[std::size_t(loop)],
               src + i * plan.src_stride[std::size_t(loop)]);
}

// A turned array in page-locked memory, and where it shall go.
struct Turned {
  Turned(Extents const& extents, Extents const& order, LinkWay link_way = LinkWay::to_device)
      : way(link_way) {
    Extents in_order(extents.size());
    std::iota(in_order.begin(), in_order.end(), std::size_t(0));
    Extents const turned = dense_strides(extents, order), dense = dense_strides(extents, in_order);
    plan  = way == LinkWay::to_device ? plan_of(extents, turned, dense)
                                      : plan_of(extents, dense, turned);
    bytes = plan.bytes();
    source.resize(bytes);
    std::generate(source.begin(), source.end(),
                  [i = 0u]() mutable { return static_cast<char>(i++ * 2654435761u >> 20); });
    target.resize(bytes);
    expected.resize(bytes);
    copy_loops(plan, plan.loops - 1, expected.data(), source.data());
    Backend::Driver::lock_pages(on_host().data(), bytes);
  }
  ~Turned() { Backend::Driver::unlock_pages(on_host().data(), bytes); }
  Turned(Turned const&)            = delete;
  Turned& operator=(Turned const&) = delete;

  // By kernels that take some time.
  bool enqueue(SlabCopies& copies, DeviceWork::Stream& stream, int device = 0) {
    return copies.enqueue(device, stream.get(), way, plan, target.data(), source.data(),
                          [&](CopyPlan const& part, char* dst, char const* src, auto kernels) {
                            ++(kernels == SlabCopies::Kernels::cross_the_link ? in_place : slabs);
                            stream.run([part, dst, src] {
                              std::this_thread::sleep_for(std::chrono::microseconds(50));
                              copy_loops(part, part.loops - 1, dst, src);
                            });
                          });
  }

  std::vector<char>& on_host() { return way == LinkWay::to_device ? source : target; }

  LinkWay way;
  CopyPlan plan;
  std::size_t bytes = 0;
  std::vector<char> source, target, expected;
  int slabs = 0, in_place = 0;
};

inline constexpr SlabCopies::Limits limits{1000, 4000, 100};

}  // namespace SlabCopyTests

#endif
