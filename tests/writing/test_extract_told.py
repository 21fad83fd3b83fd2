"""What people tell in passing: of whom they work for, of plans without "I", of two things in one sentence (D2)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared_core.values import Message
from shared_core.writing.extraction import extract

AT = datetime(2026, 3, 3, 9, tzinfo=UTC)


def read(text: str) -> list[tuple[str, str, str, bool]]:
    found = extract(Message(role="user", content=text), at=AT, speaker=None, previous=None)
    return [(fact.subject, fact.predicate, fact.object, fact.polarity) for fact in found]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My boss is Tomas Lindqvist.", [("user", "boss", "Tomas Lindqvist", True)]),
        ("My manager is now Paula.", [("user", "manager", "Paula", True)]),
        ("My dad is Italian.", []),
        ("My birthday is on April 2, Clara wants to come.", [("user", "birthday", "April 2", True)]),
        ("My birthday is April 2, 1990.", [("user", "birthday", "April 2, 1990", True)]),
        ("Aurora uses Kafka, which is a message queue as well.",
         [("Aurora", "uses", "Kafka", True), ("Kafka", "is_a", "message queue", True)]),
        ("I work at Medion and keep asking him.", [("user", "works_at", "Medion", True)]),
        ("我的领导是张总监。", [("user", "boss", "张总监", True)]),
        ("我现在的领导是陈敏。", [("user", "boss", "陈敏", True)]),
        ("张总监不再是我的领导了。", [("user", "boss", "张总监", False)]),
        ("我妈是金牛座。", []),
        ("主要在忙星桥项目，星桥用Redis。", [("user", "works_on", "星桥项目", True), ("星桥", "uses", "Redis", True)]),
        ("远山科技用Kafka。", [("远山科技", "uses", "Kafka", True)]),
        ("附近的医院用新系统。", []),
        ("仁和诊所是一家私立医院。", [("仁和诊所", "is_a", "私立医院", True)]),
        ("我现在不喝咖啡了，睡不着，改喝绿茶了。", [("user", "drinks", "咖啡", False), ("user", "drinks", "绿茶", True)]),
        ("下周一要去北京出差。", [("user", "plans", "去北京出差", True)]),
        ("3月9日跟他开评审会。", [("user", "plans", "跟他开评审会", True)]),
        ("明天去看电影吧。", []),
        ("林涛要来，周五去看病。", []),
        ("我姐姐在北京，下周要去上海出差。", []),
    ],
)  # fmt: skip
def test_d2_what_is_told_in_passing(text: str, facts: list[tuple[str, str, str, bool]]) -> None:
    assert read(text) == facts


@pytest.mark.parametrize(
    ("text", "relation"),
    [("My sister Clara lives in Geneva", "Clara is my sister"), ("我弟弟林涛住在南京", "林涛是我弟弟")],
)
def test_d2_a_relation_has_words_of_its_own(text: str, relation: str) -> None:
    """Else "Clara is my sister" would go on telling where she lived."""
    first, second = extract(Message(role="user", content=text), at=AT, speaker=None, previous=None)
    assert (first.text, second.text) == (relation, text)
