// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The state behind the fake CUDA runtime. One mutex guards all of it and one condition variable
// tells every change: slow, and easy to be sure of.

#ifndef KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAKE_CUDA_MACHINE_HPP
#define KOKKOS_HOST_SPACES_TESTS_SUPPORT_FAKE_CUDA_MACHINE_HPP

#include "FailNth.hpp"
#include "FakeCuda.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda.h>
#include <cuda_runtime_api.h>

struct CUgraph_st;

namespace FakeCuda {

/// What the thread that holds it allocates, and asks of the system, is the fake's: FailNth lets it be.
class Mutex {
 public:
  void lock() {
    m_mutex.lock();
    m_exempt.emplace();
  }
  void unlock() {
    m_exempt.reset();
    m_mutex.unlock();
  }

 private:
  std::mutex m_mutex;
  std::optional<FailNth::Exempt> m_exempt;
};

/// Says whether one piece of work is done.
struct Ticket {
  bool done = false;
};
using Tickets = std::vector<std::shared_ptr<Ticket>>;

struct Task {
  std::function<void()> run;  ///< nothing if it only waits
  Tickets after;              ///< must be done first
  std::shared_ptr<Ticket> ticket;
};

/// What a graph owns: calls a function when nobody has it any more.
struct UserObject {
  UserObject(void* object, cudaHostFn_t function) : pointer(object), destroy(function) {}
  ~UserObject();  ///< in a thread that may not use the runtime
  UserObject(UserObject const&)            = delete;
  UserObject& operator=(UserObject const&) = delete;
  void* pointer;
  cudaHostFn_t destroy;
};

struct Capture {
  cudaStreamCaptureMode mode;
  std::thread::id owner;
  std::unique_ptr<CUgraph_st> graph;
  bool valid = true;
};

}  // namespace FakeCuda

// The names which the CUDA headers declare.
struct CUgraph_st {
  std::vector<std::function<void()>> work;
  std::vector<std::shared_ptr<FakeCuda::UserObject>> owned;
};

struct CUgraphExec_st : CUgraph_st {};

struct CUstream_st {
  int device;
  bool blocking;
  bool stop = false;
  std::deque<FakeCuda::Task> queue;
  std::shared_ptr<FakeCuda::Ticket> last;  ///< of the newest work; nullptr if there was none
  std::optional<FakeCuda::Capture> capture;
  std::thread worker;  ///< started with the first work
};

struct CUevent_st {
  int device;
  FakeCuda::Tickets tickets;
};

struct CUctx_st {
  int device;
  bool active = false;
  CUstream_st legacy;
};

namespace FakeCuda {

enum class Kind { pinned, device, managed };
struct Allocation {
  std::size_t bytes;
  Kind kind;
  void* begin;  ///< as the heap gave it
  int device;   ///< that was current
};

struct Machine {
  Mutex mutex;
  std::condition_variable_any changed;

  std::vector<std::unique_ptr<CUctx_st>> contexts;  ///< one per device
  std::vector<std::unique_ptr<CUstream_st>> streams;
  std::set<CUevent> events;
  std::map<cudaUserObject_t, std::shared_ptr<UserObject>> user_objects;  ///< not given to a graph
  std::map<std::uintptr_t, std::size_t> registrations;
  std::map<std::uintptr_t, Allocation> allocations;
  std::vector<std::unique_ptr<CUctx_st>> made_contexts;  ///< by cuCtxCreate
  std::map<std::uintptr_t, CUcontext> locked_in;         ///< such a context, with which it goes

  std::shared_mutex being_registered;  ///< held by whoever registers

  /// What was asked of the machine and told to it since the last reset.
  struct Told {
    struct Failure {
      std::size_t remaining;
      int error;
    };
    std::size_t most_pinned = 0, all_calls = 0, every = 0;
    int every_error = 0;
    std::chrono::milliseconds registering{0};
    bool old_driver = false, addresses_move = false, reaches_pageable = false, pools = false,
         has_shut_down = false;
    std::map<std::string, std::size_t> counts;
    std::map<std::string, Failure> planned;
    std::vector<Copied> copied;
    std::set<int> apart;                    ///< devices that no other one reaches
    std::set<std::pair<int, int>> reached;  ///< device and peer whose memory it may reach
    float between_events = 0;               ///< milliseconds
  } told;

  /// Ends all streams, and forgets events and memory.
  void drop_all(std::unique_lock<Mutex>& lock);

