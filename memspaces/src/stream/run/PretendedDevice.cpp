// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/StreamRun.hpp>

#include "../../../../backend/Error.hpp"
#include "../../../../backend/guard/Excerpt.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

using Backend::Excerpt;

// Fills elements that are to be written, in two runs: as numbers of different signs, so that
// sums, minima and comparisons differ, or as zero and not zero; in turn, as a mistake rarely concerns
// every second element alone.
struct Poison {
  char even, odd;
};
constexpr Poison first_poison{'\x41', '\x00'}, second_poison{'\xc1', '\xff'};

char byte_of(Poison poison, std::size_t element) {
  return element % 2 == 0 ? poison.even : poison.odd;
}

void fill(char* to, std::size_t bytes, std::size_t element_bytes, Poison poison) {
  for (std::size_t at = 0; at < bytes; at += element_bytes)
    std::memset(to + at, byte_of(poison, at / element_bytes), element_bytes);
}

bool is_poison(char const* value, std::size_t element, std::size_t bytes, Poison poison) {
  return std::all_of(value, value + bytes,
                     [byte = byte_of(poison, element)](char at) { return at == byte; });
}

class PretendedLaunch {
 public:
  PretendedLaunch(StreamJob const& job, StreamLauncher const& launcher, StreamLaunch const& launch)
      : m_job(job),
        m_shape(job.binding.shape),
        m_launcher(launcher),
        m_launch(launch),
        m_accesses(m_shape.stages[at(launch.stage)].accesses) {}

  void run() {
    Run const first = run_with(Excerpt::Edge::end, first_poison);
    Run const other = run_with(Excerpt::Edge::begin, second_poison);
    for (std::size_t a = 0; a < m_accesses.size(); ++a) {
      check_strays(a, first);
      check_strays(a, other);
    }
    for (std::size_t a = 0; a < m_accesses.size(); ++a) check_values(a, first, other);
    if (first.part != other.part) check_dependence("the result", first);
    for (std::size_t a = 0; a < m_accesses.size(); ++a)
      if (m_accesses[a].writes)
        std::memcpy(on_device(a), first.windows[a]->data(), first.windows[a]->bytes());
  }

 private:
  // The results: windows of the accesses that write, the part of a reduction, and accesses to what a
  // GPU would not have.
  struct Run {
    std::vector<std::unique_ptr<Excerpt>> windows;
    std::vector<std::optional<Excerpt::Stray>> strays;
    std::string part;
  };

  Run run_with(Excerpt::Edge edge, Poison poison) const {
    Run run;
    std::vector<char*> first_rows;
    for (std::size_t a = 0; a < m_accesses.size(); ++a) {
      run.windows.push_back(has_window(a) ? window(a, edge) : nullptr);
      Excerpt* const window = run.windows.back().get();
      if (window != nullptr && m_accesses[a].assigned)
        fill(window->data(), window->bytes(), strides(a).element_bytes, poison);
      else if (window != nullptr && window->bytes() > 0)
        std::memcpy(window->data(), on_device(a), window->bytes());
      first_rows.push_back(window == nullptr ? m_launch.first_rows[a]
                                             : shifted(window->data(), -offset_of(a)));
    }
    StreamLaunch launch = m_launch;
    launch.first_rows   = first_rows.data();
    m_launcher(launch);
    for (std::size_t a = 0; a < m_accesses.size(); ++a) {
      run.strays.push_back(has_window(a) ? run.windows[a]->stray() : std::nullopt);
      if (!m_accesses[a].writes) run.windows[a].reset();
    }
    if (m_job.part) run.part = m_job.part(launch.chunk);
    return run;
  }

  StreamBuffer const& buffer(std::size_t access) const {
    return m_shape.buffers[at(m_accesses[access].buffer)];
  }

  // Not a fixed buffer, which is not copied, nor what only the plan reads.
  bool has_window(std::size_t access) const {
    return !buffer(access).fixed && access < m_job.binding.strides[at(m_launch.stage)].size();
  }

  std::unique_ptr<Excerpt> window(std::size_t access, Excerpt::Edge edge) const {
    StreamBuffer const& of = buffer(access);
    auto const begin       = std::size_t(rows_of(access).begin) * of.row_bytes;
    return std::make_unique<Excerpt>(
        Excerpt::Array{m_job.label, of.host, std::size_t(of.rows) * of.row_bytes}, begin,
        begin + std::size_t(rows_of(access).count()) * of.row_bytes, edge);
  }

  StreamRows rows_of(std::size_t access) const {
    std::int64_t const halo = m_accesses[access].halo;
    return {std::max<std::int64_t>(m_launch.begin - halo, 0),
            std::min(m_launch.end + halo, buffer(access).rows)};
  }

  // Bytes of an array before its rows here.
  std::ptrdiff_t offset_of(std::size_t access) const {
    return rows_of(access).begin * std::int64_t(buffer(access).row_bytes);
  }

  char* on_device(std::size_t access) const {
    return shifted(m_launch.first_rows[access], offset_of(access));
  }

  StreamBinding::Strides const& strides(std::size_t access) const {
    return m_job.binding.strides[at(m_launch.stage)][access];
  }

