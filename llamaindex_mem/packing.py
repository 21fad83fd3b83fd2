"""Values of any kind as JSON, and back: the free dicts of a message hold whatever a provider put there.

JSON's own values stay as they are. The rest becomes `{"$twinmem": kind, "value": ...}`, so that a
tuple is a tuple again when it is read. Writing never fails: what nothing fits is kept as its
`repr`, with a warning in the log. Reading never fails: a tag it does not know stays a dict.
"""

from __future__ import annotations

import base64
import dataclasses
import logging
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from io import IOBase
from pathlib import Path, PurePath
from typing import Any
from uuid import UUID

from pydantic import AnyUrl, BaseModel

TAG = "$twinmem"
_DEEPEST = 64

logger = logging.getLogger(__name__)


def pack(value: Any) -> Any:
    """`value` as JSON, never the same object and never a failure.

    >>> pack({"when": date(2026, 1, 2), "n": 1})
    {'when': {'$twinmem': 'date', 'value': '2026-01-02'}, 'n': 1}
    """
    return _pack(value, ())


def unpack(value: Any) -> Any:
    """What `pack` was given, as far as JSON and the tags can tell.

    >>> unpack(pack({"when": (date(2026, 1, 2), b"x"), 1: float("inf")}))
    {'when': (datetime.date(2026, 1, 2), b'x'), 1: inf}
    """
    if isinstance(value, list):
        return [unpack(part) for part in value]
    if not isinstance(value, dict):
        return value
    reader = _READERS.get(str(value.get(TAG))) if set(value) == {TAG, "value"} else None
    if reader is not None:
        try:
            return reader(value["value"])
        except (ValueError, TypeError, ArithmeticError):
            return value["value"]  # a redactor or another program changed it
    return {key: unpack(part) for key, part in value.items()}


def plain(value: Any) -> Any:
    """A packed value without its tags, as any framework reads it.

    >>> plain(pack({"when": date(2026, 1, 2), "tags": ("a", 1)}))
    {'when': '2026-01-02', 'tags': ['a', 1]}
    """
    if isinstance(value, list):
        return [plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {TAG, "value"}:
        if value[TAG] == "dict":
            return {str(plain(key)): plain(part) for key, part in value["value"]}
        return plain(value["value"])
    return {key: plain(part) for key, part in value.items()}


def _tagged(kind: str, value: Any) -> dict[str, Any]:
    return {TAG: kind, "value": value}


def _pack(value: Any, path: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _pack(value.value, path)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _tagged("float", repr(float(value)))
    if id(value) in path or len(path) >= _DEEPEST:
        return _unknown(value)
    path = (*path, id(value))
    if isinstance(value, Mapping):
        return _mapping(value, path)
    if isinstance(value, list):
        return [_pack(part, path) for part in value]
    for kind, types, write in _WRITERS:
        if isinstance(value, types):
            return _tagged(kind, _pack(write(value), path))
    return _object(value, path)


def _mapping(value: Mapping[Any, Any], path: tuple[int, ...]) -> dict[str, Any]:
    if TAG in value or not all(isinstance(key, str) and not isinstance(key, Enum) for key in value):
        return _tagged("dict", [[_pack(key, path), _pack(part, path)] for key, part in value.items()])
    return {str(key): _pack(part, path) for key, part in value.items()}


def _object(value: Any, path: tuple[int, ...]) -> Any:
    """An object as the dict, list or text it stands for."""
    if isinstance(value, AnyUrl):
        return str(value)
    try:
        if isinstance(value, BaseModel):
            return _pack(_dumped(value), path)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return _pack({field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, path)
        if isinstance(value, IOBase):
            return _pack(_content(value), path)
        if hasattr(value, "dtype") and callable(getattr(value, "tolist", None)):  # numpy's scalars and arrays
            return _pack(value.tolist(), path)
        if not isinstance(value, type):
            for name in ("to_dict", "model_dump", "dict"):
                if callable(method := getattr(value, name, None)):
                    return _pack(method(), path)
    except Exception:  # a stranger's method may raise anything, and the message is kept all the same
        logger.debug("%s could not be taken apart", type(value).__name__, exc_info=True)
    return _unknown(value)


def _dumped(value: BaseModel) -> Any:
    try:
        return value.model_dump(warnings="none")
    except Exception:  # noqa: BLE001  the same: a field of it can't be dumped
        return fields(value)


def fields(value: BaseModel) -> dict[str, Any]:
    """The fields of a model as they are, without its serialisers, which may fail."""
    named = {name: getattr(value, name) for name in type(value).model_fields}
    return named | (value.model_extra or {})


def _content(stream: IOBase) -> Any:
    place = stream.tell()
    stream.seek(0)
    content = stream.read()
    stream.seek(place)
    return content


def _unknown(value: Any) -> str:
    try:
        text = repr(value) if not isinstance(value, Mapping | list | tuple | set) else f"<{type(value).__name__}>"
    except Exception:  # noqa: BLE001  a repr may raise anything too
        text = f"<{type(value).__name__}>"
    logger.warning("a %s in a message can't be kept as JSON; its repr is kept", type(value).__name__)
    return text


def _bytes(value: bytes | bytearray | memoryview) -> str:
    return base64.b64encode(bytes(value)).decode("ascii")


_WRITERS: tuple[tuple[str, Any, Callable[[Any], Any]], ...] = (
    ("bytes", (bytes, bytearray, memoryview), _bytes),
    ("tuple", tuple, list),
    ("frozenset", frozenset, lambda value: sorted(value, key=repr)),
    ("set", set, lambda value: sorted(value, key=repr)),
    ("datetime", datetime, datetime.isoformat),
    ("date", date, date.isoformat),
    ("time", time, time.isoformat),
    ("timedelta", timedelta, lambda value: [value.days, value.seconds, value.microseconds]),
    ("decimal", Decimal, str),
    ("uuid", UUID, str),
    ("path", PurePath, str),
)
_READERS: dict[str, Callable[[Any], Any]] = {
    "bytes": lambda value: base64.b64decode(value, validate=True),
    "tuple": lambda value: tuple(unpack(value)),
    "frozenset": lambda value: frozenset(unpack(value)),
    "set": lambda value: set(unpack(value)),
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda value: timedelta(*value),
    "decimal": Decimal,
    "uuid": UUID,
    "path": Path,
    "float": float,
    "dict": lambda value: {unpack(key): unpack(part) for key, part in value},
}
