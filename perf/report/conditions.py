# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Evaluates the conditions of goals on cases and runs."""

from __future__ import annotations

import functools
import re

from .numbers import parse_number
from .results import Case, Run

_COMPARISON = re.compile(r"(>=|<=|!=|=|~)\s*(.*)")
NEED = re.compile(r"(\w+)\s*([<>=!~].*)")


def value_of(case: Case, key: str) -> str | None:
    if key in ("name", "group", "operation", "space"):
        return getattr(case, key)
    if key == "words":
        return "/".join(case.words)
    return case.fields.get(key)


def holds(value: str | None, wanted) -> bool:
    """Tests one condition: null (absent), a value, a list of values, or an operator as in '>= 64Mi', '~ regex'."""
    if wanted is None or value is None:
        return wanted is value
    if isinstance(wanted, list):
        return any(holds(value, one) for one in wanted)
    return _compares(value, str(wanted))


@functools.cache
def _compares(value: str, wanted: str) -> bool:
    comparison = _COMPARISON.fullmatch(wanted)
    relation, right = comparison.groups() if comparison else ("=", wanted)
    if relation == "~":
        return re.search(right, value) is not None
    try:
        left, right = parse_number(value), parse_number(right)
    except ValueError:
        left = value
    return {">=": lambda: left >= right, "<=": lambda: left <= right,
            "!=": lambda: left != right, "=": lambda: left == right}[relation]()


def selected(case: Case, select: dict) -> bool:
    return all(holds(value_of(case, key), wanted) for key, wanted in select.items())


def met(need: str, run: Run) -> bool:
    """Tests a condition on the context of a run, as in 'gpu ~ H200'."""
    key, condition = NEED.fullmatch(need).groups()
    value = {"backend": run.backend, "ranks": run.ranks}.get(key, run.context.get(key))
    return holds(None if value is None else str(value), condition)
