"""What a user would lose when LlamaIndex's rerankers and query transforms serve the memory, or its retriever theirs (C3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.indices.query.query_transform.base import BaseQueryTransform, HyDEQueryTransform
from llama_index.core.llms.mock import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import PrivateAttr

from llamaindex_mem import TwinmemRetriever, as_expander, as_reranker
from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidType

TEXTS = ["Green tea keeps me awake", "I drink tea", "茶馆关门了", "My bike is red"]


class Longest(BaseNodePostprocessor):
    """Keeps the longest texts."""

    keep: int = 2
    fault: str = ""
    _asked: list[str] = PrivateAttr(default_factory=list)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        assert query_bundle is not None
        self._asked.append(query_bundle.query_str)
        if self.fault == "raises":
            raise RuntimeError("no network")
        if self.fault == "strangers":
            return [NodeWithScore(node=TextNode(text="x"), score=1.0)]
        return sorted(nodes, key=lambda node: -len(node.text))[: self.keep]


class Split(BaseQueryTransform):
    """Asks for something else as well."""

    def _run(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        return QueryBundle(query_bundle.query_str, custom_embedding_strs=[query_bundle.query_str, "red bike"])

    def _update_prompts(self, prompts: Any) -> None:
        pass

    def _get_prompts(self) -> Any:
        return {}


def scope_with(**recall: Any) -> Scope:
    scope = AgentMemory.open(embedder="hashing", settings={"recall": recall}).scope(user="alice")
    scope.add_many([{"text": text, "id": str(n)} for n, text in enumerate(TEXTS)])
    return scope


def texts(scope: Scope, query: str = "tea") -> list[str]:
    return [hit.record.text for hit in scope.search(query, k=4)]


def test_c3_a_reranker_orders_and_what_it_leaves_out_is_not_lost() -> None:
    plain = texts(scope_with())
    kept = sorted(TEXTS, key=lambda text: -len(text))[:2]
    model = Longest()
    scope = scope_with(rerank=as_reranker(model))
    assert texts(scope) == [*kept, *(text for text in plain if text not in kept)]
    assert [hit.record.text for hit in asyncio.run(scope.asearch("tea", k=4))] == texts(scope)
    assert model._asked == ["tea"] * 3


def test_c3_a_cutoff_that_drops_everything_loses_nothing() -> None:
    scope = scope_with(rerank=as_reranker(SimilarityPostprocessor(similarity_cutoff=2.0)))
    assert texts(scope) == texts(scope_with())


@pytest.mark.parametrize("fault", ["raises", "strangers"])
def test_c3_a_reranker_that_fails_costs_a_warning_and_no_answer(fault: str, caplog: pytest.LogCaptureFixture) -> None:
    plain = texts(scope_with())
    with caplog.at_level(logging.WARNING, logger="twinmem.recall"):
        assert texts(scope_with(rerank=as_reranker(Longest(fault=fault)))) == plain
    assert len(caplog.records) == 1


def test_c3_a_transform_asks_more_than_the_question() -> None:
    scope = scope_with(expand=as_expander(Split()), expansion_weight=1.0)
    assert "My bike is red" in texts(scope, "Which way to work?")[:2]
    found = asyncio.run(scope.asearch("Which way to work?", k=2))
    assert "My bike is red" in [hit.record.text for hit in found]


def test_c3_a_hyde_document_is_asked_for_too() -> None:
    expand = as_expander(HyDEQueryTransform(llm=MockLLM(max_tokens=4)))
    found = expand("How do I commute?")
    assert found[0] == "How do I commute?"
    assert len(found) == 2


def test_c3_what_is_no_hook_is_refused_at_once() -> None:
    for make in (as_reranker, as_expander):
        refused: Callable[[Any], Any] = make  # type: ignore[assignment]
        with pytest.raises(InvalidType, match=make.__name__):
            refused("cohere")


def test_c3_a_fusion_retriever_over_the_memory_finds_nothing_twice() -> None:
    memory = AgentMemory.open(embedder="hashing")
    memory.scope(user="alice").add_many([{"text": text, "id": str(n)} for n, text in enumerate(TEXTS)])
    ours = [TwinmemRetriever(memory, user="alice", k=4), TwinmemRetriever(memory, user="alice", k=3)]
    fusion = QueryFusionRetriever(ours, llm=MockLLM(), num_queries=1, similarity_top_k=10, use_async=False)
    found = [node.text for node in fusion.retrieve("green tea")]
    assert len(found) == len(set(found)) == 4
