// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../plain/Platform.hpp"
#include "../../plain/PlainBuffer.hpp"
#include "../../plain/Stopwatch.hpp"
#include "../Groups.hpp"
#include "../Instance.hpp"
#include "LatencyBaseline.hpp"

#include <KokkosHostSpaces.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>

namespace KokkosHostSpaces::Perf {
namespace {

class KokkosSteps final : public StepsBy<KokkosSteps> {
  template <class Space>
  using Number = Kokkos::View<double[1], Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  explicit KokkosSteps(Stream stream) : m_instance(make_instance(stream)) {}

  template <class Kernel>
  void enqueue(Kernel const& kernel) {
    parallel_for("step", m_instance, 1, kernel);
  }
  void copy(double* destination, double const* source) override {
    Kokkos::deep_copy(m_instance, Number<Execution::memory_space>(destination),
                      Number<PinnedSpace>(const_cast<double*>(source)));
  }
  void fence() override { m_instance.fence(); }

 private:
  Execution m_instance;
};

constexpr std::size_t small_page = 4096, chain_bytes = 2 * MiB;

auto no_values() { return Kokkos::view_alloc(Kokkos::WithoutInitializing, "small"); }

// A side of a benchmark: its steps, and its memory.
struct LatencySide {
  std::unique_ptr<Steps> steps;
  char *pinned, *mapped;    // a small page, and chain_bytes
  std::int64_t* on_device;  // as large
  bool plain;
  Stopwatch* stopwatch;
  bool damaged      = false;
  std::int64_t last = 0, wrong = 0;

  // Makes a block of a small page, writes and frees it.
  bool make_block(int value) const {
    if (plain)
      return use(static_cast<char*>(make_plain_buffer(PlainKind::pinned, small_page).get()), value);
    return use(Kokkos::View<char*, PinnedSpace>(no_values(), small_page).data(), value);
  }

  bool use(char* block, int value) const {
    char volatile* const memory = block;
    memory[0]                   = char(value);
    memory[small_page - 1]      = char(~value);
    if (damaged) memory[0] = char(~value);
    return memory[0] == char(value) && memory[small_page - 1] == char(~value) &&
           (last > 0 || is_page_locked(block));
  }

  // Copies numbers back from the device.
  template <class T>
  std::vector<T> read_device(std::size_t count) const {
    Kokkos::View<T*, Execution::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const view(
        reinterpret_cast<T*>(on_device), count);
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    return {host.data(), host.data() + count};
  }
};

// Seconds of a step, by the host's clock, without waiting for what is enqueued.
template <class Step>
double seconds_of_step(int count, Step step) {
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) step(i);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / count;
}

// The calling thread in a launch of the smallest kernel.
double time_launch(LatencySide& side) {
  constexpr int launches = 256;  // fits into the queue of a stream
  double const seconds =
      seconds_of_step(launches, [&](int) { side.steps->launch(AddOne{side.on_device}); });
  if (side.damaged) side.steps->launch(AddOne{side.on_device});
  side.steps->fence();
  side.last += launches;
  side.wrong += side.read_device<std::int64_t>(1)[0] != side.last;
  return seconds;
}

// A fence of an idle stream, or a launch and a fence. The kernel stores a number in host memory, which must be
// there after the fence.
double time_fence(LatencySide& side, bool idle) {
  auto* const where = reinterpret_cast<std::int64_t*>(side.mapped);
  auto const store  = [&] {
    side.steps->launch(StoreValue{where, ++side.last - side.damaged});
    side.steps->fence();
    side.wrong += *static_cast<std::int64_t volatile*>(where) != side.last;
  };
  if (!idle) return seconds_of_step(64, [&](int) { store(); });
  store();
  return seconds_of_step(64, [&](int) { side.steps->fence(); });
}

// A copy of 8 bytes to the device, from the call to its end.
double time_small_copy(LatencySide& side) {
  constexpr int copies = 64;
  auto* const from     = reinterpret_cast<double*>(side.pinned);
  auto* const to       = reinterpret_cast<double*>(side.on_device);
  Kokkos::deep_copy(Kokkos::View<double*, Execution::memory_space>(to, copies),
                    std::numeric_limits<double>::quiet_NaN());
  side.last += copies;
  for (int i = 0; i < copies; ++i) from[i] = double(side.last + i);
  if (side.damaged) from[0] += 0.5;
  double const seconds              = seconds_of_step(copies, [&](int i) {
    side.steps->copy(to + i, from + i);
    side.steps->fence();
  });
  std::vector<double> const arrived = side.read_device<double>(copies);
  for (int i = 0; i < copies; ++i)
    side.wrong += !(arrived[std::size_t(i)] == double(side.last + i));
  return seconds;
}

int answer_to(SignalAndAnswer& flags, int signal) {
  std::atomic_ref<int> const answer(flags.answer);
  int const before   = answer.load(std::memory_order_relaxed);
  auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  std::atomic_ref<int>(flags.signal).store(signal, std::memory_order_release);
  int now;
  while ((now = answer.load(std::memory_order_acquire)) == before)
    if (std::chrono::steady_clock::now() > give_up)
      throw std::runtime_error("the kernel does not answer a signal in mapped memory");
  return now;
}

// A round trip of flags: the host sets a signal in its memory, a running kernel answers.
double time_flag(LatencySide& side) {
  constexpr int signals = 100;
  auto& flags           = *reinterpret_cast<SignalAndAnswer*>(side.mapped);
  flags                 = {0, 0};
  side.steps->launch(AnswerSignals{&flags, 1 + signals});
  auto const exchange = [&](int signal) {
    side.wrong += answer_to(flags, side.damaged ? -signal : signal) != 2 * signal + 1;
  };
  exchange(1);  // waits for the launch
  double const seconds = seconds_of_step(signals, [&](int i) { exchange(2 + i); });
  side.steps->fence();
  return seconds;
}

// Making, writing and freeing a block of one small page; the first ones shall be page-locked.
double time_block(LatencySide& side) {
  double const seconds = seconds_of_step(32, [&](int i) { side.wrong += !side.make_block(i); });
  ++side.last;
  return seconds;
}

// A read of host memory by a kernel of one thread, as nvbandwidth measures it: each address is in the line that
// was read before, in no order.
double time_chase(LatencySide& side) {
  constexpr std::int64_t line = 128 / sizeof(std::int64_t), lines = chain_bytes / 128;
  auto* const next = reinterpret_cast<std::int64_t*>(side.mapped);
  // Each line once, as the factor is odd and `lines` a power of two.
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < lines; ++i) {
    std::int64_t const to = (at / line * 5 + 12289) % lines * line;
    next[at]              = to;
    at                    = to;
  }
  side.last            = at + (side.damaged ? 1 : 0);
  double const seconds = side.stopwatch->time_queued([&] {
    side.steps->launch(Follow{next, int(lines), side.on_device});
  });
  side.steps->fence();
  side.wrong += side.read_device<std::int64_t>(1)[0] != side.last;
  return seconds / double(lines);
}

