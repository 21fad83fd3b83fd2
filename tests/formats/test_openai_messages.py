"""OpenAI-style messages, in every container they come in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from shared_core.errors import InvalidInput
from shared_core.formats import read

TALK = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": "我养了一只猫,叫年糕 🐱", "refusal": None, "x_weight": 3},
    {"role": "assistant", "content": "What a name!"},
]
TEXTS = [each["content"] for each in TALK]


def only(path: Any, format: str | None = "openai") -> Any:
    [conversation] = read(path, format)
    return conversation


def texts(conversation: Any) -> list[str]:
    return [message.text for message in conversation.messages]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("chat.json", TALK),
        ("chat.json", {"messages": TALK}),
        ("chat.json", [{"messages": TALK}]),
        ("chat.json", [TALK]),
    ],
)
def test_a_json_file_gives_every_message_in_order_however_it_is_wrapped(write, name, content, indent):
    conversation = only(write(name, content, indent=indent), None)
    assert texts(conversation) == TEXTS
    assert [message.role for message in conversation.messages] == ["system", "user", "assistant"]


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.ndjson", "chat.txt"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n  \n"])
def test_a_jsonl_file_gives_every_message_whatever_its_suffix_and_line_ends(write, name, end):
    import json

    conversation = only(write(name, end.join(json.dumps(each, ensure_ascii=False) for each in TALK).encode()), None)
    assert texts(conversation) == TEXTS
    assert conversation.session == "chat"


def test_a_jsonl_line_may_hold_a_conversation_and_each_stays_apart(write):
    path = write("log.jsonl", [{"messages": TALK[:2]}, {"messages": TALK[2:]}, TALK])
    found = list(read(path))
    assert [each.session for each in found] == ["log-1", "log-2", "log-3"]
    assert [texts(each) for each in found] == [TEXTS[:2], TEXTS[2:], TEXTS]


def test_a_one_line_file_of_one_message_is_not_lost(write):
    assert texts(only(write("one.json", TALK[1], indent=None), None)) == TEXTS[1:2]


def test_conversations_keep_the_names_and_users_the_file_gives_them(write):
    rows = [
        {"id": "c-1", "user": "alice", "messages": TALK},
        {"thread_id": 7, "user_id": "bob", "messages": TALK},
        {"id": "", "user": None, "messages": TALK},
    ]
    found = [(each.session, each.user) for each in read(write("log.json", rows))]
    assert found == [("c-1", "alice"), ("7", "bob"), ("log-3", None)]
    assert only(write("one.json", rows[0])).session == "c-1"
    assert only(write("one.json", rows[0])).user == "alice"


def test_an_empty_conversation_makes_no_session(write):
    found = list(read(write("log.json", [{"messages": []}, {"messages": TALK}]), "openai"))
    assert [each.session for each in found] == ["log-2"]


def test_importing_twice_adds_nothing_because_made_ids_are_the_same(write):
    path = write("chat.json", [{"role": "user", "content": "ok"}, {"role": "user", "content": "ok"}])
    first, second = ([message.id for message in only(path).messages] for _ in range(2))
    assert first == second
    assert len(set(first)) == 2, "two turns with the same words are two turns"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a.json", [{"role": "user", "content": "ok"}]), ("b.json", [{"role": "user", "content": "ok"}])),
        (("a.json", [{"role": "user", "content": "ok"}]), ("a.json", [{"role": "assistant", "content": "ok"}])),
        (("a.json", [{"role": "user", "content": "ok"}]), ("a.json", [{"role": "user", "content": "ok."}])),
        (("a.json", [{"role": "user", "content": "ok"}]), ("a.json", [TALK[0], {"role": "user", "content": "ok"}])),
    ],
    ids=["session", "role", "text", "position"],
)
def test_messages_that_differ_in_anything_do_not_overwrite_each_other(write, one, other):
    first, second = (list(only(write(*each)).messages)[-1].id for each in (one, other))
    assert first != second


def test_a_message_added_to_a_file_leaves_the_ids_of_the_earlier_ones(write):
    before = [message.id for message in only(write("chat.json", TALK[:2])).messages]
    after = [message.id for message in only(write("chat.json", TALK)).messages]
    assert after[:2] == before


def test_ids_names_and_times_of_the_file_are_kept(write):
    rows = [
        {"role": "user", "name": "王芳", "id": "m-1", "content": "早上好", "created_at": 1714521600},
        {"role": "user", "id": 2, "content": "hi", "created_at": "2024-05-01T10:00:00+08:00"},
        {"role": "user", "id": " ", "content": "hi", "created_at": None},
    ]
    first, second, third = only(write("chat.json", rows)).messages
    assert (first.id, first.name, first.created_at) == ("m-1", "王芳", datetime(2024, 5, 1, tzinfo=UTC))
    assert (second.id, second.created_at) == ("2", datetime(2024, 5, 1, 2, tzinfo=UTC))
    assert third.id.strip()
    assert third.created_at is None


def test_tool_calls_keep_their_arguments_and_their_results_know_the_call(write):
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "里昂"}'}}
    rows = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny ☀️"},
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "done"},
    ]
    first, second, third, fourth = only(write("chat.json", rows)).messages
    assert first.tool_calls == ({"id": "c1", "name": "weather", "args": {"city": "里昂"}},)
    assert (second.role, second.tool_call_id, second.text) == ("tool", "c1", "sunny ☀️")
    assert third.tool_calls == ({"id": None, "name": "old", "args": {}},)
    assert (fourth.role, fourth.name) == ("tool", "old")


def test_text_parts_are_read_and_pictures_kept(write):
    picture = {"type": "image_url", "image_url": {"url": "data:..."}}
    parts = [{"type": "text", "text": "看"}, picture, {"type": "text", "text": {"value": "this", "annotations": []}}]
    [message] = only(write("chat.json", [{"role": "user", "content": parts}])).messages
    assert message.text == "看 this"
    assert message.content[1] == picture


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([TALK[0], {"content": "no role"}], r"chat\.json, element 2.*'role'"),
        ([TALK[0], "text"], r"element 2.*'role'"),
        ([{"messages": TALK}, TALK[0]], r"element 2.*single message"),
        ([{"messages": "none"}], r"element 1.*'messages' is a list"),
        ([{"messages": [TALK[0], {"role": "user", "content": 5}]}], r"element 1, message 2.*content is text"),
        ({"messages": [TALK[0], {"role": "user", "content": [5]}]}, r"messages, element 2.*part of the content"),
        ({"messages": {"a": 1}}, r"key 'messages'.*expected a list"),
        ([{"role": " ", "content": "x"}], r"element 1.*needs a role"),
        ([{"role": "user", "name": 5}], r"element 1.*name is a string"),
        ([{"role": "user", "tool_calls": {"a": 1}}], r"element 1.*tool_calls is a list"),
        ([{"role": "user", "tool_calls": ["x"]}], r"element 1.*tool call is a dict"),
        ([{"role": "user", "created_at": "2024-05-01T10:00:00"}], r"element 1.*no timezone"),
        ([{"role": "user", "created_at": 1e15}], r"element 1.*out of range"),
        ([{"role": "user", "created_at": True}], r"element 1.*a time is"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_place_and_what_was_expected(write, content, says):
    path = write("chat.json", content)
    with pytest.raises(InvalidInput, match=says):
        [list(conversation.messages) for conversation in read(path, "openai")]


def test_a_nesting_bomb_inside_a_tool_call_is_refused(write):
    call = {"id": "c", "function": {"name": "f", "arguments": "[" * 100_000}}
    path = write("chat.json", [{"role": "assistant", "tool_calls": [call]}])
    with pytest.raises(InvalidInput, match=r"element 1.*nested"):
        list(only(path).messages)
