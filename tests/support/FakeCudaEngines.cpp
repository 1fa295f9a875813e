// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The fake runtime's copy engines, which tests may switch on: what streams of a device share.

#include "FakeCuda.hpp"
#include "FakeCudaMachine.hpp"

#include <algorithm>

namespace FakeCuda {

namespace {

// Has the stream a copy for the engine that may begin? Waits take no time.
bool stands_ready(CUstream_st const& stream, Engine const& engine) {
  if (stream.runs) return false;
  for (Task const& task : stream.queue) {
    if (!Machine::all_done(task.after)) return false;
    if (task.run) return task.engine == &engine;
  }
  return false;
}

// The stream that was served, or the next one that was made.
CUstream_st const* next_for(Machine const& m, Engine const& engine) {
  auto const served = std::find_if(m.streams.begin(), m.streams.end(),
                                   [&](auto const& s) { return s.get() == engine.serves; });
  auto const first  = static_cast<std::size_t>(served - m.streams.begin());
  for (std::size_t i = 0; i < m.streams.size(); ++i) {
    CUstream_st const& stream = *m.streams[(first + i) % m.streams.size()];
    if (stands_ready(stream, engine)) return &stream;
  }
  return nullptr;
}

}  // namespace

void Machine::give_engine(Task& task, Copied const& copy) {
  int const to = device_of(copy.dst), from = device_of(copy.src);
  if (!has_engines || (to < 0) == (from < 0)) return;
  task.engine = to >= 0 ? &engines[to].to_device : &engines[from].to_host;
  task.copies = copy;
}

bool Machine::may_begin(CUstream_st const& stream) const {
  Task const& task = stream.queue.front();
  if (!all_done(task.after)) return false;
  if (task.engine == nullptr) return true;
  return !engines_stand && !task.engine->busy && next_for(*this, *task.engine) == &stream;
}

void Machine::copy_begins(CUstream_st const& stream, Task const& task) {
  if (task.engine == nullptr) return;
  *task.engine = {&stream, true};
  copied.push_back(task.copies);
}

void Machine::copy_ends(Task const& task) {
  if (task.engine != nullptr) task.engine->busy = false;
}

void use_copy_engines() {
  std::lock_guard const lock(machine().mutex);
  machine().has_engines = machine().engines_stand = true;
}

void start_copy_engines() {
  Machine& m = machine();
  std::unique_lock lock(m.mutex);
  m.changed.wait(lock, [&] {
    return std::none_of(m.streams.begin(), m.streams.end(), [&](auto const& stream) {
      return stream->runs || (!stream->queue.empty() && m.may_begin(*stream));
    });
  });
  m.engines_stand = false;
  m.changed.notify_all();
}

std::vector<Copied> copied() {
  std::lock_guard const lock(machine().mutex);
  return machine().copied;
}

}  // namespace FakeCuda
