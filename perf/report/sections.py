# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Sections of a report: verdict, machine, ranks, goals, and one for each group of benchmarks."""

from __future__ import annotations

import importlib
import importlib.util
import re

from .check import MOST_SHOWN, Check
from .document import Document
from .goals import KINDS, Goal
from .numbers import time_text
from .places import UNKNOWN, PlaceTables, places, slowest
from .results import Case, Run
from .series import (
    TYPES, baseline_name, cases_of, crossings, line_name, ordered, readable, scalings, size, size_text)

# Facts about GPUs and links, which a host alone does not have.
_DEVICE = {
    "driver_version": "driver", "cuda_runtime_version": "CUDA runtime", "clock_sm": "SM clock now, MHz",
    "clock_sm_max": "SM clock at most, MHz", "clock_memory": "memory clock now, MHz",
    "clock_memory_max": "memory clock at most, MHz", "ecc": "ECC", "power_limit": "power limit, W",
    "power_limit_max": "power limit at most, W", "link_generation": "PCIe generation now",
    "link_generation_max": "PCIe generation at most", "link_width": "PCIe lanes now",
    "link_width_max": "PCIe lanes at most",
    "gpu_numa_node": "NUMA node of the GPU"}
_MACHINE = {
    "host_name": "host", "kernel": "kernel", "host_cpu": "CPU", "virtual_machine": "virtual machine", "cpu_governor": "CPU governor",
    "numa_nodes": "NUMA nodes", "huge_pages": "transparent huge pages", "execution_space": "execution space", "host_threads": "host threads",
    "kokkos_version": "Kokkos",
    "compiler": "compiler", "build_type": "build type", "build_flags": "flags", "commit": "commit", "mode": "mode", "groups": "groups",
    "filter": "filter", "date": "date"}
_LIMITS = {"limit_to_device": "link to the device", "limit_to_host": "link to the host",
           "limit_both": "link in both directions", "limit_two_to_one": "link, two arrays in and one out at once",
           "limit_all_to_device": "links of all GPUs to the devices", "limit_all_to_host": "links of all GPUs to the host",
           "limit_all_both": "links of all GPUs in both directions",
           "limit_all_two_to_one": "links of all GPUs, two arrays in and one out at once",
           "limit_device_memory": "device memory", "limit_host_memory": "host memory"}

# A rank below this fraction of the median rate is slow.
_SLOW = 0.95
_MATPLOTLIB = (3, 6)


def why_no_pictures() -> str:
    """Why matplotlib cannot be used; empty if it can. It may be missing, too old, or broken."""
    if importlib.util.find_spec("matplotlib") is None:
        return "has no matplotlib (python3-matplotlib of Debian)"
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
        version = tuple(int(part) for part in re.findall(r"\d+", matplotlib.__version__)[:2])
        importlib.import_module("matplotlib.pyplot")
    except Exception as error:  # pylint: disable=broad-exception-caught # of a module built for another one
        return f"cannot use its matplotlib ({error})"
    return "" if version >= _MATPLOTLIB else f"has matplotlib {matplotlib.__version__}, and 3.6 is needed"


class _Writer:
    """A document, and its pictures if there is matplotlib."""

    def __init__(self, title: str):
        self.document = Document(title)
        self.pictures: dict[str, str] = {}
        self.why_no_pictures = why_no_pictures()

    def picture(self, draw: str, name: str, description: str, *data) -> None:
        """Adds the picture by plots.<draw>(*data)."""
        if self.why_no_pictures:
            return
        from . import plots  # pylint: disable=import-outside-toplevel

        figure = getattr(plots, draw)(*data)
        if figure is not None:
            self.pictures[name] = plots.svg(figure)
            self.document.picture(self.pictures[name], description)


def _narrow_link(run: Run) -> str | None:
    """A message if the link ran below its best generation or width."""
    now, most = ([run.context.get(f"link_{what}{end}") for what in ("generation", "width")] for end in ("", "_max"))
    if not all([*now, *most]) or now == most:
        return None
    return (f"{run.title}: the link ran at generation {now[0]} with {now[1]} lanes, and could do generation {most[0]}"
            f" with {most[1]}")


