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
import re
import shutil
import subprocess
import sys
import typing


class Place(typing.NamedTuple):
    """The statements behind the comment `//~ marker` of a source, and what is planted in their place."""
    marker: str
    instead: str
    statements: int = 1


# What is wrong, and where.
BUGS = [
    ("early reuse: a block is used an epoch early",
     Place("early reuse a", "if (block == nullptr || block->epoch.load(std::memory_order_relaxed) > over + 1) break;")),
    ("early reuse: a slot is used an epoch early",
     Place("early reuse b", "if (slot == nullptr || slot->epoch.load(std::memory_order_relaxed) > completed + 1) break;")),
    ("early reuse: an event that failed counts as done",
     Place("early reuse c", "if (state == Driver::EventState::failed) { recording.devices &= ~bit(device); continue; } if (state == "
                   "Driver::EventState::failed) {")),
    ("early reuse: without events memory is ready before the fence",
     Place("early reuse d", "complete(epoch); int const count = Driver::devices_in_use(devices);")),
    ("early reuse: memory of one stream does not wait for it",
     Place("early reuse e", "auto const state = Driver::query(first.event) == Driver::EventState::failed ? Driver::EventState::failed : "
                   "Driver::EventState::done;")),
    ("double free: a graph that ends frees what is in use",
     Place("double free a", "if (given_back || !given_back) heap_of(header).give_back(header);")),
    ("double free: what is retired can be given back",
     Place("double free b", "if (!header.state.compare_exchange_strong(state, BlockState::retired, std::memory_order_acq_rel) && state != "
                   "BlockState::retired) return false;")),
    ("write during a copy: memory is cleared when it is given back",
     Place("write during a copy", "if (found.header != nullptr && found.begin == pointer) { std::memset(pointer, 0, 8);")),
    ("leak on the error path: a block for which there is no slab is lost",
     Place("leak", "throw;", 2)),
    ("missed event in a merge: of an epoch's events the first tells for all",
     Place("missed event", "recording.devices = 0;")),
    ("event on the wrong device: each is recorded on the first",
     Place("wrong device a", "switch (Driver::record_all_work(0, recording.events[device])) {")),
    ("event on the wrong device: only the first is asked",
     Place("wrong device b", "for (std::size_t device = 0; device < std::min<std::size_t>(count, 1); ++device) {")),
    ("wrong node: all share the pool of the first",
     Place("wrong node", "auto const node = static_cast<std::size_t>(numa_node < 1024 ? 1 : numa_node);")),
    ("a graph keeps nothing",
     Place("unkept graph", "header.state.store(BlockState::in_use); ++kept.count;")),
    ("record during a capture",
     Place("recorded capture", "static_cast<void>(may_record(*r));")),
    ("unlock ignored: pages are unmapped though they stay locked",
     Place("ignored unlock", "if (locked && !Driver::unlock_pages(region.pointer, region.bytes)) {}")),
    ("limit overdrawn by threads",
     Place("overdrawn limit", "bool const had = ledger.excess(bytes) == 0; std::size_t const most = ledger.limit(); for (int volatile i = 0; i "
                   "< 100000; i = i + 1) {} if (had) ledger.set_limit(0); bool const got = had && ledger.reserve(bytes); "
                   "ledger.set_limit(most); if (!got) {")),
]


def end_of_statement(text, at):
    """The end of the statement that begins at `at`: behind its semicolon, or the brace that opens or closes a block."""
    depth = 0
    while at < len(text):
        if text.startswith("//", at):
            at = text.index("\n", at)
        elif text[at] in "\"'":
            quote, at = text[at], at + 1
            while text[at] != quote:
                at += 2 if text[at] == "\\" else 1
        elif text[at] in "([":
            depth += 1
        elif text[at] in ")]":
            depth -= 1
        elif text[at] in ";{}" and depth == 0:
            return at + 1
        at += 1
    raise ValueError("no end")


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

    def find(self, place):
        """The file with the marker, and where its statements begin and end; None if there is not one."""
        found = [(path, match.end()) for folder in ("backend", "memspaces") for path in (self.source / folder).glob("**/*.?pp")
                 for match in re.finditer(rf"//~ {place.marker}\n\s*(//.*\n\s*)*", path.read_text(encoding="utf-8"))]
        if len(found) != 1:
            return None
        path, begin = found[0]
        text, end = path.read_text(encoding="utf-8"), begin
        for _ in range(place.statements):
            end = end_of_statement(text, end)
        return path, text, begin, end

    def plant(self, bugs, passes):
        """Plants each bug (what, place, ...) alone, and expects `passes(bug)`, which builds and tests, to be false. Returns an
        exit code."""
        missed = []
        for bug in bugs:
            what, place, *_ = bug
            found = self.find(place)
            if found is None:
                missed.append(f"{what}: no source, or several, have the comment //~ {place.marker}")
                continue
            path, right, begin, end = found
            path.write_text(right[:begin] + place.instead + right[end:], encoding="utf-8")
            try:
                if passes(bug):
                    missed.append(f"{what}: not found")
                else:
                    print(f"found: {what}", flush=True)
            except SystemExit as error:
                missed.append(f"{what}: {error}")
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
