"""The word index against a BM25 written down plainly: ids and scores."""

from __future__ import annotations

import math
import random
from array import array
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.recall import lexical
from shared_core.recall.lexical import K1, B, LexicalIndex

Documents = dict[int, list[int]]


def oracle(documents: Documents, size: int, query: dict[int, float]) -> list[float]:
    """Robertson & Zaragoza (2009), formula by formula, over the live documents only."""
    scores = [0.0] * size
    if not documents:
        return scores
    average = sum(map(len, documents.values())) / len(documents)
    for term, weight in query.items():
        holders = {slot: Counter(words)[term] for slot, words in documents.items() if term in words}
        idf = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for slot, count in holders.items():
            norm = K1 * (1 - B + B * len(documents[slot]) / average)
            scores[slot] += weight * idf * count * (K1 + 1) / (count + norm)
    return scores


def packed(words: list[int]) -> bytes:
    return array("Q", words).tobytes()


BIG = 2**64 - 1
TERMS = st.sampled_from([0, 1, 2, 3, 4, 5, 2**63, BIG])
DOCUMENT = st.lists(TERMS, max_size=12)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(DOCUMENT, max_size=6)),
        st.tuples(st.just("remove"), st.integers(0, 50)),
        st.tuples(st.just("keep"), st.none()),
    ),
    max_size=12,
)


@pytest.mark.parametrize("merge", [0, 10, 20_000])
def test_any_history_scores_as_the_plain_formula(monkeypatch: pytest.MonkeyPatch, merge: int) -> None:
    monkeypatch.setattr(lexical, "_MERGE", merge)  # 0: always in arrays; 20,000: always in dictionaries

    @given(STEPS, st.dictionaries(TERMS, st.sampled_from([1.0, 0.5]), max_size=4))
    def check(steps: list[tuple[str, object]], query: dict[int, float]) -> None:
        index, documents, size = LexicalIndex(), {}, 0
        for what, argument in steps:
            if what == "add":
                index.add([packed(words) for words in argument])
                for words in argument:
                    documents[size] = words
                    size += 1
            elif what == "remove" and size:
                slot = int(argument) % size
                index.remove(slot)
                documents.pop(slot, None)
            elif what == "keep":
                live = sorted(documents)
                index.keep(np.array(live, np.int64))
                documents = {new: documents[old] for new, old in enumerate(live)}
                size = len(live)
        assert len(index) == len(documents)
        np.testing.assert_allclose(index.scores(query), oracle(documents, size, query), rtol=1e-5, atol=1e-6)
        for term in (0, 3, BIG):
            slots, counts = index.postings(term)
            found = dict(zip(slots.tolist(), counts.tolist(), strict=True))
            assert len(found) == len(slots)
            assert found == {slot: words.count(term) for slot, words in documents.items() if term in words}

    check()


def test_a_realistic_scope_ranks_as_the_plain_formula() -> None:
    chance = random.Random(5)
    documents = {
        slot: [int(chance.paretovariate(0.6)) % 500 for _ in range(chance.randrange(1, 40))] for slot in range(3_000)
    }
    index = LexicalIndex()
    for start in range(0, 3_000, 700):
        index.add([packed(documents[slot]) for slot in range(start, min(3_000, start + 700))])
    for slot in chance.sample(range(3_000), 800):
        index.remove(slot)
        index.remove(slot)  # a second time does nothing
        documents.pop(slot)
    for _ in range(10):
        query = {chance.randrange(500): chance.choice([1.0, 0.5]) for _ in range(5)}
        expected = np.array(oracle(documents, 3_000, query))
        found = index.scores(query)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        assert set(np.flatnonzero(found)) == set(np.flatnonzero(expected))


def test_an_empty_index_has_no_opinion() -> None:
    index = LexicalIndex()
    assert index.scores({5: 1.0}).tolist() == []
    index.add([b"", b""])
    assert index.scores({5: 1.0}).tolist() == [0.0, 0.0]
    index.keep(np.empty(0, np.int64))
    assert len(index) == 0
    assert index.nbytes >= 0


def test_a_term_said_a_hundred_thousand_times_does_not_overflow() -> None:
    index = LexicalIndex()
    index.add([packed([7] * 100_000), packed([7]), packed([8] * 3)])
    scores = index.scores({7: 1.0})
    assert scores[0] > scores[1] > scores[2] == 0
