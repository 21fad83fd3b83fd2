"""How a memory grows: records by kind, by importance and by day (C7). Pure functions of records and `now`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from shared_core.errors import InvalidInput
from shared_core.values import Record

BANDS: Final = ("over 0.7", "over 0.4", "the rest")
DAYS: Final = 30


@dataclass(frozen=True)
class Growth:
    """Records by kind, in each band of importance, and stored on each of the last days, oldest first."""

    by_kind: dict[str, int]
    by_importance: dict[str, int]
    by_day: dict[date, int]
    before: int
    """Records from before those days."""

    @property
    def records(self) -> int:
        """All of them."""
        return sum(self.by_kind.values())

    @property
    def a_day(self) -> float:
        """The mean of a day."""
        return sum(self.by_day.values()) / len(self.by_day)

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        return {
            "records": self.records,
            "by_kind": self.by_kind,
            "by_importance": self.by_importance,
            "by_day": {day.isoformat(): count for day, count in self.by_day.items()},
            "before": self.before,
            "a_day": self.a_day,
        }


def band(importance: float) -> str:
    """The band of an importance.

    >>> band(0.71), band(0.7), band(0.4)
    ('over 0.7', 'over 0.4', 'the rest')
    """
    return BANDS[0] if importance > 0.7 else BANDS[1] if importance > 0.4 else BANDS[2]


def growth(records: Iterable[Record], now: datetime, days: int = DAYS) -> Growth:
    """What was stored, counted; a day is one of UTC, and the last of them is that of `now`.

    Raises `InvalidInput` for less than a day.
    """
    if days < 1:
        raise InvalidInput(f"days is a whole number from 1, not {days}")
    last = now.date()
    by_day = {last - timedelta(days=ago): 0 for ago in range(days - 1, -1, -1)}
    kinds: Counter[str] = Counter()
    bands: Counter[str] = Counter()
    before = 0
    for record in records:
        kinds[record.kind.value] += 1
        bands[band(record.importance)] += 1
        day = record.created_at.date()
        if day in by_day:
            by_day[day] += 1
        elif day < last:
            before += 1
    return Growth(dict(sorted(kinds.items())), {name: bands[name] for name in BANDS}, by_day, before)
