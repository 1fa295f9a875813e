# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Whether a difference may be chance. By the standard library alone, so that it runs on any cluster."""

from __future__ import annotations

import functools
import math
import statistics
from collections import Counter
from collections.abc import Sequence


@functools.cache
def _ways(n: int, m: int) -> list[int]:
    """In how many orders of n and m values u pairs stand the wrong way round, for each u.

    The coefficients of the Gaussian binomial: the product of (1 - x^(m+i)) / (1 - x^i), i = 1 to n.
    """
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):
            ways[u] += ways[u - i]
    return ways


def mann_whitney(before: Sequence[float], after: Sequence[float]) -> float:
    """The two-sided p of the U test: exact without equal values, else the normal approximation."""
    n, m = len(before), len(after)
    u = sum((b > a) + 0.5 * (b == a) for b in before for a in after)
    u = min(u, n * m - u)
    ties = [count for count in Counter([*before, *after]).values() if count > 1]
    if not ties:
        return min(1.0, 2 * sum(_ways(n, m)[: int(u) + 1]) / math.comb(n + m, n))
    total = n + m
    variance = n * m / 12 * (total + 1 - sum(t**3 - t for t in ties) / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    # 0.5: u moves in steps, the normal distribution does not.
    distance = max(0.0, n * m / 2 - u - 0.5) / math.sqrt(variance)
    return 2 * statistics.NormalDist().cdf(-distance)


def holm(probabilities: list[float]) -> list[float]:
    """Corrects for many tests, by Holm (1979): the chance that any of those below p is wrong is p."""
    corrected = [0.0] * len(probabilities)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(probabilities)), key=probabilities.__getitem__)):
        largest = max(largest, min(1.0, (len(probabilities) - rank) * probabilities[place]))
        corrected[place] = largest
    return corrected
