# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Statistical tests, with the standard library alone, so that they run on any cluster."""

from __future__ import annotations

import bisect
import functools
import math
import statistics
from collections import Counter
from collections.abc import Sequence


#: For more values the exact p takes seconds, and the normal approximation is as good.
_MOST_PAIRS = 2500


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
    """The two-sided p of the U test: exact for few values of which no two are equal, else by a normal distribution."""
    n, m = len(before), len(after)
    lower = sorted(after)
    u = sum(bisect.bisect_left(lower, b) + bisect.bisect_right(lower, b) for b in before) / 2
    u = min(u, n * m - u)
    ties = [count for count in Counter([*before, *after]).values() if count > 1]
    if not ties and n * m <= _MOST_PAIRS:
        return min(1.0, 2 * sum(_ways(n, m)[: int(u) + 1]) / math.comb(n + m, n))
    total = n + m
    variance = n * m / 12 * (total + 1 - sum(t**3 - t for t in ties) / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    # Continuity correction of 0.5, since u is an integer.
    distance = max(0.0, n * m / 2 - u - 0.5) / math.sqrt(variance)
    # Of few values no order is as improbable as the tail of that distribution is.
    return max(2 * statistics.NormalDist().cdf(-distance), min(1.0, 2 / math.comb(n + m, n)))


@functools.cache
def _surest(before: int, after: int) -> float:
    """The smallest p that this many values can reach: all old ones below all new ones."""
    return mann_whitney(range(before), range(before, before + after))


def factors(sizes: Sequence[tuple[int, int]], significance: float) -> list[float]:
    """By what to multiply the p of each test, so that the chance of any false alarm stays below the significance.

    Each class of tests, those with equally many values, has an equal share of it: else the few with few values
    had to be as sure as the many with many. A class that could never be sure takes none, by Tarone (1990).
    """
    counts = Counter(sizes)
    for size in sorted(counts, key=lambda size: -_surest(*size) * counts[size]):
        if _surest(*size) * counts[size] * len(counts) <= significance or len(counts) == 1:
            break
        del counts[size]
    return [float(counts[size] * len(counts)) if size in counts else math.inf for size in sizes]


def correct(probabilities: Sequence[float], sizes: Sequence[tuple[int, int]], significance: float) -> list[float]:
    """Corrects the p of all tests, by Holm in each class; 1 where no test could be significant."""
    corrected = [1.0] * len(sizes)
    by_test = factors(sizes, significance)
    classes = {size for size, factor in zip(sizes, by_test) if factor < math.inf}
    for one in classes:
        places = [place for place, size in enumerate(sizes) if size == one]
        for place, p in zip(places, holm([probabilities[place] for place in places])):
            corrected[place] = min(1.0, p * len(classes))
    return corrected


def holm(probabilities: list[float]) -> list[float]:
    """Holm's correction (1979): p is the probability that any test below p is a false alarm."""
    corrected = [0.0] * len(probabilities)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(probabilities)), key=probabilities.__getitem__)):
        largest = max(largest, min(1.0, (len(probabilities) - rank) * probabilities[place]))
        corrected[place] = largest
    return corrected


#: Student's t for 95 %, by degrees of freedom from 2 on.
_STUDENT = (4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
#: Widest interval that is used, as a fraction of its middle.
_FARTHEST = 0.02


def interval(runs: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """The 95 % confidence interval of the median over at least three runs; None if it is too wide."""
    medians = [statistics.median(values) for values in runs]
    if len(medians) < 3:
        return None
    student = _STUDENT[min(len(medians) - 3, len(_STUDENT) - 1)]
    middle, reach = statistics.fmean(medians), student * statistics.stdev(medians) / math.sqrt(len(medians))
    return (middle - reach, middle + reach) if reach <= _FARTHEST * abs(middle) else None
