"""One conversation, two frameworks: each gets back its own messages and a faithful form of the other's."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from li_scripted import ScriptedLLM, ThinkingBlock, ToolCallBlock, call
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool

from llamaindex_mem import TwinmemMemory
from llamaindex_mem.messages import decode, encode
from shared_core import AgentMemory

core_messages = pytest.importorskip("langchain_core.messages")
their = pytest.importorskip("langchain_mem.messages")

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n\xff").decode()


def lookup(what: str) -> str:
    """Look something up."""
    return f"{what} is green"


async def test_they_take_turns_in_one_conversation_tool_calls_included(core: AgentMemory) -> None:
    theirs: list[Any] = [
        core_messages.HumanMessage("What colour is tea?", id="h1"),
        core_messages.AIMessage("", id="a1", tool_calls=[{"id": "t1", "name": "lookup", "args": {"what": "tea"}}]),
        core_messages.ToolMessage("tea is green", tool_call_id="t1", id="m1"),
        core_messages.AIMessage("Green", id="a2"),
    ]
    session = core.scope(user="alice").session("shared")
    session.add_messages([their.to_core(message) for message in theirs])

    memory = TwinmemMemory.from_defaults(memory=core, user="alice", session_id="shared")
    llm = ScriptedLLM(call("lookup", "c9", what="grass"), "Green too")
    agent = FunctionAgent(llm=llm, tools=[FunctionTool.from_defaults(lookup)])
    await agent.run(user_msg="And grass?", memory=memory)

    seen = llm.prompts[0]
    assert [m.role.value for m in seen] == ["user", "assistant", "tool", "assistant", "user"]
    assert seen[1].blocks == [ToolCallBlock(tool_call_id="t1", tool_name="lookup", tool_kwargs={"what": "tea"})]
    assert (seen[2].content, seen[2].additional_kwargs["tool_call_id"]) == ("tea is green", "t1")

    found = [their.from_core(message) for message in session.messages()]
    assert found[:4] == theirs
    assert [type(m).__name__ for m in found[4:]] == ["HumanMessage", "AIMessage", "ToolMessage", "AIMessage"]
    assert found[5].tool_calls[0]["name"] == "lookup"
    assert found[5].tool_calls[0]["args"] == {"what": "grass"}
    assert found[6].tool_call_id == found[5].tool_calls[0]["id"] == "c9"
    assert memory.get_all()[5:] == [
        call("lookup", "c9", what="grass"),
        ChatMessage(role="tool", content="grass is green", additional_kwargs={"tool_call_id": "c9"}),
        ChatMessage(role="assistant", content="Green too"),
    ]


def test_a_message_with_media_and_thinking_goes_over_and_keeps_its_text() -> None:
    ours = ChatMessage(
        role="assistant",
        blocks=[
            ThinkingBlock(content="hm"),
            TextBlock(text="look"),
            ImageBlock(image=base64.b64decode(PIXEL), image_mimetype="image/png"),
        ],
    )
    found = their.from_core(encode(ours))
    assert found.text == "look"
    assert [part["type"] for part in found.content] == ["reasoning", "text", "image"]
    assert found.content[2]["base64"] == PIXEL


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        ("plain", [TextBlock]),
        ([{"type": "text", "text": "a"}, {"type": "image", "base64": PIXEL, "mime_type": "image/png"}], [TextBlock, ImageBlock]),
        ([{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}], [ImageBlock]),
        ([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "a"}], [ThinkingBlock, TextBlock]),
    ],
)  # fmt: skip
def test_what_langchain_writes_is_read_as_blocks(content: Any, kinds: list[type]) -> None:
    message = decode(their.to_core(core_messages.AIMessage(content)))
    assert [type(block) for block in message.blocks] == kinds
