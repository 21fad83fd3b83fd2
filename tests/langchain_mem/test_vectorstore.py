"""What a user of the vector store would lose (reference 1.4, section 5; case R29)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from langchain_mem import TwinmemEmbeddings, TwinmemStore, TwinmemVectorStore
from shared_core import AgentMemory
from shared_core.errors import InvalidInput


class TestStandardSuiteWithItsModel(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, memory: AgentMemory) -> TwinmemVectorStore:
        return TwinmemVectorStore(memory, user="alice", embedding=self.get_embeddings())


class TestStandardSuiteWithTheMemorysModel(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, memory: AgentMemory) -> TwinmemVectorStore:
        return TwinmemVectorStore(memory, user="alice")


@pytest.fixture(params=["memory's model", "own model"])
def documents(request: pytest.FixtureRequest, memory: AgentMemory) -> TwinmemVectorStore:
    from shared_core.embedding.hashing import HashingEmbedder

    own = TwinmemEmbeddings(HashingEmbedder(96, "own")) if request.param == "own model" else None
    return TwinmemVectorStore(memory, user="alice", embedding=own)


def ids(found: list[Document]) -> list[str | None]:
    return [document.id for document in found]


def test_documents_are_memories_of_their_user_and_nobody_elses(documents: TwinmemVectorStore) -> None:
    documents.add_texts(["green tea is grown in Uji"], [{"source": "book"}], ids=["uji"])
    hit = documents.memory.scope(user="alice").search("Where is green tea grown?", k=1)[0]
    assert hit.record.text == "green tea is grown in Uji"
    assert TwinmemVectorStore(documents.memory, user="bob").similarity_search("green tea") == []
    assert documents.memory.forget("alice").count == 1
    assert documents.similarity_search("green tea") == []


def test_a_document_never_replaces_a_memory_or_an_item_of_the_same_id(documents: TwinmemVectorStore) -> None:
    memory = documents.memory
    memory.scope(user="alice").add("a fact", id="x")
    TwinmemStore(memory).put(("memories", "alice"), "x", {"text": "an item about tea"})
    other = TwinmemVectorStore(memory, user="alice", collection="other")
    documents.add_texts(["a document about tea"], ids=["x"])
    other.add_texts(["another about tea"], ids=["x"])
    assert memory.scope(user="alice").count() == 4
    assert [d.page_content for d in documents.similarity_search("tea")] == ["a document about tea"]
    documents.delete(["x"])
    assert [d.page_content for d in other.get_by_ids(["x"])] == ["another about tea"]
    assert memory.scope(user="alice").count() == 3


def test_lc_s5_23_scores_lie_in_range_and_are_1_for_the_same_text(documents: TwinmemVectorStore) -> None:
    documents.add_texts(["green tea", "a red bicycle", "tea with milk"])
    found = documents.similarity_search_with_score("green tea", k=3)
    assert found[0][0].page_content == "green tea"
    assert found[0][1] == pytest.approx(1.0, abs=1e-5)
    assert all(type(score) is float and 0.0 <= score <= 1.0 for _, score in found)
    assert documents.similarity_search_with_relevance_scores("green tea", k=3) == found
    assert asyncio.run(documents.asimilarity_search_with_score("green tea", k=3)) == found


def test_case_r29_filters_as_retriever_and_directly_agree(documents: TwinmemVectorStore) -> None:
    documents.add_texts(
        [f"tea number {n}" for n in range(10)],
        [{"lang": "zh" if n % 2 else "en", "n": n, "kind": "k", "source": "s"} for n in range(10)],
        ids=[str(n) for n in range(10)],
    )
    for condition, want in (
        ({"lang": "zh"}, "13579"),
        ({"n": {"$in": [1, 2]}}, "12"),
        ({"n": {"$gte": 3, "$lt": 5}}, "34"),
        ({"$or": [{"n": 1}, {"$and": [{"lang": "en"}, {"n": {"$gt": 6}}]}]}, "18"),
        ({"$not": {"lang": "zh"}}, "02468"),
        ({"kind": "k", "source": "s", "n": 9}, "9"),
        ({"missing": 1}, ""),
    ):
        direct = documents.similarity_search("tea", k=10, filter=condition)
        retrieved = documents.as_retriever(search_kwargs={"k": 10, "filter": condition}).invoke("tea")
        assert sorted(map(str, ids(direct))) == sorted(map(str, ids(retrieved))) == list(want)
    for bad in ({"n": {"$regex": "x"}}, {"$nor": []}):
        with pytest.raises(ValueError, match=r"\$"):
            documents.similarity_search("tea", filter=bad)
    assert len(documents.as_retriever(search_kwargs={"k": 2}).invoke("tea")) == 2


def test_delete_by_filter_and_never_everything_by_accident(documents: TwinmemVectorStore) -> None:
    documents.add_texts(["a tea", "b tea", "c tea"], [{"n": n} for n in range(3)], ids=["a", "b", "c"])
    assert documents.delete(filter={"n": {"$gte": 1}})
    assert ids(documents.similarity_search("tea")) == ["a"]
    for nothing in ({}, {"filter": {}}):
        with pytest.raises(InvalidInput, match="ids or a filter"):
            documents.delete(**nothing)
    assert asyncio.run(documents.adelete(["a", "never"]))
    assert documents.similarity_search("tea") == []


def test_text_is_kept_to_the_letter(documents: TwinmemVectorStore) -> None:
    odd = ["  padded  ", "???", "", "a\x00b", "line\nline"]
    made = documents.add_texts(odd)
    assert [d.page_content for d in documents.get_by_ids(made)] == odd


def test_a_batch_that_does_not_fit_together_is_refused_whole(documents: TwinmemVectorStore) -> None:
    for more in ({"ids": ["a"]}, {"metadatas": [{}]}, {"metadatas": [{"o": object()}, {}]}):
        with pytest.raises((TypeError, ValueError)):
            documents.add_texts(["one tea", "two tea"], **more)
    assert documents.similarity_search("tea") == []


def test_from_texts_and_a_restart(path: Path) -> None:
    model = TwinmemEmbeddings("hashing")
    with AgentMemory.open(path, embedder="hashing") as memory:
        TwinmemVectorStore.from_texts(["green tea"], model, [{"n": 1}], ids=["1"], memory=memory, user="alice")
    with AgentMemory.open(path, embedder="hashing") as memory:
        store = TwinmemVectorStore(memory, user="alice", embedding=model)
        assert store.similarity_search("tea") == [Document("green tea", metadata={"n": 1}, id="1")]
        assert store.embeddings is model
        with pytest.raises(InvalidInput, match="whose"):
            TwinmemVectorStore.from_texts(["x"], model, memory=memory)
    with pytest.raises(ValueError):
        TwinmemVectorStore(user=" ")


def test_from_documents_without_a_memory_is_private() -> None:
    store = TwinmemVectorStore.from_documents(
        [Document("green tea", id="1"), Document("red bike")], TwinmemEmbeddings("hashing")
    )
    assert ids(store.similarity_search("tea", k=1)) == ["1"]
    again: Any = asyncio.run(TwinmemVectorStore.afrom_texts(["green tea"], TwinmemEmbeddings("hashing")))
    assert len(again.similarity_search("tea")) == 1