class LatencyPair final : public Pair {
 public:
  using Time = std::function<double(LatencySide&)>;

  LatencyPair(std::string label, Time time)
      : m_time(std::move(time)),
        m_ours{std::make_unique<KokkosSteps>(m_stopwatch.stream()),
               m_pinned.data(),
               m_mapped.data(),
               m_device.data(),
               false,
               &m_stopwatch},
        m_baseline{make_plain_steps(m_stopwatch.stream()),
                   plain(0),
                   plain(small_page),
                   m_device.data() + numbers,
                   true,
                   &m_stopwatch} {
    m_label = std::move(label);
    m_time(m_ours);
    m_time(m_baseline);
  }

  double time_ours() override { return m_time(m_ours); }
  double time_baseline() override { return m_time(m_baseline); }
  std::string find_error() override { return describe_wrong(m_ours.wrong, m_baseline.wrong); }
  void damage() override {
    m_ours.damaged = true;
    m_time(m_ours);
  }

 private:
  static constexpr std::size_t numbers = small_page / sizeof(std::int64_t);

  char* plain(std::size_t offset) const { return static_cast<char*>(m_plain.get()) + offset; }

  Time m_time;
  Stopwatch m_stopwatch;
  Kokkos::View<char[small_page], PinnedSpace> m_pinned{"pinned"};
  Kokkos::View<char[chain_bytes], MappedSpace> m_mapped{"mapped"};
  PlainBuffer m_plain = make_plain_buffer(PlainKind::pinned, small_page + chain_bytes);
  Kokkos::View<std::int64_t[2 * numbers], Execution::memory_space> m_device{"on the device"};
  LatencySide m_ours, m_baseline;
};

}  // namespace

Cases latency_cases(Effort const& effort) {
  std::string const at = runs_on_device ? "CudaSpace" : "HostSpace";
  Cases cases;
  auto const add = [&](std::string const& name, char const* on_device, char const* on_host,
                       LatencyPair::Time const& time) {
    cases.push_back({"latency/" + name, 0, effort.repetitions(1e-3), [=] {
                       return std::make_unique<LatencyPair>(runs_on_device ? on_device : on_host,
                                                            time);
                     }});
  };
  char const* const fence = "cudaStreamSynchronize";
  add("launch/" + at + "/parallel_for", "kernel<<<1, 1>>>", "calls", time_launch);
  add("fence/" + at + "/idle", fence, "nothing",
      [](LatencySide& side) { return time_fence(side, true); });
  add("fence/" + at + "/launch_and_fence", fence, "nothing",
      [](LatencySide& side) { return time_fence(side, false); });
  add("deep_copy/PinnedSpace/to_device/bytes:8", "cudaMemcpyAsync, cudaStreamSynchronize", "memcpy",
      time_small_copy);
  if (runs_on_device)  // without a device no kernel runs beside its caller
    add("flag/MappedSpace/there_and_back", "a kernel on memory of cudaHostAlloc", "", time_flag);
  add("chase/MappedSpace/bytes:" + std::to_string(chain_bytes),
      "a kernel on memory of cudaHostAlloc", "a loop", time_chase);
  add("view/PinnedSpace/bytes:" + std::to_string(small_page), "cudaHostAlloc, cudaFreeHost",
      "malloc, free", time_block);
  return cases;
}

}  // namespace KokkosHostSpaces::Perf
