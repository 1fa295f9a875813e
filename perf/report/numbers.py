# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Medians, quartiles, and numbers with units."""

from __future__ import annotations

import re
import statistics
from typing import NamedTuple


class Summary(NamedTuple):
    lower: float
    median: float
    upper: float

    def __format__(self, spec: str) -> str:
        return f"{self.median:{spec}} ({self.lower:{spec}} to {self.upper:{spec}})"

    def scaled(self, factor: float) -> Summary:
        return Summary(*(value * factor for value in self))


def summarize(values: list[float]) -> Summary:
    """Median and quartiles, interpolated between neighbours."""
    if len(values) == 1:
        return Summary(values[0], values[0], values[0])
    return Summary(*statistics.quantiles(values, n=4, method="inclusive"))


def parse_number(text: str) -> float:
    """Reads 12, 1e9, 2^20 or 64Mi; raises ValueError for anything else."""
    text = text.strip()
    if power := re.fullmatch(r"(\d+)\^(\d+)", text):
        return float(int(power[1]) ** int(power[2]))
    for place, unit in enumerate(("Ki", "Mi", "Gi"), 1):
        if text.endswith(unit):
            return float(text[:-2]) * 1024**place
    return float(text)


def size_name(size: float) -> str:
    """Formats bytes, as in 64 MiB, in at most four digits."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if size < 1000 else f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GiB"


def count_name(count: float) -> str:
    """Formats numbers of elements, as in 2^20."""
    count = int(count)
    is_power = count > 0 and count & (count - 1) == 0
    return f"2^{count.bit_length() - 1}" if is_power else str(count)


def time_unit(seconds: float) -> tuple[float, str]:
    """The factor and the name of a readable unit of time."""
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1, 1e3, "ms")):
        if seconds < limit:
            return factor, unit
    return 1.0, "s"


def time_text(seconds: Summary | float) -> str:
    """Formats a time, or a median with its quartiles."""
    if isinstance(seconds, Summary):
        factor, unit = time_unit(seconds.median)
        return f"{seconds.scaled(factor):.4g} {unit}"
    factor, unit = time_unit(seconds)
    return f"{seconds * factor:.4g} {unit}"


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def rough_time_text(seconds: float) -> str:
    """Formats a time in two digits."""
    factor, unit = time_unit(seconds)
    return f"{_two_digits(seconds * factor)} {unit}"


def gain_text(gain: float) -> str:
    """Formats how many times as fast something is, in two digits; beyond 1000 the times say more."""
    return "> 1000 x" if gain > 1000 else f"{_two_digits(gain)} x"
