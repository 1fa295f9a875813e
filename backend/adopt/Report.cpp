// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The report at the end of the process. It takes no lock that a thread may hold for ever.

#include "../guard/Guard.hpp"
#include "../Text.hpp"
#include "Adoption.hpp"
#include "Next.hpp"
#include "Settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

std::string rank() {
  for (char const* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (char const* const value = std::getenv(name)) return value;
  return "0";
}

std::string host() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string file_name(char const* pattern) {
  std::string name;
  for (char const* c = pattern; *c != '\0'; ++c) {
    bool const is_field = *c == '%' && c[1] != '\0';
    switch (is_field ? *++c : '\0') {
      case 'r': name += rank(); break;
      case 'p': name += std::to_string(getpid()); break;
      case 'h': name += host(); break;
      case '%': name += '%'; break;
      default: name.append(is_field ? 2 : 1, '%').back() = *c; break;
    }
  }
  return name;
}

std::string program() {
  char path[4096]      = "";
  ssize_t const length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "the program";
}

std::string in_gb(double bytes) { return with_decimals(bytes * 1e-9, 3) + " GB"; }

std::string in_seconds(double seconds) { return with_decimals(seconds, 3) + " s"; }

}  // namespace

std::string Adoption::report() const {
  std::string text = "KokkosHostSpaces: adopt: " + program() + ", process " +
                     std::to_string(getpid()) + ", rank " + rank() + ", " +
                     (settings().check    ? "check"
                      : settings().strict ? "strict"
                                          : "relaxed") +
                     "\n";
  if (m_phase == Phase::waiting && m_seen == 0) {
    if (m_others[0] != '\0') return text + "  nothing was adopted: " + m_others.data() + "\n";
    return text +
           "  nothing was adopted: no aligned new of 64 KiB or more came here (the program makes no "
           "Views, or has a C++ library of its own)\n";
  }
  if (m_phase == Phase::waiting)
    return text +
           "  nothing was adopted: no shared CUDA runtime (libcudart.so) was loaded when memory "
           "was allocated\n";
  if (m_phase == Phase::off) return text + "  nothing was adopted: " + m_why.data() + "\n";
  text += "  adopted: " + std::to_string(m_views) + " Views, " + in_gb(double(m_view_bytes)) +
          " in all, at most " + in_gb(double(m_most_in_use)) + " at once\n";
  text += "  page-locked: " + std::to_string(m_locks) + " times, at most " +
          in_gb(double(m_most_locked)) + " at once, which took " +
          in_seconds(double(m_lock_nanoseconds) * 1e-9) + "; reused " + std::to_string(m_reused) +
          " times\n";
  text += recorder.table();
  text +=
      "  time saved, at the rates of the pageable copies: " + in_seconds(recorder.seconds_saved()) +
      "\n";
  if (recorder.count(HostSide::others) > 0)
    text += "  porting would gain further: put the other pageable memory into PinnedSpace\n";
  if (settings().strict && recorder.count(HostSide::locked) > 0)
    text +=
        "  porting would gain further: put Views into PinnedSpace, deep_copy(instance, ...), and fence "
        "that instance alone, where data is used; here the host waits for each copy\n";
  if (settings().check)
    text +=
        "  host code that touched memory of an unfinished copy, which strict mode makes safe: " +
        std::to_string(Guard::races()) + " times\n";
  if (m_forks > 0)
    text += "  forks beside page-locked memory: " + std::to_string(m_forks) + ", which copied " +
            in_gb(double(m_forked_bytes)) + "\n";
  if (m_why[0] != '\0') text += std::string("  stayed pageable: ") + m_why.data() + "\n";
  return text;
}

void Adoption::write_report() noexcept {
  char const* const pattern = settings().report;
  if (pattern == nullptr || m_is_child || getpid() != settings().process) return;
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
