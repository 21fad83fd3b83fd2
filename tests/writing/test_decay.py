"""How memories fade: with age and disuse, never the pinned ones, and by when it happened, not when it was told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared_core import Record
from shared_core.settings import Decay
from shared_core.values import Kind, Status
from shared_core.writing.decay import EXPIRED, FADED, UNSURE, age, idle, verdict, worth

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def record(days: float = 0, **fields: Any) -> Record:
    at = NOW - timedelta(days=days)
    return Record(**{"id": "1", "kind": Kind.FACT, "text": "tea", "created_at": at, "updated_at": at, **fields})


def test_d6_importance_falls_by_a_sixtieth_a_day_and_by_disuse() -> None:
    assert worth(record(0), NOW) == 0.5
    assert worth(record(6, accessed_at=NOW), NOW) == pytest.approx(0.5 - 6 / 60)
    # Nobody recalled it for 30 days: half of the 0.1 that disuse can take.
    assert worth(record(30, importance=1.0), NOW) == pytest.approx(1.0 - 30 / 60 - 0.05)
    assert worth(record(1_000), NOW) == 0.0
    assert worth(record(30, importance=1.0), NOW, Decay(days=120, disuse=0.2)) == pytest.approx(1.0 - 0.25 - 0.1)


def test_d6_the_longer_ago_and_the_less_used_the_less_it_is_worth() -> None:
    values = [worth(record(days, importance=0.9), NOW) for days in (0, 1, 10, 20, 30)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 5
    assert worth(record(20, accessed_at=NOW), NOW) > worth(record(20), NOW)


def test_r56_d6_age_is_counted_from_the_event_and_what_lies_ahead_has_none() -> None:
    told_today_of_last_year = record(0, event_time=NOW - timedelta(days=365))
    assert age(told_today_of_last_year, NOW) == 365
    assert worth(told_today_of_last_year, NOW) < worth(record(10), NOW)
    assert age(record(9, event_time=NOW + timedelta(days=30)), NOW) == 0
    assert age(record(50, confirmed_at=NOW - timedelta(days=2)), NOW) == 2
    assert idle(record(50, accessed_at=NOW - timedelta(days=3)), NOW) == 3


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"days": 0}, None),
        ({"days": 40}, FADED),
        ({"days": 40, "importance": 1.0}, None),
        ({"days": 40, "pinned": True}, None),
        ({"days": 0, "confidence": 0.2}, UNSURE),
        ({"days": 0, "confidence": 0.2, "pinned": True}, None),
        ({"days": 2, "expires_at": NOW}, EXPIRED),
        ({"days": 2, "expires_at": NOW + timedelta(seconds=1)}, None),
        ({"days": 2, "expires_at": NOW, "pinned": True}, None),
        ({"days": 2, "expires_at": NOW, "status": Status.SUPERSEDED}, EXPIRED),
        ({"days": 400, "status": Status.SUPERSEDED}, None),
        ({"days": 400, "status": Status.WAITING}, None),
        ({"days": 400, "kind": Kind.TURN}, None),
        ({"days": 400, "kind": Kind.RULE}, None),
        ({"days": 400, "kind": Kind.ITEM, "expires_at": NOW}, None),
        ({"days": 400, "kind": Kind.SUMMARY}, FADED),
        ({"days": 400, "kind": Kind.EVENT}, FADED),
    ],
)
def test_d6_what_may_go_and_why(fields: dict[str, Any], reason: str | None) -> None:
    found = verdict(record(**fields), NOW)
    assert (found and found.reason) == reason


def test_d6_the_kinds_that_fade_are_a_setting() -> None:
    assert verdict(record(400, kind=Kind.TURN), NOW, Decay(kinds=("turn",))) is not None
    assert verdict(record(400), NOW, Decay(kinds=("turn",))) is None
