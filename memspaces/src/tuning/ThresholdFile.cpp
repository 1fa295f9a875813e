// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/batch/FewCopies.hpp>
#include <KokkosHostSpaces/impl/tuning/ThresholdFile.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

// Longest pieces of a batch that a kernel carries.
template <std::size_t I>
MeasuredThreshold pieces_by_kernel() {
  // By their number, so that a table with others has other keys.
  std::string const number = std::to_string(copy_thresholds.by_kernel[I].least_number);
  return {"longest_of_" + number + "_pieces_by_kernel",
          "longest pieces that one kernel carries, of a batch of " + number + " or more", 0, MiB,
          [](CopyThresholds& all) -> std::size_t& { return all.by_kernel[I].most_bytes; }};
}

// The value that a line has for `key`: nothing if the line is of another key.
std::optional<std::string> value_in(std::string const& line, std::string const& key) {
  if (!line.starts_with(key + " ") && line != key) return std::nullopt;
  return line.substr(std::min(line.size(), key.size() + 1));
}

std::optional<std::size_t> number_in(std::string const& text, MeasuredThreshold const& known) {
  std::size_t number     = 0;
  char const* const end  = text.data() + text.size();
  auto const [rest, bad] = std::from_chars(text.data(), end, number);
  if (bad != std::errc() || rest != end || number < known.least || number > known.most)
    return std::nullopt;
  return number;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::vector<MeasuredThreshold> const& measured_thresholds() {
  static std::vector<MeasuredThreshold> const all = {
      {"equal_run_bytes", "shortest rows that the copy engine copies, not a kernel", 1, 4 * KiB,
       [](CopyThresholds& of) -> std::size_t& { return of.equal_run_bytes; }},
      {"slabs_from_bytes", "smallest transposed copies to the device that go through its memory",
       4 * MiB, GiB, [](CopyThresholds& of) -> std::size_t& { return of.slabs_from_bytes; }},
      {"slabs_to_host_from_bytes",
       "smallest transposed copies to the host that go through the device's memory", 4 * MiB, GiB,
       [](CopyThresholds& of) -> std::size_t& { return of.slabs_to_host_from_bytes; }},
      pieces_by_kernel<0>(),
      pieces_by_kernel<1>(),
  };
  static_assert(copy_thresholds.by_kernel.size() == 2, "all of them are measured");
  static_assert(copy_thresholds.by_kernel.front().least_number > FewCopies::most);
  return all;
}

CopyThresholds thresholds_in(std::vector<std::string> const& lines,
                             std::vector<std::string>& broken) {
  CopyThresholds found;
  for (std::string const& line : lines)
    for (MeasuredThreshold const& known : measured_thresholds()) {
      auto const value = value_in(line, known.key);
      if (!value) continue;
      if (auto const number = number_in(*value, known))
        known.of(found) = *number;
      else
        broken.push_back(line);
    }
  return found;
}

CopyThresholds thresholds_in_file(std::string const& file, CalibratedLink const& gpu,
                                  std::function<void(std::string const&)> const& tell) {
  auto const known = find_calibration(file, gpu);
  if (!known) return {};
  std::vector<std::string> broken;
  CopyThresholds const found = thresholds_in(known->more, broken);
  if (broken.empty()) return found;
  std::string lines;
  for (std::string const& line : broken) lines += (lines.empty() ? "\"" : ", \"") + line + "\"";
  tell("thresholds of copies in " + file + " make no sense (" + lines +
       "): built-in ones are used; measure them by kokkos_host_spaces_info --calibrate");
  return found;
}

std::vector<std::string> with_thresholds(std::vector<std::string> lines,
                                         CopyThresholds const& thresholds) {
  for (MeasuredThreshold const& known : measured_thresholds()) {
    std::erase_if(lines, [&](std::string const& line) { return value_in(line, known.key); });
    lines.push_back(known.key + " " + std::to_string(known.in(thresholds)));
  }
  return lines;
}

std::string changes(CopyThresholds const& before, CopyThresholds const& after) {
  std::size_t width = 0;
  for (MeasuredThreshold const& known : measured_thresholds())
    width = std::max(width, known.key.size());
  std::string text;
  for (MeasuredThreshold const& known : measured_thresholds()) {
    std::size_t const old = known.in(before), now = known.in(after);
    text += "  " + padded(known.key, width + 2) + std::to_string(old) + " -> " +
            std::to_string(now) + " bytes" + (old == now ? " (as before)" : "") + ": " +
            known.meaning + "\n";
  }
  return text;
}

}  // namespace KokkosHostSpaces::Impl
