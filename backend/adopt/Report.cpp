// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The report at the end of the process. It takes no lock that a thread may hold for ever.

#include "../guard/Guard.hpp"
#include "../Text.hpp"
#include "../os/Fork.hpp"
#include "Adoption.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

std::string file_name(std::string name) {
  for (auto const& [field, value] :
       {std::pair{"%r", std::string(told_rank())}, {"%p", std::to_string(getpid())}})
    if (std::size_t const at = name.find(field); at != name.npos) name.replace(at, 2, value);
  return name;
}

std::string in_gb(std::uint64_t bytes) { return with_decimals(double(bytes) * 1e-9, 3) + " GB"; }
std::string in_seconds(double seconds) { return with_decimals(seconds, 3) + " s"; }

}  // namespace

std::string Adoption::report() const {
  OutText text;
  text << "KokkosHostSpaces: adopt: " << program_invocation_name << ", process " << getpid()
       << ", rank " << told_rank()
       << (settings().check    ? ", check\n"
           : settings().strict ? ", strict\n"
                               : ", relaxed\n");
  if (m_phase != Phase::on) {
    text << "  nothing was adopted: "
         << (!m_why.empty() ? m_why
             : m_seen == 0
                 ? "no aligned new of 64 KiB or more came here (the program makes no Views)"
                 : "no shared CUDA runtime (libcudart.so) was loaded when memory was allocated")
         << '\n';
    return text.str();
  }
  text << "  adopted: " << m_views.count << " Views, " << in_gb(m_views.bytes)
       << " in all, at most " << in_gb(m_most_in_use)
       << " at once\n  page-locked: " << m_locks.count << " times, at most " << in_gb(m_most_locked)
       << " at once, which took " << in_seconds(m_locks.seconds) << "; reused " << m_reused.count
       << " times\n";
  double saved = 0 - m_locks.seconds;
  std::array<std::size_t, 3> copies{};
  for (bool const to_device : {false, true}) {
    auto const& recorder = m_copies[to_device];
    for (Kind const kind : {pageable, page_locked, others}) {
      Recorder const& sum = recorder[kind];
      if (sum.count == 0) continue;
      constexpr char const* kinds[] = {"adopted, pageable", "adopted, page-locked",
                                       "other pageable memory"};
      text << "  copies to the " << (to_device ? "device, " : "host, ") << kinds[kind] << ": "
           << sum.count << ", " << in_gb(sum.bytes);
      if (sum.rate() > 0) text << ", " << with_decimals(sum.rate() * 1e-9, 1) << " GB/s";
      text << '\n';
      copies[kind] += sum.count;
    }
    Recorder const& locked = recorder[page_locked];
    if (double const rate = recorder[pageable].rate(); rate > 0)
      saved += double(locked.timed_bytes) / rate - locked.seconds;
  }
  text << "  time saved, at the rates of the pageable copies: " << in_seconds(saved) << '\n';
  if (copies[others] > 0)
    text << "  porting would gain further: put the other pageable memory into PinnedSpace\n";
  if (settings().strict && copies[page_locked] > 0)
    text
        << "  porting would gain further: put Views into PinnedSpace, deep_copy(instance, ...), and fence "
           "that instance alone, where data is used; here the host waits for each copy\n";
  if (settings().check)
    text << "  host code that touched memory of an unfinished copy, which strict mode makes safe: "
         << Guard::races() << " times\n";
  if (m_forks.count > 0)
    text << "  forks beside page-locked memory: " << m_forks.count << ", which copied "
         << in_gb(m_forks.bytes) << '\n';
  if (!m_why.empty()) text << "  stayed pageable: " << m_why << '\n';
  return text.str();
}

void Adoption::write_report() noexcept {
  if (settings().report.empty() || is_forked_child()) return;
  try {
    std::string const name = file_name(settings().report);
    std::FILE* const file  = name != "1" ? std::fopen(name.c_str(), "we") : nullptr;
    std::fputs(report().c_str(), file != nullptr ? file : stderr);
    if (file != nullptr) std::fclose(file);
  } catch (std::exception const&) {
    // The process ends without a report.
  }
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt
