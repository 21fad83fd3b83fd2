"""A memory of another system: what it said, when, and whether it still holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats.conversation import as_name


@dataclass(frozen=True)
class Told:
    """One memory out of an export.

    `id` is the same at every reading, so that an import knows it again. `user` is whose it is if the
    file tells. What has `ended` was replaced or became false there: it is kept as history.
    """

    id: str
    text: str
    user: str | None = None
    kind: str = "fact"
    type: str | None = None
    triple: tuple[str, str, str] | None = None
    source: str = "import"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    ended: bool = False
    pinned: bool = False


def needed(value: Mapping[str, Any], key: str, what: str) -> str:
    """A text that a memory can't do without.

    >>> needed({"memory": "likes tea"}, "memory", "a memory")
    'likes tea'
    """
    found = value.get(key)
    if not isinstance(found, str) or not found.strip():
        raise InvalidInput(f"{what} needs {key!r}, a text")
    return found


def identity(value: Mapping[str, Any], *keys: str, what: str) -> str:
    """The id that another system gave a memory."""
    for key in keys:
        if name := as_name(value.get(key)):
            return name
    raise InvalidInput(f"{what} needs an {keys[0]!r}, by which it is known again")


def without_nothing(**values: Any) -> dict[str, Any]:
    """The values that are there: not None, not empty.

    >>> without_nothing(hash="x", run=None, tags=[])
    {'hash': 'x'}
    """
    return {key: value for key, value in values.items() if value is not None and value != [] and value != {}}


def spoken(name: str) -> str:
    """A relation's name in words.

    >>> spoken("WORKS_AT"), spoken("喜欢")
    ('works at', '喜欢')
    """
    return " ".join(name.replace("_", " ").lower().split())
