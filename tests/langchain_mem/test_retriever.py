"""What a user of the retriever would lose (reference 1.3, section 5; case R29)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from langchain_core.tools import create_retriever_tool
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_mem import TwinmemChatMessageHistory, TwinmemRetriever
from shared_core import AgentMemory

TEXTS = ["I live in Lyon", "I like green tea", "My bike is red", "The cat is called Mina", "乌龙茶很好喝"]


@pytest.fixture
def filled(memory: AgentMemory) -> AgentMemory:
    memory.scope(user="alice").add_many(
        [{"text": text, "metadata": {"n": n, "lang": "zh" if n == 4 else "en"}} for n, text in enumerate(TEXTS)]
    )
    memory.scope(user="bob").add("Bob lives in Lyon too")
    return memory


class TestStandardSuite(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[TwinmemRetriever]:
        return TwinmemRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        memory = AgentMemory.open(embedder="hashing")
        memory.scope(user="alice").add_many(TEXTS)
        return {"memory": memory, "user": "alice", "k": 4}

    @property
    def retriever_query_example(self) -> str:
        return "Who lives in Lyon?"


Ask = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Ask:
    async def ask(retriever: TwinmemRetriever, query: str, **more: Any) -> list[Document]:
        if request.param == "sync":
            return retriever.invoke(query, None, **more)
        return await retriever.ainvoke(query, None, **more)

    return ask


async def test_lc_1_3_every_argument_of_a_call_works_sync_and_async(filled: AgentMemory, ask: Ask) -> None:
    retriever = TwinmemRetriever(memory=filled, user="alice")
    assert len(await ask(retriever, "tea", k=2)) == 2
    assert [d.metadata["n"] for d in await ask(retriever, "tea", where={"lang": "zh"})] == [4]
    assert [d.metadata["n"] for d in await ask(retriever, "tea", filter={"n": {"$in": [1, 9]}})] == [1]
    assert await ask(retriever, "tea", kinds=["turn"]) == []
    first = (await ask(retriever, "green tea", k=1))[0].id
    assert first not in [d.id for d in await ask(retriever, "green tea", exclude=[first])]
    assert await ask(retriever, "tea", as_of=datetime(1990, 1, 1, tzinfo=UTC)) == []
    assert await ask(retriever, "tea", min_score=1.0) == []


async def test_a_filter_of_a_call_narrows_the_retrievers_own(filled: AgentMemory, ask: Ask) -> None:
    retriever = TwinmemRetriever(memory=filled, user="alice", where={"lang": "en"}, kinds=["fact"])
    found = await ask(retriever, "tea Lyon bike", filter={"n": {"$gte": 2}}, k=10)
    assert sorted(d.metadata["n"] for d in found) == [2, 3]
    assert await ask(retriever, "tea", kinds=["turn"]) == []


async def test_case_r29_an_unknown_operator_raises_and_never_widens(filled: AgentMemory, ask: Ask) -> None:
    with pytest.raises(ValueError, match=r"\$regex"):
        await ask(TwinmemRetriever(memory=filled, user="alice"), "tea", filter={"lang": {"$regex": "."}})


async def test_case_r29_no_filter_reaches_another_user(filled: AgentMemory, ask: Ask) -> None:
    retriever = TwinmemRetriever(memory=filled, user="alice", k=10)
    for where in (
        {"user": "bob"},
        {"$or": [{"n": {"$exists": False}}, {"n": {"$exists": True}}]},
        {"agent": "default"},
    ):
        assert all("Bob" not in d.page_content for d in await ask(retriever, "Lyon", where=where))


def test_documents_carry_id_score_kind_and_time(filled: AgentMemory) -> None:
    found = TwinmemRetriever(memory=filled, user="alice").invoke("I live in Lyon")[0]
    record = filled.scope(user="alice").get(str(found.id))
    assert record is not None
    assert found.page_content == record.text == "I live in Lyon"
    assert type(found.metadata["score"]) is float
    assert found.metadata["score"] == pytest.approx(1.0)
    assert found.metadata["kind"] == "fact"
    assert datetime.fromisoformat(found.metadata["created_at"]) == record.created_at
    json.dumps(found.metadata)


def test_a_turn_says_where_it_comes_from(memory: AgentMemory) -> None:
    TwinmemChatMessageHistory("monday", user="alice", memory=memory).add_messages([HumanMessage("I moved", id="7")])
    found = TwinmemRetriever(memory=memory, user="alice").invoke("moved")[0].metadata
    assert (found["session"], found["role"], found["kind"], found["message_id"]) == ("monday", "user", "turn", "7")
    with pytest.raises(ValueError, match="monday"):
        TwinmemRetriever(memory=memory, user="alice", session="monday").invoke("x", session="other")


def test_own_metadata_named_like_a_field_does_not_hide_the_field(memory: AgentMemory) -> None:
    memory.scope(user="alice").add("tea", metadata={"score": "mine", "kind": "drink", "other": 1})
    found = TwinmemRetriever(memory=memory, user="alice").invoke("tea")[0].metadata
    assert found["kind"] == "fact"
    assert (found["metadata.score"], found["metadata.kind"], found["other"]) == ("mine", "drink", 1)


def test_explain_says_why(filled: AgentMemory) -> None:
    found = TwinmemRetriever(memory=filled, user="alice", explain=True).invoke("green tea")[0]
    assert "words green, tea" in found.metadata["reason"]


def test_lc_1_3_run_name_and_tags_reach_the_callbacks(filled: AgentMemory) -> None:
    class Seen(BaseCallbackHandler):
        started: dict[str, Any]

        def on_retriever_start(self, serialized: Any, query: str, **more: Any) -> None:
            self.started = more

    seen = Seen()
    retriever = TwinmemRetriever(memory=filled, user="alice", tags=["own"], metadata={"a": 1})
    retriever.invoke("tea", {"callbacks": [seen], "tags": ["call"]})
    assert seen.started["name"] == "TwinmemRetriever"
    assert {"own", "call"} <= set(seen.started["tags"])
    assert (seen.started["metadata"]["ls_retriever_name"], seen.started["metadata"]["a"]) == ("twinmem", 1)


def test_lc_1_3_works_as_a_tool(filled: AgentMemory) -> None:
    tool = create_retriever_tool(TwinmemRetriever(memory=filled, user="alice", k=1), "recall", "what was said")
    assert tool.invoke({"query": "Where do I live? Lyon"}) == "I live in Lyon"


@pytest.mark.parametrize("user", ["", " "])
def test_nobody_in_particular_is_refused(memory: AgentMemory, user: str) -> None:
    with pytest.raises(ValueError):
        TwinmemRetriever(memory=memory, user=user)
    with pytest.raises(ValueError):
        TwinmemRetriever(memory=memory)  # type: ignore[call-arg]


def test_a_retriever_of_a_file(path: Any) -> None:
    AgentMemory.register(path, lambda: {"embedder": "hashing"})
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.scope(user="alice").add("I live in Lyon")
        assert TwinmemRetriever(address=str(path), user="alice").invoke("Lyon")[0].page_content == "I live in Lyon"


def test_printing_a_retriever_shows_no_memory(filled: AgentMemory) -> None:
    assert "memory" not in repr(TwinmemRetriever(memory=filled, user="alice"))
