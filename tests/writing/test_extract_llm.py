"""The LLM extractor: whatever a model writes, facts are read or an error is raised; nothing is lost in silence."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from shared_core.errors import TwinmemError
from shared_core.values import Message
from shared_core.writing.extraction import SCHEMA, UnreadableAnswer, parse, prompt

AT = datetime(2024, 5, 15, 10, tzinfo=UTC)
FACT: dict[str, Any] = {
    "subject": "user",
    "predicate": "lives_in",
    "object": "Lyon",
    "text": "I moved to Lyon",
    "when": "2024-04-01",
}
GOOD = json.dumps({"facts": [FACT]})


@pytest.mark.parametrize(
    "output",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\nAnything else?",
        f"<think>The user {{moved}}. [Maybe]</think>{GOOD}",
        f"thoughts without a start</think>\n{GOOD}",
        f"Sure: {GOOD} Hope that helps!",
        f"Sure {{name}}, here [1] it is: {GOOD}",
        json.dumps([FACT]),
        json.dumps(FACT),
        GOOD.replace('"Lyon"', "'Lyon'"),
        GOOD[:-2],
        GOOD[:-1] + ",]}",
        GOOD.replace("true", "True").replace("}]", ",}]"),
        json.dumps({"memories": [FACT]}),
    ],
)
def test_r22_any_shape_of_json_is_read(output: str) -> None:
    (fact,) = parse(output, at=AT)
    assert (fact.subject, fact.predicate, fact.object, fact.polarity) == ("user", "lives_in", "Lyon", True)
    assert fact.text == "I moved to Lyon"
    assert fact.when == datetime(2024, 4, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "output",
    ["not json", "", "   ", "I found no facts.", "{}", '{"answer": 7}', "[1, 2]", '{"facts": [{}]}', "<think>{"],
)
def test_r22_an_answer_without_facts_in_json_raises(output: str) -> None:
    with pytest.raises(UnreadableAnswer, match="raw text") as caught:
        parse(output)
    assert isinstance(caught.value, TwinmemError)


def test_r22_an_empty_list_is_an_answer() -> None:
    assert parse('{"facts": []}') == []
    assert parse('{"facts": [{"text": "x", "event": "NONE"}]}') == []


def test_r22_bad_items_do_not_take_the_good_ones_with_them(caplog: pytest.LogCaptureFixture) -> None:
    items = [
        {"id": "9", "action": "UPDATE", **FACT},
        {"predicate": "likes"},
        {"object": "tea", "predicate": "likes"},
        {},
    ]
    with caplog.at_level(logging.WARNING):
        found = parse(json.dumps({"facts": items}))
    assert [fact.object for fact in found] == ["Lyon", "tea"]
    assert "left out" in caplog.text


def test_r22_a_lone_surrogate_is_replaced() -> None:
    (fact,) = parse('{"facts": [{"predicate": "likes", "object": "tea \\ud83d", "text": "I like tea \\ud83d"}]}')
    assert fact.object == "tea \ufffd"
    assert fact.text == "I like tea \ufffd"


def test_d2_missing_and_odd_values_have_defaults() -> None:
    item = {
        "object": "Kyoto",
        "predicate": "Lives In",
        "polarity": "false",
        "confidence": "high",
        "importance": 7,
        "when": "soon",
        "entities": "x",
    }
    (fact,) = parse(json.dumps([item]), speaker="Ann")
    assert (fact.subject, fact.predicate, fact.polarity) == ("Ann", "lives_in", False)
    assert (fact.confidence, fact.importance, fact.when, fact.entities) == (0.8, 1.0, None, ())
    assert fact.text == "Ann lives in Kyoto"


def test_d2_plain_sentences_are_kept_as_notes() -> None:
    (fact,) = parse('{"facts": ["Likes oolong tea"]}')
    assert (fact.predicate, fact.text) == ("noted", "Likes oolong tea")


@pytest.mark.parametrize("text", ['{"a": {"b": 1}}', "{0} {} {name}", "%s", "${x}", "{{ x }}", "我用{名字}"])
def test_r21_braces_reach_the_model_as_they_are(text: str) -> None:
    asked = prompt(Message(role="user", content=text), at=AT)
    assert json.loads(asked.strip().splitlines()[-1])["message"] == text


def test_d2_the_prompt_speaks_the_messages_language() -> None:
    assert "长期记忆" in prompt(Message(role="user", content="我搬家了"), at=AT)
    english = prompt(
        Message(role="user", content="I moved"), at=AT, speaker="Ann", previous=Message(role="assistant", content="Hi?")
    )
    assert "long-term memory" in english
    data = json.loads(english.strip().splitlines()[-1])
    assert (data["author"], data["before"]) == ("Ann", "assistant: Hi?")
    assert "lives_in" in english


def test_the_schema_names_every_field_of_the_example() -> None:
    properties = SCHEMA["properties"]["facts"]["items"]["properties"]
    asked = prompt(Message(role="user", content="x"), at=AT)
    example = next(json.loads(line) for line in asked.splitlines() if line.startswith('{"facts": [{'))
    assert set(example["facts"][0]) == set(properties)
