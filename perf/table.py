#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Turns the JSON of kokkos_host_spaces_compare into Markdown tables: table.py RESULTS.json"""

import argparse
import json
import pathlib
import sys

TRANSPORTS = ["pageable", "pinned", "mapped", "resident"]


def size_name(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024 or size % 1024:
            return f"{size} {unit}"
        size //= 1024
    return f"{size} GiB"


def table(heading, rows):
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def spread(summary, scale=1.0, digits=2):
    """Median with the quartiles."""
    low, mid, high = (
        f"{summary[key] * scale:.{digits}f}"
        for key in ("lower_quartile", "median", "upper_quartile"))
    return f"{mid} ({low} to {high})"


def vector_table(results, twin):
    transports = [t for t in TRANSPORTS if any(r["transport"] == t for r in results)]
    rows = {}
    for result in results:
        key = result["operation"], result["bytes"]
        rows.setdefault(key, {})[result["transport"]] = result
    return table(
        ["kernel", "size", *(f"{t} GB/s" for t in transports),
         f"ratio to {twin}: " + " / ".join(transports)],
        [[operation, size_name(size), *(f"{row[t]['kokkos_gb_per_s']:.2f}" for t in transports),
          " / ".join(f"{row[t]['ratio']['median']:.2f}" for t in transports)]
         for (operation, size), row in sorted(rows.items())])


def transfer_table(results):
    names = {"to_device": "host to device", "to_host": "device to host"}
    return table(
        ["`deep_copy` of `PinnedSpace`", "size", "GB/s", "cudaMemcpyAsync GB/s",
         "ratio (quartiles)"],
        [[names[r["operation"]], size_name(r["bytes"]), f"{r['kokkos_gb_per_s']:.2f}",
          f"{r['twin_gb_per_s']:.2f}", spread(r["ratio"], digits=3)] for r in results])


def allocation_table(results):
    return table(
        ["memory", "size", "allocate, ms (quartiles)", "free, ms", "`PinnedSpace` is faster by"],
        [[r["memory"], size_name(r["bytes"]), spread(r["allocate_seconds"], 1e3),
          f"{r['free_seconds']['median'] * 1e3:.2f}",
          f"{r['speedup_of_pinned_space']['median']:.1f}"] for r in results])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=pathlib.Path)
    try:
        data = json.loads(parser.parse_args().results.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"table.py: {error}")
    if not all(result["verified"] for result in data["comparisons"] + data["allocations"]):
        sys.exit("table.py: not all results are verified: measure again")

    context = data["context"]
    machine = context["gpu"] or (
        f"{context['host_execution_space']}, {context['host_threads']} threads")
    transfers = [r for r in data["comparisons"] if r["operation"].startswith("to_")]
    kernels = [r for r in data["comparisons"] if r not in transfers]
    parts = [f"{machine}, Kokkos {context['kokkos_version']}, {context['compiler']}, "
             f"commit {context['commit']}, {context['date'][:10]}",
             vector_table(kernels, context["twin"])]
    if transfers:
        parts.append(transfer_table(transfers))
    if data["allocations"]:
        parts.append(allocation_table(data["allocations"]))
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