  // --- streams (FakeCudaStreams.cpp) ---
  /// The stream behind a handle, or nullptr if there is none.
  CUstream_st* find(CUstream handle);
  /// Queues work; a capturing stream adds it to its graph.
  cudaError_t submit(CUstream handle, std::function<void()> work,
                     std::shared_ptr<Ticket>* ticket = nullptr);
  /// What must be done before all work of a device (-1: of all devices) is done.
  Tickets pending_work(int device) const;
  void wait_for(std::unique_lock<Mutex>& lock, Tickets const& tickets);
  static bool all_done(Tickets const& tickets);
  /// Ends the stream's thread after its queue is empty.
  void join(std::unique_lock<Mutex>& lock, CUstream_st& stream);

  // --- captures (FakeCudaCapture.cpp) ---
  std::vector<CUstream_st*> all_streams() const;
  template <class Which>
  bool break_captures(Which const& which);
  /// True if an unsafe call of this thread is legal now; else breaks the captures which forbid it.
  bool allows_unsafe_call();
  /// True if the legacy stream of the current device may be used, and waited for, now; else breaks
  /// the captures of its blocking streams, whatever their modes.
  bool allows_legacy_stream();
  /// True if this thread may ask for the state of a stream, or wait for it, now; else breaks its
  /// capture, or those which forbid that.
  bool allows_question_about(CUstream_st& stream);
  /// True if nothing captures on the device; else breaks all that does, whatever the modes.
  bool allows_synchronization(int device);
  /// True if a blocking stream of the device captures.
  bool blocking_stream_captures(int device) const;

  // --- memory (FakeCudaMemory.cpp) ---
  /// Bytes that are page-locked.
  std::size_t pinned_bytes() const;
  /// How many bytes of [pointer, pointer + bytes) are pinned or the device's.
  std::size_t known_bytes(void const* pointer, std::size_t bytes) const;

  /// The device whose memory it is; -1 for other memory.
  int device_of(void const* pointer) const;

  /// The context of the calling thread, made active.
  CUctx_st& current();
  /// Notes that memory is page-locked in that context.
  void note_locked(void const* pointer);
};

Machine& machine();

/// Begins a call: counts it, and says whether it shall fail. Takes and releases the mutex.
cudaError_t enter(char const* function);
CUresult enter_driver(char const* function);
/// The same for functions which only tests call: never made to fail by "*".
cudaError_t enter_from_test(char const* function);

/// Ends a runtime call: an error becomes the pending one of the thread.
cudaError_t finish(cudaError_t error);

/// Runs a function in a thread that ends the process if it uses the runtime.
void without_runtime(std::function<void()> const& function);

/// Makes device 0 the calling thread's, with no context pushed.
void reset_thread();
/// Gives the calling thread the capture mode that threads begin with.
void reset_thread_mode();

/// The driver function of that name, or nullptr. In FakeCudaDevices.cpp.
void* driver_function(std::string const& name);

// The driver functions, by the file that has them.
CUresult primary_context_state(CUdevice, unsigned int*, int*);  // FakeCudaDevices.cpp
CUresult primary_context_retain(CUcontext*, CUdevice);
CUresult device_get(CUdevice*, int);
CUresult current_context(CUcontext*);
CUresult push_context(CUcontext);
CUresult pop_context(CUcontext*);
CUresult synchronize_context();
CUresult create_context(CUcontext*, unsigned int, CUdevice);
CUresult destroy_context(CUcontext);
CUresult record_context_event(CUcontext, CUevent);  // FakeCudaEvents.cpp
CUresult create_event(CUevent*, unsigned int);
CUresult query_event(CUevent);
CUresult synchronize_event(CUevent);
CUresult destroy_event(CUevent);
CUresult address_range(CUdeviceptr*, std::size_t*, CUdeviceptr);  // FakeCudaMemory.cpp
CUresult pointer_attributes(unsigned, CUpointer_attribute*, void**, CUdeviceptr);
#if CUDART_VERSION >= 12080
CUresult copy_batch(CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t, CUmemcpyAttributes*,
                    std::size_t*, std::size_t, std::size_t*, CUstream);
#endif
CUresult stream_is_capturing(CUstream, CUstreamCaptureStatus*);  // FakeCudaCapture.cpp
CUresult exchange_capture_mode(CUstreamCaptureMode*);

}  // namespace FakeCuda

#endif
