// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Text.hpp"

#include "../../support/Format.hpp"
#include "../../support/Machine.hpp"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

namespace KokkosHostSpaces::Audit {
namespace {

// Accept only numbers in environment variables, since they are shown.
std::string number_in(char const* variable) {
  char const* const value = std::getenv(variable);
  if (value == nullptr) return "";
  std::string const text = value;
  bool const is_number   = !text.empty() && text.size() < 10 &&
                         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? text : "";
}

}  // namespace

std::string shown(std::string const& label) {
  constexpr std::size_t most = 60, ends = 28;
  std::string result;
  for (std::size_t i = 0; i != label.size(); ++i) {
    auto const byte     = static_cast<unsigned char>(label[i]);
    bool const left_out = label.size() > most && i >= ends && i < label.size() - ends;
    if (left_out)
      result += i == ends ? "..." : "";
    else if (byte < 0x20 || byte > 0x7e)
      result += Perf::format("\\x%02x", byte);
    else
      result += label[i];
  }
  return result;
}

std::string quoted(std::string const& label) {
  return label.empty() ? "(no label)" : "`" + shown(label) + "`";
}

std::string arrow(Pair const& pair) {
  auto const side = [](Pair::Side const& s) {
    if (s.is_value()) return std::string("a value");
    return quoted(s.label) + " (" + shown(s.space) + ")";
  };
  return side(pair.to) + " <- " + side(pair.from);
}

std::string Process::name() const {
  std::string result = rank.empty() ? "process " + std::to_string(id) : "rank " + rank;
  if (!rank.empty() && !size.empty()) result += " of " + size;
  return host.empty() ? result : result + " on " + host;
}

Process this_process() {
  constexpr char const* variables[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                          {"PALS_RANKID", "PALS_SIZE"},
                                          {"PMI_RANK", "PMI_SIZE"},
                                          {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                          {"PMIX_RANK", "PMIX_SIZE"},
                                          {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
                                          {"SLURM_PROCID", "SLURM_NTASKS"}};
  Process process;
  process.id   = long(getpid());
  process.host = Perf::host_name();
  for (auto const& [rank, size] : variables) {
    process.rank = number_in(rank);
    process.size = number_in(size);
    if (!process.rank.empty()) return process;
  }
  process.size.clear();
  return process;
}

std::string file_of(std::string const& file, Process const& process) {
  if (!process.is_one_of_several()) return file;
  std::size_t const folder = file.rfind('/');
  std::size_t const begin  = folder == file.npos ? 0 : folder + 1;
  std::size_t dot          = file.rfind('.');
  if (dot == file.npos || dot <= begin) dot = file.size();
  return file.substr(0, dot) + "." + process.rank + file.substr(dot);
}

}  // namespace KokkosHostSpaces::Audit
