"""Values of any kind as JSON: what is accepted, what it becomes, and what is refused before it is stored."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from shared_core.errors import InvalidInput, InvalidType, LimitExceeded
from shared_core.recall.text import clean


def plain(value: Any, where: str = "metadata", depth: int = 32) -> Any:
    """A JSON value out of `value`, never the same object.

    Text, numbers, bools and None stay; lists, tuples and sets become lists (sets sorted by their
    JSON); dicts keep text keys only; numpy scalars and arrays become numbers and lists; times,
    dates, UUIDs, paths, decimals and durations become text or numbers; an enum becomes its value.

    Raises `InvalidType` naming the key for anything else (bytes, objects, other keys),
    `InvalidInput` for NaN, infinity and naive times, `LimitExceeded` for deeper nesting.

    >>> plain({"when": date(2026, 1, 2), "tags": ("a", "b")})
    {'when': '2026-01-02', 'tags': ['a', 'b']}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain(value.value, where, depth)
    if isinstance(value, str):
        return clean(str(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _finite(float(value), where)
    if depth <= 0:
        raise LimitExceeded(f"{where} is nested too deeply; limits.metadata_depth is the most")
    if isinstance(value, Mapping):
        return _mapping(value, where, depth)
    if isinstance(value, list | tuple):
        return [plain(part, f"{where}[{i}]", depth - 1) for i, part in enumerate(value)]
    if isinstance(value, set | frozenset):
        return sorted((plain(part, where, depth - 1) for part in value), key=repr)
    return _special(value, where, depth)


def _mapping(value: Mapping[Any, Any], where: str, depth: int) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise InvalidType(f"{where} has the key {key!r}, which is no text; use {str(key)!r}")
    return {clean(str(key)): plain(part, f"{where}.{key}", depth - 1) for key, part in value.items()}


def _finite(value: float, where: str) -> float:
    if not math.isfinite(value):
        raise InvalidInput(f"{where} is {value}, which JSON has no number for; use None")
    return value


def _special(value: Any, where: str, depth: int) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise InvalidInput(f"{where} is a time without a timezone; use datetime.now(timezone.utc)")
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID | PurePath | Decimal):
        return str(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if callable(getattr(value, "tolist", None)) and hasattr(value, "dtype"):  # numpy's scalars and arrays
        return plain(value.tolist(), where, depth - 1)
    if isinstance(value, numbers.Real):
        return _finite(float(value), where)
    raise InvalidType(f"{where} is a {type(value).__name__}, which can't be kept as JSON; convert it to text first")