  // --- checks ---
  // Before values are judged: a stray write is why an own element is not written.
  void check_strays(std::size_t access, Run const& run) const {
    if (!run.strays[access]) return;
    auto const [offset, is_write] = *run.strays[access];
    auto const row_bytes          = std::int64_t(buffer(access).row_bytes);
    std::int64_t const rows       = buffer(access).rows;
    bool const of_array           = offset >= 0 && offset < rows * row_bytes;
    bool const writes             = is_write && m_accesses[access].writes;
    auto const size               = std::int64_t(strides(access).element_bytes);
    std::string const what = element_text(access, (offset - (offset < 0 ? size - 1 : 0)) / size) +
                             " is " + (writes ? "written" : "read") + " by the chunk of rows " +
                             rows_text({m_launch.begin, m_launch.end});
    if (!of_array)
      refuse(what + " (the array has rows " + rows_text({0, rows}) +
             "): take a smaller range, or look at the index");
    if (writes)
      refuse(what + " (a GPU has no memory for it there): write only at the indices of the body");
    if (m_accesses[access].writes)
      refuse(what + " (of which " + (m_accesses[access].assigned ? "khs::write" : "khs::update") +
             " has only its own rows, and other iterations change them): pass a View that is not "
             "written by khs::read with a khs::halo");
    refuse(what + ", beyond its halo of " + std::to_string(m_accesses[access].halo) +
           " (a GPU would have rows " + rows_text(rows_of(access)) +
           " in this chunk): pass it with a larger khs::halo");
  }

  // True if both runs have the same values of an argument, as far as the body writes them and bytes tell.
  bool are_same(std::size_t access, Run const& a, Run const& b) const {
    return !m_accesses[access].writes || !strides(access).is_comparable ||
           a.windows[access]->bytes() == 0 ||
           std::memcmp(a.windows[access]->data(), b.windows[access]->data(),
                       a.windows[access]->bytes()) == 0;
  }

  void check_values(std::size_t access, Run const& first, Run const& other) const {
    if (are_same(access, first, other)) return;
    std::size_t const size = strides(access).element_bytes;
    std::optional<std::size_t> differs;
    for (std::size_t e = 0; e < first.windows[access]->bytes() / size; ++e) {
      char const* const a = first.windows[access]->data() + e * size;
      char const* const b = other.windows[access]->data() + e * size;
      if (std::memcmp(a, b, size) == 0) continue;
      if (is_poison(a, e, size, first_poison) && is_poison(b, e, size, second_poison))
        refuse(
            element_text(access, element_of(access, e)) +
            " keeps what it had, which khs::write does not copy to a GPU (it is not assigned, or "
            "changed as by += 0 only): assign it, or pass the View by khs::update");
      if (!differs) differs = e;
    }
    check_dependence(element_text(access, element_of(access, *differs)), first);
  }

  // True if the body computes other values each time, as from random numbers. Looks at all values, and
  // several times, since those of which there are few, such as those of a coin, are often the same.
  bool is_random(Run const& first) const {
    for (int again = 0; again < 4; ++again) {
      Run const same = run_with(Excerpt::Edge::end, first_poison);
      if (first.part != same.part) return true;
      for (std::size_t a = 0; a < m_accesses.size(); ++a)
        if (!are_same(a, first, same)) return true;
    }
    return false;
  }

  void check_dependence(std::string const& what, Run const& first) const {
    if (is_random(first)) return;
    std::string names;
    for (std::size_t a = 0; a < m_accesses.size(); ++a)
      if (m_accesses[a].assigned)
        names += (names.empty() ? "\"" : " or \"") + buffer(a).name + "\"";
    refuse(what + " is computed from what " + names +
           " had before (which khs::write does not copy to a GPU): pass it by khs::update");
  }

  // --- words ---
  static std::string rows_text(StreamRows const& rows) {
    return std::to_string(rows.begin) + " to " + std::to_string(rows.end - 1);
  }

  // Counts an element of a window from the begin of the array.
  std::int64_t element_of(std::size_t access, std::size_t of_window) const {
    return offset_of(access) / std::int64_t(strides(access).element_bytes) +
           std::int64_t(of_window);
  }

  std::string element_text(std::size_t access, std::int64_t element) const {
    auto const& of    = strides(access);
    std::int64_t left = element;
    std::vector<std::string> index(at(of.rank));
    for (int n = 0; n < of.rank; ++n) {
      int const d               = m_job.binding.layout_right ? n : of.rank - 1 - n;
      std::int64_t const stride = of.of[d];
      std::int64_t const i      = (left - (left < 0 ? stride - 1 : 0)) / stride;
      index[at(d)]              = std::to_string(i);
      left -= i * stride;
    }
    std::string text = "\"" + buffer(access).name + "\"(";
    for (std::string const& i : index) text += (&i == &index.front() ? "" : ", ") + i;
    return text + ")";
  }

  [[noreturn]] void refuse(std::string const& problem) const {
    throw Error(m_job.label + ": " + problem);
  }

  StreamJob const& m_job;
  StreamShape const& m_shape;
  StreamLauncher const& m_launcher;
  StreamLaunch const& m_launch;
  std::vector<StreamAccess> const& m_accesses;
};

}  // namespace

StreamLauncher on_pretended_device(StreamJob const& job, StreamLauncher launcher) {
  return [&job, launcher = std::move(launcher)](StreamLaunch const& launch) {
    PretendedLaunch(job, launcher, launch).run();
  };
}

}  // namespace KokkosHostSpaces::Impl
