"""A whole measurement by hand, and what becomes of it: tables, JSON, and what loses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from shared_core.evaluation.context import fill, line_costs, shares
from shared_core.evaluation.embedders import load
from shared_core.evaluation.reading import read
from shared_core.evaluation.run import measure, systems_of
from shared_core.evaluation.sets import Question, Sample
from shared_core.evaluation.systems import OURS, NewestFirst, System
from shared_core.evaluation.tables import figure, losing, tables


class Fixed(System):
    """Ranks as it is told; each message costs one token."""

    def __init__(
        self, name: str, ranking: Sequence[str], *, peer: bool = False, fault: Exception | None = None
    ) -> None:
        self.name = name
        self.is_peer = peer
        self._ranking = list(ranking)
        self._fault = fault

    def build(self, sample: Sample) -> None:
        self._turns = sample.turns

    def rank(self, question: Question, view: str, k: int) -> list[str]:
        if self._fault is not None:
            raise self._fault
        return self._ranking[:k]

    @property
    def costs(self) -> dict[str, int]:
        return dict.fromkeys(self._turns, 1)


def test_newest_first_by_hand(locomo_file: Path) -> None:
    # conv-x newest first: D2:1 D1:2 D1:1. Evidence D1:1 and D2:1: half at 1, all at 5, first at rank 1.
    # Evidence D1:2: nothing at 1, all at 5, rank 2. conv-y: D1:2 D1:1, evidence D1:2: all at 1.
    found = measure(read([locomo_file])[0], [NewestFirst()], [], budgets=())
    total = found.results["control: newest first"].total()
    expected = {"n": 3, "R@1": 0.5, "R@5": 1.0, "R@10": 1.0, "R@25": 1.0, "R@50": 1.0, "hit@5": 1.0, "MRR": 2.5 / 3}
    assert total == pytest.approx(expected)
    groups = found.results["control: newest first"].by_group()
    assert {name: row["R@1"] for name, row in groups.items()} == {"conv-x": 0.25, "conv-y": 1.0}
    kinds = found.results["control: newest first"].by_category()
    assert {name: row["n"] for name, row in kinds.items()} == {"multi-hop": 1, "single-hop": 2}
    assert (found.n, found.messages, found.skipped, found.conversations) == (3, 5, 3, ["conv-x", "conv-y"])


def test_context_recall_by_hand(locomo_file: Path) -> None:
    system = Fixed(OURS, ["D1:1", "D1:2", "D2:1"])
    found = measure(read([locomo_file], limit=1)[0], [system], [], budgets=(1, 2, 3))
    # The first question needs D1:1 and D2:1, the second D1:2.
    assert found.results[OURS].context() == {"n": 2, "1": 0.25, "2": 0.75, "3": 1.0}


def test_a_budget_is_filled_in_order_and_what_is_too_long_is_passed_over() -> None:
    costs = {"a": 6, "b": 3, "c": 2}
    assert fill(["b", "a", "c", "b", "unknown"], costs, [2, 5, 11]) == {2: {"c"}, 5: {"b", "c"}, 11: {"a", "b", "c"}}
    assert shares({5: {"b"}, 11: {"a", "b"}}, ["b", "x"]) == {"5": 0.5, "11": 0.5}
    assert line_costs({"a": "one two"}, lambda text: len(text.split())) == {"a": 3}


def test_by_turn_and_by_session(longmemeval_file: Path) -> None:
    # Sessions in the order of their best turns: s1 (3), s2; the evidence turn is at 3, its session at 2.
    system = Fixed(OURS, ["s1 (3):1", "s1:0", "s2:0", "s1:1"])
    found = measure(read([longmemeval_file])[0], [system], [], budgets=())
    assert found.levels == ["turns", "sessions"]
    assert found.results[OURS].total("turns")["MRR"] == pytest.approx(1 / 3)
    assert found.results[OURS].total("sessions") == pytest.approx(
        {"n": 2, "R@1": 0, "R@5": 1, "R@10": 1, "hit@5": 1, "MRR": 1 / 3}
    )
    titles = [table.title for table in tables(found)]
    assert any("by sessions" in title for title in titles)


def test_a_missing_or_failing_peer_costs_its_own_row_and_is_named(locomo_file: Path) -> None:
    systems = [
        Fixed(OURS, ["D1:1"]),
        Fixed("gone", [], peer=True, fault=ImportError("no module", name="mem0")),
        Fixed("broken", [], peer=True, fault=RuntimeError("out of luck\nand more")),
        Fixed("fine", ["D1:2"], peer=True),
    ]
    found = measure(read([locomo_file])[0], systems, [])
    assert list(found.results) == [OURS, "fine"]
    assert found.absent == {"gone": "not installed: mem0", "broken": "failed: RuntimeError: out of luck"}
    assert tables(found)[0].notes == found.absent


def test_our_own_failure_is_never_hidden(locomo_file: Path) -> None:
    with pytest.raises(RuntimeError, match="ours"):
        measure(read([locomo_file])[0], [Fixed(OURS, [], fault=RuntimeError("ours"))], [])


def test_what_loses_is_said_even_when_it_is_nothing(locomo_file: Path) -> None:
    part = read([locomo_file])[0]
    alone = measure(part, [Fixed(OURS, ["D1:1"])], [], budgets=(1,))
    assert losing(alone) == ["not known: nothing else was measured"]
    best = measure(part, [Fixed(OURS, ["D1:2", "D1:1"]), NewestFirst()], [], budgets=())
    assert "R@1: .667 against .500" not in losing(best)
    worse = measure(part, [Fixed(OURS, ["D2:1"]), Fixed("good", ["D1:2"], peer=True)], [], budgets=(1,))
    lines = losing(worse)
    assert "R@1: .167 against .667 of good" in lines
    assert "context of 1 tokens: .167 against .667 of good" in lines
    both = measure(part, [Fixed(OURS, ["D2:1"]), Fixed("a", ["D1:2"], peer=True), Fixed("b", ["D1:2"], peer=True)], [])
    assert "R@1: .167 against .667 of a, .667 of b" in losing(both)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [("R@5", 0.1, ".100"), ("R@5", 0.0, ".000"), ("R@5", 1.0, "1.000"), ("ms/query", 10.056, "10.06"), ("n", 7, "7")],
)
def test_figures_as_printed(name: str, value: float, text: str) -> None:
    assert figure(name, value) == text


@pytest.mark.parametrize(
    "kind", ["locomo_file", "realtalk_folder", "memdaily_file", "longmemeval_file", "madial_folder"]
)
def test_twinmem_and_its_controls_on_every_set(kind: str, request: pytest.FixtureRequest) -> None:
    embedder = load("hashing")
    for part in read([request.getfixturevalue(kind)], noise=[2]):
        found = measure(part, systems_of(part, embedder, peers=False), [embedder], budgets=(500,))
        assert not found.absent
        ours = found.ours
        assert ours is not None
        assert ours.total()["n"] == found.n
        # These files are small and their questions share words with the evidence: whoever finds nothing is broken.
        assert ours.total()[f"R@{part.depth}"] == 1.0
        assert ours.context()["500"] > 0.5
        again = measure(part, systems_of(part, embedder, peers=False), [embedder], budgets=(500,))
        for name, result in found.results.items():
            assert result.rows == again.results[name].rows, name
        body = found.as_json()
        assert body["systems"][OURS]["turns"]["all"]["n"] == found.n


def test_a_peer_is_shown_in_its_best_view(madial_folder: Path) -> None:
    pytest.importorskip("rank_bm25")
    embedder = load("hashing")
    part = read([madial_folder])[2]
    systems = [system for system in systems_of(part, embedder) if system.name.startswith((OURS, "LangChain BM25"))]
    found = measure(part, systems, [embedder])
    if found.absent:
        pytest.skip(str(found.absent))
    assert [name for name in found.results if "BM25" in name] in (
        ["LangChain BM25Retriever (last message)"],
        ["LangChain BM25Retriever (last 2 messages)"],
        ["LangChain BM25Retriever (whole dialogue)"],
    )
    assert "twinmem (last message as a string)" in found.results
