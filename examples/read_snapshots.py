#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Checks the files of 13_snapshots: each is one step of heat behind the one before: read_snapshots.py FOLDER STEPS"""

import array
import ast
import sys

try:
    import numpy
except ImportError:
    numpy = None


def rows_of(path):
    """The rows of a file, by NumPy if it is there."""
    if numpy is not None:
        return numpy.load(path).tolist()
    with open(path, "rb") as file:
        if file.read(8) != b"\x93NUMPY\x01\x00":
            sys.exit(f"{path} is not of NumPy")
        header = ast.literal_eval(file.read(int.from_bytes(file.read(2), "little")).decode())
        if file.tell() % 64 != 0 or header["descr"] != "<f8" or header["fortran_order"]:
            sys.exit(f"{path} has the header {header}")
        values = array.array("d", file.read())
    rows, columns = header["shape"]
    if len(values) != rows * columns:
        sys.exit(f"{path} has {len(values)} values")
    return [list(values[i * columns:(i + 1) * columns]) for i in range(rows)]


def main():
    folder, steps = sys.argv[1], int(sys.argv[2])
    before = rows_of(f"{folder}/heat_snapshot_1.npy")
    for step in range(2, steps + 1):
        now = rows_of(f"{folder}/heat_snapshot_{step}.npy")
        for i in range(1, len(now) - 1):
            for j in range(1, len(now) - 1):
                around = before[i - 1][j] + before[i + 1][j] + before[i][j - 1] + before[i][j + 1]
                if abs(now[i][j] - 0.5 * before[i][j] - 0.125 * around) > 1e-14:
                    sys.exit(f"step {step} does not follow at {i}, {j}")
        before = now
    if not 0 < max(map(max, before)) <= 1:
        sys.exit("there is no heat")
    print(f"{steps} files are right, read by {'NumPy' if numpy else 'a few lines of Python'}")


if __name__ == "__main__":
    main()
