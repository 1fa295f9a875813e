#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Checks the files of 13_snapshots, each of which is a step of heat behind the one before:
read_snapshots.py FOLDER STEPS npy|h5. Exit code 4: there are no files, or no h5py to read them."""

import array
import ast
import os
import sys

try:
    import numpy
except ImportError:
    numpy = None


def rows_of(path):
    """The rows of a file, of .npy by NumPy if it is there."""
    if path.endswith(".h5"):
        try:
            import h5py
        except ImportError:
            print("skipped: there is no h5py")
            sys.exit(4)
        with h5py.File(path) as file:
            return file["temperature"][:].tolist()
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
    folder, steps, ending = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if not os.path.exists(f"{folder}/heat_snapshot_1.{ending}"):
        sys.exit(4)  # the example was skipped
    before = rows_of(f"{folder}/heat_snapshot_1.{ending}")
    for step in range(2, steps + 1):
        now = rows_of(f"{folder}/heat_snapshot_{step}.{ending}")
        for i in range(1, len(now) - 1):
            for j in range(1, len(now) - 1):
                around = before[i - 1][j] + before[i + 1][j] + before[i][j - 1] + before[i][j + 1]
                if abs(now[i][j] - 0.5 * before[i][j] - 0.125 * around) > 1e-14:
                    sys.exit(f"step {step} does not follow at {i}, {j}")
        before = now
    if not 0 < max(map(max, before)) <= 1:
        sys.exit("there is no heat")
    reader = "h5py" if ending == "h5" else "NumPy" if numpy else "a few lines of Python"
    print(f"{steps} files are right, read by {reader}")


if __name__ == "__main__":
    main()
