// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/PretendedDevice.hpp>

#include "../../../../backend/Error.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

// Two poisons each for elements that are read and that are written. As numbers they have different
// signs, so that sums, minima and comparisons differ; squares do not overflow, and sums with numbers of
// usual size are not rounded away.
struct Poison {
  char first, second;
};
constexpr Poison of_read{'\x42', '\xc2'}, of_written{'\x41', '\xc1'};

// Copies of the rows of a buffer that a launch may touch, between guards of poison.
class Window {
 public:
  // Of a fixed buffer, which is not copied, it is empty.
  // \param first_row where row 0 would be; nullptr: the rows are poison, too
  Window(StreamBuffer const& buffer, StreamRows rows, char const* first_row, char poison)
      : m_rows(rows),
        m_poison(poison),
        m_row_bytes(buffer.row_bytes),
        m_guard(buffer.fixed ? 0 : (least_guard + 8 * buffer.row_bytes) / 512 * 512),
        m_bytes(std::size_t(rows.count()) * buffer.row_bytes),
        m_memory(aligned_memory(m_bytes + 2 * m_guard)) {
    std::memset(m_memory.get(), poison, m_bytes + 2 * m_guard);
    if (first_row != nullptr && m_bytes > 0)
      std::memcpy(begin(), shifted(first_row, rows.begin * std::int64_t(m_row_bytes)), m_bytes);
  }

  char* begin() const { return m_memory.get() + m_guard; }
  std::size_t bytes() const { return m_bytes; }
  StreamRows rows() const { return m_rows; }
  // The address that row 0 would have.
  char* first_row() const { return shifted(begin(), -m_rows.begin * std::int64_t(m_row_bytes)); }

  // The offset from begin() of a byte outside of the rows that has changed, if any.
  std::optional<std::ptrdiff_t> changed_outside() const {
    auto const is_changed = [this](char byte) { return byte != m_poison; };
    char const* const end = begin() + m_bytes;
    if (auto const* const found = std::find_if(end, end + m_guard, is_changed);
        found != end + m_guard)
      return found - begin();
    if (auto const* const found = std::find_if(m_memory.get(), begin(), is_changed);
        found != begin())
      return found - begin();
    return std::nullopt;
  }

 private:
  static constexpr std::size_t least_guard = std::size_t(1) << 16;

  StreamRows m_rows;
  char m_poison;
  std::size_t m_row_bytes, m_guard, m_bytes;
  AlignedMemory m_memory;
};

bool same_values(char const* a, char const* b, std::string const& value_bytes) {
  for (std::size_t i = 0; i < value_bytes.size(); ++i)
    if (value_bytes[i] != 0 && a[i] != b[i]) return false;
  return true;
}

