"""The codec: what LlamaIndex puts into a message comes out again (reference 3.1, 6)."""

from __future__ import annotations

import base64
import dataclasses
import json
import logging
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from li_scripted import ThinkingBlock, ToolCallBlock, VideoBlock, call, needs_newer_blocks
from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
)
from llama_index.core.schema import ImageDocument
from pydantic import BaseModel

from llamaindex_mem import TwinmemMemory
from llamaindex_mem.messages import RecalledMessage, decode, encode, said
from shared_core import AgentMemory, Message, Settings

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def stored(message: ChatMessage) -> ChatMessage:
    """A message through the codec, JSON and a database, as `get_all` gives it."""
    with AgentMemory.open(embedder="hashing") as core:
        memory = TwinmemMemory.from_defaults(memory=core, user="alice")
        memory.put(message)
        return memory.get_all()[0]


def assistant(*blocks: Any, **kwargs: Any) -> ChatMessage:
    return ChatMessage(role="assistant", blocks=list(blocks), additional_kwargs=kwargs)


class Colour(StrEnum):
    RED = "red"


class Size(Enum):
    SMALL = 1


class Provider(BaseModel):
    id: str
    count: int


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Function:
    """What a Google or OpenAI client leaves in additional_kwargs."""

    def to_dict(self) -> dict[str, Any]:
        return {"name": "search", "args": {"q": "tea"}}


NEWER: list[ChatMessage] = []
if ToolCallBlock is not None:
    NEWER = [
        assistant(VideoBlock(video=b"\x00\x01\x02\xff", video_mimetype="video/mp4")),
        assistant(ThinkingBlock(content="hm", num_tokens=3, additional_information={"signature": "abc"})),
        assistant(ThinkingBlock(content="hm", additional_information={"raw": b"\xff\x00"})),
        assistant(ToolCallBlock(tool_call_id="1", tool_name="search", tool_kwargs={"q": "x", "n": [1, {"a": None}]})),
        assistant(ToolCallBlock(tool_call_id=None, tool_name="search", tool_kwargs='{"q": broken')),
        assistant(ToolCallBlock(tool_name="at", tool_kwargs={"when": datetime(2026, 1, 2, tzinfo=UTC)})),
        assistant(ToolCallBlock(tool_name="at", tool_kwargs={"rows": {1: "a", 2: "b"}})),
    ]


@pytest.mark.parametrize(
    "message",
    [
        ChatMessage(role="user", content="plain"),
        ChatMessage(role="user", content="👋 \x00 \u2028 中文"),
        ChatMessage(role="user", content=""),
        ChatMessage(role="user", content=None),
        ChatMessage(role="user", blocks=[]),
        ChatMessage(role="user", blocks=[TextBlock(text="a"), TextBlock(text=""), TextBlock(text="b")]),
        assistant(ImageBlock(image=PNG)),
        assistant(ImageBlock(url="https://example.org/a.png", detail="low")),
        assistant(ImageBlock(url="data:image/png;base64,AAAA")),
        assistant(AudioBlock(audio=b"\x00\x01\x02\xff", format="wav")),
        assistant(DocumentBlock(data=b"\x00\x01\x02\xff", title="t", document_mimetype="application/pdf")),
        assistant(DocumentBlock(url="https://example.org/a.pdf")),
        assistant(CitableBlock(title="t", source="s", content=[TextBlock(text="x"), ImageBlock(image=PNG)])),
        assistant(
            CitationBlock(cited_content=TextBlock(text="x"), source="s", title="t", additional_location_info={"p": 1})
        ),
        assistant(TextBlock(text="x"), CachePoint(cache_control=CacheControl(type="ephemeral"))),
        *NEWER,
    ],
    ids=lambda m: "+".join(type(b).__name__ for b in m.blocks) or "empty",
)  # fmt: skip
def test_li_31_every_block_comes_back_as_it_was(message: ChatMessage) -> None:
    before = message.model_copy(deep=True)
    assert stored(message) == before
    assert message == before, "the caller's message was changed"


def test_li_31_a_lone_surrogate_is_stored_as_the_sign_for_it() -> None:
    found = stored(ChatMessage(role="user", content="lone \ud800 one", additional_kwargs={"n": "\ud800"}))
    assert (found.content, found.additional_kwargs) == ("lone \ufffd one", {"n": "\ufffd"})


