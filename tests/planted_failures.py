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

from planted_bugs import Copy, Place, run

FAKE, HOST, STREAMS = "backend_tests_fake", "backend_tests_host", "stream_tests_fake"
NO_CATCH2 = ("backend_test_exit_while_reserving", "memspaces_ranks")
ON_GPU = ("backend_tests_cuda", "memspaces_tests", "driver_calls", "everywhere")

# Bugs that two tests find each.
ONE_STREAM_ALONE = Place("failure 4", "Recorded const told = cudaEventRecord(static_cast<cudaEvent_t>(event), nullptr) == cudaSuccess ? Recorded::yes "
    ": Recorded::failed;")
GRAPH_KEEPS_NO_SOURCE = Place("failure 8", "memory.add(addresses.front());")
BATCH_ON_LEGACY_STREAM = Place("failure 25", "if (r == nullptr || r->copy_batch == nullptr) return false;")

# How the name of the test begins that must fail; what is wrong; the test's program; where.
BUGS = [
    ("failure 1: later work does not delay", "who waits for an event waits for the device", FAKE,
     Place("failure 1a", "CUresult const result = r->synchronize_context();")),
    ("failure 1: work submitted after a query", "one event for all, recorded again by each question", FAKE,
     Place("failure 1b", "m_count = 0; progress = close_epoch();")),
    ("failure 2: work that never ends", "a shortage waits as long as it takes", FAKE,
     Place("failure 2a", "if (Clock::now() > m_deadline + std::chrono::hours(1000)) {")),
    ("failure 2: work that never ends", "the thread that allocates waits for the device itself", FAKE,
     Place("failure 2b", "lock.unlock(); fence_devices(); lock.lock(); continue;")),
    ("failure 3: ever larger requests", "what is too small is kept while the pool grows", FAKE,
     Place("failure 3a", "return 0;")),
    ("failure 3: beside a kernel that never ends", "memory of one stream waits for all", FAKE,
     Place("failure 3b", "return false;")),
    ("failure 4: an event waits for the work of every stream", "only the default stream's event is recorded", FAKE,
     ONE_STREAM_ALONE),
    ("failure 5: blocks made beside one device", "each event is recorded on the current device", FAKE,
     Place("failure 5", "auto const state = r != nullptr ? r->context_of(current_device(), context) : Runtime::Context::none; if (state "
                   "== Runtime::Context::none) return Recorded::idle;", 2)),
    ("failure 6: streams that are gone", "only the default stream's event is recorded", FAKE,
     ONE_STREAM_ALONE),
    ("failure 6: memory of a stream that was destroyed", "its event is recorded when memory is looked for", FAKE,
     Place("failure 6", "Waiting& first = queue.front(); Driver::record(first.event, stream->first.second, stream->first.first);")),
    ("failure 7: a capture survives", "events are asked as if nobody captured", FAKE,
     Place("failure 7", "")),
    ("failure 8: a graph replays", "a graph does not keep what it reads", FAKE,
     GRAPH_KEEPS_NO_SOURCE),
    ("failure 9: whichever call fails", "what a graph refuses is lost", FAKE,
     Place("failure 9a", "")),
    ("failure 9: at the limit a capture", "a shortage waits for the capture to end", FAKE,
     Place("failure 9b", "if (!others_are_at_work()) m_path.refuse(m_refusal.why, m_refusal.remedy);")),
    ("failure 10: a block that gets ready", "where growing fails retired memory is not looked at again", FAKE,
     Place("failure 10", "if (memory == nullptr) path.refuse(refusal.why, refusal.remedy);\nreturn memory;")),
    ("failure 11: a capture that did not end well", "a capture that was seen counts until one ends well", FAKE,
     Place("failure 11", "static std::atomic<bool> captures{false}; Recorded const now = recorded(r.stream_is_capturing(CU_STREAM_LEGACY, "
                   "&status)); if (now == Recorded::capturing) captures = true; return captures ? Recorded::capturing : now;")),
    ("failure 12: a range is locked in pieces", "pieces that were locked before one failed stay locked", FAKE,
     Place("failure 12a", "")),
    ("failure 15: memory freed while", "an address that is registered again replaces what was there", FAKE,
     Place("failure 15", "if (next != by_address.end() && next->second.begin() < range.end() && next->second.begin() != range.begin()) {")),
    ("failure 16: a mapping that the runtime refuses", "only the runtime's error is told", FAKE,
     Place("failure 16", "refuse(range, std::string(\"(the CUDA runtime refused): \") + error.what());")),
    ("failure 17: where registration is refused", "what cannot be registered cannot be had", FAKE,
     Place("failure 17", "refuse(bytes, error.what(), \"\"); why = error.what();")),
    ("failure 21: a buffer that is grown", "what a copy fills may be read", FAKE,
     Place("failure 21", "copy->dst = add(dst, PageAccess::read, \", while an asynchronous copy from '\" + src.label + \"' fills "
                   "it\" + fence);")),
    ("failure 19: the system reads and writes", "pages are opened by the host's next access, in a handler", FAKE,
     Place("failure 19a", "watched.state.store(Watched::reported); return; if (!protect(watched.begin.load(), watched.end.load())) "
                   "open_pages(watched);")),
    ("failure 20: copied bytes have arrived", "a copy returns when it is enqueued", STREAMS,
     Place("failure 20a", "copy_async(dst, src, bytes, stream);", 2)),
    ("failure 25: a stream or a driver without a call", "the legacy default stream is asked for a batch", STREAMS,
     BATCH_ON_LEGACY_STREAM),
    ("failure 4: a slab is whole again", "the last slot is merged without its event", HOST,
     Place("early reuse b", "if (slot == nullptr || (slot->epoch.load(std::memory_order_relaxed) > completed && slot->slab->out > 1)) break;")),
    ("failure 14: children that are forked", "a child trims as its parent does", FAKE,
     Place("failure 14", "return made != nullptr;")),
    ("failure 18: where the nearest node has no cores", "a node need not have cores", HOST,
     Place("failure 18a", "")),
    ("failure 18: where no core of a node is allowed", "only cores of the node touch its memory", HOST,
     Place("failure 18b", "return of_node;")),
    ("failure 24: fields of nearly one size", "the largest block is cut, not the one that fits best", FAKE,
     Place("failure 24a", "auto fits = tree.lower_bound({bytes, nullptr}); if (fits != tree.end()) fits = std::prev(tree.end());")),
    ("failure 24: sizes a little above", "neighbours are never merged", FAKE,
     Place("failure 24b", "if (is_ready(block.after) && is_ready(block.before)) {")),
    ("failure 24: ever larger requests", "smaller blocks are never given back", FAKE,
     Place("failure 24c", "if (excess_now != 1) return nullptr;")),
    ("failure 13: a process ends", "the thread goes on while the process ends", "backend_test_exit_while_reserving",
     Place("failure 13", "ending.swap(all); for (Worker& worker : ending) worker.thread.detach();")),
    ("failure 22: threads of a parallel_for", "an allocation fences", "conformance_tests",
     Place("failure 22a", "Kokkos::fence(\"allocation\"); endings().register_once();")),
    ("failure 19: MPI sends", "a block is a page shorter than was asked for", "memspaces_ranks",
     Place("failure 19b", "return bytes < page_bytes ? page_bytes : bytes / page_bytes * page_bytes;")),

    # With a GPU.
    ("failure 12: locking that fails half-way", "it is locked in pieces, and these stay locked", "backend_tests_cuda",
     Place("failure 12b", "void lock_pages(void* pointer, std::size_t bytes) { for (std::size_t done = 0; done < bytes; done += 64 << 20) "
                   "lock(static_cast<char*>(pointer) + done, std::min<std::size_t>(bytes - done, 64 << 20)); }", 3)),
    ("failure 8: a captured copy", "a graph does not keep what it reads", "memspaces_tests",
     GRAPH_KEEPS_NO_SOURCE),
    ("failure 20: a blocking copy", "a copy returns when CUDA's call does", "everywhere",
     Place("failure 20b", "enqueue_copy(private_instance(device_of(dst.data(), src.data())), dst, src);", 2)),
    ("failure 25: deep_copy_all", "the legacy default stream is asked for a batch", "driver_calls",
     BATCH_ON_LEGACY_STREAM),
    ("failure 22: a copy asks the driver once", "a copy is made on the default instance", "driver_calls",
     Place("failure 22b", "enqueue_copy(Kokkos::Cuda(), dst, src);")),
    ("failure 23: sync of a PinnedDualView", "sync copies whatever is due or not", "driver_calls",
     Place("failure 23", "")),
]


def main():
    # The examples look for MPI.
    copy = Copy(["-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG", "-DKokkosHostSpaces_ENABLE_EXAMPLES=ON"])
    programs = run("cmake", "--build", copy.build, "--target", "help").stdout
    on_gpu = "KokkosHostSpaces_ENABLE_CUDA=ON" in " ".join(sys.argv)
    bugs = [(f"{test}...: {what}", place, test, program) for test, what, program, place in BUGS
            if (program in ON_GPU) == on_gpu and copy.only in f"{test} {program}" and program in programs]
    print("left out, since they are not built here:",
          *{program for _, _, program, _ in BUGS if (program in ON_GPU) == on_gpu and program not in programs})
    environment = dict(os.environ, OMP_PROC_BIND="false", OMP_WAIT_POLICY="passive")

    def passes(bug):
        *_, test, program = bug
        copy.make(program)
        command = [next(path for path in copy.build.glob(f"**/{program}") if path.is_file()), test + "*"]
        if program in NO_CATCH2:
            command = ["ctest", "--test-dir", copy.build, "--no-tests=error", "-R", "^" + test]
        guard = {"KOKKOS_HOST_SPACES_GUARD": "on"} if test.startswith(("failure 19: the system", "failure 21")) else {}
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
