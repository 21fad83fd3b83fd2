"""Times as the public sets write them, Chinese and English, read leniently: a date only helps a ranking."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

_YEAR_FIRST = re.compile(r"(\d{4})\s*[年/.-]\s*(\d{1,2})\s*[月/.-]\s*(\d{1,2})")
_DAY_FIRST = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
_CLOCK = re.compile(
    r"(上午|早上|早晨|清晨|凌晨|中午|下午|傍晚|晚上|[ap]\.?m\.?)?\s*(\d{1,2})\s*[:：点时]\s*(\d{1,2})?"
    r"(?:\s*[:：分]\s*(\d{1,2}))?(?:\.\d+)?\s*([ap]\.?m\b)?",
    re.I,
)
_AFTERNOON = ("下午", "傍晚", "晚上", "p")


def read_time(value: Any) -> datetime | None:
    """A time as aware UTC (what has no offset is taken as UTC); None where there is none to be read.

    >>> read_time("2023年5月8日 星期一 下午3:30").isoformat(), read_time("2023/05/30 (Tue) 23:40").isoformat()
    ('2023-05-08T15:30:00+00:00', '2023-05-30T23:40:00+00:00')
    >>> read_time("some day") is None
    True
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _since_1970(float(value))
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        exact = datetime.fromisoformat(text)
        return exact.replace(tzinfo=UTC) if exact.tzinfo is None else exact.astimezone(UTC)
    except (ValueError, OverflowError):
        return _loosely(text)


def _since_1970(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _loosely(text: str) -> datetime | None:
    if found := _YEAR_FIRST.search(text):
        year, month, day = (int(part) for part in found.groups())
    elif found := _DAY_FIRST.search(text):
        day, month, year = (int(part) for part in found.groups())
    else:
        return None
    hour, minute, second = _clock(text[found.end() :])
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def _clock(text: str) -> tuple[int, int, int]:
    found = _CLOCK.search(text)
    if found is None:
        return 0, 0, 0
    half = (found[1] or found[5] or "").lower()
    hour = int(found[2])
    if half.startswith(_AFTERNOON) and hour < 12:
        hour += 12
    elif hour == 12 and half.startswith(("凌晨", "a")):
        hour = 0
    return hour, int(found[3] or 0), int(found[4] or 0)
