"""Memory blocks in LlamaIndex's own `Memory` (reference 1.2, 1.3, 3.2, 6)."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from li_scripted import ScriptedLLM, needs_chat_store
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import BaseMemoryBlock, FactExtractionMemoryBlock, InsertMethod, Memory

from llamaindex_mem import AsyncTwinmemChatStore, TwinmemFactBlock, TwinmemGraphBlock, TwinmemRecallBlock
from shared_core import AgentMemory, Settings, TwinmemError
from shared_core.short_term import tokens


def user(text: str, **kwargs: Any) -> ChatMessage:
    return ChatMessage(role="user", content=text, additional_kwargs=kwargs)


def answer(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


@pytest.fixture
async def llama_memory() -> AsyncIterator[Callable[..., Memory]]:
    """LlamaIndex's `Memory`; the connections of its default store are closed, which it doesn't do itself."""
    made: list[Memory] = []

    def make(session: str, *blocks: Any, **kwargs: Any) -> Memory:
        kwargs.setdefault("tokenizer_fn", str.split)
        memory = Memory.from_defaults(session_id=session, memory_blocks=list(blocks), **kwargs)
        made.append(memory)
        return memory

    yield make
    for memory in made:
        engine = getattr(memory.sql_store, "_async_engine", None)
        if engine is not None:
            await engine.dispose()


def stored(core: AgentMemory, session: str) -> list[str]:
    return [message.text for message in core.scope(user="alice").session(session).messages()]


async def whole(memory: Memory, input: Any = None) -> str:
    return "\n".join(str(message.content) for message in await memory.aget(input=input))


async def test_li_13_a_block_is_one_and_refuses_a_missing_user(core: AgentMemory) -> None:
    for block in (TwinmemRecallBlock, TwinmemFactBlock, TwinmemGraphBlock):
        assert isinstance(block(memory=core, user="alice"), BaseMemoryBlock)
        with pytest.raises(TwinmemError, match="user"):
            block(memory=core)


async def test_li_32_p_and_issue_26_a_short_conversation_is_remembered_without_any_flush(
    core: AgentMemory, llama_memory: Any
) -> None:
    block = TwinmemRecallBlock(memory=core, user="alice")
    first = llama_memory("monday", block)
    engine = SimpleChatEngine.from_defaults(llm=ScriptedLLM("Nice", "Yes"), memory=first)
    await engine.achat("my name is Alice")
    await engine.achat("do you hear me?")
    second = llama_memory("tuesday", block)
    llm = ScriptedLLM("Alice")
    await SimpleChatEngine.from_defaults(llm=llm, memory=second).achat("what is my name?")
    assert llm.told().count("my name is Alice") == 1


async def test_a_turn_is_stored_once_however_often_the_block_sees_it(core: AgentMemory, llama_memory: Any) -> None:
    block = TwinmemRecallBlock(memory=core, user="alice")
    memory = llama_memory("monday", block, token_limit=40, chat_history_token_ratio=0.5, token_flush_size=5)
    expected = []
    for n in range(12):
        text = "ok" if n % 3 else f"question {n}"
        await memory.aput(user(text))
        await memory.aget()
        await memory.aget(input=text)
        await memory.aput_messages([answer("ok")])
        await memory.aget()
        expected += [text, "ok"]
    assert stored(core, "monday") == expected


async def test_a_flush_alone_stores_too(core: AgentMemory, llama_memory: Any) -> None:
    block = TwinmemRecallBlock(memory=core, user="alice")
    memory = llama_memory("monday", block, token_limit=20, chat_history_token_ratio=0.5, token_flush_size=5)
    for n in range(10):
        await memory.aput_messages([user(f"question {n}"), answer(f"answer {n}")])
    assert stored(core, "monday")[:4] == ["question 0", "answer 0", "question 1", "answer 1"]
    assert len(stored(core, "monday")) == len(set(stored(core, "monday")))


async def test_two_blocks_of_one_user_store_a_flush_once(core: AgentMemory, llama_memory: Any) -> None:
    blocks = (TwinmemRecallBlock(memory=core, user="alice"), TwinmemFactBlock(memory=core, user="alice"))
    memory = llama_memory("monday", *blocks, token_limit=20, chat_history_token_ratio=0.5, token_flush_size=5)
    for n in range(10):
        await memory.aput_messages([user(f"question {n}"), answer(f"answer {n}")])
    await memory.aget()
    assert len(stored(core, "monday")) == len(set(stored(core, "monday"))) == 20


async def test_a_redactor_does_not_make_messages_new(core: AgentMemory) -> None:
    settings = Settings(redactor=lambda text: text.replace("4711", "***"))
    with AgentMemory.open(embedder="hashing", settings=settings) as other:
        block = TwinmemRecallBlock(memory=other, user="alice")
        shown = [user("my pin is 4711"), answer("noted")]
        for _ in range(3):
            await block.aget(shown, session_id="monday")
        assert stored(other, "monday") == ["my pin is ***", "noted"]


async def test_what_is_in_the_prompt_is_not_recalled_and_what_left_it_is(core: AgentMemory, llama_memory: Any) -> None:
    block = TwinmemRecallBlock(memory=core, user="alice", name="recall")
    memory = llama_memory("monday", block, token_limit=400, chat_history_token_ratio=0.2, token_flush_size=20)
    await memory.aput_messages([user("My bike is called Rocinante"), answer("Nice name")])
    assert (await whole(memory, "How is my bike called?")).count("Rocinante") == 1
    for n in range(30):
        await memory.aput_messages([user(f"question {n}"), answer(f"answer {n}")])
    await memory.aput(user("How is my bike called?"))
    assert (await whole(memory)).count("Rocinante") == 1
    assert (await whole(memory)).count("How is my bike called?") == 1


async def test_li_issue_2_and_32_o_sessions_and_users_of_a_shared_database(core: AgentMemory) -> None:
    alice = TwinmemRecallBlock(memory=core, user="alice")
    bob = TwinmemRecallBlock(memory=core, user="bob")
    await alice.aput([user("my secret is 4711"), answer("ok")], session_id="one")
    assert "4711" in await alice.aget([user("what is my secret?")], session_id="two")
    assert await bob.aget([user("what is my secret?")], session_id="one") == ""


async def test_li_fact_6_and_32_t_messages_of_the_caller_are_left_alone(core: AgentMemory) -> None:
    llm = ScriptedLLM()
    facts = FactExtractionMemoryBlock(llm=llm)
    block = TwinmemRecallBlock(memory=core, user="alice")
    messages = [user("hello"), answer("hi")]
    await block.aput(messages, from_short_term_memory=True, session_id="monday")
    assert messages == [user("hello"), answer("hi")]
    await facts.aput(messages, session_id="monday")  # LlamaIndex's own writes into them
    assert messages[0].additional_kwargs
    await block.aput(messages, session_id="monday")
    assert stored(core, "monday") == ["hello", "hi"]


async def test_li_32_l_a_failing_store_costs_no_turn_and_no_message(
    core: AgentMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from shared_core import Session

    block = TwinmemRecallBlock(memory=core, user="alice")
    real = Session.add_messages
    monkeypatch.setattr(Session, "add_messages", lambda *args: (_ for _ in ()).throw(OSError("disk full")))
    with caplog.at_level(logging.WARNING):
        await block.aput([user("first"), answer("a")], session_id="monday")
        await block.aput([user("second"), answer("b")], session_id="monday")
    assert "tried again" in caplog.text
    assert stored(core, "monday") == []
    monkeypatch.setattr(Session, "add_messages", real)
    await block.aput([], session_id="monday")
    assert stored(core, "monday") == ["first", "a", "second", "b"]


async def test_li_issue_4_and_32_m_a_block_over_the_budget_gives_up_its_last_memories_only(
    core: AgentMemory, llama_memory: Any
) -> None:
    core.scope(user="alice").add_many([f"Alice told tea story number {n}" for n in range(10)])
    block = TwinmemRecallBlock(memory=core, user="alice", k=10)
    content = await block.aget([user("tea story")])
    assert content.count("- [") == 10
    shorter = await block.atruncate(content, 40)
    assert shorter is not None
    assert 0 < shorter.count("- [") < 10
    assert shorter.splitlines()[0] == content.splitlines()[0]
    assert shorter.endswith("</memories>")
    assert content.startswith(shorter.removesuffix("\n</memories>")), "not the last ones were given up"
    assert await block.atruncate(content, 10_000) is None
    memory = llama_memory("monday", block, token_limit=150, tokenizer_fn=lambda text: [0] * tokens.count(text))
    await memory.aput(user("Which tea story did Alice tell?"))
    found = await whole(memory)
    assert 0 < found.count("- [") < 10


async def test_a_memory_of_several_lines_is_given_up_whole(core: AgentMemory) -> None:
    core.scope(user="alice").add("tea\nsecond line\nthird line")
    block = TwinmemRecallBlock(memory=core, user="alice")
    content = await block.aget([user("tea")])
    assert "second line" in content
    assert await block.atruncate(content, 1) is None


async def test_li_12_an_engine_passes_arguments_of_its_own(core: AgentMemory) -> None:
    for block in (TwinmemRecallBlock(memory=core, user="alice"), TwinmemFactBlock(memory=core, user="alice")):
        assert await block.aget([user("hi")], session_id="s", initial_token_count=3, anything=1) == ""
        assert await block.aget(None) == ""
        assert await block.aget([]) == ""


async def test_the_fact_block_gives_all_facts_while_few_and_the_fitting_ones_when_many(core: AgentMemory) -> None:
    scope = core.scope(user="alice")
    scope.add("Alice lives in Lyon")
    scope.add("If it rains, Alice takes the bus", kind="rule")
    scope.session("monday").add_messages([{"role": "user", "content": "just talk"}])
    block = TwinmemFactBlock(memory=core, user="alice", k=3)
    content = await block.aget([user("anything")])
    assert [line.split("] ")[1] for line in content.splitlines()] == [
        "Alice lives in Lyon",
        "If it rains, Alice takes the bus",
    ]
    scope.add_many([f"Alice likes colour number {n}" for n in range(20)])
    content = await block.aget([user("Where does Alice live? In Lyon?")])
    assert content.count("- [") == 3
    assert "Alice lives in Lyon" in content
    assert await TwinmemFactBlock(memory=core, user="bob").aget([user("Lyon?")]) == ""


@pytest.mark.parametrize("insert_method", list(InsertMethod))
async def test_both_blocks_reach_the_model_through_memory_and_agent(
    core: AgentMemory, insert_method: Any, llama_memory: Any
) -> None:
    core.scope(user="alice").add("Alice lives in Lyon")
    blocks = (TwinmemRecallBlock(memory=core, user="alice"), TwinmemFactBlock(memory=core, user="alice"))
    memory = llama_memory("monday", *blocks, insert_method=insert_method)
    llm = ScriptedLLM("Lyon")
    await FunctionAgent(llm=llm, tools=[]).run(user_msg="Where does Alice live?", memory=memory)
    assert "<facts>" in llm.told()
    assert "<recall>" in llm.told()


@needs_chat_store
async def test_a_block_over_the_same_conversation_as_the_chat_store_stores_nothing_twice(
    core: AgentMemory, llama_memory: Any
) -> None:
    store = AsyncTwinmemChatStore(memory=core, user="alice")
    block = TwinmemRecallBlock(memory=core, user="alice")
    memory = llama_memory(
        "monday", block, chat_store=store, token_limit=200, chat_history_token_ratio=0.2, token_flush_size=10
    )
    agent = FunctionAgent(llm=ScriptedLLM(), tools=[])
    for n in range(15):
        await agent.run(user_msg=f"question number {n}", memory=memory)
    assert stored(core, "monday") == [text for n in range(15) for text in (f"question number {n}", "ok")]
    assert "question number 0" in await block.aget([user("question number 0")], session_id="monday")


def test_a_block_is_copied_and_pickled_as_a_handle(path: str) -> None:
    block = TwinmemRecallBlock(address=path, user="alice", k=3, name="mine")
    for twin in (pickle.loads(pickle.dumps(block)), copy.deepcopy(block), block.model_copy()):
        assert (twin.user, twin.k, twin.name, twin.scope.user) == ("alice", 3, "mine", "alice")
        assert twin._handle.memory is block._handle.memory
    assert json.loads(block.model_dump_json())["user"] == "alice"


# ---------------------------------------------------------------------- the knowledge graph


def told_of(core: AgentMemory) -> None:
    graph = core.scope(user="alice").graph
    for triple in (("Ann Lee", "works at", "ACME"), ("Bob", "likes", "tea"), ("张伟", "住在", "杭州")):
        graph.add(*triple)
    graph.alias("Ann Lee", "the boss")


@pytest.mark.parametrize(
    ("asked", "told"),
    [("Where does the boss work?", "Ann Lee works at ACME"), ("张伟住在哪里？", "张伟 住在 杭州"), ("Does BOB like coffee?", "Bob likes tea")],
)  # fmt: skip
async def test_li_13_the_graph_block_tells_of_whoever_is_named(
    core: AgentMemory, llama_memory: Any, asked: str, told: str
) -> None:
    told_of(core)
    llm = ScriptedLLM("ok")
    memory = llama_memory("monday", TwinmemGraphBlock(memory=core, user="alice"))
    await SimpleChatEngine.from_defaults(llm=llm, memory=memory).achat(asked)
    assert "<knowledge>" in llm.told()
    assert llm.told().count(told) == 1
    assert llm.told().count("\n- ") == 1 + told.startswith("Ann")  # her other name is told too
    assert stored(core, "monday") == []  # not answered yet when it was shown
    await SimpleChatEngine.from_defaults(llm=llm, memory=memory).achat("thanks")
    assert stored(core, "monday")[0] == asked


async def test_li_13_the_graph_block_puts_the_newest_question_first(core: AgentMemory) -> None:
    told_of(core)
    block = TwinmemGraphBlock(memory=core, user="alice", k=1)
    talk = [user("How is Bob?"), answer("Bob is fine, so is 张伟"), user("And Ann Lee?")]
    assert await block.aget(talk) == "- Ann Lee (also the boss)\n- Ann Lee works at ACME"
    block = TwinmemGraphBlock(memory=core, user="alice")
    assert (await block.aget(talk)).splitlines()[2:] == ["- Bob likes tea", "- 张伟 住在 杭州"]
    assert await block.aget([user("the weather?")]) == await block.aget([]) == await block.aget() == ""
    assert await TwinmemGraphBlock(memory=core, user="bob").aget(talk) == ""


async def test_li_issue_4_the_graph_block_over_the_budget_gives_up_its_last_lines_only(core: AgentMemory) -> None:
    told_of(core)
    block = TwinmemGraphBlock(memory=core, user="alice")
    whole_text = await block.aget([user("Bob and 张伟")])
    assert whole_text == "- Bob likes tea\n- 张伟 住在 杭州"
    assert await block.atruncate(whole_text, 2) == "- Bob likes tea"
    assert await block.atruncate(whole_text, 1_000) is None
    assert await block.atruncate("", 5) is None


async def test_li_13_the_graph_block_learns_from_what_it_is_shown(core: AgentMemory) -> None:
    block = TwinmemGraphBlock(memory=core, user="alice")
    await block.aget([user("Caroline adopted a cat"), answer("How nice")])
    assert await block.aget([user("What did Caroline adopt?")]) == "- Caroline owns cat (confidence 0.8)"
