"""Chat stores: LlamaIndex's buffers and its own `Memory` over our database (reference 1.4, 3.2, 4, 6)."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from typing import Any

import pytest
from li_scripted import ScriptedLLM, call, needs_chat_store
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.storage.chat_store.base import BaseChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from llama_index.core.storage.chat_store.loading import load_chat_store
from llama_index.core.workflow import Context

from llamaindex_mem import AsyncTwinmemChatStore, TwinmemChatStore, TwinmemMemory
from shared_core import AgentMemory, TwinmemError


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def answer(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def texts(messages: Any) -> list[str | None]:
    return [message.content for message in messages]


@pytest.fixture
def store(core: AgentMemory) -> TwinmemChatStore:
    return TwinmemChatStore(memory=core, user="alice")


@pytest.fixture
def database(core: AgentMemory) -> AsyncTwinmemChatStore:
    return AsyncTwinmemChatStore(memory=core, user="alice")


# ---------------------------------------------------------------------- BaseChatStore


def test_li_14_messages_keep_their_order_and_key(store: TwinmemChatStore) -> None:
    assert isinstance(store, BaseChatStore)
    for text in "abc":
        store.add_message("k1", user(text))
    store.add_message("k2", user("x"))
    store.add_message("k1", user("first"), idx=0)
    assert texts(store.get_messages("k1")) == ["first", "a", "b", "c"]
    assert store.get_keys() == ["k1", "k2"]
    assert store.get_messages("unknown") == []


def test_li_14_setting_replaces_and_deleting_gives_what_went(store: TwinmemChatStore) -> None:
    store.set_messages("k", [user("a"), answer("b"), user("c")])
    store.set_messages("k", [user("a"), answer("B"), user("c")])
    assert texts(store.get_messages("k")) == ["a", "B", "c"]
    assert store.delete_message("k", 1) == answer("B")
    assert texts(store.get_messages("k")) == ["a", "c"]
    assert store.delete_message("k", -1) == user("c")
    assert texts(store.delete_messages("k") or []) == ["a"]
    assert (store.get_messages("k"), store.get_keys()) == ([], [])


@pytest.mark.parametrize("idx", [3, 7, -4])
def test_li_14_a_place_out_of_range_is_none(store: TwinmemChatStore, idx: int) -> None:
    store.set_messages("k", [user("a"), user("b"), user("c")])
    assert store.delete_message("k", idx) is None
    assert len(store.get_messages("k")) == 3


def test_li_32_h_and_issue_22_deleting_from_nothing_is_none(store: TwinmemChatStore) -> None:
    assert store.delete_last_message("k") is None
    assert store.delete_message("k", 0) is None
    assert store.delete_messages("k") is None
    assert store.get_keys() == []


def test_li_issue_21_deleting_keeps_the_order_of_the_others(store: TwinmemChatStore) -> None:
    store.set_messages("k", [user("A"), user("B"), user("C")])
    store.delete_message("k", 1)
    assert texts(store.get_messages("k")) == ["A", "C"]
    store.delete_last_message("k")
    store.delete_last_message("k")
    assert store.get_messages("k") == []


def test_li_32_g_what_the_caller_does_to_lists_changes_nothing_stored(store: TwinmemChatStore) -> None:
    given = [user("a")]
    store.set_messages("k", given)
    given.append(user("b"))
    given[0].blocks[0].text = "changed"
    store.get_messages("k").clear()
    store.get_messages("k")[0].additional_kwargs["x"] = 1
    assert store.get_messages("k") == [user("a")]


def test_li_32_a_a_bad_message_leaves_the_old_ones(store: TwinmemChatStore) -> None:
    store.set_messages("k", [user("old")])
    with pytest.raises(TypeError):
        store.set_messages("k", [user("new"), "text"])  # type: ignore[list-item]
    assert texts(store.get_messages("k")) == ["old"]


async def test_li_14_the_async_names_do_the_same(store: TwinmemChatStore) -> None:
    await store.aset_messages("k", [user("a"), user("b")])
    await store.async_add_message("k", user("c"))
    assert texts(await store.aget_messages("k")) == ["a", "b", "c"]
    assert await store.aget_keys() == ["k"]
    assert await store.adelete_message("k", 0) == user("a")
    assert await store.adelete_last_message("k") == user("c")
    assert texts(await store.adelete_messages("k") or []) == ["b"]
    assert await store.adelete_messages("k") is None
    await asyncio.gather(*(store.async_add_message("k", user(str(n))) for n in range(20)))
    assert len(await store.aget_messages("k")) == 20


def test_users_and_agents_do_not_see_each_other(core: AgentMemory, store: TwinmemChatStore) -> None:
    store.add_message("k", user("secret"))
    assert TwinmemChatStore(memory=core, user="bob").get_messages("k") == []
    assert TwinmemChatStore(memory=core, user="alice", agent="b").get_messages("k") == []
    with pytest.raises(TwinmemError, match="user"):
        TwinmemChatStore(memory=core)
    TwinmemChatStore().add_message("k", user("private"))
    assert TwinmemChatStore().get_messages("k") == []


def test_what_a_store_keeps_is_remembered_elsewhere(core: AgentMemory, store: TwinmemChatStore) -> None:
    store.add_message("monday", user("I live in Lyon"))
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", session_id="tuesday")
    memory.put(user("Where do I live?"))
    assert "I live in Lyon" in str(memory.get()[-1].content)
    store.delete_messages("monday")
    assert "Lyon" not in str(memory.get()[-1].content)


@pytest.mark.parametrize("where", ["memory", "file"])
def test_li_fact_10_a_buffer_over_our_store_survives_every_way_of_being_stored(
    core: AgentMemory, path: str, where: str
) -> None:
    given: dict[str, Any] = {"address": path} if where == "file" else {"memory": core}
    store = TwinmemChatStore(user="alice", **given)
    buffer = ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key="k", token_limit=1000)
    buffer.put(user("hello"))
    again = ChatMemoryBuffer.from_dict(json.loads(json.dumps(buffer.to_dict())))
    again.put(answer("hi"))
    assert texts(buffer.get()) == ["hello", "hi"]
    assert type(again.chat_store) is TwinmemChatStore
    assert texts(ChatMemoryBuffer.from_string(buffer.to_string()).get()) == ["hello", "hi"]
    assert texts(pickle.loads(pickle.dumps(buffer)).get()) == ["hello", "hi"]
    assert texts(copy.deepcopy(buffer).get()) == ["hello", "hi"]
    assert load_chat_store(store.to_dict()).get_keys() == ["k"]


def test_a_private_store_travels_with_its_messages(path: str) -> None:
    store = TwinmemChatStore()
    store.add_message("k", user("hello"))
    data = json.loads(json.dumps(store.to_dict()))
    assert "hello" in json.dumps(data)
    del store
    again = TwinmemChatStore.from_dict(data)
    assert texts(again.get_messages("k")) == ["hello"]
    filed = TwinmemChatStore(address=path, user="alice")
    filed.add_message("k", user("hello"))
    assert "hello" not in json.dumps(filed.to_dict())


async def test_li_fact_10_an_agent_reuses_its_context_with_a_buffer_over_our_store(store: TwinmemChatStore) -> None:
    buffer = ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key="k", token_limit=1000)
    agent = FunctionAgent(llm=ScriptedLLM("r1", "r2"), tools=[])
    context = Context(agent)
    await agent.run(user_msg="u1", memory=buffer, ctx=context)
    await agent.run(user_msg="u2", ctx=context)
    assert texts(store.get_messages("k")) == ["u1", "r1", "u2", "r2"]


# ---------------------------------------------------------------------- AsyncDBChatStore


async def test_li_14_the_database_store_does_what_memory_asks_of_it(database: AsyncTwinmemChatStore) -> None:
    assert isinstance(database, AsyncDBChatStore)
    assert await database.get_messages("k") == []
    await database.add_message("k", user("a"))
    await database.add_messages("k", [answer("b"), user("c"), answer("d")])
    await database.add_messages("k", [])
    await database.add_message("other", user("x"))
    assert texts(await database.get_messages("k")) == ["a", "b", "c", "d"]
    assert texts(await database.get_messages("k", limit=2, offset=1)) == ["b", "c"]
    assert await database.count_messages("k") == 4
    assert await database.get_keys() == ["k", "other"]
    await database.set_messages("k", [user("A"), answer("b")])
    assert texts(await database.get_messages("k")) == ["A", "b"]
    assert texts(await database.get_messages("other")) == ["x"]


async def test_li_14_and_issue_23_archived_messages_keep_their_place(database: AsyncTwinmemChatStore) -> None:
    messages = [call("look", what="x"), *(user(text) for text in "abcd")]
    await database.add_messages("k", messages)
    assert await database.archive_oldest_messages("k", 2) == messages[:2]
    assert await database.get_messages("k") == messages[2:]
    assert await database.get_messages("k", status=MessageStatus.ARCHIVED) == messages[:2]
    assert await database.get_messages("k", status=None) == messages
    assert await database.count_messages("k", status=None) == 5
    assert texts(await database.delete_oldest_messages("k", 1)) == ["b"]
    assert texts(await database.archive_oldest_messages("k", 9)) == ["c", "d"]
    assert await database.archive_oldest_messages("k", 1) == []
    assert texts(await database.get_messages("k", status=None)) == [None, "a", "c", "d"]
    await database.add_message("k", user("late"), status=MessageStatus.ARCHIVED)
    await database.delete_messages("k", status=MessageStatus.ARCHIVED)
    assert await database.get_messages("k", status=None) == []
    await database.delete_messages("k")
    assert await database.get_keys() == []


async def test_li_14_a_message_is_deleted_by_its_place(database: AsyncTwinmemChatStore) -> None:
    await database.add_messages("k", [user("a"), user("b")])
    assert await database.delete_message("k", 5) is None
    assert await database.delete_message("k", -1) is None
    assert await database.delete_message("k", 0) == user("a")
    assert texts(await database.get_messages("k")) == ["b"]


@needs_chat_store
async def test_li_14_memory_never_stacks_its_text_in_what_we_stored(database: AsyncTwinmemChatStore) -> None:
    from llama_index.core.memory import InsertMethod, StaticMemoryBlock

    memory = Memory.from_defaults(
        session_id="k", chat_store=database, insert_method=InsertMethod.USER,
        memory_blocks=[StaticMemoryBlock(name="static", static_content="STATIC")],
    )  # fmt: skip
    await memory.aput(user("hello"))
    for _ in range(3):
        assert str(await memory.aget()).count("STATIC") == 1
    assert texts(await database.get_messages("k")) == ["hello"]


@needs_chat_store
async def test_li_12_llamaindex_memory_flushes_through_our_store(
    core: AgentMemory, database: AsyncTwinmemChatStore
) -> None:
    memory = Memory.from_defaults(
        session_id="k", chat_store=database, token_limit=60, chat_history_token_ratio=0.5, token_flush_size=10,
        tokenizer_fn=str.split,
    )  # fmt: skip
    for n in range(20):
        await memory.aput_messages([user(f"question number {n}"), answer(f"answer number {n}")])
    window = texts(await memory.aget())
    assert 0 < len(window) < 20
    assert texts(await memory.aget_all(status=None)) == [
        f"{what} number {n}" for n in range(20) for what in ("question", "answer")
    ]
    later = TwinmemMemory.from_defaults(memory=core, user="alice")
    later.put(user("question number 3"))
    assert "question number 3" in str(later.get()[-1].content).split("</memories>")[0]


@needs_chat_store
async def test_li_32_c_d_concurrent_first_puts_lose_nothing(core: AgentMemory) -> None:
    database = AsyncTwinmemChatStore(memory=core, user="alice")
    memory = Memory.from_defaults(session_id="k", chat_store=database, tokenizer_fn=str.split)
    await asyncio.gather(*(memory.aput(user(f"m{n}")) for n in range(20)))
    assert sorted(map(str, texts(await memory.aget_all()))) == sorted(f"m{n}" for n in range(20))


@needs_chat_store
def test_li_issue_25_sync_use_across_event_loops(database: AsyncTwinmemChatStore) -> None:
    memory = Memory.from_defaults(session_id="k", chat_store=database, tokenizer_fn=str.split)
    SimpleChatEngine.from_defaults(llm=ScriptedLLM(), memory=memory).chat("hi")
    asyncio.run(memory.aput(user("again")))
    memory.put(answer("and again"))
    assert texts(memory.get_all()) == ["hi", "ok", "again", "and again"]


def test_a_database_store_is_a_handle_too(path: str) -> None:
    one = AsyncTwinmemChatStore(address=path, user="alice")
    two = pickle.loads(pickle.dumps(one))
    asyncio.run(one.add_message("k", user("a")))
    asyncio.run(copy.deepcopy(one).add_message("k", user("b")))
    assert texts(asyncio.run(two.get_messages("k"))) == ["a", "b"]
    assert two == one


async def test_archiving_leaves_a_message_of_another_framework_as_it_was(core: AgentMemory) -> None:
    session = core.scope(user="alice").session("k")
    own = {"langchain": {"type": "human", "content": "hi"}}
    session.add_messages([{"role": "user", "content": "hi", "payload": own}])
    database = AsyncTwinmemChatStore(memory=core, user="alice")
    await database.archive_oldest_messages("k", 1)
    assert texts(await database.get_messages("k", status=MessageStatus.ARCHIVED)) == ["hi"]
    stored = session.messages()[0].payload
    assert stored is not None
    assert stored["langchain"] == own["langchain"]
