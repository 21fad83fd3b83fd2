"""Filters that the database decides by itself: plain values and ranges of a few columns, all of which have to hold."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from shared_core.recall.where import Test, Where, evaluate
from shared_core.store.rows import micros

Bounds = dict[str, Any]

EARLIEST, LATEST = -(2**62), 2**62
_EQUAL = frozenset({"type", "source", "status", "session"})
_RANGES = {"importance": ("least", "most"), "created_at": ("since", "until")}

FREE: Bounds = {
    "type": "", "source": "", "status": "active", "session": "", "pinned": -1, "least": -math.inf, "most": math.inf,
    "since": EARLIEST, "until": LATEST,
}  # fmt: skip
"""What no filter asks for: everything that is remembered now."""


def bounds(where: Where | None) -> Bounds | None:
    """A filter as parameters of the statements that list, or None where it says more than those can.

    >>> from shared_core.recall.where import parse
    >>> bounds(parse({"type": "plan", "importance": {"$gt": 0.5}}))["type"]
    'plan'
    >>> bounds(parse({"$not": {"type": "plan"}})), bounds(parse({"metadata.type": "plan"}))
    (None, None)
    """
    if where is None:
        return dict(FREE)
    return evaluate(where, _bound, _joined)


def _bound(test: Test) -> Bounds | None:
    """What one condition says; only what differs from `FREE`."""
    if test.metadata:
        return None
    value, operator = test.operand, test.operator
    if test.key == "status" and operator == "$exists" and value is True:
        return {**FREE, "status": ""}
    if test.key == "status" and value == "active":
        return None  # said together with another status it is a contradiction, which these can't say
    if operator == "$eq" and test.key in _EQUAL and isinstance(value, str) and _storable(value):
        return {**FREE, test.key: value}
    if operator == "$eq" and test.key == "pinned" and isinstance(value, bool):
        return {**FREE, "pinned": int(value)}
    return _range(test) if test.key in _RANGES and operator in ("$gt", "$gte", "$lt", "$lte") else None


def _storable(text: str) -> bool:
    """Whether a database takes this text at all, and it is not what stands for any."""
    return bool(text) and "\x00" not in text and text.encode("utf-8", "ignore").decode() == text


def _range(test: Test) -> Bounds | None:
    low, high = _RANGES[test.key]
    value, up = test.operand, test.operator in ("$gt", "$gte")
    if test.key == "created_at":
        if not isinstance(value, datetime):
            return None
        edge: float = micros(value) + {"$gt": 1, "$lt": -1}.get(test.operator, 0)
    elif isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    else:
        edge = float(value)
        if test.operator in ("$gt", "$lt"):
            edge = math.nextafter(edge, math.inf if up else -math.inf)
    return {**FREE, (low if up else high): edge}


def _joined(connective: str, parts: list[Bounds | None]) -> Bounds | None:
    if connective != "$and":
        return None
    found = dict(FREE)
    for part in parts:
        if part is None:
            return None
        for name, value in part.items():
            if value == FREE[name]:
                continue
            if name in ("least", "since"):
                found[name] = max(found[name], value)
            elif name in ("most", "until"):
                found[name] = min(found[name], value)
            elif found[name] != FREE[name] and found[name] != value:
                return None  # two values that exclude each other
            else:
                found[name] = value
    return found
