// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Runs an operation on the fake runtime again and again, makes its first, second, ... call fail, and
// checks after each failure what must hold then.

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_FAILURE_SWEEP_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_FAILURE_SWEEP_HPP

#include "../../backend/Config.hpp"
#include "../../backend/Driver.hpp"
#include "../../backend/Error.hpp"
#include "../../backend/Registry.hpp"
#include "../../backend/guard/Guard.hpp"
#include "../../backend/guard/Protection.hpp"
#include "../../backend/os/Pages.hpp"
#include "../support/DeviceWork.hpp"
#include "../support/FailNth.hpp"
#include "../support/FakeCuda.hpp"
#include "pool/PoolTest.hpp"

#include <exception>
#include <filesystem>
#include <iterator>

namespace FailureSweep {

using namespace KokkosHostSpaces;
using namespace KokkosHostSpaces::Impl::Backend;

/// A block that is deallocated while work reads it. Of its calls only those of the deallocation may fail.
class RetiredBlock {
 public:
  using Deallocate = void(void* block, cudaStream_t stream);

  explicit RetiredBlock(
      std::size_t bytes,
      Deallocate* deallocate = [](void* block, cudaStream_t) { Pool::deallocate(block); })
      : m_bytes(bytes) {
    std::optional<FailNth::Exempt> of_test(std::in_place);
    m_block = PoolTest::allocate(bytes);
    std::memset(m_block, 'r', m_bytes);
    m_stream.emplace().run([this] {
      for (auto const end = Clock::now() + most; !m_over && Clock::now() < end;)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      m_is_intact = m_block[0] == 'r' && std::memcmp(m_block, m_block + 1, m_bytes - 1) == 0;
    });
    of_test.reset();
    deallocate(m_block, m_stream->get());
  }
  ~RetiredBlock() { is_intact(); }
  RetiredBlock(RetiredBlock const&)            = delete;
  RetiredBlock& operator=(RetiredBlock const&) = delete;

  /// Ends the work. Returns false if the block was written before its end.
  bool is_intact() {
    FailNth::Exempt const of_test;
    m_over = true;
    m_stream.reset();
    return m_is_intact;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // The work ends by itself then, since an operation may wait for it.
  static constexpr std::chrono::milliseconds most{2};

  std::size_t const m_bytes;
  char* m_block = nullptr;
  std::optional<DeviceWork::Stream> m_stream;
  std::atomic<bool> m_over{false}, m_is_intact{true};
};

/// What an operation may use: a stream on device 1, which is current, and one on device 2. Device 0 has no context.
struct Setting {
  FailNth::Failure failure;
  std::unique_ptr<DeviceWork::Stream> const of_second = stream_of(2);
  std::unique_ptr<DeviceWork::Stream> const of_first  = stream_of(1);
  DeviceWork::Stream& stream                          = *of_first;

  explicit Setting(FailNth::Failure const& planned) : failure(planned) {}

  /// Pages of malloc, at another address each time, since earlier ones may stay locked.
  char* foreign_pages(std::size_t count = 1) {
    FailNth::Exempt const of_test;
    m_pages.emplace_back(std::aligned_alloc(page_bytes(), count * page_bytes()), &std::free);
    return static_cast<char*>(m_pages.back().get());
  }

 private:
  static std::unique_ptr<DeviceWork::Stream> stream_of(int device) {
    DeviceWork::require(cudaSetDevice(device), "cudaSetDevice");
    return std::make_unique<DeviceWork::Stream>();
  }

  std::vector<std::unique_ptr<void, void (*)(void*)>> m_pages;
};

/// Thrown by operations whose result is wrong.
struct Wrong : std::logic_error {
  using std::logic_error::logic_error;
};
inline void expect(bool right, char const* what) {
  if (!right) throw Wrong(what);
}

/// A capture that must not be broken.
class Capture {
 public:
  explicit Capture(DeviceWork::Stream& stream) : m_stream(stream) {
    FailNth::Exempt const of_test;
    m_stream.begin_capture();
  }
  ~Capture() noexcept(false) {
    FailNth::Exempt const of_test;
    bool const ended = m_stream.end_capture();
    // Only a faulty driver refuses the relaxed mode. Without it calls break captures.
    bool const is_relaxed = !FailNth::failed().contains("cuThreadExchangeStreamCaptureMode");
    if (std::uncaught_exceptions() == 0 && is_relaxed) expect(ended, "the capture is broken");
  }
  Capture(Capture const&)            = delete;
  Capture& operator=(Capture const&) = delete;

 private:
  DeviceWork::Stream& m_stream;
};

/// Number of failed calls that should have given something back, and left it behind.
inline std::size_t refusals_to_take_back() {
  auto failed       = FailNth::failed();
  std::size_t count = 0;
  for (char const* const function : {"cudaHostUnregister", "cudaFreeHost", "cuEventDestroy",
                                     "cudaFree", "cudaStreamDestroy", "cudaUserObjectRelease"})
    count += failed[function];
  return count;
}

inline std::size_t open_files() {
  using Files = std::filesystem::directory_iterator;
  return static_cast<std::size_t>(std::distance(Files("/proc/self/fd"), Files()));
}

/// What there is besides an operation, and which calls fail.
struct Beside {
  std::size_t retired_bytes = 0;      ///< of a RetiredBlock; 0: none
  void (*machine)()         = [] {};  ///< makes the fake runtime another machine
  /// false where Kokkos makes or destroys Views: it takes the memory of a View first, and loses it if a later
  /// allocation fails; its destructors allocate, too.
  bool fails_memory = true;
  std::size_t step  = 1;  ///< each step-th call fails
};

/// Runs an operation with each failure. `run(setting)` throws Wrong if it succeeds with a wrong result.
template <class Run>
class Sweep {
 public:
  Sweep(std::string name, Run run, Beside beside = {})
      : m_name(std::move(name)), m_run(std::move(run)), m_beside(beside) {
    for (int i = 0; i < 2; ++i) fail({});  // without a failure: makes what the library keeps once
    REQUIRE(m_wrong == "");
    FailNth::for_each_failure(
        [&](FailNth::Failure const& failure) {
          if (failure.source == FailNth::Source::memory && !m_beside.fails_memory) return false;
          std::size_t live        = m_live;
          std::size_t const files = open_files();
          bool const is_met       = fail(failure);
          // What the library makes once and keeps, such as nodes of a map of addresses, is not lost.
          for (int again = 0; m_live > live; ++again) {
            live = m_live;
            fail(failure);
            if (again == 5) return wrong("host memory is lost"), report(failure), is_met;
          }
          if (open_files() > files) wrong("a file stays open");
          report(failure);
          return is_met && m_reports < 20;
        },
        m_beside.step);
  }