@pytest.mark.parametrize("role", list(MessageRole))
def test_li_31_every_role_comes_back(role: MessageRole) -> None:
    assert stored(ChatMessage(role=role, content="x")).role is role


@pytest.mark.parametrize(
    "value",
    [
        b"\xff\x00", (1, (2, 3)), {1, 2}, frozenset({"a"}), Decimal("1.50"), UUID(int=7), Path("/tmp/x"), 10**40,
        datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), datetime(2026, 1, 2), date(2026, 1, 2), timedelta(1, 2),
        {1: "a", (2, 3): "b", None: "c"}, math.inf, -math.inf, {"$twinmem": "tuple", "value": [1]},
        {"nested": [{"t": (1,)}]},
        [None, True, 1, 1.5, "s", {"a": []}],
    ],
    ids=repr,
)  # fmt: skip
def test_li_31_odd_values_in_kwargs_keep_their_type(value: Any) -> None:
    assert stored(assistant(TextBlock(text="x"), odd=value)).additional_kwargs == {"odd": value}
    if ToolCallBlock is not None:
        block = stored(assistant(ToolCallBlock(tool_name="t", tool_kwargs={"odd": value}))).blocks[0]
        assert block.tool_kwargs == {"odd": value}


def test_li_31_nan_is_not_lost_as_none() -> None:
    assert math.isnan(stored(assistant(odd=math.nan)).additional_kwargs["odd"])


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        (Colour.RED, "red"), (Size.SMALL, 1), (Point(1, 2), {"x": 1, "y": 2}),
        (Provider(id="a", count=2), {"id": "a", "count": 2}),
        (Function(), {"name": "search", "args": {"q": "tea"}}), (np.float32(0.5), 0.5), (np.array([1, 2]), [1, 2]),
        ([Provider(id="a", count=2)], [{"id": "a", "count": 2}]),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_li_31_and_issue_17_a_providers_objects_are_kept_as_what_they_hold(value: Any, becomes: Any) -> None:
    assert stored(assistant(odd=value)).additional_kwargs == {"odd": becomes}


class Hostile:
    def to_dict(self) -> dict[str, Any]:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


def _cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


def _deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    return value


