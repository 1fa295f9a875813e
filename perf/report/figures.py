# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Generates tables of Markdown pages from stored results, where README.md says they are marked."""

from __future__ import annotations

import functools
import pathlib
import re
from collections.abc import Callable

from .numbers import gain_text, parse_number, rough_time_text, time_text
from .results import Case, ResultsError, Run, load
from .series import OF_BYTES, TYPES, baseline_name, crossings, gains, of_bytes, ordered, size, size_text, times_table

_TABLE = re.compile(r"(<!-- table (\w+)(?: (\S+))?(?: sizes (\S+))? of (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_ORIGIN = re.compile(r"(<!-- origin of the tables -->\n)(.*?)(<!-- end -->)", re.DOTALL)
#: Rows of a table of machines, and the facts that they are made of.
_FACTS = {
    "GPU": "{gpu}", "CPU": "{host_cpu}", "virtual machine": "{virtual_machine}",
    "link of the GPU": "PCIe {link_generation} x{link_width}", "driver": "{driver_version}",
    "CUDA": "{cuda_runtime_version}", "Kokkos": "{kokkos_version}", "compiler": "{compiler}",
    "build": "{build_type}, {build_flags}", "commit": "{commit}", "date": "{date}"}
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def _markdown(rows: list[list[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _keys(cases: list[Case]) -> dict[str, str]:
    """Maps names of cases to those of their words that not all cases have."""
    words = {case.name: [case.operation, case.space, *case.words,
                         *(f"{key} {value}" for key, value in case.fields.items() if key not in ("n", "bytes"))]
             for case in cases}
    common = set.intersection(*(set(some) for some in words.values()))
    return {name: (" ".join(word for word in some if word not in common) or some[1]).replace("_", " ")
            for name, some in words.items()}


def _pivot(cases: list[Case], cell: Callable[[Case], str]) -> str:
    """A row for each size, a column for each combination of other differences."""
    keys = _keys(cases)
    columns = ordered(keys.values())
    rows: dict[str, dict[str, str]] = {}
    for case in sorted(cases, key=size):
        rows.setdefault(size_text(case), {})[keys[case.name]] = cell(case)
    return _markdown([["", *columns], *([name, *(row.get(column, "") for column in columns)]
                                        for name, row in rows.items())])


def _median(case: Case, quantity: str) -> float:
    summary = case.summary(quantity)
    if summary is None:
        raise ResultsError(f"{case.name} has no {quantity}: give the table a narrower choice of names")
    return summary.median


def _rate(case: Case) -> str:
    return f"{_median(case, 'bytes_per_second') / 1e9:.4g} GB/s ({_median(case, 'ratio'):.2f})"


def _times(cases: list[Case]) -> str:
    heading, rows = times_table(cases, ordered(sorted(size(case) for case in cases)))
    return _markdown([["", *heading], *rows])


def _factor(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _what_else(case: Case) -> str:
    """What of a case its operation does not tell: space, type, other numbers, size."""
    return ", ".join([case.space, *(word for word in case.words if word in TYPES),
                      *(of_bytes(case, key) if key in OF_BYTES else f"{key} {value}"
                        for key, value in case.fields.items() if key not in ("n", "bytes", "baseline")),
                      *([size_text(case) + (" elements" if "n" in case.fields else "")] if size(case) else [])])


def _worst(cases: list[Case]) -> str:
    """The smallest ratio of each operation, and its case."""
    worst: dict[str, Case] = {}
    for case in cases:
        name = " ".join([case.operation, *(word for word in case.words if word not in TYPES)]).replace("_", " ")
        worst[name] = min(worst.get(name, case), case, key=lambda one: _median(one, "ratio"))
    return _markdown([["", "smallest ratio", "of"],
                      *([name, f"{_median(case, 'ratio'):.2f}", _what_else(case)] for name, case in worst.items())])


def _pairs(cases: list[Case]) -> str:
    """A line for each case, with its size where sizes differ."""
    differ = len({size(case) for case in cases}) > 1

    def label(case: Case) -> str:
        return " ".join([case.operation, *case.words, *([size_text(case)] if differ and size(case) else [])])

    return _markdown([["", "ours", "the plain way", "which is"],
                      *([label(case).replace("_", " "),
                         *(time_text(_median(case, key))
                           for key in ("seconds", "baseline_seconds")), f"`{baseline_name(case)}`"] for case in cases)])


def _gains(cases: list[Case]) -> str:
    """A line for each thing that codes do: its time in the forms of stock Kokkos and in ours, and the gain over the
    better of stock's."""
    forms, found = gains(cases)
    ours = "adopted" if forms == ["stock"] else "ours"
    return _markdown([["", "size", *forms, ours, "gain"],
                      *([one.doing, one.amount, *(rough_time_text(one.stock[form].median) if form in one.stock else "" for form in forms),
                         rough_time_text(one.ours.median), gain_text(one.gain)]
                        for one in found)])


def _crossing(run: Run) -> str:
    """How many times as fast as staged in place is."""
    found = max(crossings(run), default=None, key=lambda crossing: len(crossing.ratios))
    if found is None:
        return ""
    return _markdown([["passes", *(f"{fraction:.3g} touched" for fraction in found.fractions())],
                      *([f"{p:g}", *(_factor(found.ratios.get((p, f))) for f in found.fractions())]
                        for p in found.passes())])


#: Names of nvbandwidth's cases between host and device, and ours that measure the same; the largest size counts.
_NVBANDWIDTH = {
    "host_to_device_memcpy_ce": "^copy/to_device/PinnedSpace/contiguous/",
    "device_to_host_memcpy_ce": "^copy/to_host/PinnedSpace/contiguous/",
    "host_to_device_bidirectional_memcpy_ce": "^copy/to_device_beside/PinnedSpace/contiguous/",
    "device_to_host_bidirectional_memcpy_ce": "^copy/to_host_beside/PinnedSpace/contiguous/",
    "host_to_device_memcpy_sm": "^copy/to_device/MappedSpace/by_kernel/",
    "device_to_host_memcpy_sm": "^copy/to_host/MappedSpace/by_kernel/",
    "host_device_latency_sm": "^latency/chase/MappedSpace/"}


def _nvbandwidth(run: Run) -> str:
    rows = []
    for name, pattern in _NVBANDWIDTH.items():
        case = max((case for case in run.cases.values() if case.seconds and re.search(pattern, case.name)),
                   key=size, default=None)
        if case is None:
            rows.append([f"`{name}`", "not measured yet", "", ""])
            continue
        ours, plain = (_median(case, quantity) for quantity in ("seconds", "baseline_seconds"))
        rows.append([f"`{name}`", *(time_text(one) if "latency" in name else f"{case.bytes / one / 1e9:.4g} GB/s" for one in (ours, plain)),
                     size_text(case)])
    return _markdown([["nvbandwidth's name", "ours", "plain CUDA", "size"], *rows])


#: What of a step is not computing: a case, in how many steps it comes once, and the step.
_SHARES = {
    "ExaMiniMD: outside of force, neighbours and halo": ("ExaMiniMD:_its_part_outside_of_force,_neighbours,_halo,_dump_every_10th",
                                                       1, "ExaMiniMD:_step,_dump_every_10th"),
    "AthenaK: output": ("AthenaK:_one_output", 10, "AthenaK:_step,_output_every_10th"),
    "SPARTA, collide, 2 ranks: communication": ("SPARTA:_communication_of_a_step,_collide,_2_ranks", 1,
                                                "SPARTA:_step,_collide,_2_ranks"),
    "SPARTA, sphere, 2 ranks: communication": ("SPARTA:_communication_of_a_step,_sphere,_balanced_every_10th,_2_ranks", 1,
                                               "SPARTA:_step,_sphere,_balanced_every_10th,_2_ranks")}


def _shares(run: Run) -> str:
    """Times of a part of a step and of the step, and the share, before and with ours."""
    rows = []
    for doing, (part, steps, step) in _SHARES.items():
        cells = [doing]
        cases = [case for name in (part, step) for case in run.cases.values() if case.name.startswith(f"codes/{name}/")]
        if len(cases) != 2:
            raise ResultsError(f"there is not one case each of {part} and {step}")
        for quantity in ("baseline_seconds", "seconds"):
            some, whole = _median(cases[0], quantity) / steps, _median(cases[1], quantity)
            cells.append(f"{rough_time_text(some)} of {rough_time_text(whole)}: {100 * some / whole:.0f} %")
        rows.append(cells)
    return _markdown([["part of a step", "before", "ours"], *rows])


def _machines(files: dict[str, Run]) -> str:
    """A column for each file; what a file does not tell stands there as such."""
    def cell(run: Run, text: str) -> str:
        facts = {key: str(value) for key, value in run.context.items() if value}
        try:
            return text.format(**facts | {"date": facts.get("date", "")[:10]})
        except KeyError:
            return "not told"

    return _markdown([["", *(f"`{name}`" for name in files)],
                      *([row, *(cell(run, text) for run in files.values())] for row, text in _FACTS.items())])


def _origin(files: dict[str, Run]) -> str:
    """A sentence that tells of what commit and machine the tables of a page are."""
    told = []
    for name, run in files.items():
        facts = [run.context.get("gpu") or run.context.get("host_cpu"), f"commit {run.context.get('commit', 'unknown')}",
                 str(run.context.get("date", ""))[:10]]
        told.append(f"[`{pathlib.PurePath(name).parent.name}/{pathlib.PurePath(name).name}`]({name})"
                    f" ({', '.join(filter(None, facts))})")
    return f"Tables of this page are of {'; '.join(told)}.\n"


def _table(kind: str, names: str | None, sizes: str | None, run: Run) -> str:
    if kind == "nvbandwidth":
        return _nvbandwidth(run)
    if kind == "shares":
        return _shares(run)
    if kind == "crossing":
        return _crossing(run) or "Not measured yet.\n"
    try:
        wanted = {parse_number(one) for one in sizes.split(",")} if sizes else set()
    except ValueError as error:
        raise ResultsError(f"sizes {sizes}: {error}") from error
    cases = [case for case in run.cases.values() if case.seconds and re.search(names or "", case.name)
             and (not wanted or size(case) in wanted)]
    tables = {"rates": lambda: _pivot(cases, _rate),
              "ratios": lambda: _pivot(cases, lambda case: f"{_median(case, 'ratio'):.2f}"),
              "sums": lambda: _pivot(
                  cases, lambda case: f"{_median(case, 'sum_bytes_per_second') / 1e9:.4g} GB/s"),
              "times": lambda: _times(cases), "gains": lambda: _gains(cases),
              "pairs": lambda: _pairs(cases), "worst": lambda: _worst(cases)}
    if kind not in tables:
        raise ResultsError(f"there is no table {kind}: crossing, machine, nvbandwidth, shares, {', '.join(tables)}")
    return tables[kind]() if cases else "Not measured yet.\n"


class Page:
    """A page, and the same page with its tables generated anew."""

    def __init__(self, path: pathlib.Path):
        self._path = path
        self.marked, self.wrong = 0, []
        self._load = functools.cache(lambda name: load(path.parent / name))
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ResultsError(f"{path}: {error}") from error
        # Skip code blocks, whose marks are examples.
        code = iter(_CODE.findall(text))
        text = _CODE.sub("\0", text)
        if text.count("<!-- table ") != len(_TABLE.findall(text)):
            raise ResultsError(f"{path} has a mark of a table that README.md does not allow, or a table without an end")
        files = ordered(file for found in _TABLE.finditer(text) for file in found[5].split(","))
        self.tells_origin = not files or _ORIGIN.search(text) is not None
        self.mended = _TABLE.sub(self._mend_table, text)
        self.mended = _ORIGIN.sub(lambda found: found[1] + self._right(
            "of their origin", found[2], _origin({file: self._load(file) for file in files})) + found[3], self.mended)
        self.mended = re.sub("\0", lambda _: next(code), self.mended)

    def write(self) -> None:
        self._path.write_text(self.mended, encoding="utf-8")

    def _mend_table(self, found: re.Match) -> str:
        begin, kind, names, sizes, file, now, end = found.groups()
        right = _machines({name: self._load(name) for name in file.split(",")}) if kind == "machine" else \
            _table(kind, names, sizes, self._load(file))
        return begin + self._right(f"{kind} {names or ''} of {file}", now, right) + end

    def _right(self, what: str, now: str, right: str) -> str:
        self.marked += 1
        if right != now:
            self.wrong.append(f"{self._path}: the table {what} is not that of the results")
        return right
