"""Dates in a question, and how near a record's own time is to them."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

import numpy as np

from shared_core.recall.arrays import Floats, NDArray

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_MONTH = "|".join(_MONTHS)
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b(?:,? (\d{{4}}))?")
_MONTH_DAY = re.compile(rf"\b({_MONTH})\b(?: (\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,? (\d{{4}}))?")
_IN_MAY = re.compile(r"\b(?:in|of|during|since|by|last|this|next|early|late) may\b")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_CHINESE = re.compile(r"(?:(\d{4})\s*年\s*)?(\d{1,2})\s*月(?:份)?(?:\s*(\d{1,2})\s*[日号])?")
_CHINESE_YEAR = re.compile(r"(\d{4})\s*年(?!\s*\d{1,2}\s*月)")
_NEAR_DAYS = 10


class Asked(NamedTuple):
    """A date in a question; None where it doesn't say."""

    year: int | None
    month: int | None
    day: int | None


def asked_dates(text: str, now: datetime) -> list[Asked]:
    """The dates a question names, relative ones counted from `now`.

    >>> from datetime import UTC
    >>> now = datetime(2026, 5, 20, tzinfo=UTC)
    >>> asked_dates("What did I do on 8 May, 2023?", now)
    [Asked(year=2023, month=5, day=8)]
    >>> asked_dates("昨天我说了什么？", now), asked_dates("What happened last month?", now)
    ([Asked(year=2026, month=5, day=19)], [Asked(year=2026, month=4, day=None)])
    """
    lower = text.lower()
    found = [Asked(int(m[1]), int(m[2]), int(m[3])) for m in _ISO.finditer(lower)]
    found += [Asked(_number(m[3]), _MONTHS.index(m[2]) + 1, int(m[1])) for m in _DAY_MONTH.finditer(lower)]
    for m in _MONTH_DAY.finditer(lower):
        if m[1] == "may" and not (m[2] or m[3]) and not _IN_MAY.search(lower):
            continue  # the verb
        month = _MONTHS.index(m[1]) + 1
        if not any(date.month == month for date in found):
            found.append(Asked(_number(m[3]), month, _number(m[2])))
    found += [Asked(_number(m[1]), int(m[2]), _number(m[3])) for m in _CHINESE.finditer(text)]
    found = [asked for asked in found if _possible(asked)]
    if not found:
        years = [*_YEAR.findall(lower), *_CHINESE_YEAR.findall(text)]
        found = [Asked(int(year), None, None) for year in dict.fromkeys(years)]
    return found or _relative(lower, now)


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _possible(asked: Asked) -> bool:
    return 1 <= (asked.month or 1) <= 12 and 1 <= (asked.day or 1) <= 31 and (asked.year or 2000) > 0


_DAYS_AGO = {
    "yesterday": 1,
    "昨天": 1,
    "昨日": 1,
    "昨晚": 1,
    "the day before yesterday": 2,
    "前天": 2,
    "today": 0,
    "今天": 0,
}


def _relative(lower: str, now: datetime) -> list[Asked]:
    for words in sorted(_DAYS_AGO, key=len, reverse=True):
        if words in lower:
            day = (now - timedelta(days=_DAYS_AGO[words])).date()
            return [Asked(day.year, day.month, day.day)]
    if "last month" in lower or "上个月" in lower or "上月" in lower:
        month = now.date().replace(day=1) - timedelta(days=1)
        return [Asked(month.year, month.month, None)]
    if "last year" in lower or "去年" in lower:
        return [Asked(now.year - 1, None, None)]
    return []


def nearness(asked: list[Asked], times: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """How well each time (microseconds since 1970) fits the dates asked for: exactly, and nearly.

    Exactly: within a day where a day is asked for, inside the month where a month is. Nearly: up
    to ten days away, falling; the first half of the month after (people tell of what has just
    been); anywhere in a year that is asked for alone.
    """
    exact = np.zeros(len(times), np.float32)
    near = np.zeros(len(times), np.float32)
    moments = times.astype("datetime64[us]")
    days = moments.astype("datetime64[D]").astype(np.int64)
    months = moments.astype("datetime64[M]").astype(np.int64)
    years = months // 12 + 1970
    for year, month, day in asked:
        inside = np.ones(len(times), np.bool_) if year is None else years == year
        if day is not None and month is not None:
            away = _days_away(days, years, year, month, day)
            exact[(away <= 1) & inside] = 1.0
            close = (away > 1) & (away <= _NEAR_DAYS) & inside
            near[close] = np.maximum(near[close], 1 - away[close] / (_NEAR_DAYS + 1))
        elif month is not None:
            of_year = months % 12 + 1
            exact[(of_year == month) & inside] = 1.0
            first_half = (days - moments.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)) < 15
            after = ((of_year - month) % 12 == 1) & first_half & inside
            near[after] = np.maximum(near[after], 0.5)
        else:
            near[inside] = np.maximum(near[inside], 0.5)
    return exact, near


def _days_away(
    days: NDArray[np.int64], years: NDArray[np.int64], year: int | None, month: int, day: int
) -> NDArray[np.int64]:
    if year is not None:
        return np.abs(days - _ordinal(year, month, day))
    low, high = int(years.min(initial=1970)), int(years.max(initial=1970))
    away = np.full(len(days), np.iinfo(np.int64).max)
    for each in range(low - 1, high + 2):
        away = np.minimum(away, np.abs(days - _ordinal(each, month, day)))
    return away


def _ordinal(year: int, month: int, day: int) -> int:
    """Days since 1970; a day past its month's end counts as the last one."""
    while True:
        try:
            return (date(min(max(year, 1), 9999), month, day) - date(1970, 1, 1)).days
        except ValueError:
            day -= 1
