"""What a user would lose when a LangChain model serves the memory, or the memory's embedder LangChain."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from langchain_mem import TwinmemEmbeddings, as_embedder, as_llm
from shared_core import AgentMemory
from shared_core.embedding.hashing import HashingEmbedder
from shared_core.errors import EmbedderMismatch, InvalidType


class Recording(Embeddings):
    """Knows which of its forms was called, with how many texts."""

    model = "recording-1"

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self._inner = HashingEmbedder(16)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(("documents", len(texts)))
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        self.calls.append(("query", 1))
        return self._inner.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(("adocuments", len(texts)))
        return self._inner.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        self.calls.append(("aquery", 1))
        return self._inner.embed_query(text)


class TestUnitSuite(EmbeddingsUnitTests):
    @property
    def embeddings_class(self) -> type[TwinmemEmbeddings]:
        return TwinmemEmbeddings


class TestIntegrationSuite(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self) -> type[TwinmemEmbeddings]:
        return TwinmemEmbeddings


def test_the_async_form_of_the_model_is_awaited_and_queries_are_not_embedded_as_documents() -> None:
    model = Recording()
    scope = AgentMemory.open(embedder=as_embedder(model)).scope(user="alice")
    scope.add("green tea")
    scope.search("tea?")

    async def later() -> None:
        await scope.aadd("a red bike")
        await scope.asearch("bike?")

    asyncio.run(later())
    assert [name for name, _ in model.calls] == ["documents", "query", "adocuments", "aquery"]


def test_batches_are_no_larger_than_the_setting() -> None:
    model = Recording()
    memory = AgentMemory.open(embedder=as_embedder(model), settings={"embed_batch": 10})
    memory.scope(user="alice").add_many([f"fact number {i}" for i in range(25)])
    assert [size for _, size in model.calls] == [10, 10, 5]


def test_vectors_are_identified_by_the_models_name(path: Any) -> None:
    assert as_embedder(Recording()).name == "recording-1"
    assert as_embedder(Recording(), name="mine").name == "mine"
    assert as_embedder(DeterministicFakeEmbedding(size=6)).name == "DeterministicFakeEmbedding"
    with AgentMemory.open(path, embedder=as_embedder(Recording())) as memory:
        memory.scope(user="alice").add("green tea")
    with AgentMemory.open(path, embedder=as_embedder(Recording())) as memory:
        assert memory.scope(user="alice").search("tea")
    other = as_embedder(Recording(), name="another")
    with AgentMemory.open(path, embedder=other) as memory, pytest.raises(EmbedderMismatch, match="reembed"):
        memory.scope(user="alice").search("tea")


def test_a_cache_around_a_model_is_that_model() -> None:
    class Cached(Embeddings):
        underlying_embeddings = Recording()

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return []

        def embed_query(self, text: str) -> list[float]:
            return []

    assert as_embedder(Cached()).name == "recording-1"


def test_opening_a_file_twice_with_the_same_model_is_no_conflict(path: Any) -> None:
    model = Recording()
    with AgentMemory.open(path, embedder=as_embedder(model)), AgentMemory.open(path, embedder=as_embedder(model)):
        pass


@pytest.mark.parametrize("wrong", [None, "text-embedding-3-small", object(), HashingEmbedder()])
def test_as_embedder_refuses_what_is_no_embeddings(wrong: Any) -> None:
    with pytest.raises(InvalidType, match="Embeddings"):
        as_embedder(wrong)


@pytest.mark.parametrize(
    "model",
    [
        FakeListChatModel(responses=["blue", "blue"]),
        GenericFakeChatModel(messages=iter([AIMessage([{"type": "text", "text": "blue"}])] * 2)),
        RunnableLambda(lambda prompt: "blue"),
        FakeListChatModel(responses=["blue", "blue"]) | RunnableLambda(lambda message: message.content),
    ],
)
def test_any_chat_model_or_runnable_answers_sync_and_async(model: Any) -> None:
    llm = as_llm(model)
    assert llm("what colour?") == "blue"
    assert asyncio.run(llm.acall("what colour?")) == "blue"
    AgentMemory.open(embedder="hashing", llm=llm)


def test_an_answer_that_is_no_text_is_named() -> None:
    with pytest.raises(InvalidType, match="dict"):
        as_llm(RunnableLambda(lambda prompt: {"a": 1}))("x")
    with pytest.raises(InvalidType):
        as_llm(lambda prompt: "x")  # type: ignore[arg-type]


def test_the_memorys_own_questions_stay_out_of_the_agents_token_stream() -> None:
    seen: list[Any] = []
    as_llm(RunnableLambda(lambda prompt, config: seen.append(config) or "x"))("hi")
    assert "nostream" in seen[0]["tags"]


def test_the_bundled_embedder_gives_plain_floats_and_keeps_its_name() -> None:
    model = TwinmemEmbeddings("hashing")
    assert (model.name, model.dimensions) == ("hashing", 64)
    assert as_embedder(model).name == "hashing"
    vectors = model.embed_documents(["green tea", "tea, green"])
    assert type(vectors[0][0]) is float
    assert vectors[0] == vectors[1] == asyncio.run(model.aembed_documents(["green tea"]))[0]
    assert model.embed_documents([]) == []
    assert asyncio.run(model.aembed_query("x")) == model.embed_query("x")


def test_a_database_embedded_by_default_takes_the_same_model_through_langchain(path: Any) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.scope(user="alice").add("green tea")
    with AgentMemory.open(path, embedder=as_embedder(TwinmemEmbeddings("hashing"))) as memory:
        assert memory.scope(user="alice").search("green tea")[0].score == pytest.approx(1.0)
