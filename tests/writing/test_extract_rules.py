"""What the built-in extractor takes from a message, and what it leaves alone."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from shared_core.errors import InvalidInput
from shared_core.values import Message
from shared_core.writing.extraction import Extracted, extract
from shared_core.writing.extraction.extracted import EVENT, LEARNED_RULE, PROJECT_CONTEXT

AT = datetime(2024, 5, 15, 10, tzinfo=UTC)  # a Wednesday


def told(text: str, speaker: str | None = None, *, at: datetime = AT, **fields: Any) -> list[Extracted]:
    return extract(Message(role=fields.pop("role", "user"), content=text), at=at, speaker=speaker, **fields)


def triples(text: str, speaker: str | None = None, **fields: Any) -> list[tuple[str, str, str, bool]]:
    return [(f.subject, f.predicate, f.object, f.polarity) for f in told(text, speaker, **fields)]


# ---------------------------------------------------------------------- who and what


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I moved to Lyon", [("user", "lives_in", "Lyon", True)]),
        ("我在杭州工作", [("user", "works_in", "杭州", True)]),
        ("Caroline adopted a cat", [("Caroline", "owns", "cat", True)]),
        ("王丽领养了一只猫", [("王丽", "owns", "猫", True)]),
        ("I moved to Rome and sold the car", [("user", "lives_in", "Rome", True), ("user", "owns", "car", False)]),
        ("我搬到了北京，换了新工作", [("user", "lives_in", "北京", True), ("user", "started", "新工作", True)]),
        ("My sister Anna lives in Oslo", [("user", "sister", "Anna", True), ("Anna", "lives_in", "Oslo", True)]),
        ("我妹妹叫小红", [("user", "sister", "小红", True)]),
        ("I love sushi but hate wasabi", [("user", "likes", "sushi", True), ("user", "likes", "wasabi", False)]),
        ("我有一个姐姐，她叫小丽，住在武汉",
         [("user", "has_family", "姐姐", True), ("user", "sister", "小丽", True), ("小丽", "lives_in", "武汉", True)]),
        ("Wei's sister lives in Oslo", [("Wei's sister", "lives_in", "Oslo", True)]),
        ("i live in paris and i work at google", [("user", "lives_in", "Paris", True), ("user", "works_at", "Google", True)]),
    ],
)  # fmt: skip
def test_d2_who_and_what(text: str, wanted: list[tuple[str, str, str, bool]]) -> None:
    assert triples(text) == wanted


def test_d2_a_named_speaker_is_the_subject_and_stands_in_the_text() -> None:
    (fact,) = told("I adopted a cat last week!", "Caroline")
    assert (fact.subject, fact.object) == ("Caroline", "cat")
    assert fact.text == "Caroline adopted a cat last week"
    assert "Caroline" in fact.entities
    assert told("I have asthma", "Ann")[0].text == "Ann has asthma"
    assert told("我领养了一只猫", "林涛")[0].text == "林涛领养了一只猫"


def test_r49_facts_about_one_name_stay_facts_of_their_own() -> None:
    said = ["Wei works at Orbit Ltd", "Wei coaches Orbit's football team", "Wei's sister lives in Oslo",
            "The index uses 64 dimensions", "Wei now works at Delta Ltd"]  # fmt: skip
    found = [triples(text) for text in said]
    assert all(len(facts) == 1 for facts in found)
    keys = [facts[0][:2] for facts in found]
    assert [i for i, key in enumerate(keys) if key == ("Wei", "works_at")] == [0, 4]


@pytest.mark.parametrize(
    ("text", "object_"),
    [("likes oolong tea", "oolong tea"), ("no longer likes oolong tea", "oolong tea"),
     ("喜欢喝乌龙茶", "喝乌龙茶"), ("现在不喝乌龙茶了", "乌龙茶")],
)  # fmt: skip
def test_r50_a_fact_may_leave_its_subject_out(text: str, object_: str) -> None:
    (fact,) = told(text)
    assert (fact.subject, fact.object) == ("user", object_)
    assert fact.ended == (not fact.polarity)


# ---------------------------------------------------------------------- polarity, endings, corrections


@pytest.mark.parametrize(
    ("text", "predicate", "object_"),
    [
        ("I no longer work at the bakery", "works_at", "bakery"),
        ("I used to live in Paris", "lives_in", "Paris"),
        ("I don't have a dog any more", "owns", "dog"),
        ("I quit my job at Acme", "works_at", "Acme"),
        ("I sold my motorbike", "owns", "motorbike"),
        ("I'm no longer with Acme", "works_at", "Acme"),
        ("我不再住在罗马了", "lives_in", "罗马"),
        ("我已经从阿里离职了", "works_at", "阿里"),
        ("我已经不养狗了", "owns", "狗"),
        ("我把车卖了", "owns", "车"),
    ],
)
def test_d2_a_release_ends_the_state(text: str, predicate: str, object_: str) -> None:
    (fact,) = told(text)
    assert (fact.predicate, fact.object, fact.polarity, fact.ended) == (predicate, object_, False, True)


@pytest.mark.parametrize(
    "text",
    [
        "I am not allergic to cats",
        "I don't like mushrooms",
        "I can't stand loud music",
        "我对猫毛不过敏",
        "我不喜欢香菜",
    ],
)
def test_a_negation_is_no_ending(text: str) -> None:
    (fact,) = told(text)
    assert not fact.polarity
    assert not fact.ended


@pytest.mark.parametrize(
    "text",
    [
        "I cannot wait to tell you: I bought a notable telescope",
        "Not only that, I bought a telescope",
        "我买了一台不错的望远镜",
    ],
)
def test_no_negation_out_of_other_words(text: str) -> None:
    assert [fact.polarity for fact in told(text)] == [True]


def test_d2_a_correction_within_a_message() -> None:
    assert triples("I don't live in Paris, I live in Lille") == [
        ("user", "lives_in", "Paris", False), ("user", "lives_in", "Lille", True)]  # fmt: skip
    assert triples("My favourite colour is no longer blue, it's green") == [
        ("user", "favourite colour", "blue", False), ("user", "favourite colour", "green", True)]  # fmt: skip
    assert triples("我不住在上海了，我住在宁波") == [
        ("user", "lives_in", "上海", False),
        ("user", "lives_in", "宁波", True),
    ]


@pytest.mark.parametrize(
    ("before", "text", "wanted"),
    [
        ("I live in Munich", "Actually, it's Berlin, not Munich.", ("user", "lives_in", "Berlin", True)),
        ("我住在杭州", "不对，是宁波，不是杭州", ("user", "lives_in", "宁波", True)),
    ],
)
def test_d2_a_correction_of_the_message_before(before: str, text: str, wanted: tuple[str, str, str, bool]) -> None:
    assert triples(text, previous=Message(role="user", content=before)) == [wanted]
    assert triples(text) == []


@pytest.mark.parametrize(
    ("question", "answer", "wanted"),
    [
        ("Where do you live?", "In Lyon.", ("user", "lives_in", "Lyon", True)),
        ("What's your name?", "Priya", ("user", "name", "Priya", True)),
        ("你住在哪里？", "苏州", ("user", "lives_in", "苏州", True)),
    ],
)
def test_d2_a_short_answer_is_understood_by_its_question(
    question: str, answer: str, wanted: tuple[str, str, str, bool]
) -> None:
    assert triples(answer, previous=Message(role="assistant", content=question)) == [wanted]
    assert triples(answer) == []


# ---------------------------------------------------------------------- what is left alone


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_r30_what_the_assistant_says_is_no_fact(role: str) -> None:
    assert told("I recommend the red folding bike and I love cycling", role=role) == []
    assert told("我喜欢骑车，我住在上海", role=role) == []


@pytest.mark.parametrize(
    "text",
    [
        "```\nI live in Rome\n```",
        "`I live in Rome`",
        "> I live in Rome",
        "<memories>\n- I live in Rome\n</memories>\nhello",
        "<memories>\nI live in Rome",
        'He said "I live in Rome."',
        "他说：“我住在罗马”。",
        "[shares a photo: I live in Rome]",
        "If I lived in Rome, I'd own a Vespa",
        "要是我住在罗马，我就买辆车",
        "Do I live in Rome?",
        "我住在罗马吗？",
        "I have a sister who wants to move to Rome, maybe",
    ],
)
def test_d2_nothing_out_of_code_quotations_recalled_text_and_hypotheses(text: str) -> None:
    assert [fact for fact in told(text) if "Rome" in fact.object or "罗马" in fact.object] == []


def test_d1_what_was_recalled_into_a_prompt_is_not_new() -> None:
    from shared_core.prompt.words import FENCE

    start, end = FENCE
    found = triples(f"{start}\nI live in Rome\n{end}\nI live in Oslo")
    assert found == [("user", "lives_in", "Oslo", True)]


# ---------------------------------------------------------------------- wishes and rules


@pytest.mark.parametrize(
    ("text", "object_"),
    [("Remember: gate code 4412", "gate code 4412"), ("Please remember that the spare key is under the pot", "the spare key is under the pot"),
     ("记住我的门禁密码是4412", "我的门禁密码是4412"), ("can you remember that my locker is B12?", "my locker is B12")],
)  # fmt: skip
def test_d1_an_explicit_wish_always_stores(text: str, object_: str) -> None:
    (fact,) = told(text)
    assert fact.explicit
    assert fact.object == object_
    assert fact.importance > 0.6


@pytest.mark.parametrize(
    ("text", "kept"),
    [("note about the deploy: use port 80", "note about the deploy: use port 80"), ("Remember about my bike", "Remember about my bike"),
     ("Please make a note on the gate: code 4711", "make a note on the gate: code 4711"),
     ("Remember to water the plants", "Remember to water the plants"), ("Note to self: buy milk", "buy milk"),
     ("Take a note: gate code 4711", "gate code 4711"), ("Note: gate code 4711", "gate code 4711"),
     ("备注：门禁密码4711", "门禁密码4711"), ("记住关于护照的事：2027年到期", "关于护照的事：2027年到期")],
)  # fmt: skip
def test_d1_what_is_kept_of_an_explicit_wish_can_be_read_alone(text: str, kept: str) -> None:
    (fact,) = told(text)
    assert (fact.predicate, fact.object, fact.text, fact.explicit) == ("noted", kept, kept, True)


def test_d1_an_explicit_wish_is_read_as_the_fact_it_tells() -> None:
    (fact,) = told("Remember that I'm allergic to bees")
    assert (fact.predicate, fact.object, fact.explicit) == ("allergic_to", "bees", True)


@pytest.mark.parametrize(
    "text", ["Do you remember when we went to Bali?", "I don't remember my password", "你还记得那次旅行吗？"]
)
def test_remembering_is_no_wish(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "polarity"), [("Always answer in Chinese.", True), ("以后用中文回答我。", True), ("Don't use emojis in your replies.", False),
                           ("以后请不要用表情符号。", False)],
)  # fmt: skip
def test_d2_how_to_be_answered_is_a_rule(text: str, polarity: bool) -> None:
    (fact,) = told(text)
    assert (fact.subject, fact.predicate, fact.polarity, fact.type) == ("assistant", "should", polarity, LEARNED_RULE)


def test_d2_types_are_told_from_what_is_said() -> None:
    assert told("I'm working on Project Falcon")[0].type == PROJECT_CONTEXT
    assert told("Kafka is a message queue")[0].type == PROJECT_CONTEXT
    assert told("RabbitMQ是一种消息队列")[0].type == PROJECT_CONTEXT
    assert told("I'm flying to Seoul on July 9th")[0].type == EVENT


# ---------------------------------------------------------------------- times


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I adopted a cat yesterday", "2024-05-14"),
        ("I moved to Lyon two weeks ago", "2024-05-01"),
        ("I moved to Lyon in 2019", "2019-01-01"),
        ("Last Friday, I joined a choir", "2024-05-10"),
        ("I've lived in Porto for six years", "2018-05-15"),
        ("我昨天买了一台相机", "2024-05-14"),
        ("我三年前搬到了成都", "2021-05-15"),
        ("我上周五加入了合唱团", "2024-05-10"),
        ("我去年夏天去了冰岛", "2023-06-01"),
    ],
)
def test_r56_the_time_of_the_event_is_resolved_against_the_message(text: str, day: str) -> None:
    (fact,) = told(text)
    assert fact.when is not None
    assert fact.when.date().isoformat() == day


def test_yesterday_is_a_day_of_the_authors_zone() -> None:
    shanghai = timezone(timedelta(hours=8))
    (fact,) = told("I adopted a cat yesterday", at=datetime(2024, 5, 15, 1, tzinfo=shanghai))
    assert fact.when is not None
    assert fact.when.astimezone(shanghai).date().isoformat() == "2024-05-14"
    assert fact.when.tzinfo is UTC


def test_d2_a_plan_with_a_date_is_an_event_and_one_without_is_nothing() -> None:
    (plan,) = told("We're getting married on 5 October")
    assert plan.planned
    assert plan.when == datetime(2024, 10, 5, 12, tzinfo=UTC)
    assert told("我10月5号结婚")[0].planned
    assert told("We're getting married") == []
    assert told("I want to visit Japan next year") == []
    assert told("我想明年去日本") == []


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(InvalidInput, match="timezone"):
        told("I live in Rome", at=datetime(2024, 5, 15))


# ---------------------------------------------------------------------- robustness


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\ud83d", "\x00", "I live in \ud83d", "{a} {0} %s ${x} {{ y }}", "(" * 5_000, "我" * 5_000, "I " * 5_000, "my own " * 2_000,
     "记住" * 2_000, "\n" * 5_000, '"' * 5_000, "和" * 5_000],
)  # fmt: skip
def test_any_text_is_read_quickly_and_without_error(text: str) -> None:
    start = time.process_time()
    for fact in told(text):
        fact.object.encode("utf-8")
    assert time.process_time() - start < 1.0


def test_the_same_message_gives_the_same_facts_each_once() -> None:
    text = "I live in Graz. I live in Graz. I like tea and I like tea"
    assert told(text) == told(text)
    assert len(told(text)) == 2


def test_a_message_costs_about_a_millisecond() -> None:
    text = (
        "Hey! I moved to Lyon last month and joined a choir. I was so tired, but the people are lovely. How is your mother? "
        * 2
    )
    told(text)
    spent = []
    for _ in range(30):
        start = time.process_time()
        told(text[:200])
        spent.append(time.process_time() - start)
    assert sorted(spent)[15] < 0.004  # four times the budget, for slow machines
