// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Control of the fake runtime: calls counted and made to fail.

#include "FakeCuda.hpp"

#include "../../backend/cuda/Runtime.hpp"
#include "FailNth.hpp"
#include "FakeCudaMachine.hpp"

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace FakeCuda {

namespace {

thread_local cudaError_t pending_error = cudaSuccess;

// As the real runtime, which must not be used in the child of a fork.
void insist_on_process() {
  static pid_t const process = getpid();
  if (getpid() == process) return;
  std::fputs("FakeCuda: called in the child of a fork\n", stderr);
  std::_Exit(99);
}

thread_local bool may_not_call = false;

void insist_on_callers() {
  if (!may_not_call) return;
  std::fputs("FakeCuda: called where CUDA forbids it\n", stderr);
  std::_Exit(98);
}

int planned_failure(Machine& m, std::string const& name) {
  auto const found = m.told.planned.find(name);
  if (found == m.told.planned.end() || --found->second.remaining > 0) return 0;
  int const error = found->second.error;
  m.told.planned.erase(found);
  return error;
}

enum class Caller { library, test };

int begin_call(char const* function, Caller caller) {
  insist_on_process();
  insist_on_callers();
  int const planned = FailNth::error_of(FailNth::Source::cuda, function);
  Machine& m        = machine();
  std::lock_guard const lock(m.mutex);
  ++m.told.counts[function];
  if (caller == Caller::library) ++m.told.all_calls;
  if (m.told.has_shut_down) return cudaErrorCudartUnloading;
  if (planned != 0) return planned;
  if (int const error = planned_failure(m, function)) return error;
  if (caller == Caller::test) return 0;
  if (int const error = planned_failure(m, "*")) return error;
  return m.told.every > 0 && m.told.all_calls % m.told.every == 0 ? m.told.every_error : 0;
}

}  // namespace

// Never destroyed: static destructors of the code under test may still call the runtime.
Machine& machine() {
  static Machine* const the_machine = new Machine;
  return *the_machine;
}

cudaError_t enter(char const* function) {
  return finish(static_cast<cudaError_t>(begin_call(function, Caller::library)));
}

cudaError_t enter_from_test(char const* function) {
  return finish(static_cast<cudaError_t>(begin_call(function, Caller::test)));
}

// Both interfaces give the errors that are used here the same numbers.
CUresult enter_driver(char const* function) {
  return static_cast<CUresult>(begin_call(function, Caller::library));
}

cudaError_t finish(cudaError_t error) {
  if (error != cudaSuccess) pending_error = error;
  return error;
}

void without_runtime(std::function<void()> const& function) {
  FailNth::Exempt const exempt;
  std::thread([&] {
    may_not_call = true;
    function();
  }).join();
}

void Machine::drop_all(std::unique_lock<Mutex>& lock) {
  for (CUstream_st* stream : all_streams()) join(lock, *stream);
  for (CUevent event : events) delete event;
  for (auto const& [address, allocation] : allocations) std::free(allocation.begin);
  streams.clear();
  events.clear();
  registrations.clear();
  allocations.clear();
}

void reset(int device_count, bool used) {
  KokkosHostSpaces::Impl::Backend::Driver::forget_runtime();
  insist_on_process();
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  m.drop_all(lock);
  m.contexts.clear();
  m.made_contexts.clear();
  m.locked_in.clear();
  m.user_objects.clear();
  m.told = {};
  for (int device = 0; device < device_count; ++device) {
    auto context           = std::make_unique<CUctx_st>();
    context->device        = device;
    context->legacy.device = device;
    m.contexts.push_back(std::move(context));
  }
  reset_thread();
  if (used && device_count > 0) m.current();
  reset_thread_mode();
  pending_error = cudaSuccess;
}

void fail_nth_call(std::string const& function, std::size_t n, int error) {
  std::lock_guard const lock(machine().mutex);
  machine().told.planned[function] = {n, error};
}

void fail_every(std::size_t n, int error) {
  std::lock_guard const lock(machine().mutex);
  machine().told.every       = n;
  machine().told.every_error = error;
}

void fail_no_more() {
  std::lock_guard const lock(machine().mutex);
  machine().told.planned.clear();
  machine().told.every = 0;
}

std::size_t calls(std::string const& function) {
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  if (function == "*") return m.told.all_calls;
  auto const found = m.told.counts.find(function);
  return found == m.told.counts.end() ? 0 : found->second;
}

void pin_at_most(std::size_t bytes) {
  std::lock_guard const lock(machine().mutex);
  machine().told.most_pinned = bytes;
}

void set_apart(int device) {
  std::lock_guard const lock(machine().mutex);
  machine().told.apart.insert(device);
}

void events_are_apart(std::chrono::microseconds time) {
  std::lock_guard const lock(machine().mutex);
  machine().told.between_events = float(time.count()) / 1000;
}

void registering_takes(std::chrono::milliseconds time) {
  std::lock_guard const lock(machine().mutex);
  machine().told.registering = time;
  machine().changed.notify_all();
}

void use_old_driver() {
  KokkosHostSpaces::Impl::Backend::Driver::forget_runtime();
  std::lock_guard const lock(machine().mutex);
  machine().told.old_driver = true;
}

void registered_memory_moves() {
  std::lock_guard const lock(machine().mutex);
  machine().told.addresses_move = true;
}

void reaches_pageable_memory() {
  std::lock_guard const lock(machine().mutex);
  machine().told.reaches_pageable = true;
}

void device_memory_is_of_pools() {
  std::lock_guard const lock(machine().mutex);
  machine().told.pools = true;
}

void reset_device(int device) {
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  m.drop_all(lock);
  m.contexts.at(static_cast<std::size_t>(device))->active = false;
  reset_thread();
}

std::vector<Copied> copied() {
  std::lock_guard const lock(machine().mutex);
  return machine().told.copied;
}

void shut_down() {
  std::lock_guard const lock(machine().mutex);
  machine().told.has_shut_down = true;
}

Outstanding outstanding() {
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  Outstanding result{m.registrations.size(), 0, 0, m.events.size(), m.streams.size(),
                     m.pinned_bytes()};
  for (auto const& [address, allocation] : m.allocations) {
    ++(allocation.kind == Kind::pinned ? result.pinned_allocations : result.device_allocations);
  }
  return result;
}

bool nothing_leaked() {
  Outstanding const left = outstanding();
  std::lock_guard const lock(machine().mutex);
  return left.registrations == 0 && left.pinned_allocations == 0 && left.events == 0 &&
         machine().user_objects.empty();
}

bool has_context(int device) {
  Machine& m = machine();
  std::lock_guard const lock(m.mutex);
  return m.contexts.at(static_cast<std::size_t>(device))->active;
}

}  // namespace FakeCuda

extern "C" {

cudaError_t CUDARTAPI cudaGetLastError() {
  cudaError_t const error = FakeCuda::pending_error;
  FakeCuda::pending_error = cudaSuccess;
  return error;
}

cudaError_t CUDARTAPI cudaPeekAtLastError() { return FakeCuda::pending_error; }

char const* CUDARTAPI cudaGetErrorName(cudaError_t) { return "cudaErrorOfFakeRuntime"; }

char const* CUDARTAPI cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "error made by the fake runtime";
}
}
