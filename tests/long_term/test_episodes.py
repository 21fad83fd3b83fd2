"""What happened, and when: a timeline without second copies, summaries, likeness, a cap that loses nothing (B3)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, InvalidType
from shared_core.testing import ManualClock

NOON = datetime(2025, 6, 20, 12, tzinfo=UTC)


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


def test_b3_a_start_and_each_turn_are_in_the_timeline_and_are_not_stored_twice(scope: Scope) -> None:
    scope.session("monday").add_messages([say("user", "长" * 150), say("assistant", "ok " * 60)])
    found = scope.episodes.timeline()
    assert [(r.type, len(r.text)) for r in found[1:]] == [("conversation", 100), ("conversation", 100)]
    assert "monday" in found[0].text
    assert found[0].type == "conversation"
    assert scope.count() == 2, "the turns themselves, and nothing besides"
    assert len(scope.get(found[1].id).text) == 150  # type: ignore[union-attr]
    scope.session("monday").delete()
    assert scope.episodes.timeline() == []


@pytest.mark.parametrize(("first", "start"), [("Good morning", "The conversation s began"), ("早上好", "对话 s 开始")])
def test_b3_the_start_is_told_in_the_language_of_the_talk(scope: Scope, first: str, start: str) -> None:
    scope.session("s").add_messages([say("user", first)])
    assert scope.episodes.timeline()[0].text == start


def test_b3_tools_show_as_calls_and_their_failures_as_errors(scope: Scope) -> None:
    call = {"id": "1", "name": "read_file", "args": {"path": "a.txt"}}
    scope.session("s").add_messages([
        say("assistant", "", tool_calls=[call]), say("tool", "Error: no such file", tool_call_id="1"),
        say("assistant", "", tool_calls=[call]), say("tool", "hello", tool_call_id="1"),
    ])  # fmt: skip
    assert [r.type for r in scope.episodes.timeline()[1:]] == ["tool_call", "error", "tool_call", "tool_call"]
    assert scope.episodes.timeline()[1].text == "read_file(path=a.txt)"
    assert [r.text for r in scope.episodes.timeline(types=["error"])] == ["Error: no such file"]
    assert scope.episodes.timeline(types="error") == scope.episodes.timeline(types={"error"})


def test_b3_tasks_of_the_working_memory_are_in_it(scope: Scope, clock: ManualClock) -> None:
    chat = scope.session("s")
    chat.add_messages([say("user", "Ship it")])
    chat.working.start("t", "Ship version 2")
    clock.advance(minutes=5)
    chat.working.complete("shipped")
    found = scope.episodes.timeline(types=["task_start", "task_complete"])
    assert [(r.type, r.text, r.event_time) for r in found] == [
        ("task_start", "Ship version 2", NOON),
        ("task_complete", "Ship version 2: shipped", NOON + timedelta(minutes=5)),
    ]
    assert found[1].metadata["success"] is True
    assert [r.type for r in scope.episodes.summary("s").important] == ["task_complete"]


def test_r56_event_time_orders_and_both_times_are_kept(scope: Scope) -> None:
    add = scope.episodes.add
    late = add("New flat", type="decision", at=datetime(2025, 6, 19, 9, tzinfo=UTC))
    early = add("Old flat", type="decision", at=datetime(2024, 6, 1, tzinfo=UTC))
    same = add("同一时刻的第二件事", type="decision", at=datetime(2025, 6, 19, 9, tzinfo=UTC))
    assert (early.event_time, early.created_at) == (datetime(2024, 6, 1, tzinfo=UTC), NOON)
    assert [r.id for r in scope.episodes.timeline(hours=None)] == [early.id, late.id, same.id]
    week = scope.episodes.timeline(since=datetime(2025, 6, 13, tzinfo=UTC), until=datetime(2025, 6, 20, tzinfo=UTC))
    assert [r.id for r in week] == [late.id, same.id]


@pytest.mark.parametrize("words", ["yesterday", "昨天", "2025-06-19", "19 June 2025", "6月19日"])
def test_r56_days_in_words_are_half_open_ranges(scope: Scope, words: str) -> None:
    for name, at in (
        ("before", datetime(2025, 6, 18, 23, 59, 59, tzinfo=UTC)),
        ("first", datetime(2025, 6, 19, tzinfo=UTC)),
        ("last", datetime(2025, 6, 19, 23, 59, 59, tzinfo=UTC)),
        ("after", datetime(2025, 6, 20, tzinfo=UTC)),
    ):
        scope.episodes.add(name, type="decision", at=at)
    assert [r.text for r in scope.episodes.timeline(on=words)] == ["first", "last"]


def test_r56_a_range_has_its_beginning_and_not_its_end(scope: Scope, clock: ManualClock) -> None:
    hour = timedelta(hours=1)
    for hours in (25, 24, 1, 0):
        scope.episodes.add(f"{hours} h ago", type="step", at=NOON - hours * hour)
    scope.episodes.add("tomorrow", type="step", at=NOON + 20 * hour)
    timeline = scope.episodes.timeline
    assert [r.text for r in timeline()] == ["24 h ago", "1 h ago", "0 h ago"]
    assert [r.text for r in timeline(1)] == ["1 h ago", "0 h ago"]
    assert [r.text for r in timeline(since=NOON - hour, until=NOON)] == ["1 h ago"]
    assert [r.text for r in timeline(since=NOON, until=NOON + 48 * hour)] == ["0 h ago", "tomorrow"]
    assert [r.text for r in timeline(hours=None, limit=2)] == ["1 h ago", "0 h ago"]
    clock.advance(hours=30)
    assert [r.text for r in timeline()] == ["tomorrow"]


def test_b3_a_summary_counts_by_type_and_names_the_five_most_important_over_seven_tenths(scope: Scope) -> None:
    scope.session("s").add_messages([say("user", "Let us begin")])
    for place, importance in enumerate([0.7, 0.71, 0.9, 1.0, 0.8, 0.95, 0.75, 0.9]):
        scope.episodes.add(f"event {place}", type="decision", importance=importance, session="s")
    scope.episodes.add("elsewhere", type="error", importance=1.0, session="other")
    summary = scope.episodes.summary("s")
    assert summary.counts == {"decision": 8, "conversation": 2}
    assert [r.text for r in summary.important] == ["event 3", "event 5", "event 7", "event 2", "event 4"]
    assert summary.text().splitlines()[:2] == ["s: decision 8, conversation 2", "- event 3"]
    assert summary.text("zh").splitlines()[0] == "s：决定 8、对话 2"
    assert scope.episodes.summary("nobody").counts == {}


@pytest.mark.parametrize(
    ("texts", "asked"),
    [
        (["Fixed the login timeout by raising the limit", "Chose the blue logo"], "the login timed out, what fixed it"),
        (["把登录超时的上限调高后修复了", "选了蓝色的标志"], "登录超时怎么修复的"),
    ],
)
def test_b3_similar_past_events_come_first(scope: Scope, texts: list[str], asked: str) -> None:
    scope.session("s").add_messages([say("user", asked)])
    for text in texts:
        scope.episodes.add(text, type="decision")
    hits = scope.episodes.similar(asked, k=2)
    assert hits[0].record.text == texts[0]
    assert {hit.record.kind for hit in hits} == {"event"}
    assert scope.episodes.similar(asked, types="error") == []
    assert scope.search(asked, kinds=["event"])[0].record.text == texts[0], "the one search finds them too"


def test_b3_details_are_kept_and_filtered_by(scope: Scope) -> None:
    one = scope.episodes.add("Deployed", type="deployment", details={"env": "prod", "步骤": ["构建", "发布"]})
    two = scope.episodes.add("Noted", type="decision", details="because of the fees")
    assert one.metadata == {"env": "prod", "步骤": ["构建", "发布"]}
    assert two.metadata == {"details": "because of the fees"}
    assert [h.record.id for h in scope.search("Deployed", where={"env": "prod"})] == [one.id]


def test_b3_past_the_cap_the_least_important_leave_and_of_equals_the_older(path: Path, tmp_path: Path) -> None:
    settings = {"episodes": {"most": 3}, "archive": {"address": str(tmp_path / "cold")}}
    with AgentMemory.open(str(path), embedder="hashing", settings=settings) as memory:
        scope = memory.scope(user="alice")
        kept = [
            scope.episodes.add(f"事件 {n}", type="decision", importance=i) for n, i in enumerate((0.5, 0.9, 0.5, 0.2))
        ]
        assert kept[3].status == "archived", "what is least of all leaves at once"
        scope.episodes.add("event 4", type="decision", importance=0.6)
        assert {r.text for r in scope.episodes.timeline()} == {"事件 1", "事件 2", "event 4"}
        assert scope.count(kinds=["event"]) == 3
        assert scope.search("事件 0", kinds=["event"], k=9)[0].record.text != "事件 0"
        assert {r.text for f in scope.archive.list() for r in scope.archive.read(f.id)} == {"事件 0", "事件 3"}
        back = scope.archive.restore(kept[0].id)
        assert [r.text for r in back] == ["事件 0"]
        assert memory.check().ok


def test_b3_what_leaves_is_not_lost_where_there_is_no_place_for_archives() -> None:
    with AgentMemory.open(embedder="hashing", settings={"episodes": {"most": 2}}) as memory:
        scope = memory.scope(user="alice")
        scope.add_many([{"text": f"event {n}", "kind": "event", "pinned": n == 0} for n in range(4)])
        assert [r.text for r in scope.list(kinds=["event"])] == ["event 0", "event 3"], "a pinned one never leaves"
        assert [r.text for r in scope.list(where={"status": "archived"})] == ["event 1", "event 2"]


def test_b3_an_event_goes_with_its_session_and_stays_when_that_is_cleared(scope: Scope) -> None:
    for name in ("one", "two"):
        scope.session(name).add_messages([say("user", "Hello there")])
        scope.episodes.add(f"decided in {name}", type="decision", session=name)
    scope.session("one").delete()
    scope.session("two").clear()
    assert [r.text for r in scope.list(kinds=["event"])] == ["decided in two"]


def test_b3_an_event_does_not_open_a_session_that_has_ended(scope: Scope) -> None:
    scope.session("s").add_messages([say("user", "Bye")])
    scope.session("s").end()
    scope.episodes.add("afterthought", type="decision", session="s")
    with scope._live().store.look() as tx:
        assert tx.rows("find_session", {"scope": scope._find(tx), "name": "s"})[0][3] is not None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"summary": " ", "type": "error"}, InvalidInput), ({"summary": "x", "type": " "}, InvalidInput),
        ({"summary": "x", "type": None}, InvalidInput), ({"summary": "x", "type": "error", "importance": 2}, InvalidInput),
        ({"summary": "x", "type": "error", "at": datetime(2025, 1, 1)}, InvalidInput),
        ({"summary": "x", "type": "error", "details": {"a": object()}}, InvalidType),
        ({"summary": "x", "type": "error", "details": [1]}, InvalidType),
        ({"summary": "x", "type": "error", "session": " "}, InvalidInput),
    ],
)  # fmt: skip
def test_b3_bad_events_are_refused_and_nothing_is_stored(scope: Scope, arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        scope.episodes.add(**arguments)
    assert scope.count() == 0
    assert scope.sessions() == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"hours": 0},
        {"hours": "1"},
        {"since": datetime(2025, 1, 1)},
        {"limit": -1},
        {"on": "soon"},
        {"on": "昨天", "until": NOON},
    ],
)
def test_b3_bad_ranges_are_refused(scope: Scope, arguments: Any) -> None:
    with pytest.raises(InvalidInput):
        scope.episodes.timeline(**arguments)


def test_b3_nobody_sees_the_events_of_another(scope: Scope) -> None:
    with AgentMemory.open(embedder="hashing") as memory:
        alice, bob = memory.scope(user="alice"), memory.scope(user="bob")
        alice.session("s").add_messages([say("user", "secret")])
        alice.episodes.add("secret plan", type="decision", session="s")
        assert bob.episodes.timeline(None) == []
        assert bob.episodes.similar("secret plan") == []
        assert bob.episodes.summary("s").counts == {}


def test_b3_async_twins_give_the_same(scope: Scope) -> None:
    async def all_of_it() -> None:
        made = await scope.episodes.aadd("Decided", type="decision", importance=0.9, session="s")
        assert [r.id for r in await scope.episodes.atimeline(types=["decision"])] == [made.id]
        assert (await scope.episodes.asimilar("Decided"))[0].record.id == made.id
        assert (await scope.episodes.asummary("s")).important == (scope.get(made.id),)

    asyncio.run(all_of_it())


def test_b3_the_text_of_an_event_is_redacted() -> None:
    settings = {"redactor": lambda text: text.replace("4111", "[card]")}
    with AgentMemory.open(embedder="hashing", settings=settings) as memory:
        scope = memory.scope(user="alice")
        made = scope.episodes.add("paid with 4111", type="step", details={"card": "4111"})
        assert (made.text, made.metadata) == ("paid with [card]", {"card": "[card]"})
