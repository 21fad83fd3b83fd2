"""What a user would lose when LangChain's rerankers and rewriters serve the memory, or its retriever theirs (C3)."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from pydantic import PrivateAttr

from langchain_mem import TwinmemRetriever, as_expander, as_reranker
from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidType

# Not in the oldest langchain-core that the adapter allows.
BaseCrossEncoder = pytest.importorskip("langchain_core.cross_encoders").BaseCrossEncoder

CLASSIC = importlib.util.find_spec("langchain_classic") is not None
needs_classic = pytest.mark.skipif(not CLASSIC, reason="langchain-classic is not installed")
TEXTS = ["Green tea keeps me awake", "I drink tea", "茶馆关门了", "My bike is red"]


class Longest(BaseCrossEncoder):
    """Scores a text by its length; `fault` is raised instead."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.pairs: list[tuple[str, str]] = []

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        self.pairs = list(text_pairs)
        if self.fault is not None:
            raise self.fault
        return [float(len(text)) for _, text in text_pairs]


class Compressor(BaseDocumentCompressor):
    """Keeps the longest texts, as new documents or the same, with another text."""

    keep: int = 2
    copies: bool = False
    forgets: bool = False
    _calls: list[str] = PrivateAttr(default_factory=list)

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        self._calls.append("sync")
        best = sorted(documents, key=lambda document: -len(document.page_content))[: self.keep]
        if self.forgets:
            return [Document(page_content=document.page_content) for document in best]
        return [Document(page_content="cut", metadata=d.metadata) for d in best] if self.copies else best

    async def acompress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> Any:
        found = self.compress_documents(documents, query)
        self._calls[-1] = "async"
        return found


def scope_with(**recall: Any) -> Scope:
    scope = AgentMemory.open(embedder="hashing", settings={"recall": recall}).scope(user="alice")
    scope.add_many([{"text": text, "id": str(n)} for n, text in enumerate(TEXTS)])
    return scope


def texts(scope: Scope, query: str = "tea", **more: Any) -> list[str]:
    return [hit.record.text for hit in scope.search(query, k=4, **more)]


def test_c3_a_cross_encoder_orders_what_the_memory_recalls() -> None:
    model = Longest()
    scope = scope_with(rerank=as_reranker(model))
    assert texts(scope) == sorted(TEXTS, key=lambda text: -len(text))
    assert {query for query, _ in model.pairs} == {"tea"}
    assert sorted(text for _, text in model.pairs) == sorted(TEXTS)
    assert asyncio.run(scope.asearch("tea", k=1))[0].record.text == TEXTS[0]


@pytest.mark.parametrize("copies", [False, True])
def test_c3_a_compressor_orders_and_what_it_leaves_out_is_not_lost(copies: bool) -> None:
    plain = texts(scope_with())
    kept = sorted(TEXTS, key=lambda text: -len(text))[:2]
    found = texts(scope_with(rerank=as_reranker(Compressor(copies=copies))))
    assert found == [*kept, *(text for text in plain if text not in kept)]
    assert "cut" not in found, "texts are the memory's own"


def test_c3_the_async_form_of_a_compressor_is_awaited() -> None:
    compressor = Compressor()
    scope = scope_with(rerank=as_reranker(compressor))
    plain = texts(scope)
    assert [hit.record.text for hit in asyncio.run(scope.asearch("tea", k=4))] == plain
    assert compressor._calls == ["sync", "async"]


@pytest.mark.parametrize(
    "model", [Longest(RuntimeError("no network")), Compressor(forgets=True)], ids=["raises", "forgets"]
)
def test_c3_a_reranker_that_fails_costs_a_warning_and_no_answer(model: Any, caplog: pytest.LogCaptureFixture) -> None:
    plain = texts(scope_with())
    with caplog.at_level(logging.WARNING, logger="twinmem.recall"):
        assert texts(scope_with(rerank=as_reranker(model))) == plain
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "rewriter",
    [
        RunnableLambda(lambda given: [given["question"], "bike"]),
        RunnableLambda(lambda given: "bike\n\n"),
        RunnableLambda(lambda given: AIMessage("bike")),
    ],
    ids=["list", "lines", "message"],
)
def test_c3_a_runnable_rewrites_the_question(rewriter: Any) -> None:
    scope = scope_with(expand=as_expander(rewriter), expansion_weight=1.0)
    assert "My bike is red" in texts(scope, "Which way to work?")[:2]
    found = asyncio.run(scope.asearch("Which way to work?", k=2))
    assert "My bike is red" in [hit.record.text for hit in found]


def test_c3_what_is_no_hook_is_refused_at_once() -> None:
    for make in (as_reranker, as_expander):
        with pytest.raises(InvalidType, match=make.__name__):
            make("cohere")  # type: ignore[operator]
    with pytest.raises(InvalidType, match="answered with a dict"):
        as_expander(RunnableLambda(lambda given: {"a": 1}))("x")


# ---------------------------------------------------------------------- the memory's retriever inside theirs


def retriever(**more: Any) -> TwinmemRetriever:
    memory = AgentMemory.open(embedder="hashing")
    memory.scope(user="alice").add_many([{"text": text, "id": str(n)} for n, text in enumerate(TEXTS)])
    return TwinmemRetriever(memory=memory, user="alice", **more)


def test_c3_a_document_recalled_by_two_questions_is_one_document() -> None:
    ours = retriever(k=4, explain=True)
    first = {document.id: document for document in ours.invoke("tea")}
    second = {document.id: document for document in ours.invoke("green tea")}
    assert any(first[id].metadata["score"] != second[id].metadata["score"] for id in first)
    assert first == second
    one, other = list(first.values())[:2]
    assert one != other
    assert one != "a text"
    assert one == Document(page_content=one.page_content, id=one.id, metadata=one.metadata)
    assert dumpd(one)["id"] == dumpd(Document(page_content=""))["id"], "stored as LangChain's own document"


@needs_classic
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_c3_a_multi_query_retriever_over_the_memory_finds_nothing_twice(quiet_classic: Callable[[], Any]) -> None:
    classic = quiet_classic()
    llm = FakeListChatModel(responses=["tea\ngreen tea\nbike"])
    multi = classic.MultiQueryRetriever.from_llm(retriever(k=4), llm, include_original=True)
    found = [document.page_content for document in multi.invoke("What do I drink?")]
    assert len(found) == len(set(found)) == 4
    chain = as_expander(multi.llm_chain)
    assert chain("What do I drink?") == ["tea", "green tea", "bike"]


@needs_classic
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("given", ["their reranker", "our hook"])
def test_c3_a_compression_retriever_and_the_hook_reorder_alike(given: str, quiet_classic: Callable[[], Any]) -> None:
    classic = quiet_classic()
    from langchain_classic.retrievers.document_compressors import CrossEncoderReranker

    compressor = CrossEncoderReranker(model=Longest(), top_n=2)
    expected = sorted(TEXTS, key=lambda text: -len(text))[:2]
    if given == "their reranker":
        theirs = classic.ContextualCompressionRetriever(base_compressor=compressor, base_retriever=retriever(k=4))
        assert [document.page_content for document in theirs.invoke("tea")] == expected
        assert [d.page_content for d in asyncio.run(theirs.ainvoke("tea"))] == expected
    else:
        assert texts(scope_with(rerank=as_reranker(compressor)))[:2] == expected


@pytest.fixture
def quiet_classic() -> Callable[[], Any]:
    """`langchain_classic.retrievers`, whose import warns of a sunset."""

    def _load() -> Any:
        import langchain_classic.retrievers as classic

        return classic

    return _load
