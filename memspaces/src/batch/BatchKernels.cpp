// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/batch/BatchKernels.hpp>
#include <KokkosHostSpaces/impl/batch/PieceCopy.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>
#include <KokkosHostSpaces/impl/core/Replays.hpp>

#ifdef KOKKOS_ENABLE_CUDA

#include <Kokkos_Graph.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

namespace {

// Allocates a list in host memory that kernels reach. May be released when its kernel is enqueued.
std::shared_ptr<Piece> allocate_list(std::size_t parts) {
  auto const memory =
      std::make_shared<PoolMemory const>(-1, "deep_copy_all: pieces", parts * sizeof(Piece));
  return {memory, static_cast<Piece*>(memory->data())};
}

void enqueue_kernel(Kokkos::Cuda const& instance, std::vector<Piece> const& pieces) {
  if (pieces.empty()) return;
  std::size_t const parts = count_parts(pieces);
  if (parts <= FewParts::most) {
    FewParts few{};
    PartShape const shape = cut_into_parts(pieces, few.parts);
    return run_piece_copy(instance, PieceCopy(few, shape));
  }
  auto const list       = allocate_list(parts);
  PartShape const shape = cut_into_parts(pieces, list.get());
  retain_for_graph(instance.cuda_stream(), list.get(), nullptr);
  run_piece_copy(instance, PieceCopy<Piece const*>(list.get(), shape));
}

// Returns the instance for the policy of a node. A graph of Kokkos 5.2 knows its device, and aborts
// if the policy names an instance other than the default one. In 5.0 and 5.1 the policy names the
// device.
template <class Graph>
Kokkos::Cuda instance_of_policy(Graph const& graph, Kokkos::Cuda const& own) {
  if constexpr (requires { graph.get_device_handle(); })
    return {};
  else
    return own;
}

using Graph = Kokkos::Experimental::Graph<Kokkos::Cuda>;

// Makes the graph on a private instance: Kokkos fences the instance when the graph is destroyed,
// and the user's may be gone then. The braces convert: Kokkos 5.0 takes an instance, 5.2 the handle
// of a device.
Graph make_graph(int device, PieceCopy<Piece const*> const& copy) {
  Kokkos::Cuda const own = private_instance(device);
  Graph graph({own});
  using Policy                     = PieceCopyPolicy<Kokkos::Cuda>;
  [[maybe_unused]] auto const node = graph.root_node().then_parallel_for(
      piece_copy_label(), Policy(instance_of_policy(graph, own), 0, copy.threads()), copy);
  graph.instantiate();
  return graph;
}

// Returns a copy of the list on the device, or in mapped memory if the device has no memory left.
std::shared_ptr<void const> keep_list(int device, std::vector<Piece> const& parts) {
  if (auto list = try_copy_to_device(device, parts.data(), parts.size() * sizeof(Piece)))
    return list;
  auto list = allocate_list(parts.size());
  std::copy(parts.begin(), parts.end(), list.get());
  return list;
}

}  // namespace

bool enqueue_plan(Kokkos::Cuda const& instance, BatchPlan const& plan) {
  auto* const stream = instance.cuda_stream();
  retain_for_graph(plan, stream);
  if (copy_rows(plan, stream)) return copy_single(plan, stream);
  enqueue_kernel(instance, plan.by_kernel);
  bool const is_taken = copy_by_call(plan, stream);
  return copy_single(plan, stream) && is_taken;
}

struct PreparedPlan::Kernel {
  Kernel(int device, std::vector<Piece> const& pieces) {
    std::vector<Piece> parts(count_parts(pieces));
    PartShape const shape = cut_into_parts(pieces, parts.data());
    list                  = keep_list(device, parts);
    graph                 = make_graph(device, {static_cast<Piece const*>(list.get()), shape});
  }

  std::shared_ptr<void const> list;
  std::optional<Graph> graph;
  std::mutex mutex{};  ///< two threads must not launch a graph at once
};

PreparedPlan::PreparedPlan(int device, BatchPlan&& plan) : m_plan(std::move(plan)) {
  if (!m_plan.by_kernel.empty()) m_kernel = std::make_shared<Kernel>(device, m_plan.by_kernel);
  m_plan.by_kernel = {};
}

bool PreparedPlan::enqueue(Kokkos::Cuda const& instance) const {
  auto* const stream = instance.cuda_stream();
  if (!m_rows_are_refused) {
    if (copy_rows(m_plan, stream)) return copy_single(m_plan, stream);
    m_rows_are_refused = true;
  }
  if (m_kernel != nullptr) {
    std::lock_guard const lock(m_kernel->mutex);
    m_kernel->graph->submit(instance);
  }
  bool const is_taken = copy_by_call(m_plan, stream);
  return copy_single(m_plan, stream) && is_taken;
}

}  // namespace KokkosHostSpaces::Impl

#endif
