"""Events out of talk, stored with their turn, gone with it; what praise and complaint do to memories (D1)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.testing import ManualClock, ScriptedLLM

NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOON)


@pytest.fixture
def scope(clock: ManualClock) -> Iterator[Scope]:
    with AgentMemory.open(embedder="hashing", clock=clock) as memory:
        yield memory.scope(user="alice")
        assert memory.check().ok


def say(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


def events(scope: Scope) -> list[tuple[str | None, str, float]]:
    return [(r.type, r.text, r.importance) for r in scope.list(kinds=["event"])]


@pytest.mark.parametrize(
    ("role", "text", "type", "importance"),
    [
        ("user", "The API must return JSON in every case.", "requirement", 1.0),
        ("user", "接口必须返回 JSON。", "requirement", 1.0),
        ("user", "We decided to use PostgreSQL.", "decision", 1.0),
        ("user", "我们决定用 PostgreSQL。", "decision", 1.0),
        ("assistant", "I changed auth.py to refuse expired tokens.", "code_change", 1.0),
        ("assistant", "我修改了 auth.py，避免令牌过期。", "code_change", 1.0),
        ("assistant", "The ImportError was fixed by reinstalling the package.", "error", 1.0),
        ("assistant", "ImportError 已经修复，重新安装依赖包就好了。", "error", 1.0),
        ("assistant", "I ran the test suite and all 212 tests passed.", "step", 0.8),
        ("assistant", "我运行了测试，212 个用例全部通过。", "step", 0.8),
        ("user", "I keep getting a KeyError when I load the config.", "error", 0.6),
        ("user", "加载配置的时候一直报 KeyError。", "error", 0.6),
    ],
)
def test_d1_events_are_kept_with_their_importance(
    scope: Scope, role: str, text: str, type: str, importance: float
) -> None:
    [turn] = scope.session("s").add_messages([say(role, text)])
    [event] = scope.list(kinds=["event"])
    assert (event.type, event.text, event.importance, event.session) == (type, text, importance, "s")
    assert event.event_time == NOON
    assert scope.sources(event.id)[0]["record"] == turn.id
    assert scope.sources(event.id)[0]["extractor"] == "rules"


@pytest.mark.parametrize(
    "text", ["Thanks, have a nice day!", "Should we use Go?", "谢谢，祝你愉快！", "我们用 Go 吗？"]
)
def test_d1_small_talk_and_questions_are_no_events(scope: Scope, text: str) -> None:
    scope.session("s").add_messages([say("assistant", "Hello"), say("user", text)])
    assert events(scope) == []


@pytest.mark.parametrize(
    "text", ["I'm flying to Tokyo on 3 March 2027.", "我打算2027年3月3日飞东京。"]
)  # fmt: skip
def test_d1_a_plan_with_a_date_is_an_event_of_that_date(scope: Scope, text: str) -> None:
    scope.session("s").add_messages([say("user", text)])
    [event] = scope.list(kinds=["event"])
    assert event.event_time is not None
    assert event.event_time.date().isoformat() == "2027-03-03"
    assert [r.id for r in scope.episodes.timeline(on="2027-03-03")] == [event.id]
    assert event.id not in {r.id for r in scope.episodes.timeline()}


def test_r56_an_event_of_an_old_message_happened_then(scope: Scope) -> None:
    then = NOON - timedelta(days=400)
    scope.session("s").add_messages([say("user", "We decided to use Go.", created_at=then)])
    [event] = scope.list(kinds=["event"])
    assert event.event_time == then
    assert scope.episodes.timeline() == []


def test_d1_an_event_goes_with_its_turn_and_outlives_a_cleared_session(scope: Scope) -> None:
    chat = scope.session("s")
    chat.add_messages([say("user", "We decided to use Go.", id="1"), say("user", "我们决定用微服务。", id="2")])
    chat.delete_messages(["1"])
    assert [text for _, text, _ in events(scope)] == ["我们决定用微服务。"]
    chat.clear()
    assert "我们决定用微服务。" in [text for _, text, _ in events(scope)]
    assert scope.episodes.summary("s").counts["decision"] == 1


def test_d1_a_message_sent_again_with_other_words_takes_its_event_back(scope: Scope) -> None:
    chat = scope.session("s")
    chat.add_messages([say("user", "We decided to use Go.", id="1")])
    chat.add_messages([say("user", "We decided to use Go.", id="1")])
    assert len(events(scope)) == 1, "the same message is one event"
    chat.add_messages([say("user", "We decided to use Rust.", id="1")])
    assert [text for _, text, _ in events(scope)] == ["We decided to use Rust."]
    chat.replace_messages([say("user", "Hello", id="1")])
    assert events(scope) == []


def test_d1_the_same_thing_on_two_days_happened_twice(scope: Scope, clock: ManualClock) -> None:
    for day in range(2):
        scope.session(f"day {day}").add_messages([say("assistant", "The build succeeded.")])
        clock.advance(days=1)
    assert [type for type, _, _ in events(scope)] == ["step", "step"]


def test_d1_it_can_be_turned_off() -> None:
    for settings in ({"events": {"extract": False}}, {"facts": {"extract": False}}):
        with AgentMemory.open(embedder="hashing", settings=settings) as memory:
            scope = memory.scope(user="alice")
            scope.session("s").add_messages([say("user", "We decided to use Go.")])
            assert events(scope) == []
    with AgentMemory.open(
        embedder="hashing", settings={"facts": {"extract": False}, "events": {"extract": True}}
    ) as memory:
        scope = memory.scope(user="alice")
        scope.session("s").add_messages([say("user", "I live in Lyon. We decided to use Go.")])
        assert scope.list(kinds=["fact"]) == []
        assert len(events(scope)) == 1


def test_d1_with_an_llm_for_facts_the_rules_read_events_all_the_same() -> None:
    llm = ScriptedLLM(['{"facts": []}'], repeat=True)
    with AgentMemory.open(embedder="hashing", llm=llm) as memory:
        scope = memory.scope(user="alice")
        scope.session("s").add_messages([say("user", "We decided to use Go.")])
        assert [(type, text) for type, text, _ in events(scope)] == [("decision", "We decided to use Go.")]


@pytest.mark.parametrize(
    ("requirement", "said", "verdict"),
    [
        ("The API must return JSON.", "I changed api.py to return JSON.", "That worked, thanks!"),
        ("接口必须返回 JSON。", "我修改了 api.py，让接口返回 JSON。", "还是不行。"),
    ],
)
def test_d1_praise_and_complaint_strengthen_the_memories_of_that_task(
    scope: Scope, requirement: str, said: str, verdict: str
) -> None:
    chat = scope.session("s")
    chat.add_messages([say("user", "I like oolong tea"), say("assistant", "Noted.")])
    chat.add_messages([say("user", "And the weather?"), say("assistant", "Sunny.")])
    chat.add_messages([say("user", requirement), say("assistant", said)])
    told = scope.episodes.add("used the sandbox", type="step", session="s", importance=0.5)
    before = {r.text: r.importance for r in scope.list()}
    chat.add_messages([say("user", verdict)])
    after = {r.text: r.importance for r in scope.list()}
    assert after[verdict] >= before.get(verdict, 0)
    raised = {text for text, importance in before.items() if after[text] > importance}
    assert {"Sunny.", "used the sandbox", "And the weather?"} <= raised, "the last two exchanges, with what was told"
    assert "Noted." not in raised
    assert after["used the sandbox"] == pytest.approx(0.6)
    assert max(after.values()) <= 1.0
    assert "reinforced" in [change.action for change in scope.history(told.id)]
    assert ("user_feedback", verdict) in {(type, text) for type, text, _ in events(scope)}


def test_d1_a_task_under_way_says_which_memories_are_meant(scope: Scope, clock: ManualClock) -> None:
    chat = scope.session("s")
    chat.add_messages([say("user", "Hello there"), say("assistant", "Hi!")])
    clock.advance(minutes=1)
    chat.working.start("t", "Write the report")
    for place in range(3):
        clock.advance(minutes=1)
        chat.add_messages([say("user", f"question {place}"), say("assistant", f"answer {place}")])
    chat.add_messages([say("user", "Perfect, well done.")])
    raised = [r.text for r in scope.list(kinds=["turn"]) if r.importance > 0.5]
    assert raised == [f"{word} {n}" for n in range(3) for word in ("question", "answer")]


def test_d1_events_are_recalled_through_their_turns_and_on_their_own(scope: Scope) -> None:
    scope.session("s").add_messages(
        [say("user", "We decided to use PostgreSQL for the archive."), say("user", "Nice weather")]
    )
    hits = scope.search("What did we decide about the archive?", k=5)
    assert [h.record.kind for h in hits][:1] == ["turn"]
    assert "event" not in {h.record.kind for h in hits}, "the turn stands for what was read from it"
    assert scope.search("What did we decide about the archive?", kinds=["event"])[0].record.type == "decision"


def test_d1_an_event_holds_no_more_than_its_turn_may(scope: Scope) -> None:
    settings = {"redactor": lambda text: text.replace("hunter2", "[secret]")}
    with AgentMemory.open(embedder="hashing", settings=settings) as memory:
        other = memory.scope(user="bob")
        call = {"id": "1", "name": "write_file", "args": {"path": "hunter2.env"}}
        other.session("s").add_messages([
            say("user", "We decided to use hunter2 as the password."), say("assistant", "hunter2", tool_calls=[call])
        ])  # fmt: skip
        assert not any("hunter2" in r.text + str(r.metadata) for r in other.list())


def test_d1_async_messages_give_the_same_events(scope: Scope) -> None:
    asyncio.run(scope.session("s").aadd_messages([say("user", "我们决定用微服务。")]))
    assert events(scope) == [("decision", "我们决定用微服务。", 1.0)]
