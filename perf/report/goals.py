# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Judges results by goals, whose format is in README.md."""

from __future__ import annotations

import functools
import itertools
import json
import math
import pathlib
import re
from dataclasses import dataclass, field, replace

from .numbers import Summary, parse_number, summarize, time_text
from .results import Case, ResultsError, Run
from .significance import interval

_COMPARISON = re.compile(r"(>=|<=|!=|=|~)\s*(.*)")
_NEED = re.compile(r"(\w+)\s*([<>=!~].*)")

#: Acceptance must hold on any sound machine; targets are aims.
KINDS = ("acceptance", "target")
_STATISTICS = {
    "lower_quartile": lambda values: summarize(values).lower,
    "median": lambda values: summarize(values).median,
    "upper_quartile": lambda values: summarize(values).upper,
    "minimum": min,
    "maximum": max,
}
#: The better end of the 95 % confidence interval over runs; the median if there are too few.
INTERVAL = "interval"


def value_of(case: Case, key: str) -> str | None:
    if key in ("name", "group", "operation", "space"):
        return getattr(case, key)
    if key == "words":
        return "/".join(case.words)
    return case.fields.get(key)


def holds(value: str | None, wanted) -> bool:
    """Tests one condition: null (absent), a value, a list of values, or an operator as in '>= 64Mi', '~ regex'."""
    if wanted is None or value is None:
        return wanted is value
    if isinstance(wanted, list):
        return any(holds(value, one) for one in wanted)
    return _compares(value, str(wanted))


@functools.cache
def _compares(value: str, wanted: str) -> bool:
    comparison = _COMPARISON.fullmatch(wanted)
    relation, right = comparison.groups() if comparison else ("=", wanted)
    if relation == "~":
        return re.search(right, value) is not None
    try:
        left, right = parse_number(value), parse_number(right)
    except ValueError:
        left = value
    return {">=": lambda: left >= right, "<=": lambda: left <= right,
            "!=": lambda: left != right, "=": lambda: left == right}[relation]()


def selected(case: Case, select: dict) -> bool:
    return all(holds(value_of(case, key), wanted) for key, wanted in select.items())


def met(need: str, run: Run) -> bool:
    """Tests a condition on the context of a run, as in 'gpu ~ H200'."""
    key, condition = _NEED.fullmatch(need).groups()
    value = {"backend": run.backend, "ranks": run.ranks}.get(key, run.context.get(key))
    return holds(None if value is None else str(value), condition)


