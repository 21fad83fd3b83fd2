"""`TwinmemVectorStore` (reference 1.6, 6) and `TwinmemToolSpec`."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any

import pytest
from li_scripted import ScriptedLLM, call, needs_chat_store
from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory, VectorMemoryBlock
from llama_index.core.schema import Document, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)

from llamaindex_mem import AsyncTwinmemChatStore, TwinmemMemory, TwinmemToolSpec, TwinmemVectorStore
from shared_core import AgentMemory, TwinmemError
from shared_core.errors import InvalidInput


def text_node(id: str, text: str, document: str = "doc", **metadata: Any) -> TextNode:
    node = TextNode(id_=id, text=text, metadata=metadata)
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=document)
    return node


@pytest.fixture
def store(core: AgentMemory) -> TwinmemVectorStore:
    made = TwinmemVectorStore(memory=core, user="alice")
    made.add(
        [
            text_node("1", "Green tea from Japan", "teas", year=2020, tags=["green", "japan"], nested={"a": [1]}),
            text_node("2", "Black tea from Assam", "teas", year=2022, tags=["black"], note="Hello World"),
            text_node("3", "A red bicycle", "bikes", year=2024, tags=[]),
        ]
    )
    return made


def ids(store: TwinmemVectorStore, text: str = "tea bicycle", k: int = 9, **kwargs: Any) -> list[str]:
    return store.query(VectorStoreQuery(query_str=text, similarity_top_k=k, **kwargs)).ids or []


def where(key: str, operator: FilterOperator, value: Any) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, operator=operator, value=value)])


def test_li_16_nodes_come_back_whole_with_scores(store: TwinmemVectorStore) -> None:
    assert isinstance(store, BasePydanticVectorStore)
    assert store.stores_text is True
    found = store.query(VectorStoreQuery(query_str="green tea", similarity_top_k=2))
    assert (found.ids or [])[0] == "1"
    assert found.nodes is not None
    assert found.similarities is not None
    assert found.nodes[0] == text_node(
        "1", "Green tea from Japan", "teas", year=2020, tags=["green", "japan"], nested={"a": [1]}
    )
    assert all(0 <= score <= 1 and type(score) is float for score in found.similarities)
    assert sorted(found.similarities, reverse=True) == found.similarities
    assert ids(store, k=0) == []


@pytest.mark.parametrize(
    ("operator", "key", "value", "expected"),
    [
        (FilterOperator.EQ, "year", 2020, {"1"}),
        (FilterOperator.NE, "year", 2020, {"2", "3"}),
        (FilterOperator.GT, "year", 2022, {"3"}),
        (FilterOperator.GTE, "year", 2022, {"2", "3"}),
        (FilterOperator.LT, "year", 2022, {"1"}),
        (FilterOperator.LTE, "year", 2022, {"1", "2"}),
        (FilterOperator.IN, "year", [2020, 2024], {"1", "3"}),
        (FilterOperator.NIN, "year", [2020, 2024], {"2"}),
        (FilterOperator.CONTAINS, "tags", "green", {"1"}),
        (FilterOperator.ANY, "tags", ["green", "black"], {"1", "2"}),
        (FilterOperator.ALL, "tags", ["green", "japan"], {"1"}),
        (FilterOperator.TEXT_MATCH, "note", "World", {"2"}),
        (FilterOperator.IS_EMPTY, "tags", None, {"3"}),
        (FilterOperator.IS_EMPTY, "note", None, {"1", "3"}),
        (FilterOperator.EQ, "ref_doc_id", "teas", {"1", "2"}),
    ],
)
def test_li_16_every_filter_operator_filters_before_the_cut(
    store: TwinmemVectorStore, operator: FilterOperator, key: str, value: Any, expected: set[str]
) -> None:
    filters = where(key, operator, value)
    assert set(ids(store, filters=filters)) == expected
    assert {node.node_id for node in store.get_nodes(filters=filters)} == expected
    assert len(ids(store, k=1, filters=filters)) == 1


def test_li_16_filters_combine_and_nest(store: TwinmemVectorStore) -> None:
    tea = MetadataFilter(key="ref_doc_id", value="teas")
    old = MetadataFilter(key="year", value=2021, operator=FilterOperator.LT)
    for condition, expected in ((FilterCondition.AND, {"1"}), (FilterCondition.OR, {"1", "2"})):
        assert set(ids(store, filters=MetadataFilters(filters=[tea, old], condition=condition))) == expected
    nobody = MetadataFilters(filters=[tea], condition=FilterCondition.NOT)
    assert set(ids(store, filters=nobody)) == {"3"}
    assert set(ids(store, filters=MetadataFilters(filters=[nobody, old], condition=FilterCondition.OR))) == {"1", "3"}
    assert len(ids(store, filters=MetadataFilters(filters=[]))) == 3
    assert set(ids(store, doc_ids=["bikes"])) == {"3"}
    assert set(ids(store, node_ids=["1", "3"])) == {"1", "3"}
    assert len(ids(store, node_ids=[])) == 3, "an index over this store sends an empty list, and means all"
    assert store.get_nodes(node_ids=[]) == []


def test_what_it_can_not_keep_to_is_refused_and_never_ignored(store: TwinmemVectorStore) -> None:
    with pytest.raises(InvalidInput, match="query_str"):
        store.query(VectorStoreQuery(query_embedding=[1.0]))
    with pytest.raises(InvalidInput, match="mode"):
        ids(store, mode="mmr")
    with pytest.raises(InvalidInput, match="text_match_insensitive"):
        ids(store, filters=where("note", FilterOperator.TEXT_MATCH_INSENSITIVE, "world"))


def test_li_16_deleting_by_document_by_id_by_filter_and_all(core: AgentMemory, store: TwinmemVectorStore) -> None:
    scope = core.scope(user="alice")
    scope.add("a fact that stays")
    store.delete_nodes()
    assert len(store.get_nodes()) == 3
    store.delete_nodes(["1"], where("year", FilterOperator.GT, 2021))
    assert len(store.get_nodes()) == 3
    store.delete_nodes(filters=where("year", FilterOperator.EQ, 2024))
    assert {node.node_id for node in store.get_nodes()} == {"1", "2"}
    assert ids(store, "red bicycle") == ["1", "2"] or set(ids(store, "red bicycle")) == {"1", "2"}
    store.delete("teas")
    assert store.get_nodes() == []
    store.add([text_node("1", "again")])
    store.clear()
    assert store.get_nodes() == []
    assert [record.text for record in scope.list()] == ["a fact that stays"]


def test_a_known_id_is_replaced_and_touches_no_memory(core: AgentMemory, store: TwinmemVectorStore) -> None:
    core.scope(user="alice").add("my fact", id="1")
    other = TwinmemVectorStore(memory=core, user="alice", collection="other")
    assert other.add([text_node("1", "Other tea")]) == ["1"]
    store.add([text_node("1", "White tea")])
    assert [node.get_content() for node in store.get_nodes(["1"])] == ["White tea"]
    assert [node.get_content() for node in other.get_nodes()] == ["Other tea"]
    fact = core.scope(user="alice").get("1")
    assert fact is not None
    assert fact.text == "my fact"
    other.clear()
    assert len(store.get_nodes()) == 3


def test_users_do_not_see_each_other(core: AgentMemory, store: TwinmemVectorStore) -> None:
    bob = TwinmemVectorStore(memory=core, user="bob")
    assert ids(bob) == []
    bob.clear()
    assert len(store.get_nodes()) == 3
    with pytest.raises(TwinmemError, match="user"):
        TwinmemVectorStore(memory=core)


async def test_li_16_the_async_methods_do_the_same(core: AgentMemory) -> None:
    store = TwinmemVectorStore(memory=core, user="alice")
    assert await store.async_add([text_node("1", "Green tea"), text_node("2", "Red bike", "b")]) == ["1", "2"]
    query = VectorStoreQuery(query_str="tea", similarity_top_k=1)
    assert (await store.aquery(query)).ids == ["1"]
    assert len(await store.aget_nodes()) == 2
    await store.adelete("b")
    await store.adelete_nodes(["1"])
    assert await store.aget_nodes() == []
    await store.async_add([text_node("1", "Green tea")])
    await store.aclear()
    assert store.get_nodes() == []


def test_an_index_over_it_needs_no_embedding_model_and_no_docstore(
    core: AgentMemory, store: TwinmemVectorStore
) -> None:
    index = VectorStoreIndex.from_vector_store(store, embed_model=MockEmbedding(embed_dim=1))
    index.insert(Document(text="Oolong tea from Taiwan", id_="oolong", metadata={"year": 2025}))
    found = index.as_retriever(similarity_top_k=1).retrieve("oolong")
    assert found[0].node.ref_doc_id == "oolong"
    filtered = index.as_retriever(similarity_top_k=5, filters=where("year", FilterOperator.EQ, 2025))
    assert [n.text for n in filtered.retrieve("tea")] == ["Oolong tea from Taiwan"]
    llm = ScriptedLLM("Taiwan")
    assert str(index.as_query_engine(llm=llm, similarity_top_k=1).query("Where is oolong from?")) == "Taiwan"
    index.delete_ref_doc("oolong")
    assert "Oolong" not in str([n.text for n in index.as_retriever(similarity_top_k=9).retrieve("oolong")])
    storage = StorageContext.from_defaults(vector_store=store)
    VectorStoreIndex.from_documents(
        [Document(text="x y z")], storage_context=storage, embed_model=MockEmbedding(embed_dim=1)
    )
    assert len(store.get_nodes()) == 4


@needs_chat_store
async def test_li_13_the_vector_memory_block_of_llamaindex_takes_it(core: AgentMemory) -> None:
    store = TwinmemVectorStore(memory=core, user="alice", collection="memory")
    for session in ("a", "b"):
        block = VectorMemoryBlock(vector_store=store, embed_model=MockEmbedding(embed_dim=1))
        chat_store = AsyncTwinmemChatStore(memory=core, user="alice")
        memory = Memory.from_defaults(
            session_id=session, memory_blocks=[block], chat_store=chat_store, token_limit=20, chat_history_token_ratio=0.5,
            token_flush_size=5, tokenizer_fn=str.split,
        )  # fmt: skip
        for n in range(6):
            await memory.aput_messages(
                [
                    ChatMessage(role="user", content=f"{session} question {n}"),
                    ChatMessage(role="assistant", content=f"{session} answer {n}"),
                ]
            )
        found = str(await memory.aget(input="question 0"))
        assert f"{session} question 0" in found
        assert ("a question" in found) == (session == "a")


def test_it_is_a_handle(path: str) -> None:
    store = TwinmemVectorStore(address=path, user="alice", collection="c")
    again = TwinmemVectorStore.from_dict(json.loads(json.dumps(store.to_dict())))
    again.add([text_node("1", "Green tea")])
    assert [node.node_id for node in pickle.loads(pickle.dumps(store)).get_nodes()] == ["1"]


def test_documents_are_found_by_the_memory_of_the_user(core: AgentMemory, store: TwinmemVectorStore) -> None:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice")
    memory.put(ChatMessage(role="user", content="What colour is the bicycle?"))
    assert "A red bicycle" in str(memory.get()[-1].content)


# ---------------------------------------------------------------------- tools


async def test_li_16_the_tools_remember_recall_and_forget_for_one_user(core: AgentMemory) -> None:
    tools = {tool.metadata.name: tool for tool in TwinmemToolSpec(core, user="alice").to_tool_list()}
    assert set(tools) == {"remember", "recall", "forget"}
    assert tools["remember"].metadata.get_parameters_dict()["required"] == ["fact"]
    assert "fact about the user" in tools["remember"].metadata.description
    id = str(tools["remember"].call("Alice lives in Lyon")).split("[")[1].split("]")[0]
    told = str(await tools["recall"].acall(question="Where does Alice live?"))
    assert "Alice lives in Lyon" in told
    assert f"[{id}]" in told
    bob = {tool.metadata.name: tool for tool in TwinmemToolSpec(core, user="bob").to_tool_list()}
    assert "Lyon" not in str(bob["recall"].call("Lyon?"))
    assert "no memory" in str(await bob["forget"].acall(id))
    assert "no memory" in str(bob["forget"].call(id))
    assert "Forgotten" in str(await tools["forget"].acall(id))
    assert str(tools["recall"].call("Lyon?")) == "Nothing is known about that."
    assert "Remembered" in str(await tools["remember"].acall("x y"))
    with pytest.raises(TwinmemError, match="user"):
        TwinmemToolSpec(core, user="")


def test_an_agent_remembers_by_itself(core: AgentMemory) -> None:
    llm = ScriptedLLM(call("remember", fact="Alice likes oolong"), "Noted")
    agent = FunctionAgent(llm=llm, tools=TwinmemToolSpec(core, user="alice").to_tool_list())

    async def run() -> str:
        return str(await agent.run(user_msg="remember that I like oolong"))

    assert asyncio.run(run()) == "Noted"
    assert core.scope(user="alice").search("oolong")[0].record.text == "Alice likes oolong"
