// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The group idioms: ours against the same with stock Kokkos, in pageable memory, in CudaHostPinnedSpace, and in
// pageable memory that is adopted. Output by snapshots also against what it must cost least.

#include "../ChildProcess.hpp"
#include "../Groups.hpp"
#include "Idioms.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace KokkosHostSpaces::Perf {
namespace {

// What two processes compare: number of elements, and a hash of their bits.
Doubles digest_of(Doubles const& contents) {
  std::uint64_t hash = 14695981039346656037U;
  for (double const value : contents) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211U;
    hash ^= hash >> 29;
  }
  return {double(contents.size()), double(hash >> 32), double(hash & 0xffffffffU)};
}

// A process that adopts its memory, for all idioms: with a GPU each takes seconds to begin and end. It begins with
// the first case that needs it, and ends with the last one.
class AdoptedProcess {
 public:
  explicit AdoptedProcess(Mode mode) : m_mode(mode) {}

  std::string ask(std::string const& line) {
    try {
      if (!m_process) m_process.emplace(name(m_mode), Kokkos::device_id());
      return m_process->ask(line);
    } catch (...) {
      m_process.reset();  // the next case may be luckier
      throw;
    }
  }

 private:
  Mode m_mode;
  std::optional<ChildProcess> m_process;
};

struct WhatIsAdopted {
  std::shared_ptr<AdoptedProcess> process;
  std::string idiom;
};

// An idiom in HostSpace there.
class Adopted {
 public:
  explicit Adopted(WhatIsAdopted const& what) : m_process(what.process) {
    m_process->ask(what.idiom);
  }
  ~Adopted() {
    try {
      m_process->ask("end");
    } catch (std::exception const&) {  // it has ended already
    }
  }
  Adopted(Adopted const&)            = delete;
  Adopted& operator=(Adopted const&) = delete;

  double run() { return std::stod(m_process->ask("run")); }

  Doubles contents() {
    std::istringstream words(m_process->ask("contents"));
    Doubles digest(3);
    for (double& number : digest) words >> number;
    return digest;
  }

 private:
  std::shared_ptr<AdoptedProcess> m_process;
};

// Answers as Adopted asks, until it asks for the end.
template <class Idiom>
void serve(Idiom&& idiom) {
  std::cout << std::endl;
  for (std::string word; std::getline(std::cin, word) && word != "end";) {
    if (word == "run") std::cout << idiom.run();
    if (word == "contents")
      for (double const number : digest_of(idiom.contents())) std::cout << number << ' ';
    std::cout << std::endl;
  }
}

template <class Ours, class Baseline>
class IdiomPair final : public Pair {
 public:
  template <class... Args>
  IdiomPair(char const* label, Args... args) : m_ours(args...), m_baseline(args...) {
    run_both(label);
  }

  template <class... Args>
  IdiomPair(WhatIsAdopted const& what, Args... args) : m_ours(args...), m_baseline(what) {
    run_both("adopted");
  }

  double time_ours() override { return m_ours.run(); }
  double time_baseline() override { return m_baseline.run(); }

  std::string find_error() override {
    Doubles ours           = m_ours.contents();
    Doubles const baseline = m_baseline.contents();
    if (m_damaged) ours.front() += 1;
    if constexpr (std::is_same_v<Baseline, Adopted>) ours = digest_of(ours);
    if (ours.empty() || ours.size() != baseline.size()) return "the results differ in length";
    if (std::memcmp(ours.data(), baseline.data(), ours.size() * sizeof(double)) == 0) return "";
    return "the results of Kokkos with our spaces are not those of the baseline";
  }

 private:
  void run_both(char const* label) {
    m_label = label;
    m_ours.run();
    m_baseline.run();
  }

  Ours m_ours;
  Baseline m_baseline;
};

class List {
 public:
  explicit List(Effort const& effort) : m_effort(effort) {
    if (!adopting_launcher().empty()) m_adopted = std::make_shared<AdoptedProcess>(effort.mode);
  }

  bool fits(std::size_t memory) const {
    return 3 * memory <= m_effort.host_bytes &&
           (!runs_on_device || 3 * memory <= m_effort.device_bytes);
  }

  /// Against stock Kokkos. \param memory bytes that a form takes on the device or on the host
  template <template <class> class Idiom, class... Args>
  void add(std::string const& operation, std::string const& number, double bytes,
           std::size_t memory, Args... args) {
    if (!fits(memory)) return;
    add_pair<Idiom<PinnedSpace>, Idiom<Kokkos::HostSpace>>("pageable", operation, number, bytes,
                                                           args...);
#ifdef KOKKOS_ENABLE_CUDA
    add_pair<Idiom<PinnedSpace>, Idiom<Kokkos::CudaHostPinnedSpace>>(
        "CudaHostPinnedSpace", operation, number, bytes, args...);
#endif
    std::string const what = operation + " " + number;
    served[what]           = [=] { serve(Idiom<Kokkos::HostSpace>(args...)); };
    // Without a device there is nothing to gain, and one idiom shows that it works.
    if (m_adopted && (runs_on_device || operation == "dual_view_sync"))
      add_case<Idiom<PinnedSpace>, Adopted>("adopted", WhatIsAdopted{m_adopted, what}, operation,
                                            number, bytes, args...);
  }

