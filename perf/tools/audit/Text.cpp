// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Text.hpp"

#include "../../support/Format.hpp"
#include "../../support/Machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <unistd.h>

namespace KokkosHostSpaces::Audit {
namespace {

// Length of the UTF-8 character that begins here; 0 if it is not valid.
std::size_t character_at(std::string const& text, std::size_t begin) {
  auto const byte = [&](std::size_t i) {
    return begin + i < text.size() ? static_cast<unsigned char>(text[begin + i]) : 0u;
  };
  unsigned const first = byte(0);
  if (first < 0x80) return 1;
  std::size_t const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i != length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Reject overlong encodings, surrogates, and code points behind the last one.
  bool const wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
                     (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
  return wrong ? 0 : length;
}

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
  constexpr std::size_t most = 60, ends = 28;  // characters
  std::vector<std::string> characters;
  for (std::size_t i = 0; i < label.size();) {
    std::size_t const length = character_at(label, i);
    if (length == 0) {
      characters.push_back("\uFFFD");
      ++i;
      continue;
    }
    auto const first   = static_cast<unsigned char>(label[i]);
    auto const last    = static_cast<unsigned char>(label[i + length - 1]);
    bool const of_two  = first == 0xc2 && last < 0xa0;  // such as U+009B, as ESC and [
    bool const control = first < 0x20 || first == 0x7f || of_two;
    characters.push_back(control ? Perf::format("\\x%02x", last) : label.substr(i, length));
    i += length;
  }
  std::string result;
  for (std::size_t i = 0; i != characters.size(); ++i) {
    bool const left_out = characters.size() > most && i >= ends && i < characters.size() - ends;
    if (!left_out)
      result += characters[i];
    else if (i == ends)
      result += "...";
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