@dataclass(frozen=True)
class Goal:
    """A goal, with the keys of the file."""

    name: str
    kind: str
    why: str
    select: dict
    quantity: str
    statistic: str = "median"
    at_least: float | None = None
    at_most: float | None = None
    at_least_by_ranks: float | None = None  #: the bound for several ranks, which disturb each other
    or_later_by: float | None = None  #: seconds by which our side may exceed the baseline in any case
    needs: list[str] = field(default_factory=list)
    covers: dict[str, list] = field(default_factory=dict)
    against: dict | list[dict] | None = None
    of_limit: str | None = None
    per: str | None = None
    following: str = ""

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"goal '{self.name}': the kind is none of {', '.join(KINDS)}")
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError(f"goal '{self.name}' needs either at_least or at_most")
        if self.statistic not in (INTERVAL, *_STATISTICS):
            raise ValueError(f"goal '{self.name}': the statistic is none of {', '.join((INTERVAL, *_STATISTICS))}")
        if (self.quantity == "times_as_fast") != bool(self.against):
            raise ValueError(f"goal '{self.name}': times_as_fast and against need one another")
        if not self.select or not all(_NEED.fullmatch(need) for need in self.needs):
            raise ValueError(f"goal '{self.name}' selects all cases, or has a need that is no condition")

    @property
    def wanted(self) -> str:
        """The goal as text."""
        quantity = {"bytes_per_second": "rate", "times_as_fast": "times as fast"}.get(
            self.quantity, self.quantity.replace("_", " "))
        if self.statistic == INTERVAL:
            quantity = f"95 % interval of {quantity}"
        elif self.statistic != "median":
            quantity = f"{self.statistic.replace('_', ' ')} of {quantity}"
        if self.of_limit:
            quantity += f" / {self.of_limit.replace('_', ' ')}" if "/" not in self.of_limit \
                else f" / ({self.of_limit.replace('_', ' ')})"
        if self.per:
            quantity += f" / {self.per}"
        relation, bound = (">=", self.at_least) if self.at_most is None else ("<=", self.at_most)
        later = f" or {time_text(self.or_later_by)} later" if self.or_later_by is not None else ""
        return f"{quantity} {relation} {time_text(bound) if self._is_time else bound}{later}"

    def text(self, measured: Summary) -> str:
        """Median and quartiles with a unit."""
        if self._is_time:
            return time_text(measured)
        return f"{measured:.4g}"

    @property
    def _is_time(self) -> bool:
        return self.quantity.endswith("seconds")

    def by(self, ranks: int) -> Goal:
        """The goal for this number of ranks."""
        if ranks == 1 or self.at_least_by_ranks is None:
            return self
        return replace(self, at_least=self.at_least_by_ranks)

    def reached_by(self, runs: list[list[float]]) -> bool:
        """Whether the repetitions of one or several runs reach the goal."""
        values = [value for of_run in runs for value in of_run]
        if self.statistic == INTERVAL:
            reach = interval(runs) or (summarize(values).median,) * 2
            decisive = reach[1] if self.at_most is None else reach[0]
        else:
            decisive = _STATISTICS[self.statistic](values)
        return decisive >= self.at_least if self.at_most is None else decisive <= self.at_most


@dataclass
class Verdict:
    """The result of a goal in one case; without a case: the missing data."""

    goal: Goal
    reached: bool
    run: str = ""
    case: str = ""
    measured: Summary | None = None
    reason: str = ""
    interval: tuple[float, float] | None = None

    @property
    def scatter(self) -> str:
        """Over runs of the program, where the goal asks for that."""
        if self.goal.statistic != INTERVAL or self.measured is None:
            return ""
        return f"; {self.interval[0]:.4g} to {self.interval[1]:.4g} over runs" if self.interval \
            else "; no three runs that agree: judged by the median"

    @property
    def part(self) -> float:
        """How much of what is wanted was reached: 1 is just enough."""
        if self.measured is None:
            return 0.0
        median = self.measured.median
        if self.goal.at_most is None:
            return median / self.goal.at_least
        return self.goal.at_most / median if median else math.inf

    def __str__(self) -> str:
        said = f"measured {self.goal.text(self.measured)}" if self.measured else self.reason
        return f"{self.case or self.goal.name}: wanted {self.goal.wanted}, {said}{self.scatter}"


@dataclass
class Judgement:
    """The results of a goal in all cases, the worst first; without verdicts: why it was not judged."""

    goal: Goal
    verdicts: list[Verdict]
    why_not: str = ""

    def __post_init__(self):
        self.verdicts.sort(key=lambda verdict: (verdict.reached, verdict.part))

    @property
    def short(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if not verdict.reached]

    @property
    def count(self) -> str:
        cases = sum(1 for verdict in self.verdicts if verdict.case)
        return f"{sum(verdict.reached for verdict in self.verdicts)} of {cases} cases reach {self.goal.wanted}"


