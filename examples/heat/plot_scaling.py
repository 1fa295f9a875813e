#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""What scaling.sh measured, as tables in Markdown, and as a picture if a file is named (needs matplotlib):
plot_scaling.py RESULTS.json [PICTURE.svg]"""

import json
import sys

COLOURS = {"mapped": "#1b7837", "pinned": "#2166ac"}


def series(runs):
    """Runs by (mode, n, halo), each in the order of the number of processes."""
    groups = {}
    for run in sorted(runs, key=lambda r: (r["mode"], r["n"], r["halo"], r["processes"])):
        groups.setdefault((run["mode"], run["n"], run["halo"]), []).append(run)
    return groups


def efficiency(run, first):
    """Rate of a process, over that of a process in the smallest run."""
    return (run["cells_per_second"] / run["processes"]) / (
        first["cells_per_second"] / first["processes"]
    )


def table(runs):
    print("| scaling | cells | processes | halo | ms a step | Gcells/s | efficiency "
          "| compute only, ms | exchange only, ms | not hidden, ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (mode, _, halo), group in series(runs).items():
        for run in group:
            cells = " × ".join(str(n) for n in run["cells"])
            times = [1e3 * run[f"{part}_seconds"] for part in ("compute", "exchange", "exposed")]
            print(f"| {mode} | {cells} | {run['processes']} | {halo} "
                  f"| {1e3 * run['step_seconds']:.3f} | {1e-9 * run['cells_per_second']:.2f} "
                  f"| {efficiency(run, group[0]):.2f} | "
                  + " | ".join(f"{time:.3f}" for time in times) + " |")


def draw(runs, file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    counts = sorted({run["processes"] for run in runs})
    styles = ["o-", "s--", "^:", "d-."]
    for place, mode in zip(axes, ("strong", "weak")):
        sizes = sorted({run["n"] for run in runs if run["mode"] == mode})
        for (of_mode, n, halo), group in series(runs).items():
            if of_mode != mode:
                continue
            place.plot(
                [run["processes"] for run in group],
                [efficiency(run, group[0]) for run in group],
                styles[sizes.index(n) % len(styles)],
                color=COLOURS[halo],
                label=f"{n}³{' each' if mode == 'weak' else ''}, {halo}",
            )
        place.set_title(f"{mode} scaling, {runs[0]['backend']}")
        place.set_xticks(counts)
        place.set_xlabel("processes")
        place.set_ylabel("efficiency")
        place.set_ylim(0, 1.15)
        place.grid(alpha=0.3)
        if sizes:
            place.legend(frameon=False, fontsize=8)
    figure.savefig(file)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        runs = json.load(file)
    table(runs)
    if len(sys.argv) > 2:
        draw(runs, sys.argv[2])


if __name__ == "__main__":
    main()
