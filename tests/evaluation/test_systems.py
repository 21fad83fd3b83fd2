"""The systems under comparison and what feeds them: an unfair bench would flatter us or them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from shared_core.evaluation.embedders import Shared, load
from shared_core.evaluation.peers import PEERS, Peer, quiet
from shared_core.evaluation.reading import read
from shared_core.evaluation.systems import NewestFirst, RandomOrder, Twinmem, wrong

TEXTS = ["Ann: I adopted a cat named Miso", "Ben: My trip was rainy", "Ann: my sister sings jazz", "Ben: jazz again"]
IDS = ["D1:1", "D1:2", "D1:3", "D1:4"]


class Counting:
    """Embeds by counting letters, and counts its calls."""

    name = "letters"
    dimensions = 26

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.seen += texts
        return [[text.lower().count(chr(97 + i)) + 0.0 for i in range(26)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def test_the_shared_embedder_embeds_each_text_once() -> None:
    inner = Counting()
    shared = Shared(inner, batch=2)
    shared.warm(["a", "b", "a", "c"], ["a"])
    assert inner.seen == ["a", "b", "c", "a"]  # a question apart from the document of the same text
    assert [vector.argmax() for vector in shared.embed_documents(["c", "a"])] == [2, 0]
    assert shared.embed_query("a").argmax() == 0
    assert (shared.misses, len(inner.seen)) == (0, 4)
    shared.embed_query("new")
    assert shared.misses == 1


def test_a_large_set_does_not_fill_the_memory_with_vectors() -> None:
    shared = Shared(Counting())
    shared.warm(["a", "b"], ["a"])
    shared.forget(most=3)
    shared.embed_documents(["a"])
    assert shared.misses == 0
    shared.forget(most=2)
    shared.embed_documents(["a"])
    assert shared.misses == 1


def test_an_unknown_embedder_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="default, e5, hashing"):
        load("word2vec")


@pytest.mark.parametrize("make", PEERS, ids=lambda make: make.__name__)
def test_a_peer_ranks_every_text_and_the_named_word_first(make: type[Peer]) -> None:
    modules = {
        "langchain-community": "langchain_community",
        "langchain-classic": "langchain_classic",
        "rank-bm25": "rank_bm25",
        "faiss-cpu": "faiss",
        "langgraph-checkpoint": "langgraph",
        "llama-index-core": "llama_index",
    }
    names = [modules.get(name, "llama_index.retrievers.bm25") for name in make.distributions]
    if not all(importlib.util.find_spec(name.partition(".")[0]) for name in names):
        pytest.skip("not installed")
    with quiet():
        peer = make(load("hashing"))
        try:
            peer.build(TEXTS, IDS)
        except ImportError as error:
            pytest.skip(str(error))
        assert sorted(peer.rank("Miso", 50)) == IDS
        assert peer.rank("Who adopted Miso", 2)[0] == "D1:1"
        assert len(peer.rank("jazz", 2)) == 2
        peer.build(["Ben: only this"], ["D7:1"])
        assert peer.rank("jazz", 50) == ["D7:1"]


def test_controls_are_the_same_each_run_and_rank_only_the_conversations_turns(locomo_file: Path) -> None:
    sample = read([locomo_file])[0].samples[0]
    for make in (RandomOrder, NewestFirst):
        one, two = make(), make()
        one.build(sample)
        two.build(sample)
        ranking = one.rank(sample.questions[0], "", 50)
        assert ranking == two.rank(sample.questions[0], "", 50)
        assert sorted(ranking) == sorted(sample.turns)
    assert NewestFirst.searches is False
    newest = NewestFirst()
    newest.build(sample)
    assert newest.rank(sample.questions[0], "", 50) == ["D2:1", "D1:2", "D1:1"]


def test_a_wrong_question_is_of_another_conversation_or_has_no_evidence_in_common(
    locomo_file: Path, madial_folder: Path, longmemeval_file: Path
) -> None:
    part = read([locomo_file])[0]
    other = wrong(part, "conv-x", part.samples[0].questions[0])
    assert other == part.samples[1].questions[0]
    alone = read([locomo_file], limit=1)[0]
    within = wrong(alone, "conv-x", alone.samples[0].questions[0])
    assert within == alone.samples[0].questions[1]
    madial = read([madial_folder])[0]
    assert wrong(madial, "user 7", madial.samples[0].questions[0]) is None  # the user's only dialogue


def test_twinmem_finds_turns_and_events_under_the_sets_own_ids(locomo_file: Path, madial_folder: Path) -> None:
    system = Twinmem(load("hashing"))
    talk = read([locomo_file])[0].samples[0]
    system.build(talk)
    assert system.rank(talk.questions[1], "", 50)[0] == "D1:2"
    assert set(system.rank(talk.questions[1], "", 50)) <= set(talk.turns)
    assert system.inside(talk.questions[1], "", [400])[400] >= {"D1:2"}
    assert system.inside(talk.questions[1], "", [1])[1] == set()
    events = read([madial_folder])[2].samples[1]
    system.build(events)
    assert system.rank(events.questions[0], "", 1) == ["3"]
    assert "3" in system.inside(events.questions[0], "", [300])[300]
    system.close()


def test_the_clock_stands_at_the_questions_time_and_never_before_what_was_said(memdaily_file: Path) -> None:
    system = Twinmem(load("hashing"))
    sample = read([memdaily_file], noise=[2])[0].samples[0]
    system.build(sample)
    system.rank(sample.questions[0], "", 5)
    assert system._now() == sample.questions[0].asked_at
    assert sample.end is not None
    early = sample.questions[0].__class__("?", ("0",), asked_at=sample.end.replace(year=2001))
    system.rank(early, "", 5)
    assert system._now() == sample.end
    system.close()
