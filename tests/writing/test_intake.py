"""A caller's arguments as drafts: checked, cut into words, keyed; nothing is written here."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from shared_core import Message, Settings
from shared_core.errors import InvalidInput, InvalidType
from shared_core.recall.text import term_id, terms
from shared_core.store.ledger import turn_id
from shared_core.store.rows import instant, load, micros
from shared_core.writing.intake import Intake, digest, embedded_text, fraction, identifier, kind_of, storable

NOW = micros(datetime(2026, 1, 1, tzinfo=UTC))
INTAKE = Intake(Settings())


def words(blob: bytes | None) -> set[int]:
    return set(array("Q", blob or b""))


def test_a_draft_holds_what_add_was_given() -> None:
    item = INTAKE.record("Ann likes tea", now=NOW, triple=["Ann", "likes", "tea"], entities=("Ann", "Ann", "tea"),
                         metadata={"a": 1}, expires_in=timedelta(hours=1), importance=np.float32(0.5))  # fmt: skip
    assert (item.kind, item.text, item.source, item.importance) == ("fact", "Ann likes tea", "user", 0.5)
    assert type(item.importance) is float
    assert load(item.entities) == ["Ann", "tea"]
    assert instant(item.expires_at or 0) == datetime(2026, 1, 1, 1, tzinfo=UTC)
    assert {term_id(t) for t in terms("Ann likes tea")} <= words(item.words)


def test_only_facts_and_rules_without_an_id_are_told_apart_by_their_text() -> None:
    assert INTAKE.record("x", now=NOW).digest == digest("fact", "x", None)
    assert INTAKE.record("x", now=NOW, kind="rule").digest is not None
    assert INTAKE.record("x", now=NOW, id="y").digest is None
    for kind in ("event", "summary", "item"):
        assert INTAKE.record("x", now=NOW, kind=kind).digest is None
    assert digest("fact", " ｘ\n", None) == digest("fact", "x", None)
    assert (
        len({digest(*a) for a in (("fact", "x", None), ("rule", "x", None), ("fact", "x", 0), ("fact", "X", None))})
        == 4
    )
    assert -(2**63) <= digest("fact", "any", 5) < 2**63  # fits an SQLite integer


def test_a_turn_is_keyed_by_its_session_and_message_id() -> None:
    item = INTAKE.turn(Message(role="user", content="hi", id="m1", name="Ann"), "monday", now=NOW)
    assert (item.kind, item.id, item.message_id, item.role, item.name, item.body) == (
        "turn", turn_id("monday", "m1"), "m1", "user", "Ann", None,
    )  # fmt: skip
    assert INTAKE.turn(Message(role="user", content="hi"), "monday", now=NOW).id is None
    rich = INTAKE.turn(
        Message(role="assistant", content=[{"type": "text", "text": "a"}], tool_calls=({"id": "c"},)), "s", now=NOW
    )
    assert rich.text == "a"
    assert load(rich.body) == {"content": [{"type": "text", "text": "a"}], "tool_calls": [{"id": "c"}]}


@pytest.mark.parametrize("text", ["", "  ", "？！", "..."])
def test_what_says_nothing_is_not_embedded(text: str) -> None:
    assert embedded_text(INTAKE.turn(Message(role="user", content=text), "s", now=NOW)) == ""
    assert embedded_text(INTAKE.record("🎉", now=NOW)) == "🎉"


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float64(0.25), np.int64(1), True and 1.0])
def test_a_fraction_is_any_real_number_from_0_to_1(value: Any) -> None:
    assert fraction(value, "x") == float(value)


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), True, "0.5", None, [0.5]])
def test_and_nothing_else(value: Any) -> None:
    with pytest.raises((InvalidInput, InvalidType), match="importance"):
        fraction(value, "importance")


def test_identifiers_are_any_text_that_can_be_seen_and_stored() -> None:
    for good in ("a", "用户", " padded ", "a/b", "🎉", "x" * 1_000, "a\0b"):
        assert identifier(good, "user", Settings()) == good
        assert storable(good)
    for bad in ("", " ", "\u200b", None, 5, "x" * 1_001, "a\ud83d"):
        with pytest.raises((InvalidInput, InvalidType), match="user"):
            identifier(bad, "user", Settings())
    assert not storable("a\ud83d")
    assert not storable(None)
    assert kind_of("fact") == "fact"
    for bad in ("facts", None, 5, ["fact"]):
        with pytest.raises(InvalidInput, match="turn, fact"):
            kind_of(bad)
