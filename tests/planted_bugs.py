# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Plants one bug after the other in a copy of backend/, and expects that backend_pool_proof finds each.

python3 planted_bugs.py SOURCE FOLDER [--only TEXT] [-D...]: FOLDER is made, or used again, and holds the copy and its build.
With --only, only bugs are planted whose names contain TEXT. Other options are for CMake.
"""

import argparse
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys

POOL = "backend/pool/"
# What is wrong, the file, the right text, and the wrong one.
BUGS = [
    ("early reuse: a block is used an epoch early", POOL + "Heap.cpp",
     "block->epoch.load(std::memory_order_relaxed) > over)", "block->epoch.load(std::memory_order_relaxed) > over + 1)"),
    ("early reuse: a slot is used an epoch early", POOL + "Slabs.hpp",
     "slot->epoch.load(std::memory_order_relaxed) > completed)",
     "slot->epoch.load(std::memory_order_relaxed) > completed + 1)"),
    ("early reuse: an event that failed counts as done", POOL + "Retirement.cpp",
     "if (state == Driver::EventState::failed) {",
     "if (state == Driver::EventState::failed) { recording.devices &= ~bit(device); continue; }\n"
     "if (state == Driver::EventState::failed) {"),
    ("early reuse: without events memory is ready before the fence", POOL + "Retirement.cpp",
     "  int const count   = Driver::devices_in_use(devices);\n  bool const fenced",
     "  complete(epoch);\n  int const count   = Driver::devices_in_use(devices);\n  bool const fenced"),
    ("early reuse: memory of one stream does not wait for it", POOL + "StreamRetirement.cpp",
     "Driver::query(first.event);", "Driver::query(first.event) == Driver::EventState::failed\n"
     "? Driver::EventState::failed : Driver::EventState::done;"),
    ("double free: a graph that ends frees what is in use", POOL + "RetainTable.cpp",
     "  if (given_back) heap_of(header).give_back(header);", "  if (given_back || !given_back) heap_of(header).give_back(header);"),
    ("double free: what is retired can be given back", POOL + "Heap.cpp",
     "std::memory_order_acq_rel))\n    return false;", "std::memory_order_acq_rel) && state != BlockState::retired)\n    return false;"),
    ("write during a copy: memory is cleared when it is given back", POOL + "Allocate.cpp",
     "  if (found.header != nullptr && found.begin == pointer) {\n",
     "  if (found.header != nullptr && found.begin == pointer) {\n    std::memset(pointer, 0, 8);\n"),
    ("leak on the error path: a block for which there is no slab is lost", POOL + "Heap.cpp",
     "    m_arena.put(*span);\n    throw;", "    throw;"),
    ("missed event in a merge: of an epoch's events the first tells for all", POOL + "Retirement.cpp",
     "      recording.devices &= ~bit(device);\n", "      recording.devices = 0;\n"),
    ("event on the wrong device: each is recorded on the first", POOL + "Retirement.cpp",
     "Driver::record_all_work(static_cast<int>(device), ", "Driver::record_all_work(0, "),
    ("event on the wrong device: only the first is asked", POOL + "Retirement.cpp",
     "device < count; ++device) {\n    switch (Driver::record_all_work(",
     "device < std::min<std::size_t>(count, 1); ++device) {\n    switch (Driver::record_all_work("),
    ("wrong node: all share the pool of the first", POOL + "Pools.cpp",
     "auto const node = static_cast<std::size_t>(numa_node + 1);", "auto const node = static_cast<std::size_t>(numa_node < 1024 ? 1 : numa_node);"),
    ("a graph keeps nothing", POOL + "RetainTable.cpp",
     "  ++kept.count;\n", "  header.state.store(BlockState::in_use);\n  ++kept.count;\n"),
    ("record during a capture", "backend/cuda/Events.cpp",
     "  if (Recorded const may = may_record(*r); may != Recorded::yes) return may;\n  CaptureTolerance",
     "  static_cast<void>(may_record(*r));\n  CaptureTolerance"),
    ("unlock ignored: pages are unmapped though they stay locked", "backend/PageLock.cpp",
     "!Driver::unlock_pages(region.pointer, region.bytes)) return false;", "!Driver::unlock_pages(region.pointer, region.bytes)) {}"),
    ("limit overdrawn by threads", POOL + "Pools.cpp",
     "if (!ledger.reserve(bytes)) {",
     "bool const had = ledger.excess(bytes) == 0;\n  std::size_t const most = ledger.limit();\n"
     "  for (int volatile i = 0; i < 100000; i = i + 1) {}\n  if (had) ledger.set_limit(0);\n"
     "  bool const got = had && ledger.reserve(bytes);\n  ledger.set_limit(most);\n"
     "  if (!got) {"),
]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)


class Copy:
    """A copy of the sources, and its build."""

    def __init__(self, more_options=()):
        parser = argparse.ArgumentParser()
        parser.add_argument("source", type=pathlib.Path)
        parser.add_argument("folder", type=pathlib.Path)
        parser.add_argument("--only", default="")
        arguments, options = parser.parse_known_args()
        self.source, self.build, self.only = arguments.folder / "source", arguments.folder / "build", arguments.only
        shutil.copytree(arguments.source, self.source, symlinks=True, dirs_exist_ok=True, copy_function=self.copy_changed,
                        ignore=shutil.ignore_patterns("build", ".*"))
        made = run("cmake", "-S", self.source, "-B", self.build, *options, *more_options)
        if made.returncode:
            sys.exit(f"cannot be configured:\n{made.stdout[-1000:]}{made.stderr[-3000:]}")

    @staticmethod
    def copy_changed(source, copy):
        """Copies only files that differ, so that little is built again."""
        if not pathlib.Path(copy).exists() or not filecmp.cmp(source, copy, shallow=False):
            shutil.copy(source, copy)

    def make(self, target):
        made = run("cmake", "--build", self.build, "--parallel", os.cpu_count(), "--target", target)
        if made.returncode:
            sys.exit(f"{target} does not compile:\n{made.stdout[-3000:]}")

    def plant(self, bugs, passes):
        """Plants each bug (what, file, right text, wrong text, ...) alone, and expects `passes(bug)`, which builds and tests,
        to be false. Returns an exit code."""
        missed = []
        for bug in bugs:
            what, file, text, instead, *_ = bug
            path = self.source / file
            right = path.read_text(encoding="utf-8")
            if right.count(text) != 1:
                missed.append(f"{what}: {file} has the text to replace {right.count(text)} times: correct this script")
                continue
            path.write_text(right.replace(text, instead), encoding="utf-8")
            try:
                if passes(bug):
                    missed.append(f"{what}: not found")
                else:
                    print(f"found: {what}", flush=True)
            finally:
                path.write_text(right, encoding="utf-8")
        for one in missed:
            print(f"MISSED {one}")
        return 1 if missed else 0


def main():
    copy = Copy(["-DKokkosHostSpaces_ENABLE_KOKKOS=OFF"])

    def proof(_=None):
        copy.make("backend_pool_proof")
        try:
            return run(next(copy.build.glob("**/backend_pool_proof")), "--abort", timeout=300).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    if not proof():
        sys.exit("the proof fails without a bug")
    return copy.plant([bug for bug in BUGS if copy.only in bug[0]], proof)


if __name__ == "__main__":
    sys.exit(main())
