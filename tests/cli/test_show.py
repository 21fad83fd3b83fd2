"""What is remembered can be looked at: a list, one record with its past, a conversation, the counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory

Run = Callable[..., Any]


@pytest.fixture
def facts(alice: Path) -> Path:
    """The talk, and 30 facts told later, one a minute."""
    now = [datetime(2027, 1, 1, tzinfo=UTC)]

    def clock() -> datetime:
        now[0] += timedelta(minutes=1)
        return now[0]

    with AgentMemory.open(alice, embedder="hashing", clock=clock) as memory:
        scope = memory.scope(user="alice")
        for number in range(30):
            scope.add(f"fact number {number}", id=f"f{number}")
        scope.update("f29", "fact number twenty-nine", metadata={"from": "test"}, importance=0.9)
    return alice


def test_the_newest_records_first(run: Run, facts: Path) -> None:
    found = run("show")
    assert found.out.splitlines()[0] == "fact: fact number twenty-nine"
    assert "fact number 9\n" not in found.out
    assert "the newest 20 of 36 records; --limit 0 shows all" in found.err


def test_limits_and_filters(run: Run, facts: Path) -> None:
    assert [line["id"] for line in run("show", "-n", "2", "--json").lines] == ["f29", "f28"]
    assert len(run("show", "-n", "0", "--json").lines) == 36  # one fact was heard in the talk
    assert len(run("show", "-n", "0", "--kind", "turn", "--json").lines) == 5
    assert [line["id"] for line in run("show", "--where", '{"importance": {"$gt": 0.8}}', "--json").lines] == ["f29"]


def test_records_have_stable_keys(run: Run, facts: Path) -> None:
    lines = run("show", "-n", "0", "--json").lines
    assert len({tuple(line) for line in lines}) == 1
    assert {"user", "agent", "id", "kind", "text", "created_at", "session", "metadata"} <= set(lines[0])


def test_one_record_with_its_history(run: Run, facts: Path) -> None:
    found = run("show", "f29")
    assert "fact number twenty-nine" in found.out
    assert "importance  0.9" in found.out
    assert 'metadata    {"from": "test"}' in found.out
    assert "added" in found.out
    assert "updated" in found.out
    value = run("show", "f29", "--json").lines[0]
    assert list(value) == ["user", "agent", "record", "history", "sources"]
    assert [change["action"] for change in value["history"]] == ["added", "updated"]


def test_one_turn_tells_where_it_was_said(run: Run, alice: Path) -> None:
    (id,) = (line["id"] for line in run("show", "--json").lines if line["message_id"] == "m1")
    found = run("show", id)
    assert "session  monday" in found.out
    assert "message  m1" in found.out


def test_a_conversation_in_order_with_its_tool_calls(run: Run, alice: Path) -> None:
    found = run("show", "--session", "monday")
    assert found.out.splitlines()[:2] == ["2026-03-02", "10:00  user: I moved to Lyon and live near the river"]
    assert 'assistant: [calls weather {"city": "里昂"}]' in found.out
    lines = run("show", "--session", "monday", "--json").lines
    assert [line["id"] for line in lines] == ["m1", "m2", "m3", "m4", "m5"]
    assert lines[3]["tool_calls"] == [{"id": "c1", "name": "weather", "args": {"city": "里昂"}}]
    assert [line["id"] for line in run("show", "-s", "monday", "-n", "2", "--json").lines] == ["m4", "m5"]


@pytest.mark.parametrize("line", [["show", "nope"], ["show", "--session", "nope"], ["search", "x", "-s", "nope"]])
def test_what_is_not_there_is_an_error(run: Run, alice: Path, line: list[str]) -> None:
    found = run(*line)
    assert (found.code, found.out) == (1, "")
    assert "'nope'" in found.err


def test_users_and_stats(run: Run, facts: Path) -> None:
    with AgentMemory.open(facts, embedder="hashing") as memory:
        memory.scope(user="小明", agent="cook").add("喜欢茶")
    assert run("users", "--json").lines == [
        {"user": "alice", "agents": ["default"]},
        {"user": "小明", "agents": ["cook"]},
    ]
    assert "小明" in run("users").out
    counted = run("stats", "--json").lines[0]
    assert list(counted) == ["database", "bytes", "embedder", "scopes", "total"]
    assert counted["embedder"] == {"name": "hashing", "dimensions": 64}
    assert counted["scopes"][0]["by_kind"] == {"fact": 31, "turn": 5}
    assert counted["total"]["records"] == 37
    assert [line for line in run("stats").out.splitlines() if line.startswith("total")]
    assert len(run("stats", "--user", "小明", "--json").lines[0]["scopes"]) == 1
