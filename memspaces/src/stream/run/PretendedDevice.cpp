// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/PretendedDevice.hpp>

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

void fill(char* to, std::size_t bytes, std::size_t value_bytes, Poison poison) {
  std::memset(to, poison.even, bytes);
  for (std::size_t at = value_bytes; at < bytes; at += 2 * value_bytes)
    std::memset(to + at, poison.odd, std::min(value_bytes, bytes - at));
}

bool same_values(char const* a, char const* b, std::string const& value_bytes) {
  for (std::size_t i = 0; i < value_bytes.size(); ++i)
    if (value_bytes[i] != 0 && a[i] != b[i]) return false;
  return true;
}

bool is_poison(char const* value, std::size_t element, Poison poison,
               std::string const& value_bytes) {
  char const byte = element % 2 == 0 ? poison.even : poison.odd;
  return same_values(value, std::string(value_bytes.size(), byte).data(), value_bytes);
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
    Run const first = run_with(Excerpt::Edge::end, [](std::size_t) { return false; });
    Run const other = run_with(Excerpt::Edge::begin, [](std::size_t) { return true; });
    for (std::size_t a = 0; a < m_accesses.size(); ++a) {
      check_strays(a, first);
      check_strays(a, other);
    }
    for (std::size_t a = 0; a < m_accesses.size(); ++a)
      if (m_accesses[a].writes) check_values(a, first, other);
    if (!same_values(first.part.data(), other.part.data(), m_job.part_value_bytes))
      check_dependence(m_accesses.size(), 0, first);
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

  template <class Choice>
  Run run_with(Excerpt::Edge edge, Choice const& takes_second_poison) const {
    Run run;
    std::vector<char*> first_rows;
    for (std::size_t a = 0; a < m_accesses.size(); ++a) {
      run.windows.push_back(has_window(a) ? window(a, edge) : nullptr);
      Excerpt* const window = run.windows.back().get();
      if (window != nullptr && m_accesses[a].assigned)
        fill(window->data(), window->bytes(), value_bytes(a).size(),
             takes_second_poison(a) ? second_poison : first_poison);
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
    if (m_job.part) run.part.assign(m_job.part(launch.chunk), m_job.part_value_bytes.size());
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

  // --- checks; what comes behind the accesses is the part of a reduction ---
  std::string const& value_bytes(std::size_t access) const {
    return access < m_accesses.size() ? m_job.value_bytes[at(m_launch.stage)][access]
                                      : m_job.part_value_bytes;
  }

  char const* value(Run const& run, std::size_t access, std::size_t element) const {
    char const* const values =
        access < m_accesses.size() ? run.windows[access]->data() : run.part.data();
    return values + element * value_bytes(access).size();
  }

  // Before values are judged: a stray write is why an own element is not written.
  void check_strays(std::size_t access, Run const& run) const {
    if (!run.strays[access]) return;
    auto const [offset, is_write] = *run.strays[access];
    auto const row_bytes          = std::int64_t(buffer(access).row_bytes);
    std::int64_t const rows       = buffer(access).rows;
    bool const of_array           = offset >= 0 && offset < rows * row_bytes;
    bool const writes             = is_write && m_accesses[access].writes;
    auto const size               = std::int64_t(value_bytes(access).size());
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

  void check_values(std::size_t access, Run const& first, Run const& other) const {
    std::string const& bytes = value_bytes(access);
    Excerpt const &window = *first.windows[access], &again = *other.windows[access];
    if (window.bytes() == 0 || std::memcmp(window.data(), again.data(), window.bytes()) == 0)
      return;
    std::optional<std::size_t> differs;
    for (std::size_t e = 0; e < window.bytes() / bytes.size(); ++e) {
      char const* const a = value(first, access, e);
      char const* const b = value(other, access, e);
      if (same_values(a, b, bytes)) continue;
      if (is_poison(a, e, first_poison, bytes) && is_poison(b, e, second_poison, bytes))
        refuse(
            element_text(access, element_of(access, e)) +
            " keeps what it had, which khs::write does not copy to a GPU (it is not assigned, or "
            "changed as by += 0 only): assign it, or pass the View by khs::update");
      if (!differs) differs = e;
    }
    if (differs) check_dependence(access, *differs, first);
  }

  // True if the body computes other values each time, as from random numbers. Looks at all values, and
  // several times, since those of which there are few, such as those of a coin, are often the same.
  bool is_random(Run const& first) const {
    for (int again = 0; again < 4; ++again) {
      Run const same = run_with(Excerpt::Edge::end, [](std::size_t) { return false; });
      if (!same_values(first.part.data(), same.part.data(), m_job.part_value_bytes)) return true;
      for (std::size_t a = 0; a < m_accesses.size(); ++a)
        if (m_accesses[a].writes && first_difference(a, first, same)) return true;
    }
    return false;
  }

  std::optional<std::size_t> first_difference(std::size_t access, Run const& a,
                                              Run const& b) const {
    std::string const& bytes   = value_bytes(access);
    std::size_t const elements = a.windows[access]->bytes() / bytes.size();
    for (std::size_t e = 0; e < elements; ++e)
      if (!same_values(value(a, access, e), value(b, access, e), bytes)) return e;
    return std::nullopt;
  }

  // Finds the argument whose poison changes a value.
  void check_dependence(std::size_t access, std::size_t element, Run const& first) const {
    auto const changes = [&](auto const& takes_second_poison) {
      return !same_values(value(first, access, element),
                          value(run_with(Excerpt::Edge::end, takes_second_poison), access, element),
                          value_bytes(access));
    };
    if (is_random(first)) return;
    std::string const what = access < m_accesses.size()
                                 ? element_text(access, element_of(access, element))
                                 : std::string("the result");
    std::string names;
    for (std::size_t r = 0; r < m_accesses.size(); ++r)
      if (m_accesses[r].assigned && changes([r](std::size_t other) { return other == r; }))
        names += (names.empty() ? "\"" : " and \"") + buffer(r).name + "\"";
    refuse(what + " is computed from what " + (names.empty() ? "Views that are written" : names) +
           " had before (which khs::write does not copy to a GPU): pass it by khs::update");
  }

  // --- words ---
  static std::string rows_text(StreamRows const& rows) {
    return std::to_string(rows.begin) + " to " + std::to_string(rows.end - 1);
  }

  // Counts an element of a window from the begin of the array.
  std::int64_t element_of(std::size_t access, std::size_t of_window) const {
    return offset_of(access) / std::int64_t(value_bytes(access).size()) + std::int64_t(of_window);
  }

  std::string element_text(std::size_t access, std::int64_t element) const {
    auto const& strides = m_job.binding.strides[at(m_launch.stage)][access];
    std::int64_t left   = element;
    std::vector<std::string> index(at(strides.rank));
    for (int n = 0; n < strides.rank; ++n) {
      int const d               = m_job.binding.layout_right ? n : strides.rank - 1 - n;
      std::int64_t const stride = strides.of[d];
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
