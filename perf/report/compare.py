# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Whether new results are slower than old ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .numbers import Summary, summarize
from .results import Run
from .significance import holm, mann_whitney

# Where these differ, so may the figures, without any change of ours.
CONTEXT = ["gpu", "gpus", "ranks", "driver_version", "cuda_runtime_version", "link_generation", "link_width",
           "huge_pages", "execution_space", "host_threads", "kokkos_version", "kokkos_configuration",
           "compiler", "mode", "commit"]


@dataclass
class Change:
    case: str
    old: Summary
    new: Summary
    effect: float  #: above 0: slower by this fraction
    probability: float  #: of seeing this by chance, corrected for the number of tests
    smallest_probability: float  #: of any change, however large, with so few repetitions


def context_differences(old: Run, new: Run) -> list[str]:
    return [f"{key}: {_short(old.context.get(key))} -> {_short(new.context.get(key))}" for key in CONTEXT
            if old.context.get(key) != new.context.get(key)]


def _short(value) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def changes(old: Run, new: Run, quantity: str, pattern: str) -> list[Change]:
    """Old against new, for each case that both have, by the Mann-Whitney U test on the repetitions."""
    pairs = [(name, case.values(quantity), new.cases[name].values(quantity))
             for name, case in old.cases.items() if name in new.cases and re.search(pattern, name)]
    pairs = [pair for pair in pairs if pair[1] and pair[2]]
    corrected = holm([mann_whitney(before, after) for _, before, after in pairs])
    # A test on ranks finds no change surer than one that leaves no old value among the new ones.
    surest = {(before, after): mann_whitney(range(before), range(before, before + after))
              for before, after in {(len(before), len(after)) for _, before, after in pairs}}
    found = []
    for (name, before, after), probability in zip(pairs, corrected):
        medians = summarize(before), summarize(after)
        effect = medians[1].median / medians[0].median - 1
        # More seconds are worse, a smaller ratio to the twin is.
        found.append(Change(name, *medians, effect if quantity == "seconds" else -effect, probability,
                            min(1.0, surest[len(before), len(after)] * len(pairs))))
    return found
