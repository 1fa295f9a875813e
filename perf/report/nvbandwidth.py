# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Rates of links as JSON in the form of NVIDIA's nvbandwidth 0.8, for tools that read that.

Only what is measured in the same way: copies of page-locked memory by the copy engine, here PinnedSpace's. By one
rank it is one GPU alone; by several all copy at once, which has test cases of other names.
"""

from __future__ import annotations

import json
import re

from .places import places, rates_of_ranks
from .results import ResultsError, Run

_VERSION = "v0.8"
_CASES = {"to_device": ("host_to_device_memcpy_ce", "host_to_all_memcpy_ce", "->"),
          "to_host": ("device_to_host_memcpy_ce", "all_to_host_memcpy_ce", "<-")}


def _test_case(run: Run, operation: str) -> dict:
    alone, together, arrow = _CASES[operation]
    rates = [rate for _, rate in sorted(rates_of_ranks(run, operation).items())]
    name = alone if run.ranks == 1 else together
    if not rates:
        return {"name": name, "status": "Waived"}
    return {"name": name, "status": "Error" if run.errors() else "Passed",
            "bandwidth_description": f"memcpy CE CPU(row) {arrow} GPU(column) bandwidth (GB/s)",
            "bandwidth_matrix": [[f"{rate:.6g}" for rate in rates]], "sum": sum(rates)}


def _version(text: str) -> int:
    """13.0 as CUDA numbers it: 13000."""
    found = re.fullmatch(r"(\d+)\.(\d+)", text)
    return int(found[1]) * 1000 + int(found[2]) * 10 if found else 0


def nvbandwidth(run: Run) -> str:
    if run.backend != "cuda":
        raise ResultsError("nvbandwidth knows GPUs alone, and these results are of the host backend")
    context, found = run.context, places(run)
    # Its domain has 8 digits, and no function follows.
    devices = [f"{place.rank}: {context['gpu']} (0000{place.gpu.partition('.')[0]}): ({place.fact('host')})"
               for place in found] \
        or [f"{rank}: {context['gpu']}" for rank in range(run.ranks)]
    return json.dumps({"nvbandwidth": {
        "CUDA Runtime Version": _version(context.get("cuda_driver_version", "")),
        "Driver Version": context.get("driver_version", ""),
        "GPU Device list": devices,
        "git_version": context.get("commit", ""),
        "testcases": [_test_case(run, operation) for operation in _CASES],
        "version": _VERSION}}, indent=1) + "\n"
