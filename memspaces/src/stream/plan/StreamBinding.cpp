// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamBinding.hpp>

#include "../../../../backend/Error.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::int64_t most_elements = std::int64_t(1) << 30;  // of a launch, counted in 32 bits

std::size_t bytes_of(ArgumentFacts const& argument) {
  std::size_t bytes = argument.element_bytes;
  for (int d = 0; d < argument.rank; ++d) bytes *= std::size_t(argument.extents[d]);
  return bytes;
}

// Label, extents, bytes and space, for messages.
std::string named(ArgumentFacts const& argument) {
  if (argument.intermediate != nullptr) return "\"" + argument.label + "\", an intermediate array,";
  std::string text = "\"" + argument.label + "\" (";
  for (int d = 0; d < argument.rank; ++d)
    text += (d > 0 ? "," : "") + std::to_string(argument.extents[d]);
  return text + "; " + std::to_string(bytes_of(argument)) + " bytes) in " + argument.space;
}

// True for the same View, or the same intermediate array. Empty Views may all have one address.
bool same_memory(ArgumentFacts const& a, ArgumentFacts const& b) {
  if (&a == &b) return true;
  if (a.intermediate != nullptr || b.intermediate != nullptr)
    return a.intermediate == b.intermediate;
  return a.data == b.data && bytes_of(a) > 0 && bytes_of(a) == bytes_of(b) &&
         a.element_bytes == b.element_bytes && std::equal(a.extents, a.extents + 3, b.extents);
}

bool overlap(ArgumentFacts const& a, ArgumentFacts const& b) {
  if (a.intermediate != nullptr || b.intermediate != nullptr) return false;
  auto const begin = [](ArgumentFacts const& x) {
    return reinterpret_cast<std::uintptr_t>(x.data);
  };
  return begin(a) < begin(b) + bytes_of(b) && begin(b) < begin(a) + bytes_of(a);
}

void check_written(std::string const& label, std::vector<LoopFacts> const& loops, int stage,
                   ArgumentFacts const& written) {
  auto const refuse = [&](std::string const& problem) { throw Error(label + ": " + problem); };
  for (std::size_t s = 0; s < loops.size(); ++s) {
    for (ArgumentFacts const& other : loops[s].arguments) {
      if (&other == &written) continue;
      bool const same = same_memory(written, other);
      if (other.fixed && overlap(written, other))
        refuse(named(written) +
               " is written and is resident (the device would keep what was "
               "there before): pass it by khs::read, or write another View");
      if (!same && overlap(written, other))
        refuse(named(written) + " is written and overlaps with " + named(other) +
               ": pass the same View, or Views that do not overlap");
      if (same && other.access != Access::read)
        refuse(named(written) +
               " is written twice (by one loop, or by two of a chain): write "
               "different Views, or make it one `update`");
      if (same && int(s) == stage && written.access == Access::update)
        refuse(named(written) + " is both read and updated: say `update` alone");
    }
  }
}

// Refuses memory that is written and overlaps with other arguments in a way that has no meaning.
void check_aliases(std::string const& label, std::vector<LoopFacts> const& loops) {
  for (std::size_t s = 0; s < loops.size(); ++s)
    for (ArgumentFacts const& written : loops[s].arguments)
      if (written.access != Access::read) check_written(label, loops, int(s), written);
}

class Binder {
 public:
  Binder(std::string const& label, std::vector<LoopFacts> const& loops)
      : m_label(label), m_loops(loops) {}

  StreamBinding bind() {
    find_layout();
    for (LoopFacts const& loop : m_loops)
      for (ArgumentFacts const& argument : loop.arguments) check(loop, argument);
    check_aliases(m_label, m_loops);
    m_result.shape.stages.resize(m_loops.size());
    m_result.strides.resize(m_loops.size());
    m_result.launch_rows = most_elements;
    for (std::size_t s = 0; s < m_loops.size(); ++s) add_stage(int(s));
    return std::move(m_result);
  }

 private:
  [[noreturn]] void refuse(std::string const& problem) const {
    throw Error(m_label + ": " + problem);
  }