  template <class Ours, class Baseline, class... Args>
  void add_pair(char const* baseline, std::string const& operation, std::string const& number,
                double bytes, Args... args) {
    add_case<Ours, Baseline>(baseline, baseline, operation, number, bytes, args...);
  }

  Cases cases;
  std::map<std::string, std::function<void()>>
      served;  // what a process that is adopted may be asked for

 private:
  template <class Ours, class Baseline, class What, class... Args>
  void add_case(char const* baseline, What what, std::string const& operation,
                std::string const& number, double bytes, Args... args) {
    // Nothing is judged by what is adopted.
    bool const is_judged  = !std::is_same_v<Baseline, Adopted>;
    int const repetitions = m_effort.mode != Mode::quick ? 11 : is_judged ? 5 : 3;
    cases.push_back({"idioms/" + operation + "/PinnedSpace/baseline:" + baseline + "/" + number,
                     bytes, repetitions,
                     [=] { return std::make_unique<IdiomPair<Ours, Baseline>>(what, args...); }});
  }

  Effort m_effort;
  std::shared_ptr<AdoptedProcess> m_adopted;  // none: there is no launcher
};

std::string bytes_of(std::size_t bytes) { return "bytes:" + std::to_string(bytes); }

void fill(List& list, Effort const& effort) {
  bool const quick = effort.mode == Mode::quick;
  using Sizes      = std::vector<std::size_t>;
  // A quick run takes a third of the longest: to make and to check arrays takes longer than the samples.
  Sizes const lengths = quick ? Sizes{1000, 100000, runs_on_device ? 10000000U : 1000000U}
                              : Sizes{1000, 10000, 100000, 1000000, 10000000, 30000000, 100000000};
  for (std::size_t const n : lengths)
    list.add<DualViewSync>("dual_view_sync", bytes_of(8 * n), 16. * double(n), 8 * n, n);
  std::size_t const n = !runs_on_device ? 300000 : quick ? 10000000 : 30000000;
  list.add<BounceBuffer>("bounce_buffer", bytes_of(8 * n), 8. * double(n), 16 * n, n, 1);
  std::size_t const grown = !runs_on_device ? 100000 : quick ? 4000000 : 10000000;
  list.add<BounceBuffer>("bounce_buffer_grows", bytes_of(8 * grown), 0, 16 * grown, grown, 20);
  std::size_t const sent = runs_on_device ? 8 * MiB : 256 * KiB;
  list.add<ExchangeBuffers>("exchange_buffers", bytes_of(8 * sent), 16. * double(sent), 16 * sent,
                            sent, 26);
  std::size_t const cells = runs_on_device ? 128 * 128 * 128 : 32 * 32 * 32;
  for (std::size_t const edge : quick ? Sizes{16, 64} : Sizes{16, 32, 64, 128})
    if (std::size_t const blocks = 4 * cells / (edge * edge * edge); blocks > 0)
      list.add<OutputBlocks>("output_blocks", "edge:" + std::to_string(edge), 32. * double(cells),
                             80 * cells, blocks, edge);
  std::size_t const views = quick ? 300 : 3000;
  list.add<Regridding>("regridding", "views:" + std::to_string(views), 0, views * 256 * KiB, views);
  std::size_t const field  = !runs_on_device ? 64 * KiB : quick ? 4 * MiB : 8 * MiB;
  std::size_t const output = 60 * field;
  std::string const size   = bytes_of(8 * field);
  int const steps = 5, passes = runs_on_device ? 1000 : 10;
  for (bool const until_written : {true, false})
    list.add<OutputOf>(until_written ? "output_each_step" : "run_beside_output", size, 0, output,
                       field, steps, passes, until_written);
  list.add<OutputOf>("blocked_by_output", size, 0, output, field, steps, 0, false);
  if (!list.fits(output) || (runs_on_device && quick)) return;
  list.add_pair<OutputOf<PinnedSpace>, OutputEachStep<PinnedSpace, Output::copy>>(
      "own_copy", "blocked_by_output", size, 0, field, steps, 0, false);
  list.add_pair<ComputeBesideOutput<true>, ComputeBesideOutput<false>>(
      "alone", "compute_beside_output", size, 0, field, steps, passes);
}

}  // namespace

Cases idioms_cases(Effort const& effort) {
  List list(effort);
  fill(list, effort);
  return std::move(list.cases);
}

void serve_adopted_idioms(std::string const& mode_name, std::ostream& out) {
  if (!is_adopted()) throw std::runtime_error("kokkos_host_spaces_run did not adopt it: see above");
  std::size_t const any = std::size_t(1) << 60;
  out.precision(17);
  for (Mode const mode : {Mode::quick, Mode::standard, Mode::full}) {
    if (name(mode) != mode_name) continue;
    Effort const effort{.mode = mode, .device_bytes = any, .host_bytes = any};
    List list(effort);
    fill(list, effort);
    for (std::string what; std::getline(std::cin, what); out << std::endl) list.served.at(what)();
  }
}

}  // namespace KokkosHostSpaces::Perf
