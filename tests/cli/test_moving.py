"""`twinmem export`, `import` of an export, and `archive`: out of one database, into another, and away."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory

Run = Callable[..., Any]


@pytest.mark.parametrize("name", ["alice.jsonl", "爱丽丝.jsonl.zst"])
def test_e5_a_memory_moves_to_another_database(run: Run, alice: Path, name: str) -> None:
    done = run("export", name, "--json")
    assert done.code == 0
    assert done.lines[0]["user"] == "alice"
    assert done.lines[0]["counts"]["session"] == 1
    back = run("import", name, "--db", "other.db", "--json").lines[0]
    assert (back["format"], back["users"], back["known"], back["deleted"]) == ("twinmem", ["alice"], 0, 0)
    assert back["new"] == done.lines[0]["counts"]["record"]
    assert run("import", name, "--db", "other.db", "--json").lines[0]["new"] == 0
    with AgentMemory.open(alice) as one, AgentMemory.open(Path("other.db")) as two:
        first, second = (memory.scope(user="alice").session("monday").messages() for memory in (one, two))
        assert first == second


def test_e5_to_whom_an_export_goes_may_be_said(run: Run, alice: Path) -> None:
    run("export", "x.jsonl")
    run("import", "x.jsonl", "--user", "bob", "--agent", "cook")
    assert run("users", "--json").lines == [
        {"user": "alice", "agents": ["default"]},
        {"user": "bob", "agents": ["cook"]},
    ]


def test_e5_what_was_deleted_stays_out_and_the_way_back_is_named(run: Run, alice: Path) -> None:
    run("export", "x.jsonl")
    with AgentMemory.open(alice, embedder="hashing") as memory:
        memory.scope(user="alice").session("monday").delete()
    found = run("import", "x.jsonl", "--user", "alice")
    assert "0 new" in found.out
    assert "--revive" in found.out
    assert run("import", "x.jsonl", "--user", "alice", "--revive", "--json").lines[0]["new"] >= 5


def test_e5_a_conversation_and_what_matters_beside_it(run: Run, alice: Path) -> None:
    assert run("export", "x.jsonl", "--session", "monday", "--no-vectors", "--json").lines[0]["counts"]["record"] >= 5
    assert b'"vectors":[' not in Path("x.jsonl").read_bytes()
    assert run("export", "x.jsonl", "--session", "tuesday").code == 1


def test_e5_a_broken_export_makes_no_database(run: Run, alice: Path) -> None:
    run("export", "x.jsonl")
    Path("x.jsonl").write_bytes(Path("x.jsonl").read_bytes()[:-40])
    found = run("import", "x.jsonl", "--db", "other.db")
    assert (found.code, found.err.count("\n")) == (1, 1)
    assert "x.jsonl, line" in found.err
    assert not Path("other.db").exists()


def test_e5_memories_of_another_system(run: Run) -> None:
    memories = [{"id": "1", "memory": "喜欢乌龙茶", "user_id": "li", "created_at": "2025-01-01T00:00:00Z"},
                {"id": "2", "memory": "Lives in Lyon", "user_id": "ann"}]  # fmt: skip
    Path("m.json").write_text(json.dumps({"results": memories}, ensure_ascii=False), encoding="utf-8")
    found = run("import", "m.json", "-e", "hashing", "--json").lines[0]
    assert (found["format"], found["users"], found["memories"], found["new"]) == ("mem0", ["li", "ann"], 2, 2)
    assert "2 memories of 'li' and 'ann'" in run("import", "m.json").out
    assert "喜欢乌龙茶" in run("search", "乌龙茶", "--user", "li").out


def test_b8_a_conversation_goes_away_and_comes_back(run: Run, alice: Path) -> None:
    assert "nothing is archived" in run("archive").out
    moved = run("archive", "monday", "--json").lines[0]
    assert (moved["session"], moved["records"]) == ("monday", 5)
    assert Path(moved["address"]).exists()
    assert "monday" in run("archive").out
    assert run("stats", "--json").lines[0]["total"]["messages"] == 0
    assert run("archive", "--restore", "monday", "--json").lines == [{"restored": "monday", "records": 5}]
    assert run("stats", "--json").lines[0]["total"]["messages"] == 5
    run("archive", "monday")
    assert run("archive", "--delete", "monday", "--json").lines[0]["records"] >= 5
    assert not Path(moved["address"]).exists()
    assert run("archive", "monday").code == 1
    assert run("archive", "monday", "--delete", "monday").code == 2


def test_r73_a_locale_that_knows_no_chinese(command: Run, alice: Path) -> None:
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    name = "记忆.jsonl.zst"
    assert command("export", name, **environment).code == 0
    assert os.path.exists(name)
    done = command("import", name, "--db", "other.db", **environment)
    assert (done.code, done.err) == (0, "")
    with AgentMemory.open(Path("other.db")) as memory:
        assert any("元宝" in message.text for message in memory.scope(user="alice").session("monday").messages())
