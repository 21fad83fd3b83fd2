"""LangChain message dicts, whole and neutral, without LangChain."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from shared_core.errors import InvalidInput
from shared_core.formats import read


def message(kind: str, content: Any = "hi", **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": {"content": content, "additional_kwargs": {}, "type": kind, **data}}


TALK = [message("human", "我对花生过敏 🥜", id="h1"), message("ai", "Noted.", id=None, name="helper")]
TEXTS = ["我对花生过敏 🥜", "Noted."]


def found(path: Any) -> list[tuple[str, list[str]]]:
    return [(each.session, [one.text for one in each.messages]) for each in read(path)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("content", "session"),
    [(TALK, "chat"), ({"messages": TALK}, "chat"), ({"周一": TALK}, "周一"), ([TALK], "chat-1"), ([{"s": TALK}], "s")],
)
def test_every_message_is_read_however_the_list_is_wrapped(write, content, session, indent):
    assert found(write("chat.json", content, indent=indent)) == [(session, TEXTS)]


def test_jsonl_is_read_line_by_line(write):
    assert found(write("chat.jsonl", TALK)) == [("chat", TEXTS)]


def test_sessions_of_a_mapping_stay_apart(write):
    path = write("store.json", {"monday": TALK[:1], "tuesday": TALK[1:]})
    assert found(path) == [("monday", TEXTS[:1]), ("tuesday", TEXTS[1:])]


def test_the_whole_dict_is_kept_so_the_adapter_can_restore_the_message(write):
    row = message("ai", "x", response_metadata={"cost": 0.25, "n": 3}, usage_metadata={"total_tokens": 7})
    [conversation] = read(write("chat.json", [row]))
    [one] = conversation.messages
    assert one.payload == {"langchain": row}
    assert isinstance(one.payload["langchain"]["data"]["response_metadata"]["cost"], float)


def test_roles_are_those_every_reader_knows(write):
    kinds = ["human", "ai", "system", "tool", "function", "AIMessageChunk", "HumanMessageChunk"]
    rows = [message(kind) for kind in kinds] + [message("chat", role="narrator"), message("chat", role="human")]
    [conversation] = read(write("chat.json", rows))
    roles = [one.role for one in conversation.messages]
    assert roles == ["user", "assistant", "system", "tool", "tool", "assistant", "user", "narrator", "user"]


def test_ids_and_names_are_kept_and_a_missing_id_is_the_same_at_each_import(write):
    path = write("chat.json", TALK)
    first, second = ([(one.id, one.name) for each in read(path) for one in each.messages] for _ in range(2))
    assert first == second
    assert first[0] == ("h1", None)
    assert first[1][0]
    assert first[1][1] == "helper"


def test_tool_calls_are_read_in_their_new_and_their_old_place(write):
    old = {"id": "c2", "type": "function", "function": {"name": "g", "arguments": '{"b": 2}'}}
    rows = [
        message("ai", "", tool_calls=[{"name": "f", "args": {"a": 1.5}, "id": "c1", "type": "tool_call"}]),
        message("tool", "42", tool_call_id="c1"),
        message("ai", "", additional_kwargs={"tool_calls": [old]}),
    ]
    [conversation] = read(write("chat.json", rows))
    first, second, third = conversation.messages
    assert first.tool_calls == ({"id": "c1", "name": "f", "args": {"a": 1.5}},)
    assert second.tool_call_id == "c1"
    assert third.tool_calls == ({"id": "c2", "name": "g", "args": {"b": 2}},)


def test_a_summary_the_middleware_wrote_is_not_taken_for_the_users_words(write):
    row = message("human", "Here is a summary", additional_kwargs={"lc_source": "summarization"})
    [conversation] = read(write("chat.json", [row]))
    assert [one.role for one in conversation.messages] == ["system"]


def test_an_instruction_to_remove_a_message_is_not_a_message(write):
    rows = [message("remove", "", id="h1"), TALK[0]]
    assert found(write("chat.json", rows)) == [("chat", TEXTS[:1])]


def test_content_parts_are_read(write):
    parts = ["看", {"type": "text", "text": "this"}, {"type": "image_url", "image_url": "x"}]
    assert found(write("chat.json", [message("human", parts)])) == [("chat", ["看 this"])]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([TALK[0], message("alien")], "element 2.*unknown message type 'alien'.*human"),
        ([TALK[0], {"type": "human", "data": "hi"}], "element 2.*'data'"),
        ([TALK[0], {"role": "user", "content": "hi"}], "element 2.*LangChain"),
        ({"a": TALK, "b": 5}, "key 'b'.*expected"),
        ({"a": [TALK[0], 5]}, "key 'a', message 2.*expected"),
        ([message("chat")], "element 1.*role"),
        ([message("human", 5)], "element 1.*content"),
        ([message("ai", tool_calls="x")], "element 1.*tool_calls is a list"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_place(write, content, says):
    path = write("chat.json", content)
    with pytest.raises(InvalidInput, match=rf"chat\.json, {says}"):
        [list(conversation.messages) for conversation in read(path, "langchain")]


def test_what_langchain_itself_writes_is_read(write):
    core = pytest.importorskip("langchain_core.messages")
    call = {"id": "c1", "name": "f", "args": {"城市": "里昂"}}
    talk = [
        core.HumanMessage("你好", id="1"),
        core.AIMessage("", tool_calls=[call]),
        core.ToolMessage("ok", tool_call_id="c1"),
    ]
    [conversation] = read(write("chat.json", core.messages_to_dict(talk)))
    restored = core.messages_from_dict([one.payload["langchain"] for one in conversation.messages])
    assert restored == talk
    assert [one.role for one in conversation.messages] == ["user", "assistant", "tool"]


def test_reading_needs_neither_langchain_nor_ijson_before_it_reads(tmp_path):
    script = "import sys, shared_core.formats; print([m for m in sys.modules if m.startswith(('langchain', 'ijson'))])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
