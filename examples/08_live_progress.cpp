// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A long kernel counts its steps into mapped memory while it runs, the host shows them as a
// progress bar and can stop the kernel through a flag. That is what the coherence of zero-copy
// memory is good for: during a kernel, host and device see each other's system-scope atomics.

#include "support/Example.hpp"
#include "support/ProgressBar.hpp"

#include <KokkosHostSpaces.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <cuda/atomic>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stop_token>
#include <thread>

namespace khs = KokkosHostSpaces;

using Device  = Kokkos::DefaultExecutionSpace;
using Numbers = Kokkos::View<std::uint64_t*, Device::memory_space>;

struct Control {
  std::uint64_t steps;  // the kernel counts, the host reads
  std::uint64_t stop;   // the host sets, the kernel reads
};
using ControlView = Kokkos::View<Control, khs::MappedSpace>;

// Kokkos' own atomics are for the threads of one device; these are for the whole system. The device
// alone adds and the host alone stops, as few GPUs can add to host memory atomically with the host.
KOKKOS_INLINE_FUNCTION void count_step(std::uint64_t& steps) {
  KOKKOS_IF_ON_DEVICE((cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>(steps).fetch_add(
      1, cuda::memory_order_relaxed);))
  KOKKOS_IF_ON_HOST((std::atomic_ref(steps).fetch_add(1, std::memory_order_relaxed);))
}

KOKKOS_INLINE_FUNCTION bool is_set(std::uint64_t& flag) {
  KOKKOS_IF_ON_DEVICE((return cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>(flag).load(
                                  cuda::memory_order_relaxed) != 0;))
  KOKKOS_IF_ON_HOST((return std::atomic_ref(flag).load(std::memory_order_relaxed) != 0;))
}

// The work: `workers` random number generators (x -> a x + c modulo 2^64), a step is `draws`
// numbers of one.
constexpr std::uint64_t a = 6364136223846793005u, c = 1442695040888963407u;
constexpr std::uint64_t workers = 256, draws = 1 << 17;

void work(Device const& instance, ControlView control, std::uint64_t steps, Numbers state,
          Numbers done) {
  Kokkos::parallel_for(
      "long_work", Kokkos::RangePolicy<Device>(instance, 0, workers),
      KOKKOS_LAMBDA(std::uint64_t worker) {
        std::uint64_t x = worker, step = 0;
        for (; step < steps && !is_set(control().stop); ++step) {
          for (std::uint64_t draw = 0; draw < draws; ++draw) x = a * x + c;
          count_step(control().steps);
        }
        state(worker) = x;
        done(worker)  = step;
      });
}

// The state after `n` numbers, in log(n) steps: done twice, x -> f x + g is x -> f f x + (f + 1) g.
std::uint64_t state_after(std::uint64_t n, std::uint64_t x) {
  for (std::uint64_t f = a, g = c; n > 0; n /= 2) {
    if (n % 2 == 1) x = f * x + g;
    g *= f + 1;
    f *= f;
  }
  return x;
}

std::uint64_t steps_now(Control& control) {
  return std::atomic_ref(control.steps).load(std::memory_order_relaxed);
}

struct Run {
  ControlView control{"control"};
  Numbers state{"state", workers}, done{"done", workers};

  // Runs the kernel here while `watch(control, token)` runs on another thread, until it sees the
  // token.
  template <class Watch>
  void watched_by(Watch watch, std::uint64_t steps) {
    Device const instance;
    Kokkos::fence("control, state and done are zero");
    std::jthread watcher([&watch, this](std::stop_token token) { watch(control(), token); });
    work(instance, control, steps, state, done);
    instance.fence("long_work has ended");
  }  // the watcher is told, and ends

  // Did every worker do the steps that it says, and are these the steps that were counted?
  bool right() const {
    auto const states = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), state);
    auto const steps  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), done);
    std::uint64_t sum = 0;
    for (std::uint64_t w = 0; w < workers; ++w) {
      if (states(w) != state_after(steps(w) * draws, w)) return false;
      sum += steps(w);
    }
    return sum == control().steps;
  }
};

bool run(Example::Options const& options) {
  using namespace std::chrono_literals;
  std::chrono::duration<double> const patience(options.positive_number("seconds"));

  std::printf("A kernel with work for years, which the host stops after %.1f s: ",
              patience.count());
  std::fflush(stdout);
  Run endless;
  endless.watched_by(
      [=](Control& control, std::stop_token) {
        std::this_thread::sleep_for(patience);
        std::atomic_ref(control.stop).store(1, std::memory_order_relaxed);
      },
      std::numeric_limits<std::uint64_t>::max());
  std::uint64_t const each = std::max<std::uint64_t>(1, endless.control().steps / workers);
  std::printf("stopped after %llu steps.\n",
              static_cast<unsigned long long>(endless.control().steps));

  std::printf("As much work again, to the end:\n");
  std::fflush(stdout);
  Run whole;
  bool seen_midway = false;
  whole.watched_by(
      [&seen_midway, total = each * workers](Control& control, std::stop_token ended) {
        Example::ProgressBar bar;
        for (; !ended.stop_requested(); std::this_thread::sleep_for(5ms)) {
          std::uint64_t const steps = steps_now(control);
          seen_midway               = seen_midway || (steps > 0 && steps < total);
          bar.show(double(steps) / double(total));
        }
        bar.show(double(steps_now(control)) / double(total));
      },
      each);
  std::printf("Every step was counted: %s; the host saw the count grow: %s\n",
              whole.control().steps == each * workers ? "yes" : "NO", seen_midway ? "yes" : "NO");
  return endless.right() && whole.right() && whole.control().steps == each * workers && seen_midway;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv, {{"seconds", "1.5", "about how long each kernel runs"}}, run);
}