  // All arguments are cut along the same index.
  void find_layout() {
    ArgumentFacts const* decides = nullptr;
    for (LoopFacts const& loop : m_loops) {
      if (loop.arguments.empty())
        refuse(
            "no argument (nothing to go over): pass Views by "
            "khs::read, khs::write or khs::update");
      if (loop.rank != m_loops.front().rank)
        refuse("its ranges have different numbers of indices: give all stages the same");
      for (ArgumentFacts const& argument : loop.arguments) {
        if (argument.rank == 1 || argument.fixed) continue;
        if (decides == nullptr) decides = &argument;
        if (argument.layout_right != decides->layout_right)
          refuse(named(*decides) + " and " + named(argument) + " are " +
                 (decides->layout_right ? "LayoutRight and LayoutLeft"
                                        : "LayoutLeft and LayoutRight") +
                 " (their slowest index differs, and they are cut "
                 "along it): give them the same layout");
      }
    }
    m_result.layout_right = decides == nullptr || decides->layout_right;
    int const rank        = m_loops.front().rank;
    m_result.cut          = m_result.layout_right ? 0 : rank - 1;
    for (LoopFacts const& loop : m_loops)
      for (ArgumentFacts const& argument : loop.arguments)
        if (m_first == nullptr && argument.intermediate == nullptr && !argument.fixed)
          m_first = &argument;
    if (m_first == nullptr) refuse("no View among the arguments: nothing is read and written");
    m_result.rows = m_first->extents[m_result.cut];
    std::copy_n(m_first->extents, rank, m_result.extents);
  }

  void check(LoopFacts const& loop, ArgumentFacts const& argument) {
    if (argument.fixed && argument.stale)
      refuse(
          named(argument) +
          " has changed since a loop made its resident copy (a GPU would have the old elements): call "
          "refresh() of the khs::resident behind the change");
    if (argument.fixed && argument.contiguous) return;
    if (argument.fixed)
      refuse(named(argument) +
             " has gaps between its elements (it is copied as one piece): make "
             "a View without padding resident");
    if (argument.rank < loop.rank)
      refuse(named(argument) + " has fewer dimensions than the range (" +
             std::to_string(loop.rank) + "): capture small arrays in the body instead");
    if (!m_result.layout_right && argument.rank > loop.rank)
      refuse(named(argument) +
             " is LayoutLeft and has more dimensions than the range (its slowest index is not one "
             "of the range): use LayoutRight, or a range over all indices");
    if (argument.side == Side::device)
      refuse(named(argument) +
             " is device memory (streamed loops bring data from the host): capture it in "
             "the body, or use a parallel_for");
    if (!argument.contiguous)
      refuse(named(argument) +
             " has gaps between its elements (rows are copied as one piece): pass a subview along "
             "the slowest index, or a View without padding");
    check_extents(loop, argument);
    check_rows(argument);
    if (argument.side == Side::pageable && argument.intermediate == nullptr &&
        m_result.pageable.empty()) {
      m_result.pageable = named(argument);
    }
  }

  void check_extents(LoopFacts const& loop, ArgumentFacts const& argument) {
    for (int d = 0; d < loop.rank; ++d) {
      if (argument.intermediate == nullptr && argument.extents[d] != m_first->extents[d])
        refuse("the extents of " + named(argument) + " and " + named(*m_first) +
               " differ (arguments are cut together): pass subviews of equal extents");
      if (loop.lower[d] < 0 || loop.upper[d] > m_first->extents[d])
        refuse("the range goes from " + std::to_string(loop.lower[d]) + " to " +
               std::to_string(loop.upper[d]) + " in index " + std::to_string(d) + ", " +
               named(*m_first) + " does not: take a range within the View");
    }
    for (int d = loop.rank; d < argument.rank; ++d)
      if (argument.intermediate != nullptr && argument.extents[d] == 0 &&
          argument.rank != m_first->rank)
        refuse("\"" + argument.label + "\" has more dimensions than the range and than " +
               named(*m_first) +
               " (their length is unknown): name them in its type, as in "
               "Intermediate<double*[3]>");
  }

