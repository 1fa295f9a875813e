#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Draws a comparison: plot.py RESULTS.json PICTURE.svg (needs matplotlib)."""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

TRANSPORTS = {
    "resident": ("resident on the device", "#444444"),
    "mapped": ("MappedSpace, in place", "#1b7837"),
    "pinned": ("PinnedSpace, copied", "#2166ac"),
    "pageable": ("HostSpace, copied", "#b2182b"),
}
MEMORIES = {
    "View_PinnedSpace": "#2166ac",
    "View_CudaHostPinnedSpace": "#888888",
    "cudaHostAlloc": "#bbbbbb",
}


def draw_rates(axes, results, operation):
    """Rate against size, Kokkos as lines and the plain twin as points."""
    for transport, (name, colour) in TRANSPORTS.items():
        rows = [
            r
            for r in results["comparisons"]
            if r["operation"] == operation and r["transport"] == transport
        ]
        sizes = [r["bytes"] for r in rows]
        axes.plot(sizes, [r["kokkos_gb_per_s"] for r in rows], color=colour, label=name)
        axes.plot(sizes, [r["twin_gb_per_s"] for r in rows], "o", color=colour, mfc="none", ms=5)
    axes.plot([], [], "o", color="black", mfc="none", ms=5, label=results["context"]["twin"])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = [2**12, 2**15, 2**18, 2**21, 2**24, 2**27, 2**30]
    axes.set_xticks(ticks, ["4 KiB", "32 KiB", "256 KiB", "2 MiB", "16 MiB", "128 MiB", "1 GiB"])
    axes.set_xlabel("bytes of an array")
    axes.set_ylabel("GB/s of all arrays, transfers included")
    axes.set_title(f"{operation}, {results['context'].get('gpu', 'host')}")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)


def name_of(allocation):
    """The kind of memory; older results write it in words."""
    return allocation["memory"].replace(" of ", "_")


def draw_allocations(axes, results):
    """Time for a cold allocation of each size, by kind of memory."""
    rows = results["allocations"]
    sizes = sorted({r["bytes"] for r in rows})
    for place, (memory, colour) in enumerate(MEMORIES.items()):
        times = [
            1e3 * r["allocate_seconds"]["median"]
            for size in sizes
            for r in rows
            if r["bytes"] == size and name_of(r) == memory
        ]
        if not times:
            continue
        bars = axes.bar(
            [i + 0.27 * (place - 1) for i in range(len(sizes))], times, 0.25, color=colour, label=memory
        )
        axes.bar_label(bars, [f"{t:.0f}" for t in times], fontsize=8)
    axes.set_yscale("log")
    axes.set_xticks(range(len(sizes)), [f"{s / 2**20:.0f} MiB" for s in sizes])
    axes.set_ylabel("ms to allocate, cold")
    axes.set_title("page-locked memory")
    axes.legend(frameon=False, fontsize=8)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.2), width_ratios=(1.8, 1), layout="constrained"
    )
    draw_rates(left, results, "triad")
    draw_allocations(right, results)
    figure.savefig(sys.argv[2])


if __name__ == "__main__":
    main()
