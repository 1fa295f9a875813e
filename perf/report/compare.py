# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Tests whether new results are slower than old ones, and whether the data suffices to tell."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from .check import MOST_SHOWN
from .numbers import Summary, summarize, time_text
from .results import ResultsError, Run
from .significance import correct, factors, mann_whitney

# Differences here may change figures without a change of the code.
CONTEXT = ["gpu", "gpus", "ranks", "driver_version", "cuda_runtime_version", "link_generation", "link_width",
           "ecc", "power_limit", "kernel", "host_cpu", "cpu_governor", "huge_pages", "execution_space", "host_threads",
           "kokkos_version", "kokkos_configuration", "compiler", "build_type", "build_flags", "mode", "commit"]

_MOST_LETTERS = 60


@dataclass(frozen=True)
class Question:
    """Parameters of a comparison."""

    quantity: str = "seconds"
    #: smallest change that counts: the scatter between runs of one program on two H200s (within a run 1 %)
    minimum: float = 0.05
    judge: float = 0.1  #: a change that must be noticed
    significance: float = 0.05  #: accepted probability of any false alarm
    pattern: str = ""


@dataclass
class Change:
    case: str
    old: Summary
    new: Summary
    effect: float  #: relative change, above 0 if slower
    probability: float  #: p value, corrected for the number of tests
    is_sure: bool
    would_be_seen: bool  #: a change of Question.judge would have been noticed, and is excluded

    @property
    def is_judged(self) -> bool:
        return self.is_sure or self.would_be_seen


def context_differences(old: Run, new: Run) -> list[str]:
    found = [(key, *(" ".join((run.context.get(key) or "unknown").split()) for run in (old, new))) for key in CONTEXT]
    return [f"{key}: {_part(one, other)} -> {_part(other, one)}" for key, one, other in found if one != other]


