"""The systems under comparison, what feeds them, and the verdicts: an unfair bench would flatter us or them."""

import importlib.util
import sqlite3

import numpy as np
import pytest
import report
from embedders import Shared, load
from peers import PEERS, quiet
from scale import Bare, Line
from workload import DIMENSIONS, generate

TEXTS = ["Ann: I adopted a cat named Miso", "Ben: My trip was rainy", "Ann: my sister sings jazz", "Ben: jazz again"]
IDS = ["D1:1", "D1:2", "D1:3", "D1:4"]


class Counting:
    """Embeds by counting letters, and counts its calls."""

    name = "letters"
    dimensions = 26

    def __init__(self):
        self.seen = []

    def embed_documents(self, texts):
        self.seen += texts
        return [[text.lower().count(chr(97 + i)) + 0.0 for i in range(26)] for text in texts]

    def embed_query(self, text):
        return self.embed_documents([text])[0]


def test_the_shared_embedder_embeds_each_text_once():
    inner = Counting()
    shared = Shared(inner, batch=2)
    shared.warm(["a", "b", "a", "c"], ["a"])
    assert inner.seen == ["a", "b", "c", "a"]  # a question apart from the document of the same text
    assert [vector.argmax() for vector in shared.embed_documents(["c", "a"])] == [2, 0]
    assert shared.embed_query("a").argmax() == 0
    assert (shared.misses, len(inner.seen)) == (0, 4)
    shared.embed_query("new")
    assert shared.misses == 1


def test_an_unknown_embedder_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="default, e5, hashing"):
        load("word2vec")


@pytest.mark.parametrize("make", PEERS, ids=lambda make: make.__name__)
def test_a_peer_ranks_every_text_and_the_named_word_first(make):
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


def test_the_workload_is_the_same_each_run_and_in_two_languages():
    one, two = generate(300, 10, spare=20), generate(300, 10, spare=20)
    assert one.texts == two.texts
    assert one.questions == two.questions
    assert np.array_equal(one.vectors, two.vectors)
    assert len(set(one.texts)) == len(one.texts) == 320
    chinese = sum(text.endswith("。") for text in one.texts)
    assert 60 < chinese < 140
    assert 11 < sum(map(len, one.words)) / 320 < 13
    assert one.vectors.shape == (320, DIMENSIONS)
    assert np.allclose(np.linalg.norm(one.vectors, axis=1), 1, atol=1e-5)


def test_each_question_lies_nearest_to_a_record_that_is_searched_for():
    load = generate(300, 40, spare=20)
    nearest = (load.question_vectors @ load.vectors.T).argmax(axis=1)
    assert nearest.max() < 300
    assert len(set(load.questions)) == 40


def test_the_prepared_embedder_counts_what_it_was_not_given():
    load = generate(50, 5)
    embedder = load.embedder()
    assert np.array_equal(embedder.embed_documents(load.texts[:3]), load.vectors[:3])
    assert np.array_equal(embedder.embed_query(load.questions[4]), load.question_vectors[4])
    assert embedder.misses == 0
    vectors = embedder.embed_documents([load.texts[0], "unknown"])
    assert embedder.misses == 1
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_bare_rows_hold_what_a_record_holds(tmp_path):
    load = generate(20, 2)
    bare = Bare(tmp_path / "bare.db", load, "float16")
    bare.insert_each([bare.row(0)])
    bare.insert_many([bare.row(number) for number in range(1, 20)])
    bare.close()
    with sqlite3.connect(tmp_path / "bare.db") as connection:
        rows = connection.execute("SELECT text, kind, length(vector) FROM record ORDER BY id").fetchall()
    connection.close()
    assert [row[0] for row in rows] == load.texts
    assert {row[1:] for row in rows} == {("fact", DIMENSIONS * 2)}


@pytest.mark.parametrize(
    ("figure", "budget", "verdict"),
    [(2.0, "≤ 2", "ok"), (2.1, "≤ 2", "over"), (0.4, "≥ 0.333", "ok"), (0.3, "≥ 0.333", "over"), (9.0, "", "")],
)
def test_verdicts(figure, budget, verdict):
    assert Line(1000, "what", "", "", figure, budget).verdict == verdict


def test_what_loses_is_said_even_when_it_is_nothing():
    assert report.losing([], ["other"]).endswith("nothing")
    assert "none was measured" in report.losing([], [])
    assert "R@5: .500 against .600 of other" in report.losing([("R@5", "other", 0.5, 0.6)], ["other"])


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [("R@5", 0.1, ".100"), ("R@5", 0.0, ".000"), ("R@5", 1.0, "1.000"), ("ms/query", 10.056, "10.06"), ("n", 7, "7")],
)
def test_figures_as_printed(name, value, text):
    assert report.figure(name, value) == text