bool is_poison(char const* value, char poison, std::string const& value_bytes) {
  return same_values(value, std::string(value_bytes.size(), poison).data(), value_bytes);
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
    Run const first = run_with([](std::size_t) { return false; });
    Run const other = run_with([](std::size_t) { return true; });
    for (std::size_t a = 0; a < m_accesses.size(); ++a)
      if (m_accesses[a].writes) check(a, first, other);
    if (!same_values(first.part.data(), other.part.data(), m_job.part_value_bytes))
      check_dependence(m_accesses.size(), 0, first);
    for (std::size_t a = 0; a < m_accesses.size(); ++a)
      if (m_accesses[a].writes)
        std::memcpy(on_device(a, first.windows[a].rows()), first.windows[a].begin(),
                    first.windows[a].bytes());
  }

 private:
  // The results: windows of the accesses, and the part of a reduction.
  struct Run {
    std::vector<Window> windows;
    std::string part;
  };

  template <class Choice>
  Run run_with(Choice const& takes_second_poison) const {
    Run run;
    std::vector<char*> first_rows;
    for (std::size_t a = 0; a < m_accesses.size(); ++a) {
      StreamAccess const& access = m_accesses[a];
      Poison const poison        = access.writes ? of_written : of_read;
      run.windows.emplace_back(buffer(a), rows_of(a),
                               access.assigned ? nullptr : m_launch.first_rows[a],
                               takes_second_poison(a) ? poison.second : poison.first);
      first_rows.push_back(buffer(a).fixed ? m_launch.first_rows[a]
                                           : run.windows.back().first_row());
    }
    StreamLaunch launch = m_launch;
    launch.first_rows   = first_rows.data();
    m_launcher(launch);
    if (m_job.part) run.part.assign(m_job.part(launch.chunk), m_job.part_value_bytes.size());
    return run;
  }

  StreamBuffer const& buffer(std::size_t access) const {
    return m_shape.buffers[at(m_accesses[access].buffer)];
  }

  StreamRows rows_of(std::size_t access) const {
    if (buffer(access).fixed) return {};
    std::int64_t const halo = m_accesses[access].halo;
    return {std::max<std::int64_t>(m_launch.begin - halo, 0),
            std::min(m_launch.end + halo, buffer(access).rows)};
  }

  char* on_device(std::size_t access, StreamRows const& rows) const {
    return shifted(m_launch.first_rows[access],
                   rows.begin * std::int64_t(buffer(access).row_bytes));
  }

  // --- checks; what comes behind the accesses is the part of a reduction ---
  std::string const& value_bytes(std::size_t access) const {
    return access < m_accesses.size() ? buffer(access).value_bytes : m_job.part_value_bytes;
  }

  char const* value(Run const& run, std::size_t access, std::size_t element) const {
    char const* const values =
        access < m_accesses.size() ? run.windows[access].begin() : run.part.data();
    return values + element * value_bytes(access).size();
  }

  void check(std::size_t access, Run const& first, Run const& other) const {
    std::string const& bytes = value_bytes(access);
    std::optional<std::size_t> differs;
    Window const &window = first.windows[access], &again = other.windows[access];
    // First: it is why an own element is not written.
    if (auto const outside = window.changed_outside()) {
      auto const size = std::int64_t(bytes.size());
      refuse(element_text(access, (*outside - (*outside < 0 ? size - 1 : 0)) / size) +
             " is written by the chunk of rows " + rows_text({m_launch.begin, m_launch.end}) +
             " (a GPU has no memory for it there): write only at the indices of the body");
    }
    bool const all_same =
        std::equal(window.begin(), window.begin() + window.bytes(), again.begin());
    for (std::size_t e = 0; !all_same && e < window.bytes() / bytes.size(); ++e) {
      char const* const a = value(first, access, e);
      char const* const b = value(other, access, e);
      if (same_values(a, b, bytes)) continue;
      if (is_poison(a, of_written.first, bytes) && is_poison(b, of_written.second, bytes))
        refuse(element_text(access, std::int64_t(e)) +
               " is not written (a GPU would copy to the host what its memory had before): assign "
               "it, or pass the View by khs::update");
      if (!differs) differs = e;
    }
    if (differs) check_dependence(access, *differs, first);
  }

  // Finds the argument whose poison changes a value.
  void check_dependence(std::size_t access, std::size_t element, Run const& first) const {
    auto const changes = [&](auto const& takes_second_poison) {
      return !same_values(value(first, access, element),
                          value(run_with(takes_second_poison), access, element),
                          value_bytes(access));
    };
    if (changes([](std::size_t) { return false; })) return;  // as random numbers do
    std::string const what = access < m_accesses.size()
                                 ? element_text(access, std::int64_t(element))
                                 : std::string("the result");
    for (std::size_t r = 0; r < m_accesses.size(); ++r) {
      if (!changes([r](std::size_t other) { return other == r; })) continue;
      std::string const name = "\"" + buffer(r).name + "\"";
      if (m_accesses[r].writes)
        refuse(what + " is computed from what " + name +
               " had before (which khs::write does not copy to a GPU): pass it by khs::update");
      refuse(what + " is computed from elements of " + name + " beyond its halo of " +
             std::to_string(m_accesses[r].halo) + " (of which a GPU would have rows " +
             rows_text(rows_of(r)) + " in this chunk): pass it with a larger khs::halo");
    }
    refuse(what +
           " is computed from elements that a GPU would not have in this chunk: pass a larger "
           "khs::halo, or khs::update");
  }

  // --- words ---
  static std::string rows_text(StreamRows const& rows) {
    return std::to_string(rows.begin) + " to " + std::to_string(rows.end - 1);
  }

  // \param element counted from the begin of the window
  std::string element_text(std::size_t access, std::int64_t element) const {
    auto const& strides = m_job.binding.strides[at(m_launch.stage)][access];
    auto const per_row = std::int64_t(buffer(access).row_bytes / buffer(access).value_bytes.size());
    std::int64_t left  = rows_of(access).begin * per_row + element;
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
