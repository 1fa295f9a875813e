# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Figures in Markdown pages that come from a file of results: README.md tells how they are marked."""

from __future__ import annotations

import functools
import pathlib
import re
from collections.abc import Callable

from .numbers import parse_number, time_text
from .results import Case, ResultsError, Run, load
from .series import crossings, ordered, size, size_text, times_table, baseline_name

_TABLE = re.compile(r"(<!-- table (\w+)(?: (\S+))?(?: sizes (\S+))? of (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_CLAIMS = re.compile(r"<!-- figures of (\S+)\n(.*?)-->", re.DOTALL)
_CLAIM = re.compile(r"(?P<text>.*\[(?P<number>-?[\d.]+)\].*) = "
                    r"(?:(?P<choice>least|greatest) )?(?P<quantity>\S+) of (?P<names>\S+)")
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_UNITS = {"s": ("seconds", 1), "ms": ("seconds", 1e3), "µs": ("seconds", 1e6), "baseline_s": ("baseline_seconds", 1),
          "baseline_ms": ("baseline_seconds", 1e3), "baseline_µs": ("baseline_seconds", 1e6), "GB/s": ("bytes_per_second", 1e-9),
          "sum_GB/s": ("sum_bytes_per_second", 1e-9)}


def _markdown(rows: list[list[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _keys(cases: list[Case]) -> dict[str, str]:
    """By name of a case: those of its words that not all of the cases have."""
    words = {case.name: [case.operation, case.space, *case.words,
                         *(f"{key} {value}" for key, value in case.fields.items() if key not in ("n", "bytes"))]
             for case in cases}
    common = set.intersection(*(set(some) for some in words.values()))
    return {name: " ".join(word for word in some if word not in common) or some[1] for name, some in words.items()}


def _pivot(cases: list[Case], cell: Callable[[Case], str]) -> str:
    """Sizes against whatever else differs."""
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


def _pairs(cases: list[Case]) -> str:
    """A line for each case, with its size where sizes differ."""
    differ = len({size(case) for case in cases}) > 1

    def label(case: Case) -> str:
        return " ".join([case.operation, *case.words, *([size_text(case)] if differ and size(case) else [])])

    return _markdown([["", "ours", "the plain way", "which is"],
                      *([label(case).replace("_", " "),
                         *(time_text(_median(case, key))
                           for key in ("seconds", "baseline_seconds")), f"`{baseline_name(case)}`"] for case in cases)])


def _crossing(run: Run) -> str:
    """How many times as fast in place is; of the widest choice of passes."""
    found = max(crossings(run), default=None, key=lambda crossing: len(crossing.ratios))
    if found is None:
        return ""
    return _markdown([["passes", *(f"{fraction:.3g} touched" for fraction in found.fractions())],
                      *([f"{p:g}", *(_factor(found.ratios.get((p, f))) for f in found.fractions())]
                        for p in found.passes())])


def _table(kind: str, names: str | None, sizes: str | None, run: Run) -> str:
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
              "times": lambda: _times(cases), "pairs": lambda: _pairs(cases)}
    if kind not in tables:
        raise ResultsError(f"there is no table {kind}: crossing, {', '.join(tables)}")
    return tables[kind]() if cases else "Not measured yet.\n"


def _value(claim: re.Match, run: Run) -> float:
    quantity, factor = _UNITS.get(claim["quantity"], (claim["quantity"], 1))
    values = [case.summary(quantity).median * factor for case in run.cases.values()
              if re.search(claim["names"], case.name) and case.values(quantity)]
    if not values or (len(values) > 1 and not claim["choice"]):
        raise ResultsError(f"{len(values)} cases for the figure '{claim[0]}': give least or greatest of several")
    return {"least": min, "greatest": max, None: min}[claim["choice"]](values)


class Page:
    """A page as it is, and as it should be."""

    def __init__(self, path: pathlib.Path):
        self._path = path
        self.marked, self.wrong = 0, []
        self._load = functools.cache(lambda name: load(path.parent / name))
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ResultsError(f"{path}: {error}") from error
        # Marks in code are examples.
        code = iter(_CODE.findall(text))
        text = _CODE.sub("\0", text)
        marks = len(_TABLE.findall(text)) + len(_CLAIMS.findall(text))
        if text.count("<!-- table ") + text.count("<!-- figures ") != marks:
            raise ResultsError(f"{path} has a mark of a table or of figures that is not as README.md tells, or has no end")
        self.mended = _TABLE.sub(self._mend_table, text)
        for block in _CLAIMS.finditer(text):
            for line in block[2].strip().splitlines():
                self._mend_claim(line.strip(), self._load(block[1]))
        self.mended = re.sub("\0", lambda _: next(code), self.mended)

    def write(self) -> None:
        self._path.write_text(self.mended, encoding="utf-8")

    def _mend_table(self, found: re.Match) -> str:
        begin, kind, names, sizes, file, now, end = found.groups()
        self.marked += 1
        right = _table(kind, names, sizes, self._load(file))
        if right != now:
            self.wrong.append(f"{self._path}: the table {kind} {names or ''} is not that of {file}")
        return begin + right + end

    def _mend_claim(self, line: str, run: Run) -> None:
        claim = _CLAIM.fullmatch(line)
        if not claim:
            raise ResultsError(f"{self._path}: not understood: {line}")
        self.marked += 1
        before, after = (re.escape(part) for part in claim["text"].split(f"[{claim['number']}]"))
        # They may stand on two lines of the page; in the claim itself the figure has brackets.
        words = re.compile(f"({before})(-?[\\d.]*\\d)({after})".replace("\\ ", "\\s+"))
        found = words.findall(self.mended)
        if len(found) != 1:
            raise ResultsError(f"{self._path} has the words '{claim['text']}' {len(found)} times, not once")
        decimals = len(claim["number"].partition(".")[2])
        right = f"{_value(claim, run):.{decimals}f}"
        if {right} != {found[0][1], claim["number"]}:
            self.wrong.append(f"{self._path}: '{claim['text']}' is {right} by the results")
            self.mended = words.sub(lambda match: match[1] + right + match[3], self.mended)
            self.mended = self.mended.replace(line, line.replace(f"[{claim['number']}]", f"[{right}]"))
