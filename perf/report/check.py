# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Describes which goals are missed: first acceptance, then targets."""

from __future__ import annotations

from .goals import KINDS, Goal, Judgement, judge
from .results import Run

MOST_SHOWN = 5
_SHORT = {"acceptance": "FAILED", "target": "MISSED"}
_REACHED = {"acceptance": "hold", "target": "are reached"}


class Check:
    """Judges all goals on all runs."""

    def __init__(self, runs: list[Run], goals: list[Goal]):
        self.errors = [f"{run.title}: {error}" for run in runs for error in run.errors()]
        self.cases = sum(len(run.cases) for run in runs)
        self.judgements = [judge(goal, runs) for kind in KINDS for goal in goals if goal.kind == kind]

    def of(self, kind: str) -> list[Judgement]:
        """Judged goals of a kind."""
        return [one for one in self.judgements if one.goal.kind == kind and one.verdicts]

    def not_judged(self, kind: str) -> list[Judgement]:
        return [one for one in self.judgements if one.goal.kind == kind and not one.verdicts]

    def short(self, kind: str) -> list[Judgement]:
        return [one for one in self.of(kind) if one.short]

    def count(self, kind: str) -> str:
        judged = self.of(kind)
        others = f"; {len(self.not_judged(kind))} others could not be judged" if self.not_judged(kind) else ""
        return f"{kind}: of {len(judged)} goals that were judged {len(judged) - len(self.short(kind))} {_REACHED[kind]} in every case{others}"

    @property
    def count_of_errors(self) -> str:
        return f"results: {len(self.errors)} errors in {self.cases} benchmarks"

    def lines(self, briefly: tuple[str, ...], is_verbose: bool) -> list[str]:
        """Text for a terminal; goals of the kinds in `briefly` without their cases."""
        lines = [f"WRONG  {error}" for error in self.errors]
        for kind in KINDS:
            for one in self.short(kind):
                shown = len(one.short) if is_verbose else 0 if kind in briefly else MOST_SHOWN
                lines.append(f"{_SHORT[kind]} {kind}: {one.goal.name}: {one.count}")
                lines += [f"         {verdict}" for verdict in one.short[:shown]]
                if shown and len(one.short) > shown:
                    lines.append(f"         and {len(one.short) - shown} cases more: --verbose")
        if is_verbose:
            lines += [f"ok     {one.goal.kind}: {one.goal.name}: {one.count}"
                      for one in self.judgements if one.verdicts and not one.short]
            lines += [f"-      {one.goal.kind}: {one.goal.name}: not judged, {one.why_not}"
                      for one in self.judgements if not one.verdicts]
        return lines + [self.count(kind) for kind in KINDS] + [self.count_of_errors]
