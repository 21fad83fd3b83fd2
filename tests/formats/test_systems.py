"""Exports of other memory systems are recognised by their shape, and say where they are broken (E5)."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from shared_core.errors import InvalidInput
from shared_core.formats import FORMATS, SYSTEMS, Conversation, Told, detect, read, read_all
from tests.formats.test_reading import changed

EACH: dict[str, Any] = {
    "mem0": {"id": "1", "memory": "喜欢茶"},
    "zep": {"uuid": "1", "fact": "喜欢茶"},
    "letta": {"id": "passage-1", "text": "喜欢茶"},
    "langgraph": {"namespace": ["memories", "li"], "key": "k", "value": {"t": "喜欢茶"}},
}


def test_e5_every_system_has_its_test_here() -> None:
    assert EACH.keys() == SYSTEMS.keys()
    assert not SYSTEMS.keys() & FORMATS.keys()


@pytest.mark.parametrize("format", EACH)
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_e5_a_list_or_lines_are_recognised_and_read(write: Any, format: str, name: str) -> None:
    path = write(name, [EACH[format]])
    assert detect(path) == format
    [told] = read_all(path)
    assert isinstance(told, Told)
    assert told.text == "喜欢茶"
    assert [each.id for each in read_all(path, format)] == [told.id]  # type: ignore[union-attr]
    with pytest.raises(InvalidInput, match=format):
        read(path)


@pytest.mark.parametrize("format", EACH)
def test_e5_a_fault_is_named_with_its_place(write: Any, format: str) -> None:
    with pytest.raises(InvalidInput, match=r"x\.json, element 2"):
        list(read_all(write("x.json", [EACH[format], 7]), format))


def test_e5_conversations_are_read_by_the_same_verb(write: Any) -> None:
    path = write("x.json", [{"role": "user", "content": "hi"}])
    assert [type(each) for each in read_all(path)] == [Conversation]
    with pytest.raises(InvalidInput, match="unknown format"):
        read_all(path, "word")


def test_e5_zeps_nodes_may_stand_behind_its_edges(write: Any) -> None:
    edge = {
        "uuid": "1",
        "fact": "Ann works at ACME",
        "name": "WORKS_AT",
        "source_node_uuid": "a",
        "target_node_uuid": "b",
    }
    nodes = [{"uuid": "a", "name": "Ann"}, {"uuid": "b", "name": "ACME"}]
    [told] = read_all(write("x.json", {"edges": [edge], "nodes": nodes}))
    assert isinstance(told, Told)
    assert told.triple == ("Ann", "works at", "ACME")
    [named] = read_all(write("y.json", {"facts": [{**edge, "source_node_name": "Ann", "target_node_name": "ACME"}]}))
    [bare] = read_all(write("z.json", [edge]))
    assert (named.triple, bare.triple) == (told.triple, None)  # type: ignore[union-attr]


def test_e5_an_agent_file_of_memgpts_time(write: Any) -> None:
    file = {
        "name": "helper", "core_memory": [{"label": "persona", "value": "Helpful"}, {"label": "human", "value": " "}],
        "messages": [{"role": "system", "content": "You are"}, {"role": "user", "content": "你好"},
                     {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}],
    }  # fmt: skip
    block, talk = read_all(write("helper.af", file))
    assert isinstance(block, Told)
    assert isinstance(talk, Conversation)
    assert (block.text, block.source, block.pinned) == ("Helpful", "assistant", True)
    assert (talk.session, [m.text for m in talk.messages]) == ("helper", ["你好", "Hi"])


RICH: dict[str, Any] = {
    "mem0": {
        "results": [
            {"id": "1", "memory": "x", "metadata": {"a": [1]}, "created_at": "2025-01-01T00:00:00Z", "user_id": "u", "hash": "h"}
        ],
        "relations": [{"source": "a", "relationship": "b", "target": "c"}],
    },
    "zep": {
        "edges": [
            {"uuid": "1", "fact": "x", "name": "N", "source_node_uuid": "a", "target_node_uuid": "b", "valid_at": None,
             "created_at": "2025-01-01T00:00:00Z", "attributes": {"a": 1}, "episodes": ["e"]}
        ],
        "nodes": [{"uuid": "a", "name": "A"}, {"uuid": "b", "name": "B"}],
    },
    "letta": {
        "agents": [{"name": "n", "messages": [{"role": "assistant", "content": [{"type": "text", "text": "x"}], "tool_calls": [
            {"id": "c", "function": {"name": "send_message", "arguments": "{}"}}], "created_at": "2025-01-01T00:00:00Z"}]}],
        "blocks": [{"label": "human", "value": "x", "metadata": {"a": 1}}],
        "passages": [{"id": "passage-1", "text": "x", "tags": ["t"], "metadata": {"a": 1}}],
    },
    "langgraph": [{"namespace": ["memories", "u"], "key": "k", "value": {"a": [1, "x"]}, "created_at": "2025-01-01T00:00:00Z"}],
}  # fmt: skip


@pytest.mark.parametrize("format", RICH)
def test_e5_no_odd_value_anywhere_ends_in_anything_but_memories_or_a_refusal(write: Any, format: str) -> None:
    assert list(read_all(write("x.json", RICH[format]), format))
    for value in changed(RICH[format]):
        if isinstance(value, list | dict):
            with contextlib.suppress(InvalidInput):
                for each in read_all(write("x.json", value), format):
                    if isinstance(each, Conversation):
                        list(each.messages)
                    else:
                        assert isinstance(each.text, str)
                        assert isinstance(each.metadata, dict)
