"""What the reference says of histories and messages that no other test here holds (sections 1.8, 3, 5)."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.version import VERSION

from langchain_mem import TwinmemChatMessageHistory
from langchain_mem.messages import NAME, from_core, to_core
from shared_core import AgentMemory
from shared_core.short_term import tokens

STEPS = some.lists(some.sampled_from(["user", "answer", "one call", "two calls"]), min_size=1, max_size=12)


def conversation(steps: list[str]) -> list[BaseMessage]:
    """A history as an agent writes it: every call is answered."""
    found: list[BaseMessage] = []
    for number, step in enumerate(steps):
        words = f"{step} {number} " * 6
        if step in ("user", "answer"):
            found.append(HumanMessage(words) if step == "user" else AIMessage(words))
            continue
        ids = [f"{number}{letter}" for letter in ("a" if step == "one call" else "ab")]
        calls: Any = [{"name": "look", "args": {"what": words}, "id": id, "type": "tool_call"} for id in ids]
        found += [AIMessage("", tool_calls=calls), *(ToolMessage(words, tool_call_id=id) for id in ids)]
    return [*found, HumanMessage("the newest question")]


@given(steps=STEPS, budget=some.integers(1, 600))
def test_lc_1_8_s5_14_17_any_window_of_a_history_is_one_a_provider_takes(steps: list[str], budget: int) -> None:
    with AgentMemory.open(embedder="hashing") as memory:
        history = TwinmemChatMessageHistory("s", user="alice", memory=memory)
        history.add_messages(conversation(steps))
        window = [from_core(message) for message in history.session.window(max_tokens=budget)]
    assert window, "never empty for a conversation that is not"
    assert window[-1].text == "the newest question"
    assert isinstance(window[0], HumanMessage)
    waiting: set[str] = set()
    for message in window:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in waiting, "a result without its call"
            waiting.remove(message.tool_call_id)
        else:
            assert not waiting, "a call without its result"
            waiting = {str(call["id"]) for call in getattr(message, "tool_calls", ())}
    assert not waiting


@pytest.mark.parametrize("kind", ["audio", "file", "image", "input_image"])
def test_lc_1_8_s5_18_a_recording_is_not_counted_as_text(memory: AgentMemory, kind: str) -> None:
    data = base64.b64encode(b"\x00" * 300_000).decode()
    part = {"type": kind, "base64": data, "mime_type": "audio/wav"}
    if kind == "input_image":
        part = {"type": kind, "image_url": f"data:image/png;base64,{data}"}
    heavy = HumanMessage([{"type": "text", "text": "listen"}, part])
    assert tokens.count_message(to_core(heavy)) < 2_000
    history = TwinmemChatMessageHistory("s", user="alice", memory=memory)
    history.add_messages([HumanMessage("earlier"), AIMessage("yes"), heavy])
    assert [m.text for m in history.session.window(max_tokens=4_000)] == ["earlier", "yes", "listen"]


def test_lc_s3_a_subclass_comes_back_as_its_base_with_all_it_says() -> None:
    class Mine(HumanMessage):
        """What an application made of a message."""

    class Loud(SystemMessage):
        pass

    for mine in (Mine("hi", id="1", name="bob", additional_kwargs={"k": 1}), Loud("be brief")):
        got = from_core(to_core(mine))
        assert type(got) is type(mine).__mro__[1]
        assert got.model_dump() == mine.model_dump()


def test_lc_s3_every_row_says_who_wrote_it() -> None:
    kept = to_core(HumanMessage("hi")).payload
    assert kept is not None
    assert (kept[NAME]["schema"], kept[NAME]["core"]) == (1, VERSION)
