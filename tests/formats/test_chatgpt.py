"""ChatGPT's data export: the branch the user saw, and nothing nobody said."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from shared_core.errors import InvalidInput
from shared_core.formats import read


def node(key: str, parent: str | None, role: str = "user", content: Any = "", **more: Any) -> dict[str, Any]:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    message = {"id": f"m-{key}", "author": {"role": role, "name": None, "metadata": {}}, "content": content, **more}
    return {"id": key, "message": message, "parent": parent, "children": []}


def export(*nodes: dict[str, Any], current: str | None = None, **more: Any) -> dict[str, Any]:
    root = {"id": "root", "message": None, "parent": None, "children": []}
    mapping = {each["id"]: each for each in (root, *nodes)}
    current = current or nodes[-1]["id"]
    return {"title": "T", "create_time": 1714521600.5, "mapping": mapping, "current_node": current, **more}


def messages(write: Any, conversation: dict[str, Any]) -> Any:
    [found] = read(write("conversations.json", [conversation]), "chatgpt")
    return found.messages


def test_the_branch_last_seen_is_read_and_abandoned_answers_are_not(write):
    talk = export(
        node("a", "root", content="推荐一种茶 🍵"),
        node("b", "a", "assistant", "Oolong (first try)"),
        node("c", "a", "assistant", "Longjing 龙井"),
        node("d", "c", content="谢谢"),
        node("e", "b", content="a follow-up to the first try"),
        current="d",
    )
    assert [message.text for message in messages(write, talk)] == ["推荐一种茶 🍵", "Longjing 龙井", "谢谢"]


def test_conversations_stay_apart_and_keep_their_ids(write):
    talk = [
        export(node("a", "root", content="one"), conversation_id="c-1", id="other"),
        export(node("a", "root", content="two"), id="c-2"),
        export(node("a", "root", content="three")),
    ]
    path = write("conversations.json", talk)
    assert [(each.user, each.session) for each in read(path)] == [
        (None, "c-1"),
        (None, "c-2"),
        (None, "conversations-3"),
    ]
    assert [message.text for each in read(path) for message in each.messages] == ["one", "two", "three"]


def test_a_conversation_saved_alone_is_read_too(write):
    [found] = read(write("tea.json", export(node("a", "root", content="one"), id="c-1")))
    assert found.session == "c-1"


def test_what_nobody_said_is_not_remembered(write):
    talk = export(
        node("a", "root", "system", ""),
        node("b", "a", "user", {"content_type": "user_editable_context", "user_profile": "p", "text": "profile"}),
        node("c", "b", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        node("d", "c", content="visible"),
        node("e", "d", "assistant", {"content_type": "thoughts", "thoughts": [], "text": "hm"}),
        node("f", "e", "assistant", {"content_type": "text", "parts": []}),
        node("g", "f", "assistant", {"content_type": "text", "parts": ["  ", None]}),
        node("h", "g", "assistant", None),
    )
    assert [message.text for message in messages(write, talk)] == ["visible"]


def test_a_system_message_with_words_is_kept(write):
    [message] = messages(write, export(node("a", "root", "system", "Be brief.")))
    assert (message.role, message.text) == ("system", "Be brief.")


def test_a_chat_with_nothing_said_makes_no_session(write):
    assert list(read(write("conversations.json", [export(node("a", "root", "system", ""))]))) == []


def test_pictures_and_speech_are_kept_beside_the_words(write):
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "width": 3}
    speech = {"content_type": "audio_transcription", "text": "说出来的话", "direction": "in"}
    content = {"content_type": "multimodal_text", "parts": [picture, "这是什么? 🌸", speech]}
    [message] = messages(write, export(node("a", "root", content=content)))
    assert message.text == "这是什么? 🌸 说出来的话"
    assert message.content[0] == {**picture, "type": "image_asset_pointer"}


def test_code_and_what_it_printed_are_kept(write):
    talk = export(
        node("a", "root", "assistant", {"content_type": "code", "language": "python", "text": "print(6*7)"}),
        node("b", "a", "tool", {"content_type": "execution_output", "text": "42"}),
    )
    talk["mapping"]["b"]["message"]["author"]["name"] = "python"
    first, second = messages(write, talk)
    assert (first.role, first.text) == ("assistant", "print(6*7)")
    assert (second.role, second.name, second.text) == ("tool", "python", "42")


def test_times_and_ids_are_kept_and_a_missing_time_does_not_move_a_turn_to_the_end(write):
    talk = export(
        node("a", "root", content="no time", create_time=None),
        node("b", "a", "assistant", "later", create_time=1714525200.25),
        node("c", "b", content="again none"),
    )
    talk["mapping"]["c"]["message"]["id"] = None
    found = messages(write, talk)
    start, later = (datetime.fromtimestamp(each, UTC) for each in (1714521600.5, 1714525200.25))
    assert [message.created_at for message in found] == [start, later, later]
    assert [message.id for message in found] == ["m-a", "m-b", "c"]


@pytest.mark.parametrize("current", [None, "gone"])
def test_without_a_usable_current_node_the_latest_leaf_is_followed(write, current):
    talk = export(
        node("a", "root", content="q", create_time=1.0),
        node("new", "a", "assistant", "new", create_time=3.0),
        node("old", "a", "assistant", "old", create_time=2.0),
    )
    talk["current_node"] = current
    assert [message.text for message in messages(write, talk)] == ["q", "new"]


def test_a_parent_that_is_not_in_the_file_is_the_beginning(write):
    assert [each.text for each in messages(write, export(node("a", "client-created-root", content="hi")))] == ["hi"]


def broken(**change: Any) -> dict[str, Any]:
    talk = export(node("a", "root", content="hi"))
    talk["mapping"]["a"]["message"].update(change)
    return talk


@pytest.mark.parametrize(
    ("talk", "says"),
    [
        ({"title": "no mapping"}, "element 1.*mapping"),
        ({"mapping": []}, "element 1.*mapping"),
        (export({**node("a", "b"), "parent": "b"}, node("b", "a")), "element 1.*own ancestor"),
        ({"mapping": {"a": 1}, "current_node": "a"}, "element 1.*node 'a'"),
        ({"mapping": {"a": {"message": "hi"}}, "current_node": "a"}, "element 1: node 'a'.*author"),
        (broken(author=None), "node 'a'.*author"),
        (broken(author={"role": None}), "node 'a'.*role"),
        (broken(content="hi"), "node 'a'.*content_type"),
        (broken(content={"content_type": "text", "parts": "hi"}), "node 'a'.*parts is a list"),
        (broken(content={"content_type": "text", "parts": [7]}), "node 'a'.*part of the content"),
        (broken(create_time="soon"), "node 'a'.*ISO 8601"),
    ],
)
def test_a_broken_conversation_is_refused_with_its_place(write, talk, says):
    with pytest.raises(InvalidInput, match=rf"conversations\.json, {says}|{says}"):
        messages(write, talk)


def test_conversations_before_a_broken_one_are_still_handed_out(write):
    found = read(write("conversations.json", [export(node("a", "root", content="hi")), {"mapping": 1}]), "chatgpt")
    assert next(found).messages
    with pytest.raises(InvalidInput, match="element 2"):
        next(found)
