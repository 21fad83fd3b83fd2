"""How memories fade, and which may go (D6): pure functions of a record, the settings and `now`.

Nothing is written back: a record keeps its importance, and what it is worth now is computed when
somebody asks. Ranking does not use it, since age decay in ranking is measurably harmful.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from shared_core.settings import Decay
from shared_core.values import Kind, Record, Status

EXPIRED, UNSURE, FADED = "expired", "low confidence", "faded"
"""The reasons for which a memory may go."""

_DAY = timedelta(days=1)
DEFAULT = Decay()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a record may go: the reason, what it is worth now, its age and how long nobody recalled it, in days."""

    reason: str
    worth: float
    age: float
    idle: float


def age(record: Record, now: datetime) -> float:
    """Days since it happened, or since it was stored where that is not known; since it was confirmed, if later.

    What lies ahead has no age yet.
    """
    since = record.event_time or record.created_at
    if record.confirmed_at is not None and record.confirmed_at > since:
        since = record.confirmed_at
    return max(0.0, (now - since) / _DAY)


def idle(record: Record, now: datetime) -> float:
    """Days since it was last recalled; since it was stored, if it never was."""
    since = max(record.created_at, record.accessed_at or record.created_at)
    return max(0.0, (now - since) / _DAY)


def worth(record: Record, now: datetime, settings: Decay = DEFAULT) -> float:
    """What is left of a record's importance: less `age / days`, less what disuse takes, never under 0.

    `importance - age/60 - 0.1 * (1 - 0.5 ** (idle/30))` with the defaults. A pinned memory keeps its
    importance.

    >>> from datetime import UTC
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> tea = Record(id="1", kind=Kind.FACT, text="tea", created_at=at, updated_at=at)
    >>> worth(tea, at), round(worth(tea, at + timedelta(days=12)), 3)
    (0.5, 0.276)
    """
    if record.pinned:
        return record.importance
    lost = age(record, now) / settings.days
    unused: float = settings.disuse * (1 - 0.5 ** (idle(record, now) / settings.disuse_days))
    return max(0.0, record.importance - lost - unused)


def verdict(record: Record, now: datetime, settings: Decay = DEFAULT) -> Verdict | None:
    """Why a record may go, or None if it stays.

    What has expired goes whatever its kind; else what is active, of a kind that fades, and either
    of a confidence or of a worth under its threshold. A pinned memory stays whatever it is, and so
    do values of a LangGraph store, which has its own rules.
    """
    if record.pinned or record.kind is Kind.ITEM:
        return None
    found = Verdict(EXPIRED, worth(record, now, settings), age(record, now), idle(record, now))
    if record.expires_at is not None and record.expires_at <= now:
        return found
    if record.status is not Status.ACTIVE or record.kind.value not in settings.kinds:
        return None
    if record.confidence < settings.confidence:
        return Verdict(UNSURE, found.worth, found.age, found.idle)
    if found.worth < settings.threshold:
        return Verdict(FADED, found.worth, found.age, found.idle)
    return None
