"""Answers with and without memory, and how a memory grows (C7): all values here are worked out by hand."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Record
from shared_core.errors import InvalidInput
from shared_core.evaluation.answers import answered, as_judge, exact, f1, gain, prompt
from shared_core.evaluation.growth import growth
from shared_core.evaluation.own import Case, evaluate
from shared_core.testing import ManualClock, ScriptedLLM

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given_", "expected", "exactly", "share"),
    [
        ("Lyon", "lyon", 1, 1),
        ("The Lyon.", "Lyon", 1, 1),
        ("in Lyon", "Lyon", 0, 2 / 3),
        ("She lives in Lyon", "Lyon, France", 0, 2 / 6),
        ("Paris", "Lyon", 0, 0),
        ("", "Lyon", 0, 0),
        ("住在里昂", "里昂", 0, 4 / 6),
        ("里昂。", "里昂", 1, 1),
        ("７ May", "7 May", 1, 1),
    ],
)
def test_c7_exact_match_and_f1(given_: str, expected: str, exactly: float, share: float) -> None:
    assert exact(given_, expected) == exactly
    assert f1(given_, expected) == pytest.approx(share)


@given(st.text(max_size=20), st.text(max_size=20))
def test_c7_f1_is_a_share_and_the_same_both_ways(a: str, b: str) -> None:
    assert 0 <= f1(a, b) <= 1
    assert f1(a, b) == pytest.approx(f1(b, a))
    assert exact(a, b) <= f1(a, b)


def test_c7_the_gain_is_what_memory_adds() -> None:
    llm = lambda asked: "Lyon" if "I moved to Lyon" in asked else "I don't know"  # noqa: E731
    rows = [answered("Where?", "Lyon", "I moved to Lyon", llm), answered("Who?", "Bob", "Nothing", llm)]
    assert gain(rows) == {
        "n": 2, "with": 0.5, "without": 0.0, "exact with": 0.5, "exact without": 0.0, "gain": 0.5, "exact gain": 0.5,
    }  # fmt: skip
    assert gain([]) == {"n": 0}


@pytest.mark.parametrize(
    ("said", "share"),
    [("Yes", 1), ("yes, it does", 1), ("No.", 0), ("是", 1), ("是的", 1), ("否", 0), ("不是", 0), ("不对", 0),
     ("Correct!", 1), ("Incorrect", 0), ("0.75", 0.75), ("Score: 1", 1), ("**No**", 0)],
)  # fmt: skip
def test_c7_a_judge_s_verdict_is_read(said: str, share: float) -> None:
    assert as_judge(ScriptedLLM([said]))("Where?", "Lyon", "in Lyon") == share


def test_c7_a_judge_that_says_neither_is_an_error_not_a_zero() -> None:
    with pytest.raises(InvalidInput, match="neither yes nor no"):
        as_judge(ScriptedLLM(["Hm."]))("Where?", "Lyon", "in Lyon")
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        answered("Where?", "Lyon", "", lambda prompt: "x", lambda *_: 7.0)
    judging = ScriptedLLM(["否", "是"])
    row = answered("我住哪？", "里昂", "", lambda asked: "巴黎", as_judge(judging))
    assert row.figures == {"with": 0.0, "without": 1.0}
    assert "标准答案：里昂" in judging.prompts[0]


def test_c7_a_model_is_asked_in_the_language_of_the_question() -> None:
    assert prompt("Where?", "CONTEXT").endswith("CONTEXT\n\nQuestion: Where?\n")
    assert prompt("我住哪？", "CONTEXT").endswith("CONTEXT\n\n问题：我住哪？\n")
    assert "CONTEXT" not in prompt("Where?")


def record(**more: object) -> Record:
    return Record(**{"id": "x", "kind": "fact", "text": "x", "created_at": NOW, "updated_at": NOW, **more})


def test_c7_growth_by_kind_importance_and_day() -> None:
    records = [
        record(kind="turn", importance=0.7, created_at=NOW),
        record(kind="fact", importance=0.71, created_at=NOW - timedelta(days=1)),
        record(kind="fact", importance=0.4, created_at=NOW - timedelta(days=29)),
        record(kind="event", importance=0.41, created_at=NOW - timedelta(days=30)),
        record(kind="event", importance=0.0, created_at=NOW + timedelta(days=2)),
    ]
    found = growth(records, NOW)
    assert found.by_kind == {"event": 2, "fact": 2, "turn": 1}
    assert found.by_importance == {"over 0.7": 1, "over 0.4": 2, "the rest": 2}
    assert len(found.by_day) == 30
    assert list(found.by_day)[-1] == NOW.date()
    assert {day: count for day, count in found.by_day.items() if count} == {
        date(2026, 3, 10): 1, date(2026, 3, 9): 1, date(2026, 2, 9): 1,
    }  # fmt: skip
    assert (found.before, found.records, found.a_day) == (1, 5, 0.1)
    assert growth([], NOW, days=1).by_day == {NOW.date(): 0}
    with pytest.raises(InvalidInput):
        growth([], NOW, days=0)


def test_c7_an_expected_memory_is_named_by_id_message_or_text() -> None:
    with AgentMemory.open(embedder="hashing", clock=ManualClock(NOW)) as memory:
        scope = memory.scope(user="alice")
        scope.add("I live in Lyon", id="home")
        scope.session("s").add_messages([{"role": "user", "content": "我喜欢乌龙茶", "id": "m1"}])
        cases = [
            Case("Where do I live?", ("home",)),
            Case("Where do I live?", ("LIVE IN LYON",)),
            Case("乌龙茶", ("m1",), category="tea"),
            Case("Where do I live?", ("I live in Lyon", "I have a boat")),
        ]
        found = evaluate(scope, cases)
        assert found.retrieval["hit@5"] == 1.0
        assert found.retrieval["R@5"] == pytest.approx((1 + 1 + 1 + 0.5) / 4)
        assert found.unknown == ("I have a boat",)
        assert found.missed == ()
        assert found.by_category["tea"]["R@1"] == 1.0
        assert scope.get("home").accesses == 0
        with pytest.raises(InvalidInput):
            evaluate(scope, cases, ks=[0])
        assert evaluate(scope, [Case("x", answer="y")]).retrieval == {"n": 0}