def _slowest_rank(run: Run) -> str | None:
    place = slowest(places(run)) if run.ranks > 1 else None
    if place is None:
        return None
    told = f"{run.title}: the slowest is {place}, at {place.speed:.2f} of the speed of the middle rank"
    return told + (": look at its host, link and clocks" if place.speed < _SLOW else "")


def _not_optimised(run: Run) -> str | None:
    """A message if the compiler did not optimise."""
    if run.context.get("optimised") != "no":
        return None
    return f"{run.title}: built without optimisation ({run.context.get('build_flags')}): no time here says how fast anything is"


def _verdict(document: Document, check: Check, runs: list[Run]) -> None:
    failed = check.short("acceptance")
    reasons = [check.count_of_errors, *(check.count(kind) for kind in KINDS if check.of(kind))]
    short = [verdict for one in failed for verdict in one.short][:MOST_SHOWN]
    reasons += [f"{verdict.goal.name}: {readable(str(verdict))}" for verdict in short]
    reasons += filter(None, [look(run) for run in runs for look in (_not_optimised, _slowest_rank, _narrow_link)])
    if check.errors:
        document.verdict(False, "Wrong results: do not trust any figure here", reasons)
    elif failed:
        document.verdict(False, "Not sound: what must hold on any sound machine does not hold", reasons)
    elif check.of("acceptance") and check.not_judged("acceptance"):
        document.verdict(True, "Sound as far as it was judged: not all that must hold was measured", reasons)
    elif check.of("acceptance"):
        document.verdict(True, "Sound: what must hold on any sound machine holds", reasons)
    else:
        document.verdict(None, "Not judged: no acceptance is meant for these results", reasons)


def _fact(run: Run, key: str) -> str:
    value = str(run.context.get(key) or "")
    if key in _DEVICE and run.backend == "host":
        return ""
    return UNKNOWN if not value or (key, value) == ("gpu_numa_node", "-1") else value


def _machine(document: Document, runs: list[Run]) -> None:
    rows = [["GPU", *(run.context.get("gpu") or "none" for run in runs)], ["ranks", *(str(run.ranks) for run in runs)]]
    for key, name in (_DEVICE | _MACHINE).items():
        cells = [_fact(run, key) for run in runs]
        if key not in ("groups", "filter") or set(cells) != {UNKNOWN}:
            rows.append([name, *cells])
    for key, name in _LIMITS.items():
        limits = [run.limit(key) for run in runs]
        rows.append([f"{name}, GB/s for each rank",
                     *("" if limit is None else f"{limit / 1e9:.4g}" for limit in limits)])
    document.heading("Where this was measured")
    document.table(["", *(run.title for run in runs)], [row for row in rows if any(row[1:])])


def _places(document: Document, run: Run) -> None:
    """Tables of hosts, GPUs and ranks, if there are several ranks."""
    if run.ranks == 1:
        return
    document.heading(f"Hosts, GPUs and ranks, {run.title}")
    tables = PlaceTables(run)
    if not tables.places:
        document.text("These results do not tell where each rank was: an older suite wrote them.")
        return
    document.text("All ranks measure at the same time. The speed of a rank is how fast it is beside the middle one,"
                  " the median over all benchmarks that move data; of several ranks that of the slowest stands here.")
    document.table(*tables.by_host())
    if run.backend == "cuda":
        document.table(*tables.by_gpu_and_node())
    document.table(*tables.by_rank(), folded=f"all {run.ranks} ranks")


def _errors(document: Document, runs: list[Run]) -> None:
    errors = [[run.title, error] for run in runs for error in run.errors()]
    if errors:
        document.heading("WRONG RESULTS")
        document.text("These benchmarks failed their verification: do not trust any figure of these runs.")
        document.table(["run", "error"], errors)


