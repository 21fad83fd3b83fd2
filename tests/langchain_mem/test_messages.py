"""What a conversation would lose on its way through the database (reference, section 3)."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_mem.messages import NAME, from_core, to_core
from shared_core.errors import InvalidInput, InvalidType
from shared_core.formats.langchain_messages import matches
from shared_core.values import Message

CALL = {"name": "f", "args": {"x": 1, "n": None, "é": ["💥"]}, "id": "c1", "type": "tool_call"}


class Colour(Enum):
    RED = "red"


def through(message: BaseMessage) -> BaseMessage:
    """A message after its way through JSON, in which no database would find half a character."""
    kept = to_core(message)
    text = json.dumps(kept.model_dump(exclude={"content"}), ensure_ascii=False)
    text.encode("utf-8")
    return from_core(Message(content=kept.content, **json.loads(text)))


def test_half_a_character_hides_no_text_from_other_frameworks() -> None:
    kept = to_core(HumanMessage([{"type": "text", "text": "bad \ud83d"}, "more"]))
    assert kept.text == "bad \ud83d more"


ODD = {
    "bytes": b"\x00\xff",
    "datetime": datetime(2026, 1, 2, 3, tzinfo=UTC),
    "naive": datetime(2026, 1, 2),
    "date": date(2026, 1, 2),
    "delta": timedelta(days=-1, microseconds=3),
    "uuid": UUID(int=7),
    "decimal": Decimal("1.10"),
    "set": {1, 2},
    "frozenset": frozenset({"a"}),
    "tuple": (1, (2, "x")),
    "int keys": {1: "a", None: "b"},
    "inf": math.inf,
    "lone surrogate": "bad \ud83d",
    "lone surrogate in a key": {"\ud83d": 1},
    "nul": "a\x00b",
    "big": 2**70,
    "lookalike of our tag": {"__twinmem__": "bytes", "value": "eA=="},
    "lookalike of lc": {"lc": 1, "type": "secret", "id": ["HOME"]},
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("place", ["additional_kwargs", "artifact", "block", "args"])
def test_lc_s3_odd_values_come_back_with_their_type(name: str, place: str) -> None:
    value = ODD[name]
    message: BaseMessage
    if place == "additional_kwargs":
        message = HumanMessage("hi", additional_kwargs={"v": value})
    elif place == "artifact":
        message = ToolMessage("ok", tool_call_id="c1", artifact={"v": [value]})
    elif place == "block":
        message = HumanMessage([{"type": "custom", "data": value}])
    else:
        message = AIMessage("", tool_calls=[{"name": "f", "args": {"v": value}, "id": "c", "type": "tool_call"}])
    assert through(message) == message


def test_lc_s3_pydantic_enum_and_numpy_become_plain_values_instead_of_killing_the_turn() -> None:
    artifact: Any = {"doc": Document("text", id="7"), "colour": Colour.RED, "score": np.float32(0.5), "v": np.zeros(2)}
    got = through(ToolMessage("ok", tool_call_id="c", artifact=artifact))
    assert isinstance(got, ToolMessage)
    assert got.artifact["doc"]["page_content"] == "text"
    assert got.artifact["colour"] == "red"
    assert (got.artifact["score"], got.artifact["v"]) == (0.5, [0.0, 0.0])


def test_lc_s3_what_cannot_be_kept_is_refused_when_it_is_written_and_named() -> None:
    with pytest.raises(InvalidType, match=r"additional_kwargs\.o.*object"):
        to_core(HumanMessage("hi", additional_kwargs={"o": object()}))


def test_a_value_that_holds_itself_is_refused_with_an_error_of_ours() -> None:
    loop: list[Any] = []
    loop.append(loop)
    message = HumanMessage("hi")
    message.additional_kwargs = {"loop": loop}
    with pytest.raises(ValueError):  # pydantic's own, or ours
        to_core(message)


def test_lc_s3_extra_fields_survive() -> None:
    got = through(HumanMessage("x", example=True))
    assert (got.model_extra or {})["example"] is True


def test_lc_s3_reasoning_blocks_keep_their_meaning_since_the_provider_is_kept() -> None:
    message = AIMessage(
        [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "hi"}],
        response_metadata={"model_provider": "anthropic"},
    )
    assert [b["type"] for b in through(message).content_blocks] == ["reasoning", "text"]


def test_lc_s3_chunks_are_stored_as_messages_with_their_tool_calls() -> None:
    one = AIMessageChunk("he", id="r1", tool_call_chunks=[{"name": "f", "args": '{"x"', "id": "c", "index": 0,
                                                           "type": "tool_call_chunk"}])  # fmt: skip
    two = AIMessageChunk("y", tool_call_chunks=[{"name": None, "args": ": 1}", "id": None, "index": 0,
                                                 "type": "tool_call_chunk"}])  # fmt: skip
    got = through(one + two)
    assert type(got) is AIMessage
    assert (got.content, got.id, got.tool_calls[0]["args"]) == ("hey", "r1", {"x": 1})


def test_lc_s3_remove_message_is_an_instruction_and_never_stored() -> None:
    with pytest.raises(InvalidInput, match="RemoveMessage"):
        to_core(RemoveMessage(id="x"))


def test_a_message_is_not_a_dict_or_a_text() -> None:
    for wrong in ("hi", {"role": "user"}, None):
        with pytest.raises(InvalidType):
            to_core(wrong)  # type: ignore[arg-type]


def test_storing_does_not_touch_the_message() -> None:
    message = HumanMessage("hi", additional_kwargs={"t": (1, {2})})
    before = message.model_copy(deep=True)
    to_core(message)
    assert message == before
    assert message.id is None


def test_neutral_fields_are_what_another_framework_reads() -> None:
    kept = to_core(AIMessage("", id="a1", name="bot", tool_calls=[CALL]))  # type: ignore[list-item]
    assert (kept.role, kept.id, kept.name) == ("assistant", "a1", "bot")
    assert kept.tool_calls == ({"id": "c1", "name": "f", "args": CALL["args"]},)
    tool = to_core(ToolMessage("r", tool_call_id="c1"))
    assert (tool.role, tool.tool_call_id) == ("tool", "c1")
    assert to_core(ChatMessage(role="critic", content="c")).role == "critic"


def test_the_payload_is_what_the_reader_of_langchain_files_takes() -> None:
    kept = to_core(HumanMessage("hi"))
    assert kept.payload is not None
    assert matches({"monday": [kept.payload[NAME]]})


def test_a_summary_of_the_summarization_middleware_is_not_a_users_word() -> None:
    summary = HumanMessage("Here is a summary", additional_kwargs={"lc_source": "summarization"})
    assert to_core(summary).role == "system"
    assert through(summary) == summary


FOREIGN = [
    (Message(role="user", content="hi", id="1", name="bob"), HumanMessage("hi", id="1", name="bob")),
    (Message(role="system", content="s"), SystemMessage("s")),
    (
        Message(role="assistant", content=None, tool_calls=({"id": "c", "name": "f", "args": {"x": 1}},)),
        AIMessage("", tool_calls=[{"id": "c", "name": "f", "args": {"x": 1}, "type": "tool_call"}]),
    ),
    (
        Message(role="assistant", content="", tool_calls=({"id": "c", "name": "f", "args": "{bad"},)),
        AIMessage(
            "",
            invalid_tool_calls=[{"id": "c", "name": "f", "args": "{bad", "error": None, "type": "invalid_tool_call"}],
        ),
    ),
    (Message(role="tool", content="r", tool_call_id="c"), ToolMessage("r", tool_call_id="c")),
    (Message(role="critic", content="c"), ChatMessage(role="critic", content="c")),
    (
        Message(role="user", content=[{"type": "text", "text": "look"}, {"type": "image", "url": "u"}]),
        HumanMessage([{"type": "text", "text": "look"}, {"type": "image", "url": "u"}]),
    ),
]


@pytest.mark.parametrize(("kept", "want"), FOREIGN)
def test_a_message_of_another_framework_comes_in_a_faithful_form(kept: Message, want: BaseMessage) -> None:
    assert from_core(kept.model_copy(update={"payload": {"llamaindex": {"odd": 1}}})) == want


@pytest.mark.parametrize(
    "damaged", [{}, {"type": "human"}, {"type": "martian", "data": {}}, {"type": "human", "data": 7}, "text"]
)
def test_lc_s3_a_damaged_row_does_not_make_the_conversation_unreadable(damaged: Any) -> None:
    kept = Message(role="user", content="hi", payload={NAME: damaged})
    assert from_core(kept) == HumanMessage("hi")


def test_a_redacted_tag_is_read_as_text() -> None:
    kept = to_core(HumanMessage("hi", additional_kwargs={"d": date(2026, 1, 2)})).model_dump()
    kept["payload"][NAME]["data"]["additional_kwargs"]["d"]["value"] = "[date]"
    assert from_core(Message(**kept)).additional_kwargs == {"d": "[date]"}


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), _values), st.text())
def test_any_extra_value_round_trips(extra: dict[str, Any], text: str) -> None:
    message = HumanMessage(text, additional_kwargs=extra)
    got = through(message)
    assert got == message
    assert repr(got) == repr(message)  # equality alone would take True for 1
