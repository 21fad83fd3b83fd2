"""A record's own score, and what can be mixed into its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Hit, Record
from shared_core.recall.score import coverage, frequency, mixed, own_score, recency, same_text, shown
from shared_core.settings import Mix
from shared_core.testing import FixedEmbedder, ManualClock

NOW = datetime(2026, 1, 1, tzinfo=UTC)
UNIT = st.floats(0, 1)


def record(**more: object) -> Record:
    return Record(**{"id": "x", "kind": "fact", "text": "x", "created_at": NOW, "updated_at": NOW, **more})


@given(st.floats(-1, 1), UNIT, UNIT)
def test_the_score_is_the_cosine_raised_by_matched_words(cosine: float, matched: float, bonus: float) -> None:
    score = own_score(cosine, matched, identical=False, word_bonus=bonus)
    assert 0 <= score <= 1
    assert score >= max(0.0, min(1.0, cosine))
    assert own_score(cosine, 0, identical=False, word_bonus=bonus) == max(0.0, cosine)
    assert own_score(cosine, 1, identical=False, word_bonus=bonus) >= score
    assert own_score(cosine, matched, identical=True, word_bonus=bonus) == 1.0


@given(st.text(max_size=30), st.lists(st.sampled_from(["tea", "milk", "茶"])))
def test_coverage_is_a_share(text: str, asked: list[str]) -> None:
    assert 0 <= coverage(asked, text) <= 1
    assert coverage(asked, " ".join(asked)) == (1 if asked else 0)


def test_texts_that_look_the_same_are_the_same() -> None:
    for a, b in (("Tea ", "tea"), ("ＴＥＡ", "tea"), ("caf\u00e9", "cafe\u0301")):
        assert same_text(a, b)
    assert not same_text("tea", "teas")


def test_recency_halves_every_half_life_from_the_event_on() -> None:
    old = record(event_time=NOW - timedelta(hours=48), created_at=NOW)
    assert recency(old, NOW, 24) == pytest.approx(0.25)
    assert recency(record(), NOW, 24) == recency(record(), NOW - timedelta(days=9), 24) == 1.0
    assert [frequency(n) for n in (0, 1, 10**9)] == [0.0, pytest.approx(0.1386, abs=1e-4), 1.0]
    assert frequency(-1) == 0


@given(UNIT, UNIT, st.integers(0, 500))
def test_a_mix_stays_in_bounds_and_weighs_what_it_says(relevance: float, importance: float, accesses: int) -> None:
    found = record(importance=importance, accesses=accesses)
    value, parts = mixed(relevance, found, Mix(relevance=0.4, recency=0.3, importance=0.2, frequency=0.1), NOW)
    assert 0 <= value <= 1 + 1e-9
    expected = 0.4 * parts["relevance"] + 0.3 * parts["recency"] + 0.2 * parts["importance"] + 0.1 * parts["frequency"]
    assert value == pytest.approx(expected)
    assert mixed(relevance, found, Mix(), NOW)[0] == pytest.approx(relevance)
    assert mixed(relevance, found, Mix(relevance=0), NOW)[0] == 0


@given(st.lists(UNIT))
def test_no_hit_shows_more_than_the_one_before_it(scores: list[float]) -> None:
    hits = [Hit(record=record(), score=score) for score in scores]
    found = [hit.score for hit in shown(hits)]
    assert found == sorted(found, reverse=True)
    assert all(a <= b for a, b in zip(found, scores, strict=True))


def test_a_score_does_not_depend_on_what_else_is_remembered() -> None:
    """A threshold that works today has to work tomorrow."""
    embedder = FixedEmbedder(
        {"tea?": [1, 0], "green tea": [0.6, 0.8], "milk": [0, 1], "minus": [-1, 0], "tea!": [1, 0]}
    )
    with AgentMemory.open(embedder=embedder) as memory:
        scope = memory.scope(user="alice")
        scope.add("green tea", id="green")
        alone = scope.search("tea?")[0].score
        assert alone == pytest.approx(0.6 + 0.4 * 0.5, abs=1e-3)  # the word matched closes half of the gap
        scope.add_many([{"text": "milk", "id": "milk"}, {"text": "minus", "id": "minus"}])
        scores = {h.record.id: h.score for h in scope.search("tea?", explain=True)}
        assert scores["green"] == pytest.approx(alone)
        assert (scores["milk"], scores["minus"]) == (0, 0)
        assert [h.record.id for h in scope.search("tea?", min_score=0.7)] == ["green"]
        assert scope.search("tea?", min_score=0.9) == []
        scope.add("tea?", id="same")
        assert scope.search("TEA？", k=1)[0].score == 1.0
    for wrong in (-0.1, 1.1, float("nan")):
        with AgentMemory.open(embedder=embedder) as memory, pytest.raises(ValueError, match="min_score"):
            memory.scope(user="a").search("x", min_score=wrong)


def test_a_mix_decides_the_order_where_one_is_set() -> None:
    clock = ManualClock(NOW)
    with AgentMemory.open(embedder="hashing", clock=clock, settings={"recall": {"mix": {"importance": 5.0}}}) as memory:
        scope = memory.scope(user="alice")
        scope.add("tea with milk", id="low", importance=0.1)
        scope.add("tea without anything at all", id="high", importance=1.0)
        assert [h.record.id for h in scope.search("tea with milk", k=2)] == ["high", "low"]
