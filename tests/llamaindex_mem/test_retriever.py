"""`TwinmemRetriever` (reference 1.6) and the models of LlamaIndex as the memory's own."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from li_scripted import ScriptedLLM
from llama_index.core import MockEmbedding
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from pydantic import PrivateAttr

from llamaindex_mem import TwinmemRetriever, as_embedder, as_llm
from shared_core import AgentMemory, Settings, TwinmemError
from shared_core.errors import EmbedderMismatch, InvalidType


@pytest.fixture
def filled(core: AgentMemory) -> AgentMemory:
    scope = core.scope(user="alice")
    scope.add("Alice lives in Lyon", metadata={"topic": "home", "kind": "x", "nested": {"a": [1]}, "none": None})
    scope.add("Alice likes tea", kind="rule", entities=["Alice", "tea"], event_time=datetime(2026, 1, 2, tzinfo=UTC))
    scope.session("monday").add_messages([{"role": "user", "content": "Lyon is large", "name": "alice"}])
    core.scope(user="bob").add("Bob lives in Lyon too")
    return core


async def test_li_16_nodes_are_the_records_with_ids_scores_and_flat_metadata(filled: AgentMemory) -> None:
    retriever = TwinmemRetriever(filled, user="alice", k=2, explain=True)
    assert isinstance(retriever, BaseRetriever)
    hits = filled.scope(user="alice").search("Who lives in Lyon?", k=2)
    found = retriever.retrieve("Who lives in Lyon?")
    assert found == await retriever.aretrieve(QueryBundle("Who lives in Lyon?"))
    assert [(n.node.node_id, n.text, n.score) for n in found] == [(h.record.id, h.record.text, h.score) for h in hits]
    assert all(isinstance(n, NodeWithScore) and isinstance(n.node, TextNode) and type(n.score) is float for n in found)
    home = next(n for n in found if n.text == "Alice lives in Lyon").metadata
    assert (home["kind"], home["metadata.kind"], home["topic"], home["nested"]) == ("fact", "x", "home", '{"a": [1]}')
    assert "Lyon" in home["reason"] or home["reason"]
    for one in found:
        assert all(isinstance(value, str | int | float) for value in one.metadata.values())


def test_a_model_is_not_shown_the_bookkeeping(filled: AgentMemory) -> None:
    found = TwinmemRetriever(filled, user="alice", k=1, where={"topic": "home"}).retrieve("Lyon")[0]
    shown = found.node.get_content(metadata_mode=MetadataMode.LLM)
    assert "topic: home" in shown
    assert "created_at" in shown
    assert "importance" not in shown
    assert found.node.get_content(metadata_mode=MetadataMode.EMBED) == "Alice lives in Lyon"


def test_filters_kinds_sessions_and_users_hold(filled: AgentMemory) -> None:
    def texts(**kwargs: Any) -> set[str]:
        return {n.text for n in TwinmemRetriever(filled, **{"user": "alice", "k": 9, **kwargs}).retrieve("Lyon tea")}

    assert texts() == {"Alice lives in Lyon", "Alice likes tea", "Lyon is large"}
    assert texts(kinds=["rule"]) == {"Alice likes tea"}
    assert texts(where={"topic": "home"}) == {"Alice lives in Lyon"}
    assert texts(session="monday") == {"Lyon is large"}
    assert texts(user="bob") == {"Bob lives in Lyon too"}
    assert texts(agent="other") == set()
    assert texts(min_score=1.0) == set()
    assert texts(k=0) == set()


def test_a_retriever_without_a_user_or_with_a_blank_one_is_refused(filled: AgentMemory, path: str) -> None:
    with pytest.raises(TypeError, match="user"):
        TwinmemRetriever(filled)  # type: ignore[call-arg]
    with pytest.raises(TwinmemError, match="user"):
        TwinmemRetriever(filled, user=" ")
    assert TwinmemRetriever(address=path, user="alice").retrieve("anything") == []


async def test_li_16_the_async_form_does_not_block_the_loop(core: AgentMemory) -> None:
    threads: list[int] = []
    core.scope(user="alice").add("Alice lives in Lyon")
    retriever = TwinmemRetriever(core, user="alice")
    search = core._engine.recalling

    def watched(*args: Any) -> Any:
        threads.append(threading.get_ident())
        return search(*args)

    core._engine.recalling = watched  # type: ignore[method-assign]
    await retriever.aretrieve("Lyon?")
    assert threads
    assert threading.get_ident() not in threads


async def test_it_works_in_a_query_engine_and_in_a_fusion(filled: AgentMemory) -> None:
    llm = ScriptedLLM("Lyon", "Lyon")
    retriever = TwinmemRetriever(filled, user="alice")
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm)
    assert str(engine.query("Where does Alice live?")) == "Lyon"
    assert "Alice lives in Lyon" in llm.told()
    assert str(await engine.aquery("Where does Alice live?")) == "Lyon"
    fusion = QueryFusionRetriever([retriever, retriever], llm=llm, num_queries=1, use_async=False)
    assert "Alice lives in Lyon" in [n.text for n in fusion.retrieve("Where does Alice live?")]


# ---------------------------------------------------------------------- models


class Counting(BaseEmbedding):
    """Keeps the sizes of its batches, and whether they came async."""

    _batches: list[tuple[str, int]] = PrivateAttr(default_factory=list)

    def _get_query_embedding(self, query: str) -> list[float]:
        self._batches.append(("query", 1))
        return [1.0, float(len(query))]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        self._batches.append(("aquery", 1))
        return [1.0, float(len(query))]

    def _get_text_embedding(self, text: str) -> list[float]:
        return [1.0, float(len(text))]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self._batches.append(("texts", len(texts)))
        return [self._get_text_embedding(text) for text in texts]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self._batches.append(("atexts", len(texts)))
        return [self._get_text_embedding(text) for text in texts]


async def test_as_embedder_embeds_in_the_models_own_batches_sync_and_async() -> None:
    model = Counting(model_name="counting-1", embed_batch_size=4)
    with AgentMemory.open(embedder=as_embedder(model), settings=Settings(embed_batch=1000)) as core:
        scope = core.scope(user="alice")
        scope.add_many([f"text {'x' * n}" for n in range(10)])
        assert model._batches == [("texts", 4), ("texts", 4), ("texts", 2)]
        model._batches.clear()
        await scope.aadd_many([f"other {'x' * n}" for n in range(6)])
        await scope.asearch("question")
        scope.search("another question")
        assert model._batches == [("atexts", 4), ("atexts", 2), ("aquery", 1), ("query", 1)]
        assert "counting-1" in repr(core)


def test_as_embedder_is_named_by_its_model_and_opens_twice(path: str) -> None:
    assert as_embedder(MockEmbedding(embed_dim=3)).name == "MockEmbedding"
    assert as_embedder(MockEmbedding(embed_dim=3), name="mine", dimensions=3).name == "mine"
    with AgentMemory.open(path + "2", embedder=as_embedder(Counting(model_name="a"))) as core:
        core.scope(user="alice").add("hello")
        with AgentMemory.open(path + "2", embedder=as_embedder(Counting(model_name="a"))):
            pass
    other = AgentMemory.open(path + "2", embedder=as_embedder(Counting(model_name="b")))
    with other, pytest.raises(EmbedderMismatch, match="'a'"):
        other.scope(user="alice").search("hello")
    with pytest.raises(InvalidType, match="BaseEmbedding"):
        as_embedder("e5")  # type: ignore[arg-type]


def test_as_llm_is_a_callable_with_a_name_and_an_async_form() -> None:
    llm = as_llm(ScriptedLLM("one", "two"))
    assert llm("prompt") == "one"
    assert asyncio.run(llm.acall("prompt")) == "two"
    assert llm.name == "script"
    assert as_llm(MockLLM()).name == "MockLLM"
    assert as_llm(MockLLM(), name="mine").name == "mine"
    with AgentMemory.open(embedder="hashing", llm=llm):
        pass
    with pytest.raises(InvalidType, match="LLM"):
        as_llm(print)  # type: ignore[arg-type]
