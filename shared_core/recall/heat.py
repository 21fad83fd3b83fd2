"""Which scope leaves memory first: the one used least, of late. Pure bookkeeping.

Least frequently used with ageing (LFU-DA; Arlitt et al. 1999): a use is worth one more than what was
evicted last, so a scope that was busy long ago cools down, and a sweep over a thousand scopes,
each used once, does not push out the one that is used all day, as the least recently used would.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Heat(Generic[K]):
    """The uses of things that are in memory.

    >>> heat = Heat()
    >>> for name in ("often", "once", "often"): heat.touch(name)
    >>> heat.coldest(["often", "once"], but="new")
    'once'
    """

    def __init__(self) -> None:
        self._age = 0  # the heat of what was evicted last
        self._clock = 0
        self._heat: dict[K, tuple[int, int, int]] = {}  # heat, last use, uses
        self.evicted = 0

    def touch(self, key: K) -> None:
        """Count a use."""
        self._clock += 1
        heat, _, uses = self._heat.get(key, (self._age, 0, 0))
        # However hot, it cools down to the newcomers within as many evictions as it has uses to count.
        self._heat[key] = (max(heat, self._age) + 1, self._clock, uses + 1)

    def uses(self, key: K) -> int:
        """How often it was used since it is in memory."""
        return self._heat[key][2] if key in self._heat else 0

    def coldest(self, keys: Iterable[K], *, but: K) -> K | None:
        """What leaves next: the least heat, of equals the one used longest ago; None if only `but` is left."""
        others = [key for key in keys if key != but]
        return min(others, key=lambda key: self._heat.get(key, (0, 0, 0))[:2]) if others else None

    def evict(self, key: K) -> None:
        """Say that something left for want of room."""
        self._age = max(self._age, self._heat.get(key, (0, 0, 0))[0])
        self.evicted += 1
        self.forget([key])

    def forget(self, keys: Collection[K]) -> None:
        """Say that things are gone, for whatever reason."""
        for key in keys:
            self._heat.pop(key, None)
