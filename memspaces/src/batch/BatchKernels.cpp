// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/impl/batch/BatchKernels.hpp>
#include <KokkosHostSpaces/impl/batch/FewCopies.hpp>
#include <KokkosHostSpaces/impl/batch/PieceCopy.hpp>
#include <KokkosHostSpaces/impl/batch/PieceRows.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>
#include <KokkosHostSpaces/impl/core/Replays.hpp>
#include <KokkosHostSpaces/impl/tuning/CopyThresholds.hpp>

#ifdef KOKKOS_ENABLE_CUDA

#include <Kokkos_Graph.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

namespace KokkosHostSpaces::Impl {

namespace {

PieceList fill(PieceEnds* list, std::vector<CopyPiece> const& pieces) {
  PieceList known;
  for (CopyPiece const& piece : pieces) {
    *list = {piece.dst, piece.src, piece.bytes};
    known.add(*list++);
  }
  return known;
}

PieceCopy<FewPieces> copy_of_few(std::vector<CopyPiece> const& pieces) {
  FewPieces few{};
  PieceList const known = fill(few.pieces, pieces);
  return {few, known};
}

}  // namespace

// A long list goes back to the pool, which does not hand it out before the kernel is done.
void enqueue_pieces(Kokkos::Cuda const& instance, std::vector<CopyPiece> const& pieces) {
  if (pieces.empty()) return;
  if (pieces.size() <= FewPieces::most) return run_piece_copy(instance, copy_of_few(pieces));
  Kokkos::View<PieceEnds*, MappedSpace> const list(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "deep_copy_all: pieces"), pieces.size());
  PieceList const known = fill(list.data(), pieces);
  retain_for_graph(instance.cuda_stream(), list.data(), nullptr);
  run_piece_copy(instance, PieceCopy<PieceEnds const*>(list.data(), known));
}

namespace {

constexpr SpaceDescription mapped{MappedSpace::name(), false};
constexpr char const* table_label = "deep_copy_all: pieces";

void* allocate_if_there_is(std::size_t bytes) {
  try {
    return allocate(mapped, -1, table_label, bytes, bytes);
  } catch (OutOfPinnedMemory const&) {
    return nullptr;
  }
}

}  // namespace

// It goes back to the pool as that list above.
SweepTable::SweepTable(std::size_t pieces) : m_ends(m_few_ends), m_lengths(m_few_lengths) {
  if (pieces <= few) return;
  m_bytes = pieces * (sizeof(NearEnds) + sizeof(std::uint32_t));
  m_ends  = static_cast<NearEnds*>(allocate_if_there_is(m_bytes));
  if (m_ends != nullptr) m_lengths = reinterpret_cast<std::uint32_t*>(m_ends + pieces);
}

SweepTable::~SweepTable() {
  if (m_bytes > 0) deallocate(mapped, table_label, m_ends, m_bytes, m_bytes);
}

PlainLists& plain_lists() {
  static PlainLists* const lists = [] {
    let_go_when_short([]() noexcept { plain_lists().clear(); });
    return new PlainLists;
  }();
  return *lists;
}

bool enqueue_swept(Kokkos::Cuda const& instance, NearPieces const& pieces, BatchPlan::Use use) {
  if (pieces.count == 1)
    return copy_run(pieces.dst + pieces.ends->dst, pieces.src + pieces.ends->src, pieces.longest,
                    instance.cuda_stream());
  if (!are_for_kernel(pieces.longest, pieces.count, use))
    return copy_at_once(pieces, instance.cuda_stream());
  PieceList const known(pieces);
  NearList const list(pieces);
  if (pieces.count > FewPieces::most) {
    run_piece_copy(instance, PieceCopy(list, known));
    return true;
  }
  FewPieces few;
  for (std::size_t i = 0; i < pieces.count; ++i) few.pieces[i] = list[i];
  run_piece_copy(instance, PieceCopy(few, known));
  return true;
}

