"""The `where` language: which records a search or a list may return.

A key names a record field, or else a metadata key (`metadata.x` where both exist); a plain value
means equality. A missing key equals nothing: `$ne`, `$nin` and `$exists: False` hold for it, all
other operators do not. `$match` takes conditions on the keys of a nested dict. Values of different
types are unequal and have no order. Times are compared as instants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from shared_core.errors import InvalidInput, InvalidType
from shared_core.values import Record, aware

if TYPE_CHECKING:
    from shared_core.store.listing import RowView

T = TypeVar("T")

OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$contains", "$exists", "$match")
CONNECTIVES = ("$and", "$or", "$not")
TIMES = frozenset({"event_time", "expires_at", "valid_from", "valid_until", "confirmed_at", "created_at", "updated_at"})
UNFILTERABLE = frozenset({"accesses", "accessed_at", "stale"})  # counted apart from the record, no cache follows them
FIELDS = frozenset(Record.model_fields) - {"metadata", "triple"} - UNFILTERABLE | {"subject", "predicate", "object"}
_DEEPEST = 32
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Test:
    """One condition: a field or metadata key, an operator, and what it compares with."""

    key: str
    metadata: bool
    operator: str
    operand: Any

    def holds(self, value: Any) -> bool:
        """Whether a value, or `MISSING`, passes."""
        return _TESTS[self.operator](value, self.operand)


@dataclass(frozen=True, slots=True)
class Group:
    """Conditions joined by `$and`, `$or` or `$not` (which has one)."""

    connective: str
    parts: tuple[Test | Group, ...]


Where = Test | Group
MISSING: Any = _MISSING


def parse(where: Mapping[str, Any] | None) -> Where | None:
    """A filter as a tree; None where there is nothing to filter.

    Raises `InvalidInput` for an unknown operator or a malformed condition, never filters less.

    >>> parse({"kind": "fact", "importance": {"$gte": 0.7}}).connective
    '$and'
    """
    if where is None:
        return None
    if not isinstance(where, Mapping):
        raise InvalidType(f"where is a dict of conditions, not {type(where).__name__}")
    return _group(where, 0) if where else None


def _group(where: Mapping[str, Any], depth: int) -> Where:
    if depth > _DEEPEST:
        raise InvalidInput(f"where is nested deeper than {_DEEPEST} levels")
    parts: list[Where] = []
    for key, condition in where.items():
        if not isinstance(key, str):
            raise InvalidType(f"a key of where is a string, not {type(key).__name__}")
        if key in CONNECTIVES:
            parts.append(_connective(key, condition, depth))
        elif key.startswith("$"):
            raise InvalidInput(f"unknown operator {key!r} in where; known: {', '.join(CONNECTIVES)} and, on a key, "
                               f"{', '.join(OPERATORS)}")  # fmt: skip
        else:
            parts += _tests(key, condition, depth)
    return parts[0] if len(parts) == 1 else Group("$and", tuple(parts))


def _connective(key: str, condition: Any, depth: int) -> Group:
    if key == "$not":
        if not isinstance(condition, Mapping) or not condition:
            raise InvalidInput("$not takes one non-empty dict of conditions")
        return Group(key, (_group(condition, depth + 1),))
    if (
        not isinstance(condition, list | tuple)
        or not condition
        or not all(isinstance(c, Mapping) and c for c in condition)
    ):
        raise InvalidInput(f"{key} takes a non-empty list of dicts of conditions")
    return Group(key, tuple(_group(part, depth + 1) for part in condition))


def _tests(key: str, condition: Any, depth: int) -> list[Where]:
    if key in UNFILTERABLE:
        raise InvalidInput(f"where can't filter by {key!r}: it changes with every search")
    metadata = key.startswith("metadata.") or key not in FIELDS
    name = key.removeprefix("metadata.") if metadata else key
    time = not metadata and name in TIMES
    if isinstance(condition, Mapping) and any(isinstance(k, str) and k.startswith("$") for k in condition):
        unknown = [k for k in condition if k not in OPERATORS]
        if unknown:
            raise InvalidInput(f"unknown operator {unknown[0]!r} for {key!r}; known: {', '.join(OPERATORS)}")
        return [Test(name, metadata, op, _operand(key, op, value, time, depth)) for op, value in condition.items()]
    return [Test(name, metadata, "$eq", _operand(key, "$eq", condition, time, depth))]


def _operand(key: str, operator: str, value: Any, time: bool, depth: int) -> Any:
    if operator == "$exists":
        if not isinstance(value, bool):
            raise InvalidInput(f"$exists of {key!r} takes True or False")
        return value
    if operator == "$match":
        if not isinstance(value, Mapping) or not value:
            raise InvalidInput(f"$match of {key!r} takes a non-empty dict of conditions on the keys inside it")
        if depth >= _DEEPEST:
            raise InvalidInput(f"where is nested deeper than {_DEEPEST} levels")
        parts = [test for name, inner in value.items() for test in _tests(f"metadata.{name}", inner, depth + 1)]
        return Group("$and", tuple(parts))
    if operator in ("$in", "$nin"):
        if not isinstance(value, list | tuple | set | frozenset):
            raise InvalidInput(f"{operator} of {key!r} takes a list of values")
        return tuple(_plain(key, v, time) for v in value)
    return _plain(key, value, time)


def _plain(key: str, value: Any, time: bool) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, datetime) or (time and isinstance(value, str)):
        when = aware(value, f"the time compared with {key!r}")
        return when if time else when.isoformat()
    if isinstance(value, tuple):
        return list(value)
    if value is not None and not isinstance(value, str | int | float | bool | list | Mapping):
        raise InvalidType(f"where compares {key!r} with a {type(value).__name__}; use text, a number, a bool or a time")
    return value


def _same(a: Any, b: Any) -> bool:
    if a is _MISSING or isinstance(a, bool) is not isinstance(b, bool):
        return False
    return bool(a == b)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(value: Any, operand: Any) -> bool:
        numbers = isinstance(value, int | float) and isinstance(operand, int | float)
        if numbers and (isinstance(value, bool) or isinstance(operand, bool)):
            return False
        if numbers or (isinstance(value, str) and isinstance(operand, str)):
            return compare(value, operand)
        if isinstance(value, datetime) and isinstance(operand, datetime):
            return compare(value, operand)
        return False

    return test


def _match(value: Any, operand: Where) -> bool:
    if not isinstance(value, Mapping):
        return False
    return evaluate(operand, lambda test: test.holds(value.get(test.key, _MISSING)), _join)


def _contains(value: Any, operand: Any) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    if isinstance(value, list | tuple):
        return any(_same(part, operand) for part in value)
    return False


_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": _same,
    "$ne": lambda value, operand: not _same(value, operand),
    "$gt": _ordered(lambda a, b: a > b),
    "$gte": _ordered(lambda a, b: a >= b),
    "$lt": _ordered(lambda a, b: a < b),
    "$lte": _ordered(lambda a, b: a <= b),
    "$in": lambda value, operand: any(_same(value, each) for each in operand),
    "$nin": lambda value, operand: not any(_same(value, each) for each in operand),
    "$contains": _contains,
    "$match": _match,
    "$exists": lambda value, operand: (value is not _MISSING and value is not None) is operand,
}


def evaluate(where: Where, test: Callable[[Test], T], join: Callable[[str, list[T]], T]) -> T:
    """Walk a filter: `test` decides a condition, `join` combines. One walk for rows and for columns."""
    if isinstance(where, Test):
        return test(where)
    return join(where.connective, [evaluate(part, test, join) for part in where.parts])


def names(where: Where | None, field: str) -> bool:
    """Whether a filter has a condition on this record field."""
    if where is None:
        return False
    return evaluate(where, lambda test: test.key == field and not test.metadata, lambda connective, parts: any(parts))


def matches(where: Where | None, record: Record | RowView) -> bool:
    """Whether a record passes a filter."""
    return where is None or predicate(where)(record)


def predicate(where: Where) -> Callable[[Record | RowView], bool]:
    """A filter as a function, for many records: the tree is walked once, not once for each of them."""
    return evaluate(where, _test, _joined)


def _test(test: Test) -> Callable[[Any], bool]:
    holds, operand = _TESTS[test.operator], test.operand
    return lambda record: holds(value_of(record, test), operand)


def _joined(connective: str, parts: list[Callable[[Any], bool]]) -> Callable[[Any], bool]:
    if connective == "$not":
        return lambda record: not parts[0](record)
    if connective == "$and":
        return lambda record: all(part(record) for part in parts)
    return lambda record: any(part(record) for part in parts)


def _join(connective: str, parts: list[bool]) -> bool:
    if connective == "$not":
        return not parts[0]
    return all(parts) if connective == "$and" else any(parts)


def value_of(record: Record | RowView, test: Test) -> Any:
    """What a condition looks at in a record, or `MISSING`."""
    if test.metadata:
        return record.metadata.get(test.key, _MISSING)
    if test.key in ("subject", "predicate", "object"):
        return _MISSING if record.triple is None else getattr(record.triple, test.key)
    value = getattr(record, test.key)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return list(value)  # as operands are
    return _MISSING if value is None else value
