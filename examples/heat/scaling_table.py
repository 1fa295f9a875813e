#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""What scaling.sh measured, as a table in Markdown: scaling_table.py RESULTS.json [PAGE.md]

With a page, exits with 1 if the page does not hold that table.
"""

import json
import sys


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
    lines = ["| scaling | cells | processes | halo | ms a step | Gcells/s | efficiency "
             "| compute only, ms | exchange only, ms | not hidden, ms |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for (mode, _, halo), group in series(runs).items():
        for run in group:
            cells = " × ".join(str(n) for n in run["cells"])
            times = [1e3 * run[f"{part}_seconds"] for part in ("compute", "exchange", "exposed")]
            lines.append(f"| {mode} | {cells} | {run['processes']} | {halo} "
                         f"| {1e3 * run['step_seconds']:.3f} | {1e-9 * run['cells_per_second']:.2f} "
                         f"| {efficiency(run, group[0]):.2f} | "
                         + " | ".join(f"{time:.3f}" for time in times) + " |")
    return "".join(line + "\n" for line in lines)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = table(json.load(file))
    print(found, end="")
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as page:
            if found not in page.read():
                sys.exit(f"{sys.argv[2]} does not hold this table")


if __name__ == "__main__":
    main()