def _goals(document: Document, check: Check) -> None:
    """Tables of the goals that were judged; missed ones come first."""
    for kind in KINDS:
        rows = []
        for judged in sorted((one for one in check.judgements if one.goal.kind == kind and one.verdicts),
                             key=lambda one: not one.short):
            goal, worst = judged.goal, judged.verdicts[0]
            details = f"{goal.text(worst.measured)}, {readable(worst.case)}" if worst.measured else worst.reason
            rows.append([goal.name, f"{'NO' if judged.short else 'yes'}, {judged.count}", details, goal.why])
        if rows:
            document.heading({"acceptance": "Acceptance: what must hold on any sound machine",
                              "target": "Targets: what we aim at"}[kind])
            document.table(["goal", "reached", "worst case", "why so"], rows)


def _worst_ratios(document: Document, cases: list[Case]) -> None:
    """A table of the smallest ratio of each operation."""
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
        document.text("The smallest ratio to the baseline over all sizes (without a unit: elements): 1 is equally"
                      " fast, above 1 ours is faster.")
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
    writer.picture("crossing_maps", f"crossing{suffix}", "How much faster in place is than staged", run)

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


def _ratios(writer: _Writer, run: Run, group: str, suffix: str) -> None:
    """Speed beside plain CUDA; a host has nothing of that kind to compare with."""
    if run.backend == "cuda":
        writer.picture("ratios", f"{group}_ratio{suffix}", f"Speed of {group} relative to plain CUDA", run, group)
        _worst_ratios(writer.document, cases_of(run, group))


def _run(writer: _Writer, run: Run, suffix: str) -> None:
    document = writer.document
    document.heading(run.title)
    if cases_of(run, "idioms"):
        document.heading(f"What real codes do, {run.title}", 3)
        writer.picture("first_gains", f"gains{suffix}", "Times in stock Kokkos and in this library", run)
        _pairs(document, cases_of(run, "idioms"))
    if cases_of(run, "vector"):
        document.heading(f"Vector kernels, {run.title}", 3)
        for name in TYPES:
            writer.picture("rates", f"vector_{name}{suffix}", f"Rate of vector kernels on {name} against size",
                           run, "vector", name)
        _ratios(writer, run, "vector", suffix)
    for group, heading in (("transport", "Ways to hand data to the GPU"), ("copy", "Copies")):
        if not cases_of(run, group):
            continue
        document.heading(f"{heading}, {run.title}", 3)
        writer.picture("rates", f"{group}{suffix}", f"Rates of {group} against size", run, group)
        _ratios(writer, run, group, suffix)
    if cases_of(run, "alloc"):
        document.heading(f"Making and freeing memory, {run.title}", 3)
        writer.picture("allocations", f"alloc{suffix}", "Time to make and free memory", run)
        _pairs(document, cases_of(run, "alloc"))
    _crossings(writer, run, suffix)
    if choices := [case for case in cases_of(run, "transport") if "automatic" in case.words]:
        document.heading(f"What streamed loops choose, {run.title}", 3)
        _pairs(document, choices)
    if any(case.group == "traces" for case in run.cases.values()):
        document.heading(f"Memory locked over time, {run.title}", 3)
        writer.picture("locked_memory", f"locked{suffix}", "Memory in use and page-locked over the allocations of a trace", run)
    for group, heading in (("latency", "Latency"), ("stream", "Streamed loops")):
        if cases_of(run, group):
            document.heading(f"{heading}, {run.title}", 3)
            # The host's baselines of latency are empty loops.
            _pairs(document, cases_of(run, group), group != "latency" or run.backend == "cuda")