  void check_rows(ArgumentFacts const& argument) {
    bool const too_large = argument.halo > m_result.rows && m_result.rows > 0;
    if (argument.halo < 0 || too_large)
      refuse("the halo of " + named(argument) + " is " + std::to_string(argument.halo) + " (of " +
             std::to_string(m_result.rows) + " rows): take one from 0 to the number of rows");
    if (!(argument.touched >= 0 && argument.touched <= 1))
      refuse("the body is said to touch " + std::to_string(argument.touched) + " of " +
             named(argument) + " (less than nothing, or more than all): take a part from 0 to 1");
    for (int d = 0; d < argument.rank; ++d)
      if (d != m_result.cut && argument.extents[d] > std::numeric_limits<int>::max())
        refuse(named(argument) +
               " has rows of 2^31 elements or more: make its slowest index "
               "longer and the others shorter");
  }

  bool covers(LoopFacts const& loop) const {
    if (loop.covers_all) return true;
    for (int d = 0; d < loop.rank; ++d)
      if (d != m_result.cut && (loop.lower[d] > 0 || loop.upper[d] < m_first->extents[d]))
        return false;
    return true;
  }

  // An array before any stage writes it, or after that: each version has a buffer.
  struct Version {
    ArgumentFacts const* argument;
    bool written;
    int buffer;
  };

  // The stage that writes the memory of an argument, or -1.
  int writer_of(ArgumentFacts const& argument) const {
    for (std::size_t s = 0; s < m_loops.size(); ++s)
      for (ArgumentFacts const& other : m_loops[s].arguments)
        if (other.access != Access::read && same_memory(other, argument)) return int(s);
    return -1;
  }

  int find_version(ArgumentFacts const& argument, bool written) const {
    for (Version const& version : m_versions)
      if (version.written == written && same_memory(*version.argument, argument))
        return version.buffer;
    return -1;
  }

  // Intermediate arrays without extents of their own have those of the Views.
  std::int64_t extent(ArgumentFacts const& argument, int d) const {
    bool const open = argument.intermediate != nullptr && argument.extents[d] == 0;
    return d < m_loops.front().rank || open ? m_first->extents[d] : argument.extents[d];
  }

  std::int64_t row_elements(ArgumentFacts const& argument) const {
    std::int64_t elements = 1;
    for (int d = 0; d < argument.rank; ++d)
      if (d != m_result.cut) elements *= extent(argument, d);
    return elements;
  }

  int fixed_buffer(ArgumentFacts const& argument) {
    StreamBuffer buffer;
    buffer.name      = argument.label;
    buffer.rows      = 1;
    buffer.row_bytes = bytes_of(argument);
    buffer.fixed     = true;
    m_result.shape.buffers.push_back(buffer);
    return int(m_result.shape.buffers.size()) - 1;
  }

  int version(ArgumentFacts const& argument, bool written) {
    if (int const known = find_version(argument, written); known >= 0) return known;
    StreamBuffer buffer;
    buffer.name      = argument.label;
    buffer.row_bytes = std::size_t(row_elements(argument)) * argument.element_bytes;
    buffer.rows      = m_result.rows;
    buffer.host      = argument.data;
    buffer.loaded    = argument.intermediate == nullptr && !written;
    buffer.stored    = argument.intermediate == nullptr && written;
    buffer.touched   = argument.touched;
    int const number = int(m_result.shape.buffers.size());
    m_result.shape.buffers.push_back(buffer);
    m_versions.push_back({&argument, written, number});
    return number;
  }

