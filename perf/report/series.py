# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Groups cases into lines of plots and cells of tables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from .numbers import Summary, count_name, size_name, summarize, time_text
from .results import Case, ResultsError, Run

TYPES = ("double", "float")
OF_BYTES = {"run": "runs of", "piece": "pieces of"}  # keys in names of cases


def cases_of(run: Run, group: str) -> list[Case]:
    return [case for case in run.cases.values() if case.group == group and case.seconds]


def ordered(values: Iterable) -> list:
    """Removes repeated values, and keeps their order."""
    return list(dict.fromkeys(values))


def size(case: Case) -> float:
    """Elements or bytes in the name; 0 for neither."""
    return float(case.fields.get("n") or case.fields.get("bytes") or 0)


def size_text(case: Case) -> str:
    return count_name(size(case)) if "n" in case.fields else size_name(size(case))


def readable(name: str) -> str:
    """The name of a case with a readable size."""
    return re.sub(r"/(n|bytes):(\d+)", lambda found: "/" + (
        f"{count_name(float(found[2]))} elements" if found[1] == "n" else size_name(float(found[2]))), name)


#: Words of cases of the group transport whose space they only repeat, and what kernels do with its data.
_HANDED = {"pageable": "copied", "pinned": "copied", "mapped": "in place", "stock": "in place"}


def line_name(case: Case) -> str:
    """The memory space and all other words that distinguish the case from others of its size."""
    words = [_HANDED.get(word, word) for word in case.words if word not in TYPES]
    fields = [f"{key} {value}" for key, value in case.fields.items() if key not in ("n", "bytes", "baseline")]
    return ", ".join([case.space, *words, *fields])