@pytest.mark.parametrize("make", [object, lambda: Hostile, Hostile, _cyclic, _deep, lambda: len, lambda: iter([])])
def test_li_31_writing_never_fails_whatever_a_message_holds(
    make: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = stored(ChatMessage(role="user", content="still here", additional_kwargs={"odd": make(), "kept": 1}))
    assert found.content == "still here"
    assert found.additional_kwargs["kept"] == 1
    assert "can't be kept as JSON" in caplog.text


@needs_newer_blocks
def test_li_31_streams_are_read_and_keep_their_place() -> None:
    image, document = BytesIO(PNG), BytesIO(b"%PDF\xff")
    image.seek(3)
    found = stored(assistant(ImageBlock(image=image), DocumentBlock(data=document, title="t")))
    assert image.tell() == 3
    assert found.blocks[0].resolve_image().read() == PNG
    assert found.blocks[1].resolve_document().read() == b"%PDF\xff"


def test_li_31_nested_messages_and_subclasses_are_kept_as_dicts() -> None:
    class Mine(ChatMessage):
        extra: str = ""

    inner = ChatMessage(role="user", content="inner")
    found = stored(Mine(role="user", content="outer", extra="lost", additional_kwargs={"inner": inner}))
    assert type(found) is ChatMessage
    assert found.additional_kwargs["inner"]["blocks"][0]["text"] == "inner"


def test_li_31_an_image_whose_file_is_gone_costs_only_that_block(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(PNG)
    with AgentMemory.open(embedder="hashing") as core:
        memory = TwinmemMemory.from_defaults(memory=core, user="alice")
        memory.put(ChatMessage(role="user", blocks=[TextBlock(text="look"), ImageBlock(path=picture)]))
        assert memory.get_all()[0].blocks[1].path == picture
        picture.unlink()
        found = memory.get_all()[0]
        assert [type(block) for block in found.blocks] == [TextBlock, TextBlock]
        assert str(picture) in found.blocks[1].text
        picture.write_bytes(PNG)
        assert memory.get_all()[0].blocks[1].path == picture, "the row itself was damaged"


def test_li_31_legacy_images_in_kwargs_are_pictures_once() -> None:
    document = ImageDocument(image=base64.b64encode(PNG).decode())
    message = ChatMessage(role="user", content="look", additional_kwargs={"images": [document]})
    found = stored(message)
    assert [type(block) for block in found.blocks] == [TextBlock, ImageBlock]
    assert "images" not in found.additional_kwargs
    assert "images" not in str(encode(message).payload), "the picture is stored twice"


def test_li_31_a_block_of_a_newer_core_becomes_a_text_and_the_rest_stays() -> None:
    neutral = encode(assistant(TextBlock(text="x"), TextBlock(text="y")))
    assert neutral.payload is not None
    neutral.payload["llamaindex"]["blocks"][1] = {"block_type": "hologram", "data": "?"}
    assert [block.text for block in decode(neutral).blocks] == ["x", "[hologram]"]


@needs_newer_blocks
def test_li_31_an_older_core_reads_calls_where_it_looks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    block = ToolCallBlock(tool_call_id="1", tool_name="search", tool_kwargs={"q": "tea"})
    written = [
        encode(assistant(ThinkingBlock(content="hm"), TextBlock(text="x"), block)),
        Message(role="assistant", content="x", tool_calls=({"id": "1", "name": "search", "args": {"q": "tea"}},)),
    ]
    monkeypatch.setattr("llamaindex_mem.messages._ToolCallBlock", None)
    monkeypatch.setattr("llamaindex_mem.messages._ThinkingBlock", None)
    function = {"name": "search", "arguments": '{"q": "tea"}'}
    for message in written:
        found = decode(message)
        assert found.blocks == [TextBlock(text="x")]
        assert found.additional_kwargs == {"tool_calls": [{"id": "1", "type": "function", "function": function}]}


@pytest.mark.parametrize(
    "payload",
    [{}, {"role": "alien"}, {"role": "user", "blocks": 7}, {"role": "user", "additional_kwargs": [1]}, []],
)
def test_li_31_reading_never_fails_on_a_damaged_row(payload: Any) -> None:
    found = decode(Message(role="assistant", content="the words", payload={"llamaindex": payload}))
    assert (found.role, found.content) == (MessageRole.ASSISTANT, "the words")


@needs_newer_blocks
def test_li_issue_18_thinking_call_and_text_all_come_back() -> None:
    message = assistant(
        ThinkingBlock(content="hm"),
        ToolCallBlock(tool_call_id="1", tool_name="search", tool_kwargs={"q": "x"}),
        TextBlock(text="found"),
    )
    assert [type(block) for block in stored(message).blocks] == [ThinkingBlock, ToolCallBlock, TextBlock]


# ---------------------------------------------------------------------- the neutral form


@needs_newer_blocks
def test_the_neutral_form_holds_what_another_framework_needs() -> None:
    neutral = encode(
        assistant(
            ThinkingBlock(content="hm"),
            TextBlock(text="I look"),
            ImageBlock(image=PNG),
            ToolCallBlock(tool_call_id="1", tool_name="search", tool_kwargs={"when": date(2026, 1, 2)}),
        )
    )
    assert neutral.text == "I look"
    assert neutral.content[0] == {"type": "reasoning", "reasoning": "hm"}
    assert neutral.content[2] == {"type": "image", "mime_type": "image/png", "base64": base64.b64encode(PNG).decode()}
    assert neutral.tool_calls == ({"id": "1", "name": "search", "args": {"when": "2026-01-02"}},)
    json.dumps(neutral.model_dump())


@pytest.mark.parametrize(
    "call",
    [
        {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "tea"}'}},
        {"id": "1", "name": "search", "input": {"q": "tea"}},
        {"id": "1", "name": "search", "args": {"q": "tea"}},
        {"tool_id": "1", "tool_name": "search", "tool_kwargs": {"q": "tea"}},
    ],
)
def test_li_issue_24_a_call_in_any_providers_form_is_one_neutral_call(call: dict[str, Any]) -> None:
    message = ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": [call]})
    assert encode(message).tool_calls == ({"id": "1", "name": "search", "args": {"q": "tea"}},)
    assert stored(message) == message


@needs_newer_blocks
def test_a_call_that_stands_in_two_places_is_one_call() -> None:
    block = ToolCallBlock(tool_call_id="1", tool_name="search", tool_kwargs={"q": "tea"})
    other = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "tea"}'}}
    assert len(encode(assistant(block, tool_calls=[other])).tool_calls) == 1


def test_a_tool_result_names_its_call_and_an_assistant_never_does() -> None:
    result = ChatMessage(role="tool", content="42", additional_kwargs={"tool_call_id": "c1", "name": "search"})
    assert (encode(result).role, encode(result).tool_call_id, encode(result).name) == ("tool", "c1", "search")
    direct = ChatMessage(role="assistant", content="42", additional_kwargs={"tool_call_id": "c1"})
    assert encode(direct).tool_call_id is None
    assert decode(encode(direct)) == direct


@needs_newer_blocks
def test_a_message_of_another_framework_comes_back_in_a_faithful_form() -> None:
    asked = Message(
        role="assistant",
        content=[
            {"type": "reasoning", "reasoning": "hm"},
            {"type": "text", "text": "I look"},
            {"type": "image", "mime_type": "image/png", "base64": base64.b64encode(PNG).decode()},
            {"type": "tool_use", "id": "1", "name": "search", "input": {"q": "tea"}},
        ],
        tool_calls=({"id": "1", "name": "search", "args": {"q": "tea"}},),
        payload={"langchain": {"type": "ai"}},
    )
    found = decode(asked)
    assert [type(block) for block in found.blocks] == [ThinkingBlock, TextBlock, ImageBlock, ToolCallBlock]
    assert found.content == "I look"
    assert found.blocks[2].resolve_image().read() == PNG
    assert found.blocks[3].tool_kwargs == {"q": "tea"}
    answered = decode(Message(role="tool", content="42", tool_call_id="1", name="search"))
    assert answered == ChatMessage(role="tool", content="42", additional_kwargs={"tool_call_id": "1", "name": "search"})


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, ImageBlock),
        ({"type": "image_url", "image_url": "https://example.org/a.png"}, ImageBlock),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}, ImageBlock),
        ({"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "AAAA"}, ImageBlock),
        ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, AudioBlock),
        ({"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"}, AudioBlock),
        ({"type": "video", "base64": "AAAA", "mime_type": "video/mp4"}, VideoBlock or TextBlock),
        ({"type": "file", "base64": "AAAA", "mime_type": "application/pdf"}, DocumentBlock),
        ({"type": "thinking", "thinking": "hm", "signature": "x"}, ThinkingBlock),
        ({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}, ThinkingBlock),
        ({"type": "output_text", "text": "hi"}, TextBlock),
        ({"type": "image", "file_id": "f-1"}, TextBlock),
        ({"type": "hologram", "data": 1}, TextBlock),
        ("bare", TextBlock),
    ],
)
def test_content_parts_of_other_frameworks_become_blocks(part: Any, kind: Any) -> None:
    kinds = [] if kind is None else [kind]  # an older core has no place for thinking
    assert [type(block) for block in decode(Message(role="user", content=[part])).blocks] == kinds


