# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Reads results of one or several runs: JSON of Google Benchmark, or the small form by condense."""

from __future__ import annotations

import itertools
import json
import math
import pathlib
import re
from dataclasses import dataclass, field

from .numbers import Summary, summarize

# Keys of an entry by Google Benchmark itself; all others are our counters.
_OWN_KEYS = {
    "name", "run_name", "run_type", "family_index", "per_family_instance_index", "repetitions",
    "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit", "label",
    "error_occurred", "error_message", "skipped", "skip_message"}
_SUFFIX = re.compile(
    r"/((min_time|min_warmup_time|iterations|repeats):[^/]*|manual_time|real_time|process_time)(?=/|$)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# Of the context; those of ours are text.
_OWN_NUMBERS = {"num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "aslr_enabled", "caches", "load_avg", "json_schema_version"}
_MOST_RANKS = 10**6
# What tells nothing about the measurement.
_LEFT_OUT = {"executable", "load_avg", "caches"}
_HOST = re.compile(r"\bhost:(\S+)")


class ResultsError(Exception):
    """A file is not valid."""


def _numbers(values: list) -> list[float]:
    """The values, if they are numbers; raises ValueError."""
    if not isinstance(values, list) or not all(
            isinstance(value, (int, float)) and math.isfinite(value) for value in values):
        raise ValueError(f"not finite numbers: {values!r}")
    return values


@dataclass
class Case:
    """A benchmark; its lists have a value for each repetition."""

    name: str
    label: str = ""
    seconds: list[float] = field(default_factory=list)
    counters: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    of_files: list[int] = field(default_factory=list)  #: numbers of repetitions in each of several files

    def __post_init__(self):
        parts = self.name.split("/")
        self.group, self.operation, self.space = (parts + ["", "", ""])[:3]
        self.words = [part for part in parts[3:] if ":" not in part]
        self.fields = dict(part.split(":", 1) for part in parts[3:] if ":" in part)
        if any(value < 0 for value in _numbers([float(self.fields.get(key, 0)) for key in ("n", "bytes", "passes", "fraction")])):
            raise ValueError(f"a size below zero: {self.name}")

    @property
    def bytes(self) -> float:
        """Bytes moved by one run; 0 if nothing is moved."""
        return next(iter(self.counters.get("bytes", [])), 0.0)

    def values(self, quantity: str) -> list[float]:
        """Seconds, bytes_per_second or a counter of each repetition; empty if there is none."""
        if quantity == "seconds":
            return self.seconds
        if quantity == "bytes_per_second":
            return [self.bytes / seconds for seconds in self.seconds] if self.bytes else []
        return self.counters.get(quantity, [])

    def by_file(self, values: list[float]) -> list[list[float]]:
        """The values of all repetitions, a list for each run."""
        if sum(self.of_files) != len(values):
            return [values]
        rest = iter(values)
        return [list(itertools.islice(rest, count)) for count in self.of_files if count]

    def summary(self, quantity: str) -> Summary | None:
        values = self.values(quantity)
        return summarize(values) if values else None


@dataclass
class Run:
    """All cases measured on one configuration."""

    context: dict
    cases: dict[str, Case] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    apart: str = ""  #: distinguishes runs with the same title

    @property
    def backend(self) -> str:
        return "cuda" if self.context.get("gpu") else "host"

    def __post_init__(self):
        if wrong := [key for key, value in self.context.items() if key not in _OWN_NUMBERS and not isinstance(value, str)]:
            raise ValueError(f"no text in the context: {', '.join(map(str, wrong))}")
        self.ranks = int(self.context.get("ranks") or 1)
        if not 1 <= self.ranks <= _MOST_RANKS:
            raise ValueError(f"no number of ranks: {self.ranks}")
        #: groups of which all benchmarks were requested; unknown in older files
        self.complete = set() if self.context.get("filter") else set(self.context.get("groups", "").split(","))

    @property
    def title(self) -> str:
        machine = self.context.get("gpu") or self.context.get("host_cpu") or "host"
        return (f"{self.ranks} × {machine}" if self.ranks > 1 else machine) + (f" ({self.apart})" if self.apart else "")

    @property
    def machine(self) -> str:
        """The title, and what else a reader of one picture alone has to know."""
        link = f"PCIe {self.context['link_generation']} x{self.context['link_width']}" if self.context.get(
            "link_generation") and self.context.get("link_width") else ""
        cuda = f"CUDA {version}" if (version := self.context.get("cuda_runtime_version")) else ""
        kokkos = f"Kokkos {version}" if (version := self.context.get("kokkos_version")) else ""
        facts = (self.title, self.context.get("host_cpu"), link, kokkos, cuda, self.context.get("date", "")[:10])
        return ", ".join(dict.fromkeys(filter(None, facts)))

    def limit(self, name: str) -> float | None:
        """A measured limit of the machine in bytes/s for each rank, None where it was not measured."""
        try:
            limit = float(self.context[name]) / self.ranks
        except (KeyError, ValueError):
            return None
        return limit if 0 < limit < math.inf else None

    def has_all_of(self, group: str | list[str] | None) -> bool:
        return {group} <= self.complete if not isinstance(group, list) else set(group) <= self.complete

    def errors(self) -> list[str]:
        """A message for each benchmark that failed."""
        return [f"{case.name}: {'; '.join(dict.fromkeys(case.errors))}" for case in self.cases.values() if case.errors]


def _impossible(quantities: dict[str, list[float]]) -> list[str]:
    """Those with a value that is not finite, below zero, or zero where that makes no sense: of a time, or a ratio."""
    return [key for key, values in quantities.items() for least in [min(values, default=1)]
            if not all(map(math.isfinite, values)) or least < 0
            or (least == 0 and (key in ("real_time", "ratio") or key.endswith("seconds")))]


def _read_entry(run: Run, entry: dict) -> None:
    """Adds one repetition in the form of Google Benchmark."""
    if entry.get("run_type") == "aggregate":
        return
    name = _SUFFIX.sub("", entry["run_name"] if "run_name" in entry else entry["name"])
    if entry.get("skipped"):
        run.left_out[name] = entry.get("skip_message", "")
        return
    case = run.cases.setdefault(name, Case(name))
    if entry.get("error_occurred"):
        case.errors.append(entry.get("error_message") or "failed without a message")
        return
    seconds = entry["real_time"] * _SECONDS[entry["time_unit"]]
    counters = {key: float(value) for key, value in entry.items() if key not in _OWN_KEYS}
    if wrong := _impossible({"real_time": [seconds]} | {key: [value] for key, value in counters.items()}):
        case.errors.append(f"no positive, finite number: {', '.join(wrong)}")
        return
    if "baseline_seconds" in counters:
        counters.setdefault("ratio", counters["baseline_seconds"] / seconds)
    case.label = str(entry.get("label", case.label))
    case.seconds.append(seconds)
    for key, value in counters.items():
        case.counters.setdefault(key, []).append(value)


def _read_condensed(run: Run, entry: dict) -> None:
    case = Case(entry["name"], str(entry["label"]), _numbers(entry["seconds"]), {},
                [str(error) for error in entry.get("errors", [])])
    for key, value in entry.items():
        if key not in ("name", "label", "seconds", "errors"):
            case.counters[key] = _numbers(value if isinstance(value, list) else [value] * len(case.seconds))
    if wrong := _impossible({"seconds": case.seconds, **case.counters}):
        raise ValueError(f"no positive, finite number: {', '.join(wrong)} of {case.name}")
    run.cases[case.name] = case


def load(path: pathlib.Path) -> Run:
    """Reads a file of either form; raises ResultsError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        run = Run(dict(data["context"]), {}, dict(data.get("left_out", {})))
        entries, read = ((data["cases"], _read_condensed) if "cases" in data
                         else (data["benchmarks"], _read_entry))
        for entry in entries:
            read(run, entry)
    except json.JSONDecodeError as error:
        raise ResultsError(f"{path} is no JSON, or its end is missing ({error}): was the run cut off?") from error
    except (OSError, ValueError, OverflowError, RecursionError) as error:
        raise ResultsError(f"{path}: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{path} does not hold results of kokkos_host_spaces_perf: {error!r}") from error
    if not run.cases:
        raise ResultsError(f"{path} holds no results: was the run cut off, or its filter too narrow?")
    return run


_CONFIGURATION = ("gpu", "gpus", "ranks", "execution_space", "host_cpu", "host_name", "commit")


def load_all(paths: list[pathlib.Path]) -> list[Run]:
    """Reads files; those of one configuration become one run, with the repetitions of all, and no two have one title.

    What is given twice, also as a copy, counts once: else it would agree with itself.
    """
    runs: dict[tuple, Run] = {}
    known = set()
    for path in paths:
        run = load(path)
        whole = repr((sorted(run.context.items()), run.cases))
        if whole in known:
            continue
        known.add(whole)
        first = runs.setdefault(tuple(str(run.context.get(key)) for key in _CONFIGURATION), run)
        if first is not run:
            _add(first, run)
    titles: dict[str, list[Run]] = {}
    for run in runs.values():
        titles.setdefault(run.title, []).append(run)
    for same in titles.values():
        _tell_apart(same)
    return sorted(runs.values(), key=lambda run: (run.backend, run.ranks))


def _tell_apart(same: list[Run]) -> None:
    """Titles runs by their differences."""
    keys = [key for key in _CONFIGURATION if len({run.context.get(key) for run in same}) > 1]
    for run in same:
        run.apart = ", ".join(run.context.get(key) or f"unknown {key.replace('_', ' ')}" for key in keys)


def _add(run: Run, more: Run) -> None:
    run.left_out.update(more.left_out)
    run.complete |= more.complete
    run.context["groups"] = ",".join(dict.fromkeys(
        group for one in (run, more) for group in one.context.get("groups", "").split(",") if group))
    for case in more.cases.values():
        first = run.cases.setdefault(case.name, case)
        if first is case:
            continue
        first.of_files = (first.of_files or [len(first.seconds)]) + [len(case.seconds)]
        first.seconds += case.seconds
        first.errors += case.errors
        for key, values in case.counters.items():
            first.counters.setdefault(key, []).extend(values)


def _rounded(value: float) -> float:
    """Rounds to 4 significant digits; integers stay exact."""
    if not float(value).is_integer():
        value = float(f"{value:.4g}")
    return int(value) if float(value).is_integer() else value


def _without_names(context: dict) -> dict:
    """Replaces the names of hosts by numbers."""
    numbers: dict[str, str] = {}

    def number(found: re.Match) -> str:
        return "host:" + numbers.setdefault(found[1], f"host-{len(numbers) + 1}")

    return {key: _HOST.sub(number, value) if key.startswith("rank_") else value
            for key, value in context.items() if key != "host_name"}


def condense(run: Run, is_anonymous: bool) -> str:
    """Writes the small form: JSON with a line for each case, 4 significant digits, equal values once."""
    context = {key: value for key, value in run.context.items() if key not in _LEFT_OUT}
    if is_anonymous:
        context = _without_names(context)
    lines = []
    for case in run.cases.values():
        entry = {"name": case.name, "label": case.label, "seconds": [_rounded(s) for s in case.seconds]}
        for key, values in case.counters.items():
            values = [_rounded(value) for value in values]
            all_equal = len(values) == len(case.seconds) and len(set(values)) == 1
            entry[key] = values[0] if all_equal else values
        if case.errors:
            entry["errors"] = case.errors
        lines.append(json.dumps(entry, separators=(",", ":")))
    return (f'{{"context": {json.dumps(context, indent=1)},\n'
            f'"left_out": {json.dumps(run.left_out)},\n'
            '"cases": [\n' + ",\n".join(lines) + "\n]}\n")
