"""Whoever has told two things at once, and then one of them anew, is answered with what holds now."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared_core import AgentMemory, Scope
from shared_core.recall.relatives import named

KNOWN = {"sister": ["Clara"], "brother": ["林涛"], "friend": ["Ann", "Bob", "Cy", "Dan"], "boss": ["Ines", "Tom"]}


@pytest.fixture
def learning() -> Iterator[Scope]:
    with AgentMemory.open() as memory:
        yield memory.scope(user="alice")


def say(scope: Scope, *texts: str) -> None:
    for number, text in enumerate(texts):
        scope.session(f"day {number}").add_messages([{"role": "user", "content": text}])


def texts(scope: Scope, question: str) -> list[str]:
    return [hit.record.text for hit in scope.search(question)]


@pytest.mark.parametrize(
    ("said", "asked", "now", "still"),
    [
        (["Hi, I'm Mira, I live in Lyon and I work at Northwind.", "I moved to Grenoble, the flat was too small."],
         "Where do I live?", "Grenoble", "Where do I work?"),
        (["我叫林悦，住在杭州，在青禾科技做运营经理。", "我搬到苏州了，房子太小了。"], "我住在哪里？", "苏州", "我在哪里工作？"),
    ],
)  # fmt: skip
def test_d4_a_turn_comes_after_what_replaced_the_fact_that_is_asked_for(
    learning: Scope, said: list[str], asked: str, now: str, still: str
) -> None:
    say(learning, *said)
    assert [now in text for text in texts(learning, asked)[:2]] == [True, False]
    assert texts(learning, still)[0] == said[0]  # what it says besides is as it was


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Where does my sister work?", "Where does Clara work?"),
        ("Where does my older sister Clara work?", "Where does my older sister Clara work?"),
        ("Does my sister Ann like tea?", "Does my sister Ann like tea?"),  # another one, by name
        ("Who is my boss?", "Who is Ines and Tom?"),
        ("Which of my friends like tea?", "Which of my friends like tea?"),  # nobody in particular
        ("我弟弟在哪里工作？", "林涛在哪里工作？"),
        ("我的弟弟林涛在哪里工作？", "我的弟弟林涛在哪里工作？"),
        ("Where does his sister work?", "Where does his sister work?"),
    ],
)
def test_b5_a_question_about_a_relative_is_put_by_name(asked: str, meant: str) -> None:
    assert named(asked, lambda relation: KNOWN.get(relation, [])) == meant


@pytest.mark.parametrize(
    ("said", "asked", "answer"),
    [
        (["My sister Clara lives in Geneva, she works at Medion.", "I like tea a lot", "My bike is at work",
          "Clara has left Medion, she works at Helix now."], "Where does my sister work?", "Helix"),
        (["我弟弟林涛住在南京，在华星医院工作。", "我很喜欢喝茶", "我的车在公司", "林涛从华星医院离职了，现在在仁和诊所工作。"],
         "我弟弟在哪里工作？", "仁和诊所"),
    ],
)  # fmt: skip
def test_b5_what_was_said_by_name_answers_a_question_about_the_relative(
    learning: Scope, said: list[str], asked: str, answer: str
) -> None:
    say(learning, *said)
    assert answer in texts(learning, asked)[0]
