# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Hosts and GPUs of ranks, and the slowest rank."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, field

from .results import Case, Run
from .series import ordered, size

_KEY = re.compile(r"rank_(\d+)_seconds")
UNKNOWN = "unknown"


@dataclass
class Place:
    """The place of a rank: host, device and further key:value facts."""

    rank: int
    facts: dict[str, str]
    speeds: list[float] = field(default_factory=list)  #: by case, relative to the median rank

    def fact(self, key: str) -> str:
        return self.facts.get(key) or UNKNOWN

    @property
    def speed(self) -> float | None:
        return statistics.median(self.speeds) if self.speeds else None

    @property
    def numa_node(self) -> str:
        node = self.fact("gpu_numa_node")
        return UNKNOWN if node == "-1" else node  # the system does not tell

    @property
    def gpu(self) -> str:
        return self.fact("gpu_bus_id")

    def __str__(self) -> str:
        gpu = f", GPU {self.gpu}, NUMA node {self.numa_node}" if "gpu_bus_id" in self.facts else ""
        return f"rank {self.rank} ({self.fact('host')}{gpu})"


def seconds_of_ranks(case: Case) -> dict[int, float]:
    """Empty for one rank alone, and in older files."""
    return {int(found[1]): statistics.median(values) for key, values in case.counters.items()
            if (found := _KEY.fullmatch(key)) and values}


def places(run: Run) -> list[Place]:
    """The places of all ranks; empty if the file does not tell them."""
    told = [run.context.get(f"rank_{rank}") for rank in range(run.ranks)]
    if not all(told):
        return []
    found = [Place(rank, dict(word.split(":", 1) for word in text.split() if ":" in word))
             for rank, text in enumerate(told)]
    for case in run.cases.values():
        seconds = seconds_of_ranks(case)
        if case.bytes and seconds.keys() == set(range(run.ranks)):
            middle = statistics.median_low(seconds.values())  # of two the faster one
            for place in found:
                place.speeds.append(middle / seconds[place.rank])
    return found


def slowest(found: list[Place]) -> Place | None:
    return min((place for place in found if place.speed), key=lambda place: place.speed, default=None)


def largest_copy(run: Run, operation: str) -> Case | None:
    """Whether the case measures the rate of a link."""
    copies = [case for case in run.cases.values() if case.group == "copy" and case.operation == operation
              and case.space == "PinnedSpace" and case.words == ["contiguous"] and case.seconds]
    return max(copies, key=size, default=None)


def rates_of_ranks(run: Run, operation: str) -> dict[int, float]:
    """GB/s of each rank while all copy."""
    case = largest_copy(run, operation)
    if case is None:
        return {}
    seconds = seconds_of_ranks(case) or ({0: case.summary("seconds").median} if run.ranks == 1 else {})
    return {rank: case.bytes / value / 1e9 for rank, value in seconds.items()}


class PlaceTables:
    """Tables of ranks, by rank, by host, and by GPU and NUMA node."""

    def __init__(self, run: Run):
        self.places = places(run)
        self._rates = [rates_of_ranks(run, operation) for operation in ("to_device", "to_host")]

    def _rate(self, some: list[Place], combine) -> list[str]:
        cells = []
        for rates in self._rates:
            values = [rates[place.rank] for place in some if place.rank in rates]
            cells.append(f"{combine(values):.4g}" if values else "")
        return cells

    @staticmethod
    def _speed(some: list[Place]) -> str:
        speeds = [place.speed for place in some if place.speed]
        return f"{min(speeds):.2f}" if speeds else ""

    def by_rank(self) -> tuple[list[str], list[list[str]]]:
        return (["rank", "host", "GPU", "NUMA node", "cores", "link", "SM clock, MHz", "ECC", "power limit, W",
                 "to device, GB/s", "to host, GB/s", "speed beside the middle rank"],
                [[str(place.rank), place.fact("host"), place.gpu, place.numa_node, place.fact("cores"),
                  f"{place.fact('link_generation')} x {place.fact('link_width')}",
                  *(place.fact(key) for key in ("clock_sm", "ecc", "power_limit")),
                  *self._rate([place], sum), self._speed([place])] for place in self.places])

    def by_host(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for host in ordered(place.fact("host") for place in self.places):
            here = [place for place in self.places if place.fact("host") == host]
            slow = slowest(here)
            rows.append([host, str(len(here)), *self._rate(here, sum), str(slow) if slow else "", self._speed(here)])
        return ["host", "ranks", "to device, GB/s, sum", "to host, GB/s, sum", "its slowest rank", "speed"], rows

    def by_gpu_and_node(self) -> tuple[list[str], list[list[str]]]:
        """Medians over the hosts: a place that is slow on all of them is no broken node."""
        nodes = sorted({place.numa_node for place in self.places})
        rows = []
        for gpu in sorted({place.gpu for place in self.places}):
            row = [gpu]
            for node in nodes:
                here = [place for place in self.places if (place.gpu, place.numa_node) == (gpu, node)]
                rates = " / ".join(filter(None, self._rate(here, statistics.median)))
                speed = self._speed(here)
                row.append(", ".join(filter(None, [rates and rates + " GB/s", speed and "speed " + speed])))
            rows.append(row)
        return ["GPU", *(f"NUMA node {node}: to device / to host" for node in nodes)], rows
