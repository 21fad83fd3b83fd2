"""What the next prompt would not know if a snapshot stood in for the history (A5): pure functions of the talk."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.settings import Snapshot
from shared_core.short_term import snapshot
from shared_core.short_term.snapshot import State
from shared_core.values import Message

PLAIN = Snapshot()


def say(text: str, role: str = "user", **more: object) -> Message:
    return Message(role=role, content=text, **more)


def after(*messages: Message, state: State | None = None, settings: Snapshot = PLAIN) -> State:
    return snapshot.advance(state or State(), messages, settings)


@pytest.mark.parametrize(
    ("talk", "intent"),
    [
        (["Book a flight to Oslo, please.", "On 14 March.", "Thanks!"], "Book a flight to Oslo, please."),
        (["请帮我订去奥斯陆的机票。", "3月14日。", "谢谢！"], "请帮我订去奥斯陆的机票。"),
        (["Book a flight.", "What is the weather there?"], "What is the weather there?"),
        (["帮我订机票。", "那边天气怎么样？"], "那边天气怎么样？"),
        (["The sea was calm."], "The sea was calm."), (["I live in Oslo."], ""), (["Thanks!"], ""), (["谢谢！"], ""),
    ],
)  # fmt: skip
def test_a5_the_intent_is_what_was_asked_last(talk: list[str], intent: str) -> None:
    assert after(*map(say, talk)).intent == intent


@pytest.mark.parametrize(
    ("talk", "given_"),
    [
        (["My budget is 500 euros.", "My budget is 600 euros."], ("My budget is 600 euros.",)),
        (["预算是500元。", "预算是600元。"], ("预算是600元。",)),
        (["I need a room, at most 90 euros"], ("I need a room, at most 90 euros",)),
        (["Is it 90 euros?"], ()), (["多少钱，90元吗？"], ()),
    ],
)  # fmt: skip
def test_a5_what_is_given_is_kept_and_a_new_value_replaces_the_old(talk: list[str], given_: tuple[str, ...]) -> None:
    assert after(*map(say, talk)).parameters == given_


@pytest.mark.parametrize(
    ("promise", "other", "done"),
    [
        ("I'll send the quarterly report tomorrow.", "The weather data was updated.", "I've sent the quarterly report."),
        ("我会明天把季度报告发给你。", "天气数据更新了。", "季度报告已经发送给你了。"),
    ],
)  # fmt: skip
def test_a5_a_promise_stands_until_it_is_fulfilled(promise: str, other: str, done: str) -> None:
    state = after(say(promise, "assistant"), say(other, "assistant"))
    assert state.promises == (promise,)
    assert after(say(done, "assistant"), state=state).promises == ()
    assert after(say(promise)).promises == ()  # a user's plan is no promise of the agent


def test_a5_decisions_of_either_side_are_kept_and_questions_about_them_are_not() -> None:
    state = after(
        say("We decided to use Redis."), say("Have we decided on the colour?"), say("Agreed: blue it is.", "assistant")
    )
    assert state.decisions == ("We decided to use Redis.", "Agreed: blue it is.")
    assert after(say("我们决定用Redis。"), say("颜色决定了吗？")).decisions == ("我们决定用Redis。",)


def test_a5_names_come_last_mentioned_first_each_once() -> None:
    state = after(say("Anna Berg is in Oslo"), say("看report.pdf，张伟负责"), say("and Anna Berg knows", "assistant"))
    text = snapshot.render(state, [], "en", PLAIN)
    assert text.endswith("Named: Anna Berg, 张伟, report.pdf, Oslo")


def test_a5_instructions_of_the_system_are_not_repeated() -> None:
    assert after(say("You must answer by 10:30. Call Bob.", "system")) == State()


def test_a5_read_in_parts_or_at_once_it_is_the_same() -> None:
    talk = [say(f"My limit is {n} euros. Please call Bob{n}.") for n in range(9)]
    talk += [say(f"I'll call Bob{n}.", "assistant") for n in range(9)]
    whole = after(*talk)
    state = State()
    for message in talk:
        state = after(message, state=snapshot.loaded(json.loads(json.dumps(snapshot.dumped(state)))))
    assert state == whole


@given(st.lists(st.text(max_size=60), max_size=10), st.integers(80, 200), st.sampled_from(["en", "zh"]))
def test_a5_no_talk_makes_it_larger_than_its_cap(texts: list[str], most: int, tongue: str) -> None:
    settings = Snapshot(max_chars=most)
    state = after(*(say(text, role) for text in texts for role in ("user", "assistant", "tool")), settings=settings)
    assert len(snapshot.render(state, texts, tongue, settings)) <= most


def test_a5_names_and_known_facts_make_room_before_what_was_decided() -> None:
    state = after(say("We decided to use Redis."), *(say(f"See chapter{n}.pdf") for n in range(50)))
    text = snapshot.render(state, [f"fact number {n} of many" for n in range(50)], "en", Snapshot(max_chars=100))
    assert "We decided to use Redis." in text
    assert len(text) <= 100


@pytest.mark.parametrize("facts", [["My budget is 500 euros"], ["my budget is 500 euros."]])
def test_a5_nothing_stands_there_twice(facts: list[str]) -> None:
    text = snapshot.render(after(say("My budget is 500 euros.")), facts, "en", PLAIN)
    assert text.casefold().count("500 euros") == 1


@pytest.mark.parametrize("answer", ["", "no", "[1]", '{"other": 1}', "```json\n```", '{"intent": ""}'])
def test_a5_an_answer_without_a_snapshot_is_none(answer: str) -> None:
    assert snapshot.read(answer, "en", 500) == ""


def test_a5_the_prompt_holds_the_state_so_far_and_the_words_as_they_are() -> None:
    for tongue in ("en", "zh"):
        asked = snapshot.prompt("What the user wants: {x}", [say("{0} %s")], tongue, 4_000)
        assert "{x}" in asked
        assert "{0} %s" in asked
        assert all(f'"{part}"' in asked for part in snapshot.PARTS)
