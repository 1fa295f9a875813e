# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Goals: which cases they mean, and whether results reach them. README.md tells how they are written."""

from __future__ import annotations

import itertools
import json
import math
import pathlib
from dataclasses import dataclass, field, replace

from .conditions import NEED, met, selected, value_of
from .numbers import Summary, parse_number, summarize, time_text
from .results import Case, ResultsError, Run
from .significance import interval

#: What must hold on any sound machine, and what we aim at.
KINDS = ("acceptance", "target")
_STATISTICS = {
    "lower_quartile": lambda values: summarize(values).lower,
    "median": lambda values: summarize(values).median,
    "upper_quartile": lambda values: summarize(values).upper,
    "minimum": min,
    "maximum": max,
}
#: The better end of the 95 % interval over runs of the program; the median where they tell none.
INTERVAL = "interval"


@dataclass(frozen=True)
class Goal:
    """The keys of a goal in the file."""

    name: str
    kind: str
    why: str
    select: dict
    quantity: str
    statistic: str = "median"
    at_least: float | None = None
    at_most: float | None = None
    at_least_by_ranks: float | None = None  #: by several, which disturb each other; the slowest counts
    or_later_by: float | None = None  #: seconds by which ours may be later than the baseline, whatever the quantity
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
        if not self.select or not all(NEED.fullmatch(need) for need in self.needs):
            raise ValueError(f"goal '{self.name}' selects all cases, or has a need that is no condition")

    @property
    def wanted(self) -> str:
        """What is to be reached, in words."""
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
        """The median and the quartiles, with a unit."""
        if self._is_time:
            return time_text(measured)
        return f"{measured:.4g}"

    @property
    def _is_time(self) -> bool:
        return self.quantity.endswith("seconds")

    def by(self, ranks: int) -> Goal:
        """What is wanted of so many ranks."""
        if ranks == 1 or self.at_least_by_ranks is None:
            return self
        return replace(self, at_least=self.at_least_by_ranks)

    def reached_by(self, runs: list[list[float]]) -> bool:
        """By the repetitions of one or several runs of the program."""
        values = [value for of_run in runs for value in of_run]
        if self.statistic == INTERVAL:
            reach = interval(runs) or (summarize(values).median,) * 2
            decisive = reach[1] if self.at_most is None else reach[0]
        else:
            decisive = _STATISTICS[self.statistic](values)
        return decisive >= self.at_least if self.at_most is None else decisive <= self.at_most


@dataclass
class Verdict:
    """What became of a goal in one case; without a case: what was missing."""

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
    """What became of a goal in all cases, the worst first; without verdicts: why it was not judged."""

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
    """Reads goals; raises ResultsError for what no results could make sense of."""
    try:
        goals = [Goal(**goal) for goal in json.loads(path.read_text(encoding="utf-8"))["goals"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{path}: {error}") from error
    if not goals:
        raise ResultsError(f"{path} holds no goals")
    return goals


def _identity(case: Case) -> dict:
    """What a case measures; what it is held against does not matter."""
    fields = {key: value for key, value in case.fields.items() if key != "baseline"}
    return {key: value_of(case, key) for key in ("group", "operation", "space", "words")} | fields


def _counterparts(case: Case, against: dict | list, run: Run) -> list[Case]:
    """For each set of changed values the cases that differ from this one by them alone."""
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
    """The quantity in each repetition; raises LookupError if the results lack something for it."""
    values = case.values(goal.quantity)
    if goal.against:
        # The better one of several counts.
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
    """The combinations of the values under 'covers' that no case has."""
    wanted = [dict(zip(goal.covers, values)) for values in itertools.product(*goal.covers.values())]
    return "; ".join(", ".join(f"{key} {value}" for key, value in one.items()) for one in wanted
                     if not any(selected(case, one) for case in cases))


def _was_asked_for(goal: Goal, run: Run) -> bool:
    """All that the goal means: a quick run leaves out some of what we only aim at."""
    return run.has_all_of(goal.select.get("group")) and (goal.kind == "acceptance" or run.context.get("mode") != "quick")


def judge(goal: Goal, runs: list[Run]) -> Judgement:
    """A verdict for each case the goal means, and one if some are missing that were asked for."""
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