@pytest.mark.parametrize(
    "message",
    [
        assistant(ImageBlock(image=PNG)),
        assistant(ImageBlock(url="https://example.org/a.png")),
        assistant(AudioBlock(audio=b"A\x00\x01\xff", format="wav")),
        ChatMessage(role="assistant", blocks=[TextBlock(text="x"), *call("t", a=1).blocks]),
        *([assistant(ThinkingBlock(content="hm"), TextBlock(text="x"))] if ThinkingBlock is not None else []),
    ],
)
def test_the_neutral_form_alone_is_enough_to_come_back(message: ChatMessage) -> None:
    assert decode(encode(message).model_copy(update={"payload": None})) == message


def test_a_redactor_reaches_the_framework_own_form_too() -> None:
    settings = Settings(redactor=lambda text: text.replace("4711", "***"))
    with AgentMemory.open(embedder="hashing", settings=settings) as core:
        memory = TwinmemMemory.from_defaults(memory=core, user="alice")
        memory.put(ChatMessage(role="user", content="my pin is 4711", additional_kwargs={"pin": ("4711",)}))
        assert "4711" not in repr(memory.get_all())
        assert memory.get_all()[0].content == "my pin is ***"


def test_said_gives_what_was_said_without_the_memories() -> None:
    message = RecalledMessage(role="user", content="memories and question")
    message._said = ChatMessage(role="user", content="question")
    assert said([message, RecalledMessage(role="system", content="memories")]) == [message._said]
    with pytest.raises(TypeError, match="ChatMessage"):
        said(["text"])  # type: ignore[list-item]