 private:
  void wrong(std::string const& what) { m_wrong += "\n  " + what; }

  // Returns whether the failure was met.
  bool fail(FailNth::Failure const& failure) {
    PoolTest const test(3, false);
    {
      Setting setting{failure};
      m_beside.machine();
      auto retired = m_beside.retired_bytes > 0
                         ? std::make_unique<RetiredBlock>(m_beside.retired_bytes)
                         : nullptr;
      m_outcome    = "it succeeded";
      {
        FailNth::Planned const planned(failure);
        attempt(setting, failure.source);
      }
      if (cudaGetLastError() != cudaSuccess) wrong("an error of CUDA is pending");
      if (!keeps_its_device()) wrong("another device is current, or a context stays pushed");
      // Where pushing a context fails, the runtime may make one.
      if (FakeCuda::has_context(0) && failure.source != FailNth::Source::cuda)
        wrong("an unused device has a context");
      if (Driver::device_count() != 3) wrong("the devices are not found any more");
      if (retired && !retired->is_intact()) wrong("memory was used again early");
      retired.reset();
      try {
        m_run(setting);
      } catch (std::exception const& error) {
        wrong(std::string("the next call fails: ") + error.what());
      }
    }
    // Without events a thread of the library waits for devices; it may outlast the call that began it.
    Retirement& retirement = Pools::instance().retirement;
    retirement.fence(retirement.stamp(), Retirement::Clock::now() + std::chrono::seconds(60));
    std::size_t const refused = refusals_to_take_back();
    bool const is_met         = !FailNth::failed().empty();
    check_what_is_left(refused);
    FakeCuda::reset(3, false);
    m_live = FailNth::live_allocations();
    return is_met;
  }

  static bool keeps_its_device() {
    int first = -1, second = -1;
    cudaGetDevice(&first);
    cudaSetDevice(2);
    cudaGetDevice(&second);
    cudaSetDevice(1);
    return first == 1 && second == 2;
  }

  void attempt(Setting& setting, FailNth::Source source) {
    // A shortage ends at once. The object is not const.
    int& timeout  = const_cast<Config&>(config()).shortage_timeout;
    int const was = std::exchange(timeout, 0);
    try {
      m_run(setting);
    } catch (Error const& error) {
      m_outcome = error.what();
      if (m_outcome.find("): ") == std::string::npos)
        wrong("what is thrown does not say what to do");
    } catch (std::bad_alloc const& error) {
      m_outcome = error.what();
      // That of an allocator of ours says what to do.
      if (source != FailNth::Source::memory && m_outcome.find("): ") == std::string::npos)
        wrong("std::bad_alloc is thrown");
    } catch (std::exception const& error) {
      m_outcome = error.what();
      wrong("another exception is thrown: " + m_outcome);
    }
    timeout = was;
  }

  void check_what_is_left(std::size_t refused) {
    if (registered_ranges() != 0) wrong("a range stays registered");
    if (Guard::watched() != 0) wrong("pages stay guarded");
    if (PoolTest::usage().bytes_in_use != 0 && refused == 0)
      wrong("memory of the pool stays in use");
    Pool::release_all();
    if (PoolTest::usage().bytes_locked != 0 && refused == 0) wrong("the pool keeps memory");
    if (Pools::existing()->ledger.in_transit()) wrong("memory stays in transit");
    FakeCuda::Outstanding const left = FakeCuda::outstanding();
    // One private stream for each device stays.
    std::size_t const streams = std::max<std::size_t>(left.streams, 2) - 2;
    std::size_t const all =
        left.registrations + left.pinned_allocations + left.device_allocations + left.events;
    if (all + streams > refused)
      wrong(std::to_string(left.registrations) + " registrations, " +
            std::to_string(left.pinned_allocations) + " pinned and " +
            std::to_string(left.device_allocations) + " device allocations, " +
            std::to_string(left.events) + " events, " + std::to_string(left.streams) +
            " streams are left");
  }

  void report(FailNth::Failure const& failure) {
    if (m_wrong == "") return;
    static char const* const sources[] = {"CUDA", "the system", "memory"};
    std::string names;
    for (auto const& [name, count] : FailNth::failed()) names += " " + name;
    FAIL_CHECK(m_name << ", call " << failure.n << " of " << sources[int(failure.source)]
                      << (failure.lasts ? " and all later ones" : "") << " failed with "
                      << failure.error << " (" << names << "); " << m_outcome << ":" << m_wrong);
    m_wrong = "";
    ++m_reports;
  }

  std::string const m_name;
  Run const m_run;
  Beside const m_beside;
  std::string m_wrong, m_outcome;
  std::size_t m_live = 0;
  int m_reports      = 0;
};

}  // namespace FailureSweep

#endif
