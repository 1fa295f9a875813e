// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/batch/BatchKernels.hpp>
#include <KokkosHostSpaces/impl/batch/PieceCopy.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>

#ifdef KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE

#include <Kokkos_Graph.hpp>

#include <mutex>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

namespace {

// Returns the instance for the policy of a node. A graph of Kokkos 5.2 knows its device, and aborts
// if the policy names an instance other than the default one. In 5.0 and 5.1 the policy names the
// device.
template <class Graph>
DrivenDevice instance_of_policy(Graph const& graph, DrivenDevice const& own) {
  if constexpr (requires { graph.get_device_handle(); })
    return {};
  else
    return own;
}

using Graph = Kokkos::Experimental::Graph<DrivenDevice>;

// Makes the graph on a private instance: Kokkos fences the instance when the graph is destroyed,
// and the user's may be gone then. The braces convert: Kokkos 5.0 takes an instance, 5.2 the handle
// of a device.
Graph make_graph(int device, std::vector<Piece> const& pieces) {
  DrivenDevice const own = private_instance(device);
  Graph graph({own});
  for_each_piece_copy(pieces, [&](auto const& copy) {
    [[maybe_unused]] auto const node = graph.root_node().then_parallel_for(
        piece_copy_label(), range_of(instance_of_policy(graph, own), copy.threads()), copy);
  });
  graph.instantiate();
  return graph;
}

}  // namespace

bool enqueue_plan(DrivenDevice const& instance, BatchPlan const& plan) {
  auto* const stream = stream_of(instance);
  retain_for_graph(plan, stream);
  if (copy_rows(plan, stream)) return copy_single(plan, stream);
  run_piece_copies(instance, plan.by_kernel);
  bool const is_taken = copy_by_call(plan, stream);
  return copy_single(plan, stream) && is_taken;
}

struct PreparedPlan::Kernels {
  Graph graph;
  std::mutex mutex{};  ///< two threads must not launch a graph at once
};

PreparedPlan::PreparedPlan(int device, BatchPlan&& plan) : m_plan(std::move(plan)) {
  if (!m_plan.by_kernel.empty()) m_kernels.reset(new Kernels{make_graph(device, m_plan.by_kernel)});
  m_plan.by_kernel = {};
}

bool PreparedPlan::enqueue(DrivenDevice const& instance) const {
  auto* const stream = stream_of(instance);
  if (!m_rows_are_refused) {
    if (copy_rows(m_plan, stream)) return copy_single(m_plan, stream);
    m_rows_are_refused = true;
  }
  if (m_kernels != nullptr) {
    std::lock_guard const lock(m_kernels->mutex);
    m_kernels->graph.submit(instance);
  }
  bool const is_taken = copy_by_call(m_plan, stream);
  return copy_single(m_plan, stream) && is_taken;
}

}  // namespace KokkosHostSpaces::Impl

#endif