struct ListedPieces::List {
  CopyRows rows{};                               ///< if all are: by one 2-D copy, ...
  std::atomic<bool> are_refused{false};          ///< ... but for those in an allocation each
  std::optional<PieceCopy<FewPieces>> few;       ///< or
  std::shared_ptr<void const> table;             ///< on the device, ...
  Kokkos::View<PieceEnds*, MappedSpace> mapped;  ///< ... or here, if that is full
  std::optional<Kokkos::Experimental::Graph<Kokkos::Cuda>> graph;
  std::mutex mutex;  ///< a graph is not to be launched by two threads at once
};

namespace {

CopyRows rows_of(std::vector<CopyPiece> const& pieces) {
  PieceRows rows;
  bool const are_rows = pieces.size() >= copy_thresholds_in_use().regular_pieces &&
                        std::all_of(pieces.begin(), pieces.end(), [&](CopyPiece const& piece) {
                          return rows.add(piece.dst, piece.src, piece.bytes);
                        });
  return are_rows && rows.sides_are_apart() ? rows.rows() : CopyRows{};
}

// Parts of pieces, so that the kernel need not divide, and has nothing to do but what there is.
std::vector<PieceEnds> cut_into_parts(std::vector<CopyPiece> const& pieces) {
  std::vector<PieceEnds> parts;
  for (CopyPiece const& piece : pieces)
    for (std::size_t begin = 0; begin < piece.bytes; begin += part_of_piece)
      parts.push_back(
          {piece.dst + begin, piece.src + begin, std::min(piece.bytes - begin, part_of_piece)});
  return parts;
}

// Graphs of Kokkos 5.2 know their device, and abort where the policy of a node names an instance that
// is not the default one; before, that of the policy tells the device.
template <class Graph>
Kokkos::Cuda instance_of_policy(Graph const& graph, Kokkos::Cuda const& own) {
  if constexpr (requires { graph.get_device_handle(); })
    return {};
  else
    return own;
}

}  // namespace

// The graph belongs to an instance of ours: Kokkos fences that when the graph ends, and the user's
// may be gone then.
ListedPieces::ListedPieces(int device, std::vector<CopyPiece> const& pieces, bool few_by_launch) {
  if (pieces.empty()) return;
  auto const list      = std::make_shared<List>();
  m_list               = list;
  list->rows           = rows_of(pieces);
  bool const are_short = std::all_of(pieces.begin(), pieces.end(), [](CopyPiece const& piece) {
    return piece.bytes <= copy_thresholds_in_use().short_bytes;
  });
  if (few_by_launch && !are_short && pieces.size() <= FewCopies::most) {
    list->few = copy_of_few(pieces);
    return;
  }
  std::vector<PieceEnds> const parts = cut_into_parts(pieces);
  PieceList known;
  for (PieceEnds const& part : parts) known.add(part);
  list->table = try_copy_to_device(device, parts.data(), parts.size() * sizeof(PieceEnds));
  if (list->table == nullptr) {
    list->mapped = decltype(list->mapped)(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "deep_copy_all: pieces"), parts.size());
    std::copy(parts.begin(), parts.end(), list->mapped.data());
  }
  void const* const begin = list->table ? list->table.get() : list->mapped.data();
  PieceCopy const copy(static_cast<PieceEnds const*>(begin), known);
  Kokkos::Cuda const own = private_instance(device);
  // The braces convert: Kokkos 5.0 takes an instance, 5.2 the handle of a device.
  Kokkos::Experimental::Graph<Kokkos::Cuda> const graph({own});
  using Policy = PieceCopyPolicy<Kokkos::Cuda>;
  graph.root_node().then_parallel_for(
      piece_copy_label(), Policy(instance_of_policy(graph, own), 0, copy.threads()), copy);
  list->graph = graph;
  list->graph->instantiate();
}

void ListedPieces::enqueue(Kokkos::Cuda const& instance) const {
  if (m_list == nullptr) return;
  if (m_list->rows.count > 0 && !m_list->are_refused) {
    if (copy_rows(m_list->rows, instance.cuda_stream())) return;
    m_list->are_refused = true;
  }
  if (m_list->few) return run_piece_copy(instance, *m_list->few);
  std::lock_guard const lock(m_list->mutex);
  m_list->graph->submit(instance);
}

}  // namespace KokkosHostSpaces::Impl

#endif