def _part(text: str, other: str) -> str:
    """Shortens a long text to the part around its first difference."""
    if len(text) <= _MOST_LETTERS:
        return text
    begin = max(0, len(os.path.commonprefix([text, other])) - _MOST_LETTERS // 2)
    text = ("..." if begin else "") + text[begin:]
    return text if len(text) <= _MOST_LETTERS else text[:_MOST_LETTERS - 3] + "..."


#: Fewer plain programs do not tell how much the machine differed.
_FEWEST = 10


def machine_noise(old: Run, new: Run) -> float:
    """By how much nine in ten of the plain programs, which are the same in both runs, differ at most."""
    found = []
    for name, case in old.cases.items():
        both = [one.summary("baseline_seconds") for one in (case, new.cases.get(name)) if one]
        if len(both) == 2 and all(both):
            found.append(max(one.median for one in both) / min(one.median for one in both) - 1)
    return sorted(found)[len(found) * 9 // 10] if len(found) >= _FEWEST else 0.0


def _load(run: Run) -> float:
    """Runnable processes for each core when the run began."""
    loads = run.context.get("load_avg") or [0]
    return loads[0] / int(run.context.get("num_cpus") or 1)


def _probability_if_slower(before: list[float], after: list[float], slower: float) -> float:
    """The p value if the new repetitions, with their scatter, had `slower` times the old median."""
    factor = slower * summarize(before).median / summarize(after).median
    return mann_whitney(before, [value * factor for value in after])


def changes(old: Run, new: Run, question: Question) -> list[Change]:
    """Compares the cases that both runs have by the Mann-Whitney U test on their repetitions.

    The test knows the scatter within each run alone. That between them shows in the plain programs: a change has to be
    three times as large, and where that scatter exceeds what is to be judged, nothing is.
    """
    noise = machine_noise(old, new)
    least = max(question.minimum, 3 * noise) if noise <= question.judge else float("inf")
    pairs = [(name, case.values(question.quantity), new.cases[name].values(question.quantity))
             for name, case in old.cases.items() if name in new.cases and re.search(question.pattern, name)]
    pairs = [pair for pair in pairs if pair[1] and pair[2]]
    sizes = [(len(before), len(after)) for _, before, after in pairs]
    corrected = correct([mann_whitney(before, after) for _, before, after in pairs], sizes, question.significance)
    # More seconds are worse, and so is a smaller ratio.
    worse = 1 + question.judge if question.quantity == "seconds" else 1 / (1 + question.judge)
    found = []
    for (name, before, after), probability, factor in zip(pairs, corrected, factors(sizes, question.significance)):
        medians = summarize(before), summarize(after)
        effect = medians[1].median / medians[0].median
        effect = effect - 1 if question.quantity == "seconds" else 1 / effect - 1
        is_sure = abs(effect) >= least and probability <= question.significance
        seen = (not is_sure and effect < question.judge and noise <= question.judge
                and _probability_if_slower(before, after, worse) * factor <= question.significance
                and mann_whitney([value * worse for value in before], after) <= question.significance)
        found.append(Change(name, *medians, effect, probability, is_sure, seen))
    return found


class Comparison:
    """Compares two runs; raises ResultsError if they have no case in common."""

    def __init__(self, old: Run, new: Run, question: Question):
        self._old, self._new, self._question = old, new, question
        self.errors = new.errors()
        self.changes = changes(old, new, question)
        if not self.changes:
            raise ResultsError("the results have no case in common that could be compared")
        self.sure = sorted((one for one in self.changes if one.is_sure), key=lambda one: -one.effect)
        self.slower = [one for one in self.sure if one.effect > 0]
        self.unjudged = sorted((one for one in self.changes if not one.is_judged), key=lambda one: -one.effect)

    def lines(self, old_name, new_name, is_verbose: bool) -> list[str]:
        """Text for a terminal; slower cases come first."""
        write = time_text if self._question.quantity == "seconds" else "{:.4g}".format
        lines = [f"WRONG  {error}" for error in self.errors]
        lines += [f"{'SLOWER' if one.effect > 0 else 'faster'} {one.case}: {one.effect:+.1%},"
                  f" {write(one.old)} -> {write(one.new)}, p = {one.probability:.2g}" for one in self.sure]
        shown = self.unjudged if is_verbose else self.unjudged[:MOST_SHOWN]
        lines += [f"?      {one.case}: {one.effect:+.1%}, {write(one.old)} -> {write(one.new)}: cannot judge"
                  for one in shown]
        if len(shown) < len(self.unjudged):
            lines.append(f"       and {len(self.unjudged) - len(shown)} cases more: --verbose")
        noise = machine_noise(self._old, self._new)
        if 3 * noise > self._question.minimum:
            lines.append(f"note: the plain programs, which did not change, differ by {noise:.0%} in one of ten cases:"
                         + (" nothing can be judged; compare on an idle machine" if noise > self._question.judge else
                            f" changes below {3 * noise:.0%} do not count"))
        lines += [f"note: {_load(run):.1f} processes waited for each core when {name} began: other programs ran"
                  for run, name in ((self._old, old_name), (self._new, new_name)) if _load(run) > 0.5]
        lines += [f"note: differs in {difference}" for difference in context_differences(self._old, self._new)]
        if wrong := self._old.errors():
            lines.append(f"note: {len(wrong)} results were wrong in {old_name} already, such as {wrong[0]}")
        for one, other, name in ((self._old, self._new, old_name), (self._new, self._old, new_name)):
            if names := one.cases.keys() - other.cases.keys():
                lines.append(f"note: {len(names)} cases are in {name} alone, such as {min(names)}")
        return lines + [self._count()]

    def _count(self) -> str:
        unchanged = len(self.changes) - len(self.sure) - len(self.unjudged)
        text = (f"{len(self.slower)} of {len(self.changes)} cases are slower,"
                f" {len(self.sure) - len(self.slower)} faster, {unchanged} unchanged")
        if self.unjudged:
            text += (f", {len(self.unjudged)} cannot be judged: they scatter too much, or were repeated too seldom,"
                     f" for a change of {self._question.judge:.0%} to be seen (repeat more often, or compare fewer"
                     " by --filter)")
        return text
