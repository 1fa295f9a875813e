# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Plants one bug after the other in a copy of backend/, and expects that backend_pool_proof finds each.

python3 planted_bugs.py SOURCE FOLDER [-D...]: FOLDER is made, and holds the copy and its build; options are for CMake.
"""

import pathlib
import shutil
import subprocess
import sys

POOL = "backend/pool/"
# What is wrong, the file, the text there, and the text in place of it.
BUGS = [
    ("an event that failed counts as done", POOL + "Retirement.cpp",
     "if (state == Driver::EventState::failed) {",
     "if (state == Driver::EventState::failed) { recording.devices &= ~bit(device); continue; }\n"
     "if (state == Driver::EventState::failed) {"),
    ("only the first device is asked", POOL + "Retirement.cpp",
     "device < count; ++device) {\n    switch (Driver::record_all_work(",
     "device < std::min<std::size_t>(count, 1); ++device) {\n    switch (Driver::record_all_work("),
    ("a block is used an epoch early", POOL + "Heap.cpp",
     "block->epoch.load(std::memory_order_relaxed) > over)", "block->epoch.load(std::memory_order_relaxed) > over + 1)"),
    ("a slot is used an epoch early", POOL + "Slabs.hpp",
     "slot->epoch.load(std::memory_order_relaxed) > completed)",
     "slot->epoch.load(std::memory_order_relaxed) > completed + 1)"),
    ("a graph keeps nothing", POOL + "RetainTable.cpp",
     "  ++kept.count;\n", "  header.state.store(BlockState::in_use);\n  ++kept.count;\n"),
    ("threads overdraw the limit", POOL + "Pools.cpp",
     "if (!ledger.reserve(bytes)) {",
     "bool const had = ledger.excess(bytes) == 0;\n  std::size_t const most = ledger.limit();\n"
     "  for (int volatile i = 0; i < 100000; i = i + 1) {}\n  if (had) ledger.set_limit(0);\n"
     "  bool const got = had && ledger.reserve(bytes);\n  ledger.set_limit(most);\n"
     "  if (!got) {"),
    ("without events memory is ready before the fence", POOL + "Retirement.cpp",
     "  int const count   = Driver::devices_in_use(devices);\n  bool const fenced",
     "  complete(epoch);\n  int const count   = Driver::devices_in_use(devices);\n  bool const fenced"),
]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def main():
    source, folder, options = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder / "source", symlinks=True, ignore=shutil.ignore_patterns("build", ".git", ".arch", ".kit"))
    build = folder / "build"
    run("cmake", "-S", folder / "source", "-B", build, "-DKokkosHostSpaces_ENABLE_KOKKOS=OFF", *options, check=True)

    def proof():
        """Whether the program is right as far as its proof tells; builds it first."""
        made = run("cmake", "--build", build, "--parallel", "2", "--target", "backend_pool_proof")
        if made.returncode:
            sys.exit(f"does not compile:\n{made.stdout[-3000:]}")
        found = list(build.glob("**/backend_pool_proof"))
        try:
            return run(found[0], timeout=300).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    missed = [] if proof() else ["no bug at all: the proof fails without one"]
    for what, file, text, instead in BUGS:
        path = folder / "source" / file
        right = path.read_text(encoding="utf-8")
        if right.count(text) != 1:
            missed.append(f"{what}: {file} has its place {right.count(text)} times: correct this script")
            continue
        path.write_text(right.replace(text, instead), encoding="utf-8")
        if proof():
            missed.append(f"{what}: not found")
        else:
            print(f"found: {what}", flush=True)
        path.write_text(right, encoding="utf-8")
    for one in missed:
        print(f"MISSED {one}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