def load_goals(path: pathlib.Path) -> list[Goal]:
    """Reads goals; raises ResultsError if one is not valid."""
    try:
        goals = [Goal(**goal) for goal in json.loads(path.read_text(encoding="utf-8"))["goals"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{path}: {error}") from error
    if not goals:
        raise ResultsError(f"{path} holds no goals")
    return goals


def _identity(case: Case) -> dict:
    """Identifies a case, without its baseline."""
    fields = {key: value for key, value in case.fields.items() if key != "baseline"}
    return {key: value_of(case, key) for key in ("group", "operation", "space", "words")} | fields


def _counterparts(case: Case, against: dict | list, run: Run) -> list[Case]:
    """For each set of changed values: the cases that differ from this one only in them."""
    found = []
    for changes in against if isinstance(against, list) else [against]:
        identity = _identity(case) | changes
        matches = [other for other in run.cases.values()
                   if _identity(other) == identity and other.seconds]
        if not matches:
            raise LookupError(f"no case to compare with: {changes}")
        found += matches
    return found


def _limit(names: str, run: Run) -> float:
    """A limit of the machine, or the quotient of two."""
    limits = [run.limit(name) for name in names.split(" / ")]
    if not all(limits):
        raise LookupError(f"the limit {names} was not measured")
    return limits[0] / limits[1] if len(limits) == 2 else limits[0]


def _measure(goal: Goal, case: Case, run: Run) -> list[float]:
    """The quantity in each repetition; raises LookupError if data for it is missing."""
    values = case.values(goal.quantity)
    if goal.against:
        # The best of several counts.
        best = min(summarize(other.seconds).median
                   for other in _counterparts(case, goal.against, run))
        values = [best / seconds for seconds in case.seconds]
    if goal.of_limit:
        limit = _limit(goal.of_limit, run)
        values = [value / limit for value in values]
    if goal.per:
        values = [value / parse_number(case.fields[goal.per]) for value in values]
    if not values:
        raise LookupError(f"{goal.quantity} was not measured")
    return values


def _is_soon_enough(goal: Goal, case: Case) -> bool:
    ours, baseline = case.summary("seconds"), case.summary("baseline_seconds")
    return None not in (goal.or_later_by, ours, baseline) and ours.median - baseline.median <= goal.or_later_by


def _judge_case(goal: Goal, case: Case, run: Run) -> Verdict:
    if case.errors:
        return Verdict(goal, False, run.title, case.name, reason=case.errors[0])
    try:
        values = _measure(goal, case, run)
    except LookupError as error:
        return Verdict(goal, False, run.title, case.name, reason=str(error))
    runs = case.by_file(values)
    reached = goal.reached_by(runs) or _is_soon_enough(goal, case)
    return Verdict(goal, reached, run.title, case.name, summarize(values), interval=interval(runs))


def _uncovered(goal: Goal, cases: list[Case]) -> str:
    """The combinations of values under 'covers' without a case."""
    wanted = [dict(zip(goal.covers, values)) for values in itertools.product(*goal.covers.values())]
    return "; ".join(", ".join(f"{key} {value}" for key, value in one.items()) for one in wanted
                     if not any(selected(case, one) for case in cases))


def _was_asked_for(goal: Goal, run: Run) -> bool:
    """Whether the run should have all cases of the goal: a quick run leaves out some of targets."""
    return run.has_all_of(goal.select.get("group")) and (goal.kind == "acceptance" or run.context.get("mode") != "quick")


def judge(goal: Goal, runs: list[Run]) -> Judgement:
    """Judges each case of the goal; one further verdict tells missing cases."""
    meant = [run for run in runs if all(met(need, run) for need in goal.needs)]
    if not meant:
        return Judgement(goal, [], "meant for " + ", ".join(goal.needs))
    chosen = [(run, case) for run in meant for case in run.cases.values()
              if selected(case, goal.select)]
    if not chosen and goal.following:
        return Judgement(goal, [], f"follows: {goal.following}")
    is_complete = any(_was_asked_for(goal, run) for run in meant)
    if not chosen:
        why = "no data" if is_complete else "its benchmarks were not asked for"
        return Judgement(goal, [Verdict(goal, False, reason=why)] if is_complete else [], why)
    verdicts = [_judge_case(goal.by(run.ranks), case, run) for run, case in chosen]
    missing = _uncovered(goal, [case for _, case in chosen]) if is_complete else ""
    if missing:
        verdicts.append(Verdict(goal, False, reason="no data for " + missing))
    return Judgement(goal, verdicts)
