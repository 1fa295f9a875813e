# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""What a report holds: the machine, the goals, a section for each group of benchmarks."""

from __future__ import annotations

import math
import pathlib

from . import plots
from .document import Document
from .goals import Goal, judge
from .numbers import time_text
from .results import Case, Run
from .series import (
    TYPES, cases_of, crossings, line_name, ordered, scalings, size, size_text, times_table)

_MACHINE = {
    "gpu": "GPU", "gpus": "GPUs", "ranks": "MPI ranks", "driver_version": "driver",
    "cuda_runtime_version": "CUDA runtime", "link_generation": "PCIe generation", "link_width": "PCIe lanes",
    "gpu_numa_node": "NUMA node of the GPU", "host_cpu": "CPU", "host_threads": "host threads",
    "huge_pages": "transparent huge pages", "execution_space": "execution space",
    "kokkos_version": "Kokkos", "compiler": "compiler", "commit": "commit", "mode": "mode", "date": "date"}
_LIMITS = {"limit_to_device": "link to the device", "limit_to_host": "link to the host",
           "limit_both": "link in both directions", "limit_two_to_one": "link, two parts to the device and one back",
           "limit_all_to_device": "links of all GPUs to the devices", "limit_all_to_host": "links of all GPUs to the host",
           "limit_all_both": "links of all GPUs in both directions",
           "limit_all_two_to_one": "links of all GPUs, two parts to the devices and one back",
           "limit_device_memory": "device memory", "limit_host_memory": "host memory"}


class _Writer:
    """A document, and the pictures beside it."""

    def __init__(self, folder: pathlib.Path, title: str):
        self.folder = folder
        self.document = Document(title)
        self.files: list[pathlib.Path] = []

    def picture(self, figure, name: str, description: str) -> None:
        if figure is not None:
            self.files += plots.save(figure, self.folder, name)
            self.document.picture(name, description)


def _machine(document: Document, runs: list[Run]) -> None:
    rows = [[name, *(str(run.context.get(key, "")) for run in runs)] for key, name in _MACHINE.items()]
    for key, name in _LIMITS.items():
        limits = [run.limit(key) for run in runs]
        rows.append([f"{name}, GB/s for each rank",
                     *("" if limit is None else f"{limit / 1e9:.4g}" for limit in limits)])
    document.heading("Where this was measured")
    document.table(["", *(run.title for run in runs)], [row for row in rows if any(row[1:])])


def _errors(document: Document, runs: list[Run]) -> None:
    errors = [[run.title, error] for run in runs for error in run.errors()]
    if errors:
        document.heading("WRONG RESULTS")
        document.text("These benchmarks failed their verification: do not trust any figure of these runs.")
        document.table(["run", "error"], errors)


def _goals(document: Document, runs: list[Run], goals: list[Goal]) -> None:
    rows = []
    for goal in goals:
        judged = judge(goal, runs)
        if not judged.verdicts:
            rows.append([goal.name, goal.wanted, "not judged", judged.why_not, goal.why])
            continue
        worst = judged.verdicts[0]
        details = f"{goal.text(worst.measured)}, {worst.case}" if worst.measured else worst.reason
        rows.append([goal.name, goal.wanted, f"{'NO' if judged.short else 'yes'}, {judged.count}", details, goal.why])
    document.heading("Goals")
    document.table(["goal", "wanted", "reached", "worst case", "why so"], rows)


def _worst_ratios(document: Document, cases: list[Case]) -> None:
    """For each operation the smallest ratio over all sizes."""
    cases = [case for case in cases if case.summary("ratio")]
    operations = ordered(case.operation for case in cases)

    def key(case: Case) -> str:
        return ", ".join([line_name(case), *(t for t in TYPES if t in case.words)])

    rows = []
    for name in ordered(key(case) for case in cases):
        row = [name]
        for operation in operations:
            here = [case for case in cases if key(case) == name and case.operation == operation]
            worst = min(here, default=None, key=lambda case: case.summary("ratio").median)
            row.append(f"{worst.summary('ratio').median:.3f} at {size_text(worst)}" if worst else "")
        rows.append(row)
    if rows:
        document.text("The smallest ratio to the plain twin over all sizes: 1 is equally fast, above 1 ours is faster.")
        document.table(["", *operations], rows)


def _crossings(writer: _Writer, run: Run, suffix: str) -> None:
    found = crossings(run)
    if not found:
        return
    writer.document.heading(f"In place or staged, {run.title}", 3)
    writer.document.text(
        "A kernel touches a fraction of the data, several times: in place over the link, or after a copy to the"
        " device. In place is faster below the fraction of the table; the figures in the picture are the time of"
        " staged divided by the time in place.")
    writer.picture(plots.crossing_maps(run), f"crossing{suffix}", "How much faster in place is than staged")

    def cell(crossing, passes: float) -> str:
        ratios = [ratio for (p, _), ratio in crossing.ratios.items() if p == passes]
        if not ratios:
            return ""
        if (fraction := crossing.fraction(passes)) is not None:
            return f"{fraction:.2g}"
        return "always in place" if min(ratios) >= 1 else "always staged"

    passes = sorted({p for crossing in found for p in crossing.passes()})
    writer.document.table(["in place below this fraction", *(f"passes: {p:g}" for p in passes)],
                          [[crossing.title, *(cell(crossing, p) for p in passes)] for crossing in found])


