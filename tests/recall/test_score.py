"""A record's own score, and what can be mixed into its place."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Hit, Record
from shared_core.errors import InvalidInput
from shared_core.recall.score import (
    age_hours,
    coverage,
    frequency,
    is_plain,
    mixed,
    own_score,
    recency,
    same_text,
    shown,
)
from shared_core.settings import Mix, Settings
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


# ---------------------------------------------------------------------- C1, the ready mixes: formulas worked out by hand


def old(hours: float = 0, *, accessed_hours: float | None = None, importance: float = 0.5, accesses: int = 0) -> Record:
    at = None if accessed_hours is None else NOW - timedelta(hours=accessed_hours)
    return record(
        created_at=NOW,
        event_time=NOW - timedelta(hours=hours),
        accessed_at=at,
        importance=importance,
        accesses=accesses,
    )


def worth(name: str, relevance: float, found: Record, **changes: float) -> float:
    return mixed(relevance, found, Mix.preset(name, **changes), NOW)[0]


def test_c1_the_balanced_mix_weighs_four_parts() -> None:
    found = old(24, importance=0.8, accesses=3)
    assert worth("balanced", 0.5, found) == pytest.approx(0.4 * 0.5 + 0.3 * 0.5 + 0.2 * 0.8 + 0.1 * math.log(4) / 5)
    assert worth("balanced", 1.0, old(0, importance=1, accesses=10**6)) == pytest.approx(1.0), "all of it is 1"
    assert worth("balanced", 0.0, old(10**6, importance=0)) == pytest.approx(0.0)


def test_c1_recently_used_counts_from_the_last_access_and_falls_by_a_hundredth_an_hour() -> None:
    found = old(10_000, accessed_hours=5, importance=0.9)
    assert worth("recently_used", 0.5, found) == pytest.approx(0.6 * 0.5 + 0.2 * 0.9 + 0.2 * math.exp(-0.05))
    never = old(100, importance=0.9)
    assert worth("recently_used", 0.5, never) == pytest.approx(0.6 * 0.5 + 0.2 * 0.9 + 0.2 * math.exp(-1))
    one, other = (worth("recently_used", 0.0, old(accessed_hours=hours, importance=0)) for hours in (7, 8))
    assert other / one == pytest.approx(0.99, abs=1e-4)


@given(UNIT, UNIT)
def test_c1_shares_sum_to_one_or_are_refused(alpha: float, beta: float) -> None:
    beta = beta * (1 - alpha)
    found = old(24, accesses=3)
    value = worth("shares", 0.7, found, alpha=alpha, beta=beta, gamma=1 - alpha - beta)
    assert value == pytest.approx(alpha * 0.7 + beta * 0.5 + (1 - alpha - beta) * math.log(4) / 5)
    with pytest.raises(InvalidInput, match="sum to 1"):
        Mix.preset("shares", alpha=alpha, beta=beta, gamma=1.5 - alpha - beta)


def test_c1_the_product_multiplies_relevance_with_the_rest() -> None:
    found = old(48, importance=0.8, accesses=5)
    assert worth("product", 0.5, found) == pytest.approx(0.5 * (0.5 * 0.8 + 0.3 / (1 + 2) + 0.2 * 0.5))
    assert worth("product", 0.5, old(0, importance=1, accesses=99)) == pytest.approx(0.5), "all of the rest is 1"
    assert worth("product", 0.0, old(0, importance=1, accesses=99)) == 0, "what does not fit stays away"
    assert worth("product", 1.0, old(10**7, importance=0)) == pytest.approx(0, abs=1e-3)


@given(UNIT, UNIT, st.integers(0, 500), st.floats(0, 1e6), st.sampled_from(["relevance", "balanced", "recently_used", "shares", "product"]))  # fmt: skip
def test_c1_every_mix_stays_in_bounds_and_grows_with_relevance(
    relevance: float, importance: float, accesses: int, hours: float, name: str
) -> None:
    found = old(hours, accessed_hours=hours / 2, importance=importance, accesses=accesses)
    value, parts = mixed(relevance, found, Mix.preset(name), NOW)
    assert set(parts) == {"relevance", "recency", "importance", "frequency"}
    assert all(0 <= part <= 1 for part in parts.values())
    assert 0 <= value <= 1 + 1e-9
    assert value <= mixed(1.0, found, Mix.preset(name), NOW)[0] + 1e-9


def test_c1_what_lies_ahead_is_as_recent_as_now() -> None:
    assert recency(old(-500), NOW, 24) == 1.0
    assert age_hours(old(-500), NOW) == 0


def test_c1_the_default_is_relevance_alone() -> None:
    assert Mix() == Mix.preset("relevance") == Settings().recall.mix
    assert is_plain(Mix())
    assert not any(is_plain(Mix.preset(name)) for name in ("balanced", "recently_used", "shares", "product"))
    assert Settings(recall={"mix": "product"}).recall.mix == Mix.preset("product")
    for wrong in ({"name": "best"}, {"name": "balanced", "recency": -1}, {"name": "balanced", "age": 1}):
        with pytest.raises(InvalidInput):
            Mix.preset(**wrong)
    with pytest.raises(InvalidInput, match="no mix"), AgentMemory.open(settings={"recall": {"mix": "best"}}):
        pass


@pytest.mark.parametrize("texts", [("tea on Monday", "tea on Sunday"), ("周一喝茶", "周日喝茶")], ids=["en", "zh"])
def test_c1_a_mix_is_computed_when_asked_and_leaves_scores_alone(texts: tuple[str, str]) -> None:
    clock = ManualClock(NOW)
    asked = texts[0][:3] if texts[0].isascii() else "喝茶"
    found = {}
    for mix in ("relevance", "balanced"):
        with AgentMemory.open(embedder="hashing", clock=clock, settings={"recall": {"mix": mix}}) as memory:
            scope = memory.scope(user="alice")
            scope.add(texts[0], id="old", importance=0.5, event_time=NOW - timedelta(days=400))
            scope.add(texts[1], id="new", importance=0.5, event_time=NOW - timedelta(hours=1))
            hits = scope.search(asked, k=2, explain=True)
            found[mix] = {hit.record.id: hit.parts["score"] for hit in hits}
            if mix == "balanced":
                assert [hit.record.id for hit in hits] == ["new", "old"]
                assert hits[0].parts["recency"] > 0.9 > 0.01 > hits[1].parts["recency"]
            assert scope.get("old").importance == 0.5, "nothing is written back"
    assert found["relevance"] == found["balanced"]


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
