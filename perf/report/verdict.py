# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""The verdict of a report: whether machine and build are sound, and why not."""

from __future__ import annotations

from .check import MOST_SHOWN, Check
from .document import Document
from .places import places, slowest
from .results import Run
from .series import readable

# A rank below this fraction of the median rate is slow.
_SLOW = 0.95


def _link(run: Run) -> str | None:
    """A message if the link ran below its best generation or width."""
    now, most = ([run.context.get(f"link_{what}{end}") for what in ("generation", "width")] for end in ("", "_max"))
    if not all([*now, *most]) or now == most:
        return None
    return (f"{run.title}: the link ran at generation {now[0]} with {now[1]} lanes, and could do generation {most[0]}"
            f" with {most[1]}")


def _slowest(run: Run) -> str | None:
    place = slowest(places(run)) if run.ranks > 1 else None
    if place is None:
        return None
    told = f"{run.title}: the slowest is {place}, at {place.speed:.2f} of the speed of the middle rank"
    return told + (": look at its host, link and clocks" if place.speed < _SLOW else "")


def write_verdict(document: Document, check: Check, runs: list[Run]) -> None:
    failed = check.short("acceptance")
    reasons = [check.count_of_errors, check.count("acceptance"), check.count("target")]
    short = [verdict for one in failed for verdict in one.short][:MOST_SHOWN]
    reasons += [f"{verdict.goal.name}: {readable(str(verdict))}" for verdict in short]
    reasons += filter(None, [look(run) for run in runs for look in (_slowest, _link)])
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