def _several(writer: _Writer, runs: list[Run]) -> None:
    """The sum of rates against the number of ranks."""
    found = scalings(runs)
    if not found:
        return
    writer.document.heading("Several GPUs at once")
    writer.document.text(
        "All ranks measure at the same time. The sum tells what the machine gives; the slowest rank is what a"
        " program waits for. Efficiency is the sum for each rank divided by that with the fewest ranks: below"
        " 1 the ranks share a link or the memory of the host.")
    writer.picture("several_gpus", "several_gpus", "Sum of the rates against the number of GPUs", found,
                   runs[0].context.get("gpu") or "host")
    rows = []
    for one in found:
        fewest = min(one.sums)
        for ranks, total in sorted(one.sums.items()):
            efficiency = total / ranks / (one.sums[fewest] / fewest)
            rows.append([readable(one.case.name), str(ranks), f"{total / 1e9:.4g}",
                         f"{one.slowest[ranks].scaled(1e-9):.4g}", f"{efficiency:.2f}"])
    writer.document.table(["benchmark", "ranks", "sum, GB/s", "slowest rank, GB/s", "efficiency"], rows)


def _pairs(document: Document, cases: list[Case], is_beside: bool = True) -> None:
    """A line for each case, with its own baseline unless told otherwise."""
    for operation in ordered(case.operation for case in cases):
        rows = []
        here = [case for case in cases if case.operation == operation]
        for case in sorted(here, key=lambda case: (line_name(case), size(case))):
            ours, baseline, ratio = (case.summary(key) for key in ("seconds", "baseline_seconds", "ratio"))
            beside = [""] * 3 if is_beside else []
            if is_beside and baseline and ratio:
                beside = [time_text(baseline.median), f"{ratio.median:.3g}", baseline_name(case)]
            rows.append([line_name(case), size_text(case) if size(case) else "", time_text(ours.median), *beside])
        heading = ["baseline", "baseline / ours", "which baseline"] if is_beside else []
        document.table([operation.replace("_", " "), "size", "ours", *heading], rows)


def _all_cases(document: Document, runs: list[Run]) -> None:
    document.heading("All figures")
    document.text("Medians, with the quartiles in brackets, of our time, our rate and the ratio to the baseline.")
    for run in runs:
        for group in ordered(case.group for case in run.cases.values()):
            rows = []
            for case in cases_of(run, group):
                rate, baseline, ratio = (case.summary(key) for key in ("bytes_per_second", "baseline_seconds", "ratio"))
                rows.append([readable(case.name.partition("/")[2]), time_text(case.summary("seconds")),
                             f"{rate.scaled(1e-9):.4g}" if rate else "", time_text(baseline) if baseline else "",
                             f"{ratio:{'.3f' if ratio.median < 10 else '.4g'}}" if ratio else "", case.label])
            if rows:
                document.table([group, "time", "GB/s", "baseline", "baseline / ours", "which baseline"], rows,
                               folded=f"{group}, {run.title}: {len(rows)} cases")
        if run.left_out:
            document.table(["left out", "why"], [list(item) for item in run.left_out.items()],
                           folded=f"left out, {run.title}")


def make_report(runs: list[Run], goals: list[Goal]) -> tuple[str, dict[str, str]]:
    """Returns the page, and its pictures by name if there is matplotlib."""
    writer, check = _Writer("Kokkos Host Spaces: " + ", ".join(ordered(run.title for run in runs))), Check(runs, goals)
    document = writer.document
    _verdict(document, check, runs)
    if writer.why_no_pictures:
        document.text(f"The pictures are left out: the Python that wrote this {writer.why_no_pictures}.")
    _errors(document, runs)
    _machine(document, runs)
    for run in runs:
        _places(document, run)
    _goals(document, check)
    # Show details of the run with the fewest ranks on each machine.
    machines: dict[str, list[Run]] = {}
    for run in runs:
        machines.setdefault(str(run.context.get("gpu") or run.backend), []).append(run)
    detailed = [run for same in machines.values() for run in same if run.ranks == same[0].ranks]
    for place, run in enumerate(detailed):
        _run(writer, run, f"_{place + 1}" if place else "")
    for same in machines.values():
        _several(writer, same)
    _all_cases(document, runs)
    return document.html(), writer.pictures
