"""JSON values of untrusted files: nested no deeper than fits, numbers that can be kept, text that is UTF-8.

The same limits hold for a value built from parser events (`Builder`) and for one line (`loads`).
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any, NoReturn

from shared_core.errors import InvalidInput

MAX_DEPTH = 100  # far above any export seen; the JSON encoder that stores a payload gives up near 1,000

MAX_VALUES = 5_000_000  # in one item: each takes up to 70 bytes of memory for three of the file
_LONG = 2 * MAX_VALUES  # characters under which there can't be so many

_TOO_MANY = f"more than {MAX_VALUES} values in one item"
_TOO_DEEP = f"lists and objects are nested deeper than {MAX_DEPTH} levels"
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)


class Refused(ValueError):
    """A value that is valid JSON but not acceptable; the caller adds where it stands."""


class Builder:
    """Assembles one value from parser events; `value` can be looked at before it is complete."""

    def __init__(self) -> None:
        self.value: Any = None
        self._open: list[Any] = []
        self._key = ""
        self._values = 0

    def feed(self, event: str, value: Any) -> bool:
        """Takes one event; True when the value is complete."""
        if event == "map_key":
            self._key = mended(value)
            return False
        if event in ("end_map", "end_array"):
            if self._open:
                self._open.pop()
            return not self._open
        self._values += 1
        if self._values > MAX_VALUES:
            raise Refused(_TOO_MANY)
        if event == "string":
            value = mended(value)
        elif event == "number":
            value = _number(value)
        elif event == "start_map":
            value = {}
        elif event == "start_array":
            value = []
        self._place(value)
        if event in ("start_map", "start_array"):
            if len(self._open) >= MAX_DEPTH:
                raise Refused(_TOO_DEEP)
            self._open.append(value)
        return not self._open

    def _place(self, value: Any) -> None:
        if not self._open:
            self.value = value
        elif isinstance(self._open[-1], list):
            self._open[-1].append(value)
        else:
            self._open[-1][self._key] = value


def loads(line: bytes, where: str) -> Any:
    """The value of one line; `InvalidInput` names `where` it stands."""
    try:
        check_values(line)
        text = line.decode()
        if "\\ud" in text or "\\uD" in text:
            text = _ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
        value = json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=_constant)
        # As many brackets as this are needed to be too deep; most lines are spared the walk.
        if text.count("[") + text.count("{") > MAX_DEPTH:
            _check_depth(value)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{where}: {not_utf8(error)}") from error
    except RecursionError as error:
        raise InvalidInput(f"{where}: {_TOO_DEEP}") from error
    except Refused as error:
        raise InvalidInput(f"{where}: {error}") from error
    except ValueError as error:
        raise InvalidInput(f"{where}: broken JSON ({first_line(error)})") from error
    return value


def check_values(line: bytes) -> None:
    """Refuse a line of so many values that they would not fit into memory; commas in its texts are counted along."""
    if len(line) > _LONG and sum(line.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
        raise Refused(_TOO_MANY)


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        children = (child for each in level for child in (each.values() if isinstance(each, dict) else each))
        level = [child for child in children if isinstance(child, dict | list)]
        if not level:
            return
    raise Refused(_TOO_DEEP)


def _number(value: int | Decimal) -> int | float:
    return _float(value) if isinstance(value, Decimal) else _integer(value)


def _integer(value: int | str) -> int:
    if isinstance(value, str) and len(value) > 20:
        raise Refused(f"the number {value[:20]}... is too large; whole numbers have at most 64 bits")
    number = int(value)
    if not -(2**63) <= number < 2**64:
        raise Refused(f"the number {_short(number)} is too large; whole numbers have at most 64 bits")
    return number


def _float(value: Decimal | str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise Refused(f"the number {str(value)[:20]} is too large; numbers end at 1.8e308")
    return number


def _constant(name: str) -> NoReturn:
    raise Refused(f"{name} is not a JSON number; write null")


def _short(number: int) -> str:
    text = str(number)
    return text if len(text) <= 20 else text[:20] + "..."


def mended(text: str) -> str:
    """The text, with half emojis replaced.

    Half an emoji, as truncated exports hold, can't be stored as UTF-8; it becomes U+FFFD.
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def not_utf8(error: UnicodeDecodeError) -> str:
    """What to say of bytes that are not UTF-8."""
    return f"not valid UTF-8 (byte 0x{error.object[error.start]:02x}); save the file as UTF-8"


def first_line(error: BaseException) -> str:
    """A parser's complaint, short enough for a message; parsers quote the text at length."""
    line = str(error).partition("\n")[0]
    return line if len(line) <= 120 else line[:120] + "..."
