// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Groups.hpp"
#include "../LatestMemory.hpp"
#include "TouchPair.hpp"

namespace KokkosHostSpaces::Perf {
namespace {

std::string name(TouchWay way) { return way == TouchWay::write ? "write" : "read"; }

struct Fraction {
  char const* name;
  double value;
};

std::vector<Fraction> fractions(Mode mode) {
  if (mode == Mode::quick) return {{"0.01", 0.01}, {"1", 1}};
  return {{"0.001", 0.001}, {"0.01", 0.01}, {"0.1", 0.1}, {"0.5", 0.5}, {"1", 1}};
}

std::vector<int> passes(Mode mode) {
  if (mode == Mode::quick) return {1, 4};
  return {1, 2, 4, 8};
}

class ZeroCopyCases {
 public:
  explicit ZeroCopyCases(Effort const& effort)
      : m_effort(effort), m_bytes((effort.mode == Mode::quick ? 16 : 256) * MiB) {
    while (4 * m_bytes > effort.host_bytes || (runs_on_device && 2 * m_bytes > effort.device_bytes))
      m_bytes /= 2;
  }

  void add_in_place() {
    for (Fraction const& fraction : fractions(m_effort.mode)) {
      for (int count : passes(m_effort.mode))
        add<MappedSpace>({TouchWay::read, fraction.value, count, 0}, fraction.name);
      for (std::size_t alignment : {std::size_t(8), most_alignment})
        add<MappedSpace>({TouchWay::read, fraction.value, 1, alignment}, fraction.name);
    }
    add<MappedSpace>({TouchWay::write, 1, 1, 0}, "1");
  }

  void add_staged() {
    for (Fraction const& fraction : fractions(m_effort.mode))
      for (int count : passes(m_effort.mode))
        add<PinnedSpace>({TouchWay::staged, fraction.value, count, 0}, fraction.name);
  }

  Cases take() { return std::move(m_cases); }

 private:
  template <class Space>
  void add(TouchCase const& description, std::string const& fraction) {
    bool const staged          = description.way == TouchWay::staged;
    std::size_t const elements = m_bytes / sizeof(double);
    double const used =
        double(description.touched(elements)) * run_elements * sizeof(double) * description.passes;
    double const seconds = (staged ? double(m_bytes) : used) / (runs_on_device ? 5e10 : 5e9);
    m_cases.push_back(
        {"zero_copy/" + name(description.way) + "/" +
             (staged ? "PinnedSpace/staged" : "MappedSpace") + "/fraction:" + fraction +
             "/passes:" + std::to_string(description.passes) +
             "/alignment:" + std::to_string(description.alignment),
         used, m_effort.repetitions(seconds), [description, elements, latest = m_latest] {
           return std::make_unique<TouchPair<Space>>(description,
                                                     latest->of<TouchMemory<Space>>(elements));
         }});
  }

  Effort m_effort;
  std::size_t m_bytes;
  std::shared_ptr<LatestMemory> m_latest = latest_memory();
  Cases m_cases;
};

}  // namespace

Cases zero_copy_cases(Effort const& effort) {
  ZeroCopyCases cases(effort);
  cases.add_in_place();
  cases.add_staged();
  return cases.take();
}

}  // namespace KokkosHostSpaces::Perf
