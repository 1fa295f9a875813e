# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Plants what failed in other allocators and runtimes (README.md, "Failures of others") in a copy of the sources, and expects
that each test whose name begins with "failure <number>: " finds it.

python3 planted_failures.py SOURCE FOLDER [--only "failure 8:"] [-D...]: as planted_bugs.py. With
-D KokkosHostSpaces_ENABLE_CUDA=ON, on a machine with a GPU, it plants the bugs at the end of the table, else the others.
"""

import os
import subprocess
import sys

from planted_bugs import Copy, run

CUDA, POOL, SPACES = "backend/cuda/", "backend/pool/", "memspaces/include/KokkosHostSpaces/"
FAKE, HOST, STREAMS = "backend_tests_fake", "backend_tests_host", "stream_tests_fake"
NO_CATCH2 = ("backend_test_exit_while_reserving", "memspaces_mpi")
ON_GPU = ("backend_tests_cuda", "memspaces_tests", "driver_calls", "everywhere")

# Bugs that two tests find each: the file, the right text, the wrong one.
ONE_STREAM_ALONE = (CUDA + "Events.cpp", "return recorded(r->record_context_event(context, handle_of(event)));",
    "return cudaEventRecord(static_cast<cudaEvent_t>(event), nullptr) == cudaSuccess ? Recorded::yes : Recorded::failed;")
GRAPH_KEEPS_NO_SOURCE = ("backend/Replays.cpp", "for (void const* const address : addresses) memory.add(address);", "memory.add(addresses.front());")
BATCH_ON_LEGACY_STREAM = (CUDA + "Copies.cpp",
    "return r != nullptr && r->copy_batch != nullptr && stream != nullptr &&\n         stream != cudaStreamLegacy;",
    "return r != nullptr && r->copy_batch != nullptr;")

# How the name of the test begins that must fail; what is wrong; the test's program; the file, the right text, the wrong one.
BUGS = [
    ("failure 1: later work does not delay", "who waits for an event waits for the device", FAKE, CUDA + "Events.cpp",
     "r->synchronize_event(handle_of(event))", "r->synchronize_context()"),
    ("failure 1: work submitted after a query", "one event for all, recorded again by each question", FAKE, POOL + "Retirement.cpp",
     "if (m_count == 0 || pending(m_count - 1).epoch < epoch) progress = close_epoch();", "m_count  = 0;\n  progress = close_epoch();"),
    ("failure 2: work that never ends", "a shortage waits as long as it takes", FAKE, POOL + "Allocate.cpp",
     "if (Clock::now() > m_deadline) {", "if (Clock::now() > m_deadline + std::chrono::hours(1)) {"),
    ("failure 2: without events", "the thread that allocates waits for the device itself", FAKE, POOL + "Retirement.cpp",
     "        start_thread([this] { fence_devices(); }).detach();\n",
     "        lock.unlock();\n        fence_devices();\n        lock.lock();\n        continue;\n"),
    ("failure 3: ever larger requests", "what is too small is kept while the pool grows", FAKE, POOL + "Pools.cpp",
     "return held > enough ? held - enough : 0;", "return 0;"),
    ("failure 3: beside a kernel that never ends", "memory of one stream waits for all", FAKE, POOL + "StreamRetirement.cpp",
     "if (!Driver::record_beside_captures(event, stream.handle, stream.device)) return false;", "return false;"),
    ("failure 4: an event waits for the work of every stream", "only the default stream's event is recorded", FAKE, *ONE_STREAM_ALONE),
    ("failure 5: blocks made beside one device", "each event is recorded on the current device", FAKE, CUDA + "Events.cpp",
     "auto const state  = r != nullptr ? r->context_of(device, context) : Runtime::Context::none;\n  if (state == Runtime::Context::none) return Recorded::idle;",
     "auto const state  = r != nullptr ? r->context_of(current_device(), context) : Runtime::Context::none;\n  if (state == Runtime::Context::none) return Recorded::idle;"),
    ("failure 6: streams that are gone", "only the default stream's event is recorded", FAKE, *ONE_STREAM_ALONE),
    ("failure 6: memory of a stream that was destroyed", "its event is recorded when memory is looked for", FAKE, POOL + "StreamRetirement.cpp",
     "Waiting const& first = queue.front();",
     "Waiting& first = queue.front();\n      Driver::record(first.event, stream->first.second, stream->first.first);"),
    ("failure 7: a capture survives", "events are asked as if nobody captured", FAKE, CUDA + "Events.cpp",
     "  CaptureTolerance const tolerance(*r);\n  CUresult const result = r->query_event", "  CUresult const result = r->query_event"),
    ("failure 8: a graph replays", "a graph does not keep what it reads", FAKE, *GRAPH_KEEPS_NO_SOURCE),
    ("failure 9: whichever call fails", "what a graph refuses is lost", FAKE, CUDA + "Streams.cpp",
     "  succeeded(cudaUserObjectRelease(owner, 1));  // which releases the object\n", ""),
    ("failure 9: at the limit a capture", "a shortage waits for the capture to end", FAKE, POOL + "Allocate.cpp",
     "if (m_progress == Retirement::Progress::capturing || !others_are_at_work())", "if (!others_are_at_work())"),
    ("failure 10: a block that gets ready", "where growing fails retired memory is not looked at again", FAKE, POOL + "Allocate.cpp",
     "return memory != nullptr ? memory : path.take_in_shortage(least);",
     "if (memory == nullptr) path.refuse(refusal.why);\n  return memory;"),
    ("failure 11: a capture that did not end well", "a capture that was seen counts until one ends well", FAKE, CUDA + "Events.cpp",
     "return recorded(r.stream_is_capturing(CU_STREAM_LEGACY, &status));",
     "static std::atomic<bool> captures{false};\n  Recorded const now = recorded(r.stream_is_capturing(CU_STREAM_LEGACY, &status));\n"
     "  if (now == Recorded::capturing) captures = true;\n  return captures ? Recorded::capturing : now;"),
    ("failure 12: a range is locked in pieces", "pieces that were locked before one failed stay locked", FAKE, CUDA + "Memory.cpp",
     "if (!unlock_in_chunks(pointer, done, chunk)) throw still_locked(error.what());\n", ""),
    ("failure 15: memory freed while", "an address that is registered again replaces what was there", FAKE, "backend/Registry.cpp",
     "next->second.begin() < range.end()) {", "next->second.begin() < range.end() &&\n      next->second.begin() != range.begin()) {"),
    ("failure 16: a mapping that the runtime refuses", "only the runtime's error is told", FAKE, "backend/Registry.cpp",
     " + error.what() + advice_on(report));", " + error.what());"),
    ("failure 17: where registration is refused", "what cannot be registered cannot be had", FAKE, "backend/PageLock.cpp",
     "    } catch (DeviceError const& error) {\n", "    } catch (DeviceError const& error) {\n      refuse(bytes, error.what());\n"),
    ("failure 21: a buffer that is grown", "what a copy fills may be read", FAKE, "backend/guard/Guard.cpp",
     "add(dst, Access::none,", "add(dst, Access::read,"),
    ("failure 19: the system reads and writes", "pages are opened by the host's next access, in a handler", FAKE, "backend/guard/Guard.cpp",
     "  if (!protect(watched->begin.load(), watched->end.load()))",
     "  watched->state.store(Watched::reported);\n  return;\n  if (!protect(watched->begin.load(), watched->end.load()))"),
    ("failure 20: copied bytes have arrived", "a copy returns when it is enqueued", STREAMS, "memspaces/src/core/Streams.cpp",
     "  copy_async(dst, src, bytes, stream);\n  Driver::fence(stream);\n", "  copy_async(dst, src, bytes, stream);\n"),
    ("failure 25: a stream or a driver without a call", "the legacy default stream is asked for a batch", STREAMS, *BATCH_ON_LEGACY_STREAM),
    ("failure 4: a slab is whole again", "the last slot is merged without its event", HOST, POOL + "Slabs.hpp",
     "slot->epoch.load(std::memory_order_relaxed) > completed) break;",
     "(slot->epoch.load(std::memory_order_relaxed) > completed && slot->slab->out > 1)) break;"),
    ("failure 14: children that are forked", "a child trims as its parent does", FAKE, "backend/os/Fork.hpp",
     "return made != nullptr && made->generation == fork_generation();", "return made != nullptr;"),
    ("failure 18: where the nearest node has no cores", "a node need not have cores", HOST, "backend/os/Topology.cpp",
     "  hwloc_bitmap_and(usable.get(), usable.get(), with_cores.get());\n", ""),
    ("failure 18: where no core of a node is allowed", "only cores of the node touch its memory", HOST, "backend/os/Topology.cpp",
     "return of_node.count() > 0 ? of_node : all;", "return of_node;"),
    ("failure 24: fields of nearly one size", "the largest block is cut, not the one that fits best", FAKE, POOL + "Arena.cpp",
     "Block* block = m_trees[i].at_least(bytes);", "Block* block = m_trees[i].largest_below(~std::size_t(0));\n    if (block != nullptr && block->bytes < bytes) block = nullptr;"),
    ("failure 24: sizes a little above", "neighbours are never merged", FAKE, POOL + "Arena.cpp",
     "  if (is_ready(block.after)) {\n", "  if (is_ready(block.after) && is_ready(block.before)) {\n"),
    ("failure 24: ever larger requests", "smaller blocks are never given back", FAKE, POOL + "Allocate.cpp",
     "if (excess_now == 0 || !pools.can_release({1, false})) return nullptr;", "if (excess_now != 1) return nullptr;"),
    ("failure 13: a process ends", "the thread goes on while the process ends", "backend_test_exit_while_reserving", POOL + "Reserve.cpp",
     "      ending.swap(all);\n", "      ending.swap(all);\n      for (Worker& worker : ending) worker.thread.detach();\n"),
    ("failure 22: threads of a parallel_for", "an allocation fences", "conformance_tests", "memspaces/src/core/Allocation.cpp",
     "  endings().register_once();\n  lock_when_initialized();\n  LockArrayInit",
     "  Kokkos::fence(\"allocation\");\n  endings().register_once();\n  lock_when_initialized();\n  LockArrayInit"),
    ("failure 19: MPI sends", "a block is a page shorter than was asked for", "memspaces_mpi", POOL + "Arena.hpp",
     "return (bytes + page_bytes - 1) / page_bytes * page_bytes;", "return bytes < page_bytes ? page_bytes : bytes / page_bytes * page_bytes;"),

    # With a GPU.
    ("failure 12: locking that fails half-way", "it is locked in pieces, and these stay locked", "backend_tests_cuda", CUDA + "Memory.cpp",
     "{ lock_in_chunks(pointer, bytes, largest_chunk); }",
     "{\n  for (std::size_t done = 0; done < bytes; done += 64 << 20)\n"
     "    lock(static_cast<char*>(pointer) + done, std::min<std::size_t>(bytes - done, 64 << 20));\n}"),
    ("failure 8: a captured copy", "a graph does not keep what it reads", "memspaces_tests", *GRAPH_KEEPS_NO_SOURCE),
    ("failure 20: a blocking copy", "a copy returns when CUDA's call does", "everywhere", SPACES + "impl/copy/DeepCopy.hpp",
     "  copy_and_wait_for(dst, src);\n  Kokkos::fence(\"Kokkos::deep_copy: copy between views, post copy fence\");\n",
     "  enqueue_copy(private_instance(device_of(dst.data(), src.data())), dst, src);\n"),
    ("failure 25: deep_copy_all", "the legacy default stream is asked for a batch", "driver_calls", *BATCH_ON_LEGACY_STREAM),
    ("failure 22: a copy asks the driver once", "a copy is made on the default instance", "driver_calls", SPACES + "impl/copy/DeepCopy.hpp",
     "    enqueue_copy(instance, dst, src);\n    if (guards_copies())", "    enqueue_copy(Kokkos::Cuda(), dst, src);\n    if (guards_copies())"),
    ("failure 23: sync of a PinnedDualView", "sync copies whatever is due or not", "driver_calls", SPACES + "PinnedDualView.hpp",
     "      if (!this->need_sync_device()) return;\n", ""),
]


def main():
    # The examples look for MPI.
    copy = Copy(["-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG", "-DKokkosHostSpaces_ENABLE_EXAMPLES=ON"])
    programs = run("cmake", "--build", copy.build, "--target", "help").stdout
    on_gpu = "KokkosHostSpaces_ENABLE_CUDA=ON" in " ".join(sys.argv)
    bugs = [(f"{test}...: {what}", *place, test, program) for test, what, program, *place in BUGS
            if (program in ON_GPU) == on_gpu and copy.only in f"{test} {program}" and program in programs]
    print("left out, since they are not built here:",
          *{program for _, _, program, *_ in BUGS if (program in ON_GPU) == on_gpu and program not in programs})
    environment = dict(os.environ, OMP_PROC_BIND="false", OMP_WAIT_POLICY="passive")

    def passes(bug):
        *_, test, program = bug
        copy.make(program)
        command = [next(path for path in copy.build.glob(f"**/{program}") if path.is_file()), test + "*"]
        if program in NO_CATCH2:
            command = ["ctest", "--test-dir", copy.build, "--no-tests=error", "-R", "^" + test]
        guard = {"KOKKOS_HOST_SPACES_GUARD": "on"} if "guard/" in bug[1] else {}
        try:
            return run(*command, env=environment | guard, timeout=300 if on_gpu else 60).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    wrong = [bug[0] for bug in bugs if not passes(bug)]
    if wrong:
        sys.exit("\n".join(["these tests fail without a bug, or are not there:", *wrong]))
    print(f"{len(bugs)} bugs", flush=True)
    return copy.plant(bugs, passes)


if __name__ == "__main__":
    sys.exit(main())
