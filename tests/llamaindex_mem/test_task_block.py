"""The working task in LlamaIndex's own `Memory` (A6; reference 1.3, 3.2, 6): an agent that forgets it starts anew."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from li_scripted import ScriptedLLM
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import BaseMemoryBlock, InsertMethod, Memory

from llamaindex_mem import TwinmemRecallBlock, TwinmemTaskBlock
from shared_core import AgentMemory, TwinmemError
from shared_core.short_term import tokens


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def answer(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


async def closed(memory: Memory) -> None:
    """Close what LlamaIndex leaves open: the connections of its default store."""
    engine = getattr(memory.sql_store, "_async_engine", None)
    if engine is not None:
        await engine.dispose()


def stored(core: AgentMemory, session: str) -> list[str]:
    return [message.text for message in core.scope(user="alice").session(session).messages()]


def work(core: AgentMemory, session: str = "monday") -> Any:
    working = core.scope(user="alice").session(session).working
    working.start("trip", "Book the trip", goal="Under 800 €", constraints=["direct flights"], plan=["flight", "hotel"])
    for n in range(6):
        working.step(f"search-{n}", f"{n} offers")
    return working


def test_li_13_it_is_a_block_and_refuses_a_missing_user(core: AgentMemory) -> None:
    assert isinstance(TwinmemTaskBlock(memory=core, user="alice"), BaseMemoryBlock)
    with pytest.raises(TwinmemError, match="user"):
        TwinmemTaskBlock(memory=core)


@pytest.mark.parametrize("insert_method", list(InsertMethod))
async def test_li_13_the_task_reaches_the_model_of_an_agent_and_an_engine(
    core: AgentMemory, insert_method: InsertMethod
) -> None:
    work(core)
    block = TwinmemTaskBlock(memory=core, user="alice")
    for engine in ("agent", "chat"):
        memory = Memory.from_defaults(session_id="monday", memory_blocks=[block], insert_method=insert_method)
        llm = ScriptedLLM("ok")
        if engine == "agent":
            await FunctionAgent(llm=llm, tools=[]).run(user_msg="go on", memory=memory)
        else:
            await SimpleChatEngine.from_defaults(llm=llm, memory=memory).achat("go on")
        await closed(memory)
        told = llm.told()
        assert told.count("Task: Book the trip (in progress)") == 1
        assert "<task>" in told
        assert [f"search-{n}" in told for n in range(6)] == [False, True, True, True, True, True]


async def test_li_13_it_is_read_when_it_is_asked_for_and_of_the_session_that_asks(core: AgentMemory) -> None:
    working = work(core)
    block = TwinmemTaskBlock(memory=core, user="alice")
    assert await block.aget(session_id="tuesday") == await block.aget() == ""
    working.push("seat", "Choose the seat")
    assert (await block.aget([user("and now?")], session_id="monday")).startswith(
        "Task: Choose the seat (in progress)\nPart of: Book the trip"
    )
    working.pop("12A")
    assert "- seat: 12A" in await block.aget(None, session_id="monday", initial_token_count=3, anything=1)
    assert await TwinmemTaskBlock(memory=core, user="bob").aget(session_id="monday") == ""


async def test_li_13_it_speaks_the_language_of_the_conversation(core: AgentMemory) -> None:
    chat = core.scope(user="alice").session("星期一")
    chat.working.start("bao", "写季度报告", goal="中午前发出")
    block = TwinmemTaskBlock(memory=core, user="alice")
    assert await block.aget([user("继续")], session_id="星期一") == "任务：写季度报告（进行中）\n目标：中午前发出"


async def test_li_32_p_it_stores_what_it_is_shown_once_beside_other_blocks(core: AgentMemory) -> None:
    blocks = [TwinmemTaskBlock(memory=core, user="alice"), TwinmemRecallBlock(memory=core, user="alice")]
    shown = [user("my name is Alice"), answer("hello"), user("and now?")]
    for _ in range(3):
        for block in blocks:
            await block.aget(shown, session_id="monday")
    await blocks[0].aput(shown[:2], from_short_term_memory=True, session_id="monday")
    assert stored(core, "monday") == ["my name is Alice", "hello"]


async def test_li_issue_4_and_32_m_over_the_budget_the_last_lists_go_and_the_task_stays(core: AgentMemory) -> None:
    work(core).set("hotel", "near the station " * 5)
    block = TwinmemTaskBlock(memory=core, user="alice")
    content = await block.aget(session_id="monday")
    whole = tokens.count(content)
    for too_many in range(1, int(whole / 1.25)):
        shorter = await block.atruncate(content, too_many)
        assert shorter is not None
        assert tokens.count(shorter) <= whole - too_many
        if tokens.count(shorter) > 20:
            assert shorter.splitlines()[0] == "Task: Book the trip (in progress)"
    less = await block.atruncate(content, 30)
    assert less is not None
    assert "near the station" not in less
    assert "Goal: Under 800 €" in less
    assert await block.atruncate(content, whole) is None
    assert await block.atruncate("", 5) is None
    small = TwinmemTaskBlock(memory=core, user="alice", max_tokens=25)
    assert tokens.count(await small.aget(session_id="monday")) <= 25


async def test_li_issue_4_llamaindex_shortens_it_instead_of_dropping_it(core: AgentMemory) -> None:
    work(core).set("hotel", "near the station " * 8)
    block = TwinmemTaskBlock(memory=core, user="alice")
    memory = Memory.from_defaults(
        session_id="monday", memory_blocks=[block], token_limit=110, tokenizer_fn=lambda text: [0] * tokens.count(text)
    )
    await memory.aput(user("go on"))
    found = "\n".join(str(message.content) for message in await memory.aget())
    await closed(memory)
    assert "Task: Book the trip (in progress)" in found
    assert "near the station" not in found


def test_it_is_copied_and_pickled_as_a_handle(path: str) -> None:
    block = TwinmemTaskBlock(address=path, user="alice", max_tokens=70, name="mine")
    block.scope.session("monday").working.start("t", "T")
    for twin in (pickle.loads(pickle.dumps(block)), copy.deepcopy(block), block.model_copy()):
        assert (twin.user, twin.max_tokens, twin.name) == ("alice", 70, "mine")
        assert twin._handle.memory is block._handle.memory
        assert twin.scope.session("monday").working.current.id == "t"
    assert json.loads(block.model_dump_json())["user"] == "alice"
