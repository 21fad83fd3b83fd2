"""An export is remembered whole, once, and for the right person; a broken one leaves nothing behind."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory

Run = Callable[..., Any]


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def test_what_was_said_can_be_read_back(run: Run, alice: Path) -> None:
    with AgentMemory.open(alice, embedder="hashing") as memory:
        assert memory.users() == ["alice"]
        messages = memory.scope(user="alice").session("monday").messages()
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant", "tool"]
    assert messages[2].text == "我养了一只叫元宝的猫 🐈"
    assert messages[3].tool_calls[0]["args"] == {"city": "里昂"}
    assert f"{messages[0].created_at:%Y-%m-%d %H}" == "2026-03-02 10"


def test_a_second_run_adds_nothing_and_says_so(run: Run, alice: Path, talk: Path) -> None:
    again = run("import", talk, "--user", "alice")
    assert again.code == 0
    assert "0 new, 5 known already" in again.out
    assert run("stats", "--json").lines[0]["total"]["messages"] == 5


def test_messages_without_ids_and_times_are_not_imported_twice(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "x.json", [{"role": "user", "content": "tea"}, {"role": "user", "content": "tea"}])
    first = run("import", file, "-u", "alice", "-e", "hashing", "--json").lines
    second = run("import", file, "-u", "alice", "--json").lines
    assert [(line["new"], line["known"]) for line in first + second] == [(2, 0), (0, 2)]


def test_a_grown_and_edited_export_adds_what_is_new(run: Run, alice: Path, talk: Path) -> None:
    messages = json.loads(talk.read_text(encoding="utf-8"))
    messages[1]["content"] = "Lyon is lovely in autumn"
    write(talk, [*messages, {"id": "m6", "role": "user", "content": "I bought a red bike"}])
    found = run("import", talk, "--user", "alice", "--json").lines[0]
    assert (found["new"], found["changed"], found["known"]) == (1, 1, 4)
    assert "autumn" in run("show", "--session", "monday").out


def test_the_summary_for_programs(run: Run, talk: Path) -> None:
    found = run("import", talk, "--user", "alice", "--embedder", "hashing", "--json")
    assert found.lines == [
        {
            "file": str(talk), "format": "openai", "database": "agent.db", "users": ["alice"],
            "conversations": 1, "messages": 5, "new": 5, "changed": 0, "known": 0,
        }
    ]  # fmt: skip


def test_the_database_by_option_variable_or_default(run: Run, talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("import", talk, "-u", "alice", "-e", "hashing", "--db", "one.db")
    monkeypatch.setenv("TWINMEM_DB", "two.db")
    run("import", talk, "-u", "bob", "-e", "hashing")
    monkeypatch.delenv("TWINMEM_DB")
    run("import", talk, "-u", "carol", "-e", "hashing")
    assert [run("users", "--db", name, "--json").lines[0]["user"] for name in ("one.db", "two.db", "agent.db")] == [
        "alice",
        "bob",
        "carol",
    ]


# ---------------------------------------------------------------------- for whom


def test_nobody_is_guessed(run: Run, talk: Path) -> None:
    found = run("import", talk)
    assert found.code == 2
    assert "--user NAME" in found.err
    assert not Path("agent.db").exists()


def test_the_file_may_name_its_users(run: Run, tmp_path: Path) -> None:
    talks = [{"user": name, "id": "1", "messages": [{"role": "user", "content": name}]} for name in ("ann", "bo")]
    run("import", write(tmp_path / "x.json", talks), "-e", "hashing")
    assert [line["user"] for line in run("users", "--json").lines] == ["ann", "bo"]


def test_one_user_for_a_file_of_several_keeps_their_talks_apart(run: Run, tmp_path: Path) -> None:
    """Both people have a session "1" with a message "m": the second must not overwrite the first."""
    talks = [
        {"user": name, "id": "1", "messages": [{"id": "m", "role": "user", "content": f"I am {name}"}]}
        for name in ("ann", "bo")
    ]
    file = write(tmp_path / "x.json", talks)
    assert run("import", file, "-e", "hashing", "--user", "team", "--json").lines[0]["new"] == 2
    assert run("import", file, "--user", "team", "--json").lines[0]["new"] == 0
    assert {line["session"] for line in run("show", "--json").lines} == {"ann 1", "bo 1"}


def test_agents_are_kept_apart(run: Run, talk: Path) -> None:
    run("import", talk, "-u", "alice", "-e", "hashing", "--agent", "cook")
    run("import", talk, "-u", "alice", "--agent", "guide")
    assert run("users", "--json").lines == [{"user": "alice", "agents": ["cook", "guide"]}]
    assert run("search", "river").code == 2  # which of the two?
    assert run("search", "river", "--agent", "cook", "--json").lines[0]["agent"] == "cook"


# ---------------------------------------------------------------------- what can't be imported


@pytest.mark.parametrize("content", ["hello", "", "{", '[{"role": "user", "content": "fine"}, {"content": 1}]'])
def test_a_broken_file_writes_nothing(run: Run, tmp_path: Path, content: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text(content, encoding="utf-8")
    found = run("import", file, "--user", "alice")
    assert (found.code, found.out) == (1, "")
    assert "broken.json" in found.err
    assert found.err.count("\n") == 1
    assert not Path("agent.db").exists()


def test_a_missing_file_and_an_unknown_format(run: Run, talk: Path) -> None:
    assert (run("import", "nowhere.json", "-u", "alice").code, run("import", talk, "-f", "word").code) == (1, 2)
    assert not Path("agent.db").exists()


def test_another_embedder_is_refused_and_the_way_out_is_named(run: Run, alice: Path, talk: Path) -> None:
    found = run("import", talk, "-u", "alice", "--embedder", "default")
    assert found.code == 1
    assert "twinmem reembed --embedder default" in found.err


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_a_bar_shows_on_a_terminal_only(tmp_path: Path, talk: Path, command: Run) -> None:
    import os
    import pty
    import subprocess

    quiet = command("import", talk, "-u", "alice", "-e", "hashing")
    assert quiet.err == ""
    master, slave = pty.openpty()
    line = [sys.executable, "-m", "shared_core.cli", "import", str(talk), "-u", "bob", "-e", "hashing"]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=slave, env={**os.environ, "TERM": "xterm"}) as done:
        os.close(slave)
        shown = b""
        try:
            while chunk := os.read(master, 4096):
                shown += chunk
        except OSError:  # Linux's end of file of a pseudo-terminal
            pass
    os.close(master)
    assert done.returncode == 0
    assert b"Remembering" in shown
    assert b"5/5" in shown
