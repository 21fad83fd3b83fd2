"""Private data a LlamaIndex engine brings in (E1): its messages, nodes and graph."""

from __future__ import annotations

import pytest
from llama_index.core.llms import ChatMessage

from llamaindex_mem import TwinmemMemory, TwinmemRecallBlock
from shared_core import AgentMemory

pytest.importorskip("phonenumbers")
pytest.importorskip("cryptography")

EMAIL, PHONE = "zoe.canary@example.com", "13812344321"


@pytest.mark.parametrize("mode", ["mask", "vault"])
def test_e1_what_an_engine_says_is_redacted_and_told_once(mode: str) -> None:
    with AgentMemory.open(embedder="hashing", settings={"redaction": {"mode": mode}}) as memory:
        chat = TwinmemMemory(memory=memory, user="zoe", session="s")
        told = [
            ChatMessage(role="user", content=f"邮箱{EMAIL}，手机{PHONE}"),
            ChatMessage(role="assistant", content="ok"),
        ]
        chat.set(told)
        chat.set([*told, ChatMessage(role="user", content="And now?")])
        assert len(chat.get_all()) == 3
        assert str(chat.get_all()[0].content).startswith("邮箱[email")
        assert EMAIL not in repr(chat.get_all())
        assert PHONE not in repr(chat.get_all())


@pytest.mark.parametrize("mode", ["mask", "vault", "refuse"])
async def test_e1_a_block_sees_the_same_message_once(mode: str) -> None:
    with AgentMemory.open(embedder="hashing", settings={"redaction": {"mode": mode}}) as memory:
        block = TwinmemRecallBlock(memory=memory, user="zoe")
        shown = [
            ChatMessage(role="user", content=f"My mail is {EMAIL}"),
            ChatMessage(role="assistant", content="noted"),
        ]
        for _ in range(3):
            await block.aget(shown, session_id="s")
        stored = [message.text for message in memory.scope(user="zoe").session("s").messages()]
        assert len(stored) == (0 if mode == "refuse" else 2)
        assert EMAIL not in "".join(stored)
