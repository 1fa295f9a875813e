// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The report at the end of the process. It takes no lock that a thread may hold for ever.

#include "../guard/Guard.hpp"
#include "../os/Fork.hpp"
#include "Adoption.hpp"
#include "Settings.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

constexpr double giga = 1e-9;

std::string rank() {
  for (char const* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (char const* const value = std::getenv(name)) return value;
  return "0";
}

std::string file_name(std::string name) {
  for (auto const& [field, value] : {std::pair{"%r", rank()}, {"%p", std::to_string(getpid())}})
    if (std::size_t const at = name.find(field); at != name.npos) name.replace(at, 2, value);
  return name;
}

template <class... Values>
void add(std::string& text, char const* format, Values... values) {
  std::array<char, 1000> line{};
  std::snprintf(line.data(), line.size(), format, values...);
  text += line.data();
}

}  // namespace

std::string Adoption::report() const {
  std::string text;
  add(text, "KokkosHostSpaces: adopt: %s, process %d, rank %s, %s\n", program_invocation_name,
      int(getpid()), rank().c_str(),
      settings().check    ? "check"
      : settings().strict ? "strict"
                          : "relaxed");
  if (m_phase != Phase::on) {
    char const* const why =
        !m_why.empty()      ? m_why.c_str()
        : !m_others.empty() ? m_others.c_str()
        : m_seen == 0 ? "no aligned new of 64 KiB or more came here (the program makes no Views)"
                      : "no shared CUDA runtime (libcudart.so) was loaded when memory was "
                        "allocated";
    add(text, "  nothing was adopted: %s\n", why);
    return text;
  }
  add(text, "  adopted: %zu Views, %.3f GB in all, at most %.3f GB at once\n", m_views,
      double(m_view_bytes) * giga, double(m_most_in_use) * giga);
  add(text,
      "  page-locked: %zu times, at most %.3f GB at once, which took %.3f s; reused %zu times\n",
      m_locks, double(m_most_locked) * giga, double(m_lock_nanoseconds) * giga, m_reused);
  double saved = 0;
  std::array<std::size_t, 3> copies{};
  for (bool const to_device : {false, true}) {
    auto const& recorder = recorders[to_device];
    for (Kind const kind : {pageable, page_locked, others}) {
      Recorder const& sum = recorder[kind];
      if (sum.count == 0) continue;
      constexpr char const* kinds[] = {"adopted, pageable", "adopted, page-locked",
                                       "other pageable memory"};
      add(text, "  copies to the %s, %s: %zu, %.3f GB", to_device ? "device" : "host", kinds[kind],
          sum.count.load(), double(sum.bytes) * giga);
      if (sum.rate() > 0) add(text, ", %.1f GB/s", sum.rate());
      text += '\n';
      copies[kind] += sum.count;
    }
    Recorder const& locked = recorder[page_locked];
    if (double const rate = recorder[pageable].rate(); rate > 0)
      saved += double(locked.timed_bytes) / rate - double(locked.nanoseconds);
  }
  add(text, "  time saved, at the rates of the pageable copies: %.3f s\n",
      std::max(saved, 0.) * giga);
  if (copies[others] > 0)
    add(text, "  porting would gain further: put the other pageable memory into PinnedSpace\n");
  if (settings().strict && copies[page_locked] > 0)
    add(text,
        "  porting would gain further: put Views into PinnedSpace, deep_copy(instance, ...), and fence "
        "that instance alone, where data is used; here the host waits for each copy\n");
  if (settings().check)
    add(text,
        "  host code that touched memory of an unfinished copy, which strict mode makes safe: %zu times\n",
        Guard::races());
  if (m_forks > 0)
    add(text, "  forks beside page-locked memory: %zu, which copied %.3f GB\n", m_forks,
        double(m_forked_bytes) * giga);
  if (!m_why.empty()) add(text, "  stayed pageable: %s\n", m_why.c_str());
  return text;
}

void Adoption::write_report() noexcept {
  char const* const pattern = settings().report;
  if (pattern == nullptr || is_forked_child()) return;
  try {
    std::string const text = report();
    bool const to_file     = std::string(pattern) != "1";
    std::FILE* const file  = to_file ? std::fopen(file_name(pattern).c_str(), "we") : stderr;
    std::fputs(text.c_str(), file != nullptr ? file : stderr);
    if (to_file && file != nullptr) std::fclose(file);
  } catch (std::exception const&) {
    // The process ends without a report.
  }
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
