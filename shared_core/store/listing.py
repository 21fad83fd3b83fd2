"""Rows of records looked at column by column: a list and a filter need a few fields of many records.

Building 10,000 `Record`s takes half a second, reading three columns of them a few milliseconds. What is
read here reads like a `Record`, so that filters decide about both by the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shared_core.store.rows import instant, load
from shared_core.values import Triple

_Layout = Mapping[str, tuple[int, Callable[[Any], Any] | None]]
_TIMES = ("event_time", "expires_at", "valid_from", "valid_until", "confirmed_at", "created_at", "updated_at")

# In the order of the statement `listed_rows`.
_LIGHT_COLUMNS = (
    "seq", "id", "kind", "type", "source", "session", "importance", "confidence", "status", "seen", "pinned", "role",
    "event_time", "expires_at", "created_at", "updated_at",
)  # fmt: skip
# In the order of `{record}`, without what is counted apart from it.
_WHOLE_COLUMNS = (
    "seq", "id", "kind", "type", "text", "subject", "predicate", "object", "polarity", "entities", "source", "importance",
    "confidence", "metadata", "event_time", "expires_at", "pinned", "session", "message_id", "role", "name", "status",
    "seen", "", "", "supersedes", "superseded_by", "valid_from", "valid_until", "created_at", "updated_at", "confirmed_at",
)  # fmt: skip


def _layout(names: tuple[str, ...]) -> _Layout:
    converters: dict[str, Callable[[Any], Any]] = dict.fromkeys(_TIMES, instant)
    converters |= {"metadata": load, "entities": lambda text: tuple(load(text)), "pinned": bool, "polarity": bool}
    return {name: (place, converters.get(name)) for place, name in enumerate(names) if name}


LIGHT: _Layout = _layout(_LIGHT_COLUMNS)
"""Columns that cost little: neither texts nor JSON."""

WHOLE: _Layout = _layout(_WHOLE_COLUMNS)
"""All columns of a record."""


class RowView:
    """A row that reads like a `Record`, a field at a time; its kind and status are plain texts."""

    __slots__ = ("_layout", "_row")

    def __init__(self, row: tuple[Any, ...], layout: _Layout = WHOLE) -> None:
        self._row = row
        self._layout = layout

    def __getattr__(self, name: str) -> Any:
        try:
            place, convert = self._layout[name]
        except KeyError:
            raise AttributeError(name) from None
        value = self._row[place]
        if value is None:
            return {} if name == "metadata" else () if name == "entities" else None
        return value if convert is None else convert(value)

    @property
    def triple(self) -> Triple | None:
        """Subject, predicate and object, if it has them."""
        place = self._layout["subject"][0]
        parts = self._row[place : place + 3]
        return None if parts[0] is None else Triple(*parts)
