"""What was worked out about texts, kept so that it is worked out once; an erasure empties it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, cast

_Work = TypeVar("_Work", bound=Callable[..., Any])
_KEPT: list[Any] = []


def of_texts(most: int) -> Callable[[_Work], _Work]:
    """Keep the values of the `most` texts that a pure function was last given.

    >>> @of_texts(10)
    ... def length(text: str) -> int:
    ...     return len(text)
    >>> length("tea"), length("tea")
    (3, 3)
    """

    def kept(work: _Work) -> _Work:
        found = lru_cache(maxsize=most)(work)
        _KEPT.append(found)
        return cast("_Work", found)

    return kept


def forget() -> None:
    """Let go of all texts: one of them may have been erased."""
    for each in _KEPT:
        each.cache_clear()