def _run(writer: _Writer, run: Run, suffix: str) -> None:
    document = writer.document
    document.heading(run.title)
    if cases_of(run, "vector"):
        document.heading(f"Vector kernels, {run.title}", 3)
        for name in TYPES:
            writer.picture(plots.vector_rates(run, name), f"vector_{name}{suffix}",
                           f"Rate of vector kernels on {name} against size")
        writer.picture(plots.ratios(run, "vector"), f"vector_ratio{suffix}",
                       "Ratio of vector kernels to their plain twin")
        _worst_ratios(document, cases_of(run, "vector"))
    for group, heading in (("transport", "Ways to hand data to the GPU"), ("copy", "Copies")):
        if not cases_of(run, group):
            continue
        document.heading(f"{heading}, {run.title}", 3)
        writer.picture(plots.rates(run, group), f"{group}{suffix}", f"Rates of {group} against size")
        writer.picture(plots.ratios(run, group), f"{group}_ratio{suffix}", f"Ratios of {group} to the plain twin")
        _worst_ratios(document, cases_of(run, group))
    if cases_of(run, "alloc"):
        document.heading(f"Making and freeing memory, {run.title}", 3)
        writer.picture(plots.allocations(run), f"alloc{suffix}", "Time to make and free memory")
        _times(document, cases_of(run, "alloc"))
    _crossings(writer, run, suffix)
    if cases_of(run, "latency"):
        document.heading(f"Latency, {run.title}", 3)
        _times(document, cases_of(run, "latency"))


def _several(writer: _Writer, runs: list[Run]) -> None:
    """How the sum of the rates grows with the ranks."""
    found = scalings(runs)
    if not found:
        return
    writer.document.heading("Several GPUs at once")
    writer.document.text(
        "All ranks measure at the same time. The sum tells what the machine gives; the slowest rank is what a"
        " program waits for. Efficiency is the sum for each rank divided by that with the fewest ranks: below"
        " 1 the ranks share a link or the memory of the host.")
    writer.picture(plots.several_gpus(found), "several_gpus", "Sum of the rates against the number of GPUs")
    rows = []
    for one in found:
        fewest = min(one.sums)
        for ranks, total in sorted(one.sums.items()):
            efficiency = total / ranks / (one.sums[fewest] / fewest)
            rows.append([one.case.name, str(ranks), f"{total / 1e9:.4g}",
                         f"{one.slowest[ranks].scaled(1e-9):.4g}", f"{efficiency:.2f}"])
    writer.document.table(["benchmark", "ranks", "sum, GB/s", "slowest rank, GB/s", "efficiency"], rows)


def _times(document: Document, cases: list[Case]) -> None:
    """Medians by way and size; some of the sizes, if there are many."""
    for operation in ordered(case.operation for case in cases):
        here = [case for case in cases if case.operation == operation]
        sizes = ordered(sorted(size(case) for case in here))
        heading, rows = times_table(here, sizes[:: math.ceil(len(sizes) / 7)] if len(sizes) > 7 else sizes)
        document.table([operation.replace("_", " "), *heading], rows)


def _all_cases(document: Document, runs: list[Run]) -> None:
    document.heading("All figures")
    document.text("Medians, with the quartiles in brackets, of our time, our rate and the ratio to the plain twin.")
    for run in runs:
        for group in ordered(case.group for case in run.cases.values()):
            rows = []
            for case in cases_of(run, group):
                rate, twin, ratio = (case.summary(key) for key in ("bytes_per_second", "twin_seconds", "ratio"))
                rows.append([case.name.partition("/")[2], time_text(case.summary("seconds")),
                             f"{rate.scaled(1e-9):.4g}" if rate else "", time_text(twin) if twin else "",
                             f"{ratio:{'.3f' if ratio.median < 10 else '.4g'}}" if ratio else "", case.label])
            if rows:
                document.table([group, "time", "GB/s", "twin", "twin / ours", "which twin"], rows,
                               folded=f"{group}, {run.title}: {len(rows)} cases")
        if run.left_out:
            document.table(["left out", "why"], [list(item) for item in run.left_out.items()],
                           folded=f"left out, {run.title}")


def write_report(runs: list[Run], goals: list[Goal], folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes the report and its pictures; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = _Writer(folder, "Kokkos Host Spaces: what was measured")
    _errors(writer.document, runs)
    _machine(writer.document, runs)
    _goals(writer.document, runs, goals)
    # Details of the smallest run on each machine: the larger ones show what they add.
    machines: dict[str, list[Run]] = {}
    for run in runs:
        machines.setdefault(str(run.context.get("gpu") or run.backend), []).append(run)
    for place, same in enumerate(machines.values()):
        _run(writer, same[0], f"_{place + 1}" if place else "")
    for same in machines.values():
        _several(writer, same)
    _all_cases(writer.document, runs)
    for name, text in (("report.md", writer.document.markdown()), ("report.html", writer.document.html())):
        (folder / name).write_text(text, encoding="utf-8")
        writer.files.append(folder / name)
    return writer.files