  void add_stage(int s) {
    LoopFacts const& loop = m_loops[at(s)];
    StreamStage& stage    = m_result.shape.stages[at(s)];
    bool empty            = false;
    for (int d = 0; d < loop.rank; ++d) empty |= loop.lower[d] >= loop.upper[d];
    stage.begin = loop.covers_all ? 0 : loop.lower[m_result.cut];
    stage.end   = loop.covers_all ? m_result.rows : loop.upper[m_result.cut];
    if (empty && !loop.covers_all) stage.end = stage.begin;
    for (ArgumentFacts const& argument : loop.arguments) {
      m_result.strides[at(s)].push_back(strides(argument));
      if (argument.fixed) {
        stage.accesses.push_back({fixed_buffer(argument), 0, false});
        continue;
      }
      m_result.launch_rows =
          std::min(m_result.launch_rows,
                   std::max<std::int64_t>(
                       most_elements / std::max<std::int64_t>(row_elements(argument), 1), 1));
      if (argument.access != Access::read) {
        bool const assigned = argument.access == Access::write && covers(loop);
        stage.accesses.push_back({version(argument, true), 0, true, assigned});
        continue;
      }
      int const writer   = writer_of(argument);
      bool const written = argument.intermediate != nullptr || (writer >= 0 && writer < s);
      if (argument.intermediate != nullptr && (writer < 0 || writer >= s))
        refuse(named(argument) + " is read by stage " + std::to_string(s + 1) +
               " (no stage before it writes it): write it first");
      if (argument.intermediate != nullptr && !empty)
        check_intermediate(loop, argument, m_loops[at(writer)]);
      if (writer == s) m_result.in_place = named(argument);  // the body may write before it reads
      stage.accesses.push_back({version(argument, written), argument.halo, false});
    }
    for (ArgumentFacts const& argument : loop.arguments) prefill(stage, loop, argument);
  }

  // Only elements of an intermediate array that its stage writes may be read.
  void check_intermediate(LoopFacts const& reader, ArgumentFacts const& argument,
                          LoopFacts const& writer) const {
    for (int d = 0; d < reader.rank && !writer.covers_all; ++d) {
      std::int64_t const halo  = d == m_result.cut ? argument.halo : 0;
      std::int64_t const from  = reader.covers_all ? 0 : reader.lower[d];
      std::int64_t const to    = reader.covers_all ? m_first->extents[d] : reader.upper[d];
      std::int64_t const lower = std::max<std::int64_t>(from - halo, 0);
      std::int64_t const upper = std::min(to + halo, m_first->extents[d]);
      if (lower < writer.lower[d] || upper > writer.upper[d])
        refuse("\"" + argument.label + "\" is read from " + std::to_string(lower) + " to " +
               std::to_string(upper) + " in index " + std::to_string(d) +
               " (its stage writes from " + std::to_string(writer.lower[d]) + " to " +
               std::to_string(writer.upper[d]) +
               "): give that stage a larger range, or the one that reads a smaller one");
    }
  }

  // Loads the old values of elements that a stage stores but does not assign.
  void prefill(StreamStage& stage, LoopFacts const& loop, ArgumentFacts const& argument) {
    bool const needed =
        argument.access == Access::update || (argument.access == Access::write && !covers(loop));
    if (!needed || argument.intermediate != nullptr) return;
    StreamBuffer& buffer = m_result.shape.buffers[at(version(argument, true))];
    int const before     = find_version(argument, false);
    if (before < 0) {
      buffer.loaded = true;
    } else {
      buffer.seed = before;
      stage.accesses.push_back({before, 0, false});
    }
  }

  StreamBinding::Strides strides(ArgumentFacts const& argument) const {
    StreamBinding::Strides result;
    result.rank          = argument.rank;
    result.element_bytes = argument.element_bytes;
    result.is_comparable = argument.is_comparable;
    std::int64_t stride  = 1;
    for (int n = 0; n < argument.rank; ++n) {
      bool const right = argument.fixed ? argument.layout_right : m_result.layout_right;
      int const d      = right ? argument.rank - 1 - n : n;
      result.of[d]     = stride;
      stride *= argument.fixed ? argument.extents[d] : extent(argument, d);
    }
    return result;
  }

  std::string const& m_label;
  std::vector<LoopFacts> const& m_loops;
  ArgumentFacts const* m_first = nullptr;
  std::vector<Version> m_versions;
  StreamBinding m_result;
};

}  // namespace

StreamBinding bind_stream(std::string const& label, std::vector<LoopFacts> const& loops) {
  return Binder(label, loops).bind();
}

}  // namespace KokkosHostSpaces::Impl
