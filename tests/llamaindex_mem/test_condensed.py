"""What a LlamaIndex prompt holds of a long conversation: its summary (A4) and its snapshot (A5)."""

from __future__ import annotations

import asyncio

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from llamaindex_mem import TwinmemMemory
from shared_core import AgentMemory
from shared_core.short_term import tokens


def told(core: AgentMemory, **options: object) -> TwinmemMemory:
    memory = TwinmemMemory.from_defaults(memory=core, user="alice", session_id="monday", **options)  # type: ignore[arg-type]
    memory.put_messages(
        [ChatMessage(role="user", content="Please plan a trip to Oslo. At most 900 euros."),
         *(ChatMessage(role=role, content=f"{role} {n}") for n in range(30) for role in ("user", "assistant"))]
    )  # fmt: skip
    return memory


def test_a4_the_summary_is_one_system_message_and_is_not_stored_when_it_comes_back() -> None:
    with AgentMemory.open(embedder="hashing", settings={"window": {"policy": "summary"}}) as core:
        memory = told(core, k=0)
        found = memory.get()
        assert [message.role for message in found[:2]] == [MessageRole.SYSTEM, MessageRole.USER]
        assert "900 euros" in str(found[0].content)
        assert sum(message.role == MessageRole.SYSTEM for message in found) == 1
        memory.put_messages(found[:2])
        assert [message.role for message in memory.get_all()[-1:]] == [MessageRole.USER]
        assert len(memory.get_all()) == 62
        memory.set(found)
        assert [message.role for message in memory.get_all()] == [message.role for message in found[1:]]


def test_a5_a_snapshot_stands_in_for_the_turns_a_prompt_leaves_out() -> None:
    with AgentMemory.open(embedder="hashing") as core:
        plain, memory = told(core, max_turns=2, k=0), told(core, max_turns=2, k=0, snapshot=True)
        assert memory.with_snapshot
        assert "900 euros" not in str([message.content for message in plain.get()])
        for found in (memory.get(), asyncio.run(memory.aget())):
            assert [message.role for message in found] == [MessageRole.USER, MessageRole.ASSISTANT] * 2
            assert "State of this conversation" in str(found[-2].content)
            assert "900 euros" in str(found[-2].content)
        memory.put(ChatMessage(role="user", content="And the hotel?"))
        found = memory.get()
        assert str(found[-1].content).endswith("And the hotel?")
        assert "900 euros" in str(found[-1].content)
        memory.put_messages(found)  # what was recalled is never said anew
        assert "State of this" not in str([message.content for message in memory.get_all()])


def test_a5_a_snapshot_keeps_to_the_limit_and_a_copy_keeps_the_option() -> None:
    with AgentMemory.open(embedder="hashing") as core:
        memory = told(core, token_limit=200, snapshot=True)
        assert sum(tokens.count(str(message.content)) + 4 for message in memory.get()) <= 200
        again = TwinmemMemory.from_dict(memory.to_dict())
        assert again.with_snapshot
        assert [message.content for message in again.get()] == [message.content for message in memory.get()]
