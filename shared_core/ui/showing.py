"""How what is remembered is shown: as text, whatever it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from shared_core.commands.terminal import inert
from shared_core.store.rows import instant

_SHORT = 280  # characters of a text in a list
_WHOLE = 20_000  # characters of a text on its own page, before it is asked for whole
# They change the order in which what follows is shown, be it our own words.
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN = {code: f"⟦U+{code:04X}⟧" for code in _BIDI}


def visible(text: object) -> str:
    """Text without a character that acts on what is around it: controls and changes of direction become visible.

    The templates escape it for HTML, as they do everything.

    >>> visible("a\\u202eb\\x1b[31m\\x00")
    'a⟦U+202E⟧b␛[31m␀'
    """
    return inert(str(text)).translate(_SHOWN)


def brief(text: object, most: int = _SHORT) -> str:
    """The beginning of a text, on one line.

    >>> brief("one\\ntwo  three", 9)
    'one two…'
    """
    given = str(text)
    line = " ".join(given[: 4 * most].split())
    if len(line) <= most and len(given) <= 4 * most:
        return visible(line)
    return visible(line[: most - 1].rstrip()) + "…"


def long(text: object, whole: bool = False) -> tuple[str, int]:
    """A text for its own page, and how many characters of it are left out."""
    given = str(text)
    shown = given if whole else given[:_WHOLE]
    return visible(shown), len(given) - len(shown)


def when(time: datetime | None) -> str:
    """A time to the minute, in UTC."""
    return "" if time is None else f"{time:%Y-%m-%d %H:%M}"


def moment(micros: int | None) -> str:
    """A time that rows hold, in microseconds, to the minute."""
    return when(None if micros is None else instant(micros))


def day(time: datetime) -> str:
    """The day of a time, in UTC."""
    return f"{time:%Y-%m-%d}"


def stamp(time: datetime | None) -> str:
    """A time as a form's field for times takes it."""
    return "" if time is None else f"{time:%Y-%m-%dT%H:%M}"


def number(value: float | int) -> str:
    """A count with its thousands, a share with two places.

    >>> number(12000), number(0.5)
    ('12,000', '0.50')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def as_json(value: Any) -> str:
    """A JSON value as text for people."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str, sort_keys=True)


def link(path: str, **given: Any) -> str:
    """An address of the page with its parameters; lists give one each, None and "" none.

    >>> link("/memories", user="a/b", kind=["fact", "rule"], q="")
    '/memories?user=a%2Fb&kind=fact&kind=rule'
    """
    pairs = []
    for name, value in given.items():
        for each in value if isinstance(value, list | tuple) else [value]:
            if each is not None and each != "":
                pairs.append(f"{name}={quote(str(each), safe='', errors='surrogatepass')}")
    return path + ("?" + "&".join(pairs) if pairs else "")


def changed(before: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """What an entry of a history says besides its action: names and values."""
    return [
        (str(name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
        for name, value in (before or {}).items()
    ]
