"""What a user is promised of talk, in both languages, with no LLM and with one: D1 to D5, B2, B4 to B6, B9 end to end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput
from shared_core.testing import ManualClock, ScriptedLLM
from shared_core.values import Record, Status


def fact(subject: str, predicate: str, object: str, text: str, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "predicate": predicate, "object": object, "text": text, **more}


# What the scripted model answers to a message; to any other, that there is nothing to keep.
ANSWERS: dict[str, list[dict[str, Any]]] = {
    "I live in Lyon": [fact("user", "lives_in", "Lyon", "I live in Lyon", importance=0.8)],
    "I moved to Rome": [fact("user", "lives_in", "Rome", "I moved to Rome", importance=0.5)],
    "I like tea": [fact("user", "likes", "tea", "I like tea")],
    "I no longer like tea": [fact("user", "likes", "tea", "I no longer like tea", polarity=False, ended=True)],
    "Remember that the gate code is 4711": [fact("user", "noted", "the gate code is 4711", "the gate code is 4711", explicit=True)],
    "I moved to Rome and sold the car": [
        fact("user", "lives_in", "Rome", "I moved to Rome"), fact("user", "owns", "car", "I sold the car", ended=True),
    ],
    "I own a car": [fact("user", "owns", "car", "I own a car")],
    "My name is Ann": [fact("user", "name", "Ann", "My name is Ann")],
    "Alpha is a project": [fact("Alpha", "is_a", "project", "Alpha is a project")],
    "Alpha uses RabbitMQ": [fact("Alpha", "uses", "RabbitMQ", "Alpha uses RabbitMQ", entities=["Alpha", "RabbitMQ"])],
    "RabbitMQ is a message queue": [fact("RabbitMQ", "is_a", "message queue", "RabbitMQ is a message queue")],
    "我住在杭州": [fact("user", "lives_in", "杭州", "我住在杭州", importance=0.8)],
    "我搬到上海了": [fact("user", "lives_in", "上海", "我搬到上海了", importance=0.5)],
    "我喜欢茶": [fact("user", "likes", "茶", "我喜欢茶")],
    "我不再喜欢茶了": [fact("user", "likes", "茶", "我不再喜欢茶了", polarity=False, ended=True)],
    "记住门禁密码是4711": [fact("user", "noted", "门禁密码是4711", "门禁密码是4711", explicit=True)],
    "我搬到上海了，车卖了": [fact("user", "lives_in", "上海", "我搬到上海了"), fact("user", "owns", "车", "车卖了", ended=True)],
    "我有一辆车": [fact("user", "owns", "车", "我有一辆车")],
    "我叫小安": [fact("user", "name", "小安", "我叫小安")],
    "Alpha是一个项目": [fact("Alpha", "is_a", "项目", "Alpha是一个项目")],
    "Alpha用RabbitMQ": [fact("Alpha", "uses", "RabbitMQ", "Alpha用RabbitMQ")],
    "RabbitMQ是一种消息队列": [fact("RabbitMQ", "is_a", "消息队列", "RabbitMQ是一种消息队列")],
}  # fmt: skip


def model(prompt: str) -> str:
    message = next((text for text in ANSWERS if f'"message": {json.dumps(text, ensure_ascii=False)}' in prompt), None)
    return f"```json\n{json.dumps({'facts': ANSWERS.get(message or '', [])}, ensure_ascii=False)}\n```"


class Talk:
    """A conversation, whoever reads the facts out of it."""

    def __init__(self, scope: Scope, clock: ManualClock, by: str) -> None:
        self.scope, self.clock, self.by = scope, clock, by

    def say(self, *texts: str, role: str = "user") -> None:
        for text in texts:
            self.clock.advance(days=1)
            self.scope.session("talk").add_messages([{"role": role, "content": text}])

    def now(self, **where: Any) -> list[Record]:
        return self.scope.list(kinds=["fact"], where=where or None)

    def past(self) -> list[Record]:
        return self.now(status="superseded")


@pytest.fixture(params=["rules", "llm"])
def talk(request: pytest.FixtureRequest) -> Iterator[Callable[..., Talk]]:
    opened: list[AgentMemory] = []

    def _talk(**facts: Any) -> Talk:
        clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC), tick=timedelta(seconds=1))
        llm = ScriptedLLM([model], repeat=True) if request.param == "llm" else None
        opened.append(AgentMemory.open(embedder="hashing", clock=clock, llm=llm, settings={"facts": facts}))
        return Talk(opened[-1].scope(user="alice"), clock, request.param)

    yield _talk
    for memory in opened:
        assert memory.check().ok
        memory.close()


HOME = pytest.mark.parametrize(
    ("first", "second", "places"),
    [("I live in Lyon", "I moved to Rome", ("Lyon", "Rome")), ("我住在杭州", "我搬到上海了", ("杭州", "上海"))],
)


@pytest.mark.parametrize(
    ("wish", "kept", "chatter"),
    [
        ("Remember that the gate code is 4711", "the gate code is 4711", ("hello", "thanks a lot", "what a day!")),
        ("记住门禁密码是4711", "门禁密码是4711", ("你好", "多谢", "今天好累")),
    ],
)
def test_d1_what_is_asked_for_is_kept_and_matters_and_small_talk_is_not(
    talk: Any, wish: str, kept: str, chatter: tuple[str, ...]
) -> None:
    here = talk()
    here.say(*chatter, wish)
    here.say("I will remember that you moved to Rome. 我住在云里。", role="assistant")
    [record] = here.now()
    assert (record.text, record.importance >= 0.9, record.source) == (kept, True, "user")


@HOME
def test_d2_a_fact_has_its_parts_and_says_who_read_it_where(
    talk: Any, first: str, second: str, places: tuple[str, str]
) -> None:
    here = talk()
    here.say(first)
    [record] = here.now()
    assert (record.triple, record.polarity) == (("user", "lives_in", places[0]), True)
    assert 0 < record.confidence <= 1
    [source] = here.scope.sources(record.id)
    assert (source["extractor"], source["session"]) == (here.by, "talk")
    turn = here.scope.get(source["record"])
    assert turn is not None
    assert turn.text == first


@HOME
def test_d3_the_newest_wins_and_what_has_nothing_to_do_with_it_stays(
    talk: Any, first: str, second: str, places: tuple[str, str]
) -> None:
    here = talk()
    here.say(first, "I like tea", "我喜欢茶", second)
    assert [record.text for record in here.past()] == [first]
    assert {record.text for record in here.now()} == {second, "I like tea", "我喜欢茶"}


@pytest.mark.parametrize(
    ("owns", "lives", "both", "left"),
    [
        ("I own a car", "I live in Lyon", "I moved to Rome and sold the car", "Rome"),
        ("我有一辆车", "我住在杭州", "我搬到上海了，车卖了", "上海"),
    ],
)
def test_d3_a_compound_correction_ends_each_part(talk: Any, owns: str, lives: str, both: str, left: str) -> None:
    here = talk()
    here.say(owns, lives, "I like tea", both)
    assert {record.text for record in here.past()} == {owns, lives}
    assert {record.triple.object for record in here.now(polarity=True) if record.triple} == {left, "tea"}


@HOME
def test_d3_where_the_user_is_to_be_asked_nothing_changes_before_the_answer(
    talk: Any, first: str, second: str, places: tuple[str, str]
) -> None:
    here = talk(strategy="ask")
    here.say(first, second)
    assert [record.text for record in here.now()] == [first]
    [question] = here.scope.questions()
    assert first in question.text
    assert second in question.text
    here.scope.answer(question, "new")
    assert [record.text for record in here.now()] == [second]


@HOME
def test_d3_the_more_important_may_hold_against_the_new(
    talk: Any, first: str, second: str, places: tuple[str, str]
) -> None:
    here = talk(strategy="importance")
    here.say(first, second)
    assert [record.text for record in here.now()] == [first]
    assert [record.text for record in here.past()] == [second]


@HOME
def test_d4_both_versions_are_linked_and_recall_knows_what_was_true_when(
    talk: Any, first: str, second: str, places: tuple[str, str]
) -> None:
    here = talk()
    here.say(first)
    then = here.clock.now
    here.say(second)
    [old], [new] = here.past(), here.now()
    assert (old.superseded_by, new.supersedes) == (new.id, old.id)
    assert old.valid_until is not None
    asked = " ".join(places)
    assert [hit.record.text for hit in here.scope.search(asked, kinds=["fact"])] == [second]
    assert [hit.record.text for hit in here.scope.search(asked, kinds=["fact"], as_of=then)] == [first]
    assert "superseded" in [change.action for change in here.scope.history(old.id)]


@HOME
def test_d5_a_fact_past_its_time_asks_to_be_confirmed(
    talk: Any, first: str, second: str, places: tuple[str, str]
) -> None:
    here = talk(time_to_live={"user_fact": timedelta(days=30)})
    here.say(first)
    [record] = here.now()
    assert not record.stale
    here.clock.advance(days=31)
    assert here.now()[0].stale
    assert not here.scope.confirm(record.id).stale
    here.say(second)
    with pytest.raises(InvalidInput, match="superseded"):
        here.scope.confirm(record.id)


@pytest.mark.parametrize(
    ("likes", "stopped", "thing"), [("I like tea", "I no longer like tea", "tea"), ("我喜欢茶", "我不再喜欢茶了", "茶")]
)
def test_b2_a_fact_is_found_by_each_of_its_parts(talk: Any, likes: str, stopped: str, thing: str) -> None:
    here = talk()
    here.say(likes)
    [record] = here.now()
    for where in ({"subject": "user"}, {"predicate": "likes"}, {"object": thing}, {"type": "user_fact"}):
        assert [each.id for each in here.now(**where)] == [record.id]
    here.say(stopped)
    [held] = here.now()
    assert (held.polarity, held.triple.object, held.status) == (False, thing, Status.ACTIVE)


@HOME
def test_b4_what_is_said_is_in_the_graph_as_long_as_it_holds(
    talk: Any, first: str, second: str, places: tuple[str, str]
) -> None:
    here = talk()
    graph = here.scope.graph
    here.say(first)
    [near] = graph.neighbours("user", "lives in")
    assert (near.name, near.relation.source) == (places[0], here.now()[0].id)
    here.say(second)
    assert [each.name for each in graph.neighbours("user", "住在")] == [places[1]]
    here.scope.session("talk").delete()
    assert graph.entities() == []


PROJECTS = pytest.mark.parametrize(
    ("said", "question"),
    [
        (("Alpha is a project", "Alpha uses RabbitMQ", "RabbitMQ is a message queue"), "Which of our projects use a message queue?"),
        (("Alpha是一个项目", "Alpha用RabbitMQ", "RabbitMQ是一种消息队列"), "我们有哪些项目用了消息队列？"),
    ],
)  # fmt: skip


@PROJECTS
def test_b5_an_alias_told_once_answers_for_what_was_said(talk: Any, said: tuple[str, ...], question: str) -> None:
    here = talk()
    here.say(*said)
    graph = here.scope.graph
    graph.alias("RabbitMQ", "the broker")
    assert [each.name for each in graph.neighbours("THE BROKER", "used by")] == ["Alpha"] or [
        each.name for each in graph.neighbours("the broker") if not each.outgoing
    ] == ["Alpha"]
    graph.split("the broker")
    assert graph.neighbours("the broker") == []
    assert graph.neighbours("rabbitmq") != []


@PROJECTS
def test_b6_a_question_over_what_was_said_is_answered_with_its_premises(
    talk: Any, said: tuple[str, ...], question: str
) -> None:
    here = talk()
    here.say(*said[:2])
    assert here.scope.graph.ask(question) == []
    here.say(said[2])
    [answer] = here.scope.graph.ask(question)
    assert answer.text == "Alpha"
    assert {str(each.source) for each in answer.relations if not each.inferred} <= {each.id for each in here.now()}
    [premise] = [each for each in here.now() if each.text == said[2]]
    here.scope.delete(premise.id)
    assert here.scope.graph.ask(question) == []


@pytest.mark.parametrize(
    ("name", "line", "home", "lines"),
    [
        ("My name is Ann", "Name: Ann", ("I live in Lyon", "I moved to Rome"), "Lives in: Rome"),
        ("我叫小安", "姓名: 小安", ("我住在杭州", "我搬到上海了"), "住在: 上海"),
    ],
)
def test_b9_the_profile_is_what_holds_and_stands_in_every_context(
    talk: Any, name: str, line: str, home: tuple[str, str], lines: str
) -> None:
    here = talk()
    here.say(name, *home)
    assert here.scope.profile.text().splitlines() == [line, lines]
    text = here.scope.session("another").context("hm?" if name.isascii() else "嗯？").text
    assert line in text
    assert lines in text