def lines(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Cases by line, in the order of their sizes."""
    found: dict[str, list[Case]] = {}
    for case in sorted(cases, key=size):
        found.setdefault(line_name(case), []).append(case)
    return found


def of_bytes(case: Case, key: str) -> str:
    """The length of runs or pieces, as in "pieces of 64 B"."""
    return f"{OF_BYTES[key]} {size_name(float(case.fields[key]))}"


def baseline_name(case: Case) -> str:
    """The name of the baseline of a case."""
    return case.fields.get("baseline") or case.label or "baseline"


#: Operations of the group vector that result in a number; all others map vectors to a vector.
_SUMS = ("dot", "norm", "sum_to_host")


def worst_lines(cases: Iterable[Case]) -> dict[str, dict[float, Case]]:
    """The case with the smallest ratio of each size, by line: what differs but for type and, of vectors, operation, of
    copies direction.

    Each baseline has lines of its own. Raises ResultsError for two cases of one name but for the size.
    """
    lines_found: dict[str, dict[float, Case]] = {}
    single: dict[tuple, dict[float, Case]] = {}
    for case in sorted(cases, key=size):
        if case.group == "vector":
            name = f"{line_name(case)}: {'sums' if case.operation in _SUMS else 'maps'}"
        else:
            words = [word for word in (case.operation, *case.words) if word not in ("to_device", "to_host", "contiguous")]
            lengths = (of_bytes(case, key) for key in OF_BYTES if key in case.fields)
            name = f"{case.space}: {', '.join([' '.join(words or ['contiguous']).replace('_', ' '), *lengths])}"
        if "baseline" in case.fields:
            name += f" (against {case.fields['baseline'].replace('_', ' ')})"
        at = single.setdefault((line_name(case), case.operation, *(word for word in case.words if word in TYPES),
                                case.fields.get("baseline")), {})
        if at.setdefault(size(case), case) is not case:
            raise ResultsError(f"{at[size(case)].name} and {case.name} fall on one point of a plot: "
                               "let their names differ in more than their size")
        line = lines_found.setdefault(name, {})
        line[size(case)] = min(line.get(size(case), case), case, key=lambda one: one.summary("ratio").median)
    return lines_found


def rate_lines(cases: Iterable[Case]) -> dict[str, tuple[dict[float, Summary], dict[float, float]]]:
    """Our bytes/s by line and size, with the repetitions beside all baselines, and those of the fastest baseline."""
    ours: dict[str, dict[float, list[float]]] = {}
    best: dict[str, dict[float, float]] = {}
    for name, line in lines(cases).items():
        for case in line:
            ours.setdefault(name, {}).setdefault(size(case), []).extend(case.values("bytes_per_second"))
            if baseline := case.summary("baseline_seconds"):
                rates = best.setdefault(name, {})
                rates[size(case)] = max(rates.get(size(case), 0), case.bytes / baseline.median)
    return {name: ({one: summarize(values) for one, values in sizes.items()}, best.get(name, {}))
            for name, sizes in ours.items()}


def ways(cases: Iterable[Case]) -> dict[str, dict[float, Summary]]:
    """Time by way, then size, of ours and of the baselines, with the repetitions beside all of its baselines.

    A label alone does not tell that two baselines are one: such a baseline keeps the name of its case.
    """
    times: dict[str, dict[float, list[float]]] = {}
    for case in sorted(cases, key=size):
        times.setdefault(line_name(case), {}).setdefault(size(case), []).extend(case.seconds)
        baseline = baseline_name(case)
        if "baseline" not in case.fields:
            baseline += f" for {case.operation}, {line_name(case)}"
        if case.values("baseline_seconds"):
            times.setdefault(baseline, {}).setdefault(size(case), []).extend(case.values("baseline_seconds"))
    return {name: {one: summarize(values) for one, values in sizes.items()}
            for name, sizes in times.items()}


def times_table(cases: list[Case], sizes: list[float]) -> tuple[list[str], list[list[str]]]:
    """Heading (without its first word) and rows of medians by way and size, baselines included."""
    return ([size_name(one) if one else "time" for one in sizes],
            [[name, *(time_text(times[one].median) if one in times else "" for one in sizes)]
             for name, times in ways(cases).items()])


#: The forms of stock Kokkos; what has other baselines is no gain over it. Of a program that is adopted, the form is
#: "stock"; "adopted" is stock Kokkos, too, in a process whose memory is adopted, beside which no gain is told.
FORMS = ("before", "stock", "pageable", "CudaHostPinnedSpace", "adopted")


@dataclass
class Gain:
    """A thing that codes do with host memory, by stock Kokkos and by ours; times are in seconds."""

    doing: str
    amount: str
    stock: dict[str, Summary]  #: by form
    ours: Summary  #: beside that form
    gain: float  #: over the best form that is not adopted


_DOINGS = {"cold": "first View", "warm": "View made and freed again", "free_busy": "View freed beside a kernel"}


def gains(cases: Iterable[Case]) -> tuple[list[str], list[Gain]]:
    """The forms of stock Kokkos, and a gain for each thing that codes do."""
    by_form: dict[tuple[str, str], dict[str, Case]] = {}
    for case in cases:
        if baseline_name(case).removeprefix("View_") not in FORMS:
            continue
        key, number = next((item for item in case.fields.items() if item[0] != "baseline"), ("bytes", size(case)))
        amount = f"{key} {number}" if key != "bytes" else size_text(case)
        doing = _DOINGS.get(case.operation, case.operation.replace("_", " "))
        by_form.setdefault((doing, amount), {})[baseline_name(case).removeprefix("View_")] = case
    best = {key: min((stock[form] for form in stock if form != "adopted" or len(stock) == 1),
                     key=lambda case: case.summary("ratio").median) for key, stock in by_form.items()}
    return [form for form in FORMS if any(form in stock for stock in by_form.values())], [
        Gain(doing, amount, {form: case.summary("baseline_seconds") for form, case in stock.items()},
             best[doing, amount].summary("seconds"), best[doing, amount].summary("ratio").median)
        for (doing, amount), stock in by_form.items()]


#: Names of the cases that a new user is shown first.
FIRST = "^(idioms/|alloc/cold/View_.*:1073741824$|alloc/(warm|free_busy)/View_.*:268435456$)"


#: Traces of which a picture is drawn: models of codes, and the one with the most locked memory.
TRACES = ("solver,_checkpoints_of_80_to_110_MiB", "adaptive_mesh,_regridded_every_4_steps", "particles,_buffers_grow_by_1.3",
          "log-uniform,_64_B_to_64_MiB", "phases_of_other_sizes",
          "phases_of_other_sizes,_1_%_of_the_blocks_stay_for_3_phases")


@dataclass
class Scaling:
    """One benchmark on several numbers of ranks."""

    case: Case
    sums: dict[int, float]  #: bytes/s of all ranks, by their number
    slowest: dict[int, Summary]  #: bytes/s of the slowest rank

    @property
    def title(self) -> str:
        amount = f"{count_name(size(self.case))} elements" if "n" in self.case.fields else size_name(size(self.case))
        return f"{self.case.group}, {self.case.operation.replace('_', ' ')}, {amount}"


def scalings(runs: list[Run]) -> list[Scaling]:
    """The largest size of each benchmark that moves data and has several numbers of ranks."""
    shared: dict[str, dict[int, Case]] = {}
    for run in runs:
        for case in run.cases.values():
            if case.seconds and case.bytes and case.group in ("vector", "copy", "stream"):
                shared.setdefault(case.name, {}).setdefault(run.ranks, case)
    largest: dict[str, dict[int, Case]] = {}
    for cases in sorted((cases for cases in shared.values() if len(cases) > 1),
                        key=lambda cases: size(next(iter(cases.values())))):
        name = next(iter(cases.values())).name
        largest[re.sub(r"/(n|bytes):[^/]*", "", name)] = cases
    return [Scaling(next(iter(cases.values())),
                    {ranks: (case.summary("sum_bytes_per_second") or case.summary("bytes_per_second")).median
                     for ranks, case in cases.items()},
                    {ranks: case.summary("bytes_per_second") for ranks, case in cases.items()})
            for cases in largest.values()]


def is_staged(case: Case) -> bool:
    """Whether kernels use a copy of the data on the device."""
    return "staged" in case.words or case.space == "PinnedSpace"


class Crossing:
    """In place against staged, by passes and fraction touched, for one operation."""

    def __init__(self, operation: str, detail: str, in_place: str):
        self.operation, self.detail, self.in_place = operation, detail, in_place
        self.ratios: dict[tuple[float, float], float] = {}
        self.bytes = 0.0  #: of all data, where the results tell

    @property
    def title(self) -> str:
        all_of_it = f"{size_name(self.bytes)} " if self.bytes else ""
        return ", ".join(filter(None, [f"{all_of_it}{self.operation} in {self.in_place}", self.detail]))

    def passes(self) -> list[float]:
        return sorted({passes for passes, _ in self.ratios})

    def fractions(self) -> list[float]:
        return sorted({fraction for _, fraction in self.ratios})

    def fraction(self, passes: float) -> float | None:
        """The fraction touched at which both take the same time; None if one is always faster."""
        points = sorted((f, ratio) for (p, f), ratio in self.ratios.items() if p == passes)
        for (left, before), (right, after) in zip(points, points[1:]):
            if (before >= 1) != (after >= 1):
                # Interpolate linearly in the logarithms of both.
                part = math.log(before) / (math.log(before) - math.log(after))
                return math.exp(math.log(left) + part * (math.log(right) - math.log(left)))
        return None


def crossings(run: Run) -> list[Crossing]:
    """Ratios of the time of staged to the time in place."""
    def key(case: Case) -> tuple:
        rest = {k: v for k, v in case.fields.items() if k not in ("fraction", "passes", "baseline")}
        return case.operation, ", ".join(f"{k} {v}" for k, v in rest.items())

    def point(case: Case) -> tuple[float, float]:
        return float(case.fields.get("passes", 1)), float(case.fields.get("fraction", 1))

    cases = [case for case in cases_of(run, "transport") if "fraction" in case.fields]
    staged = {(key(case), point(case)): case for case in cases if is_staged(case)}
    found: dict[tuple, Crossing] = {}
    for case in cases:
        # Results up to commit 7899e3a06613 have both as cases; later ones measure them in turn.
        other = staged.get((key(case), point(case)))
        in_turn = baseline_name(case) == "staged"
        if is_staged(case) or not (in_turn or other):
            continue
        crossing = found.setdefault((key(case), case.space), Crossing(*key(case), case.space))
        if point(case)[1] == 1:
            crossing.bytes = (case.bytes or 0) / point(case)[0]
        crossing.ratios[point(case)] = (case.summary("ratio").median if in_turn else
                                        other.summary("seconds").median / case.summary("seconds").median)
    return list(found.values())
