// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/plan/StreamAliases.hpp>

#include "../../../../backend/Error.hpp"

#include <algorithm>
#include <cstdint>

namespace KokkosHostSpaces::Impl {

namespace {

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

}  // namespace

std::string named(ArgumentFacts const& argument) {
  if (argument.intermediate != nullptr) return "\"" + argument.label + "\", an intermediate array,";
  std::string text = "\"" + argument.label + "\" (";
  for (int d = 0; d < argument.rank; ++d)
    text += (d > 0 ? "," : "") + std::to_string(argument.extents[d]);
  return text + "; " + std::to_string(bytes_of(argument)) + " bytes) in " + argument.space;
}

std::size_t bytes_of(ArgumentFacts const& argument) {
  std::size_t bytes = argument.element_bytes;
  for (int d = 0; d < argument.rank; ++d) bytes *= std::size_t(argument.extents[d]);
  return bytes;
}

// Views of nothing may all be at the same address.
bool same_memory(ArgumentFacts const& a, ArgumentFacts const& b) {
  if (&a == &b) return true;
  if (a.intermediate != nullptr || b.intermediate != nullptr)
    return a.intermediate == b.intermediate;
  return a.data == b.data && bytes_of(a) > 0 && bytes_of(a) == bytes_of(b) &&
         a.element_bytes == b.element_bytes && std::equal(a.extents, a.extents + 3, b.extents);
}

void check_aliases(std::string const& label, std::vector<LoopFacts> const& loops) {
  for (std::size_t s = 0; s < loops.size(); ++s)
    for (ArgumentFacts const& written : loops[s].arguments)
      if (written.access != Access::read) check_written(label, loops, int(s), written);
}

}  // namespace KokkosHostSpaces::Impl
