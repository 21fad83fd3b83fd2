"""Output reaches whoever reads it: any locale, any width, a pipe; and a failure is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory
from shared_core.commands import importing
from shared_core.commands.terminal import inert, number, readable

Run = Callable[..., Any]
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


def test_chinese_and_emoji_under_the_c_locale(command: Run, tmp_path: Path) -> None:
    file = tmp_path / "聊天 😀.json"
    file.write_text(json.dumps([{"role": "user", "content": "我住在里昂 🏠"}]), encoding="ascii")
    done = command("import", file, "--user", "小明", "--db", "库.db", "-e", "hashing", **PLAIN)
    assert (done.code, done.err) == (0, "")
    assert "聊天 😀.json" in done.out
    assert Path("库.db").exists()
    for line in (["search", "里昂"], ["show"], ["show", "--session", "聊天 😀"]):
        done = command(*line, "--user", "小明", "--db", "库.db", **PLAIN)
        assert (done.code, done.err) == (0, "")
        assert "我住在里昂 🏠" in done.out
    done = command("search", "里昂", "--db", "库.db", "--json", **PLAIN)
    assert done.lines[0]["record"]["session"] == "聊天 😀"
    done = command("search", "里昂", "--db", "库.db", "--user", "小红", **PLAIN)
    assert (done.code, done.err) == (1, "twinmem: 库.db holds the memory of '小明', not '小红'\n")
    # The same file under another locale is the same file.
    again = command("import", file, "--user", "小明", "--db", "库.db", "--json", LC_ALL="C.UTF-8")
    assert again.lines[0]["new"] == 0


def test_no_text_is_read_or_written_in_the_locales_encoding(command: Run, talk: Path) -> None:
    flags = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
    assert command("import", talk, "-u", "alice", "-e", "hashing", flags=flags).code == 0
    for line in (["search", "猫"], ["show"], ["stats"], ["check"], ["--help"]):
        done = command(*line, flags=flags)
        assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_is_wider_than_the_terminal(run: Run, alice: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", str(width))
    for line in (["search", "猫 river"], ["show"], ["show", "--session", "monday"]):
        text = run(*line).out
        assert max(cell_len(each) for each in text.splitlines()) <= width
        assert all(each == each.rstrip() for each in text.splitlines())
        assert "".join("我养了一只叫元宝的猫".split()) in "".join(text.split())


def test_what_is_remembered_commands_no_terminal(run: Run) -> None:
    with AgentMemory.open("agent.db", embedder="hashing") as memory:
        memory.scope(user="alice").add("[bold red]alert[/] :smile: \x1b[2J\x9b31m\a end")
    for line in (["search", "alert"], ["show"]):
        text = run(*line).out
        assert "[bold red]alert[/] :smile: ␛[2J" in text
        assert not {"\x1b", "\x9b", "\a"} & set(text)
    assert run("show", "--json").lines[0]["text"].endswith("\x1b[2J\x9b31m\a end")


def test_a_reader_that_stops_early_is_no_error(alice: Path) -> None:
    with AgentMemory.open(alice, embedder="hashing") as memory:
        memory.scope(user="alice").add_many([f"{number} " + "word " * 100 for number in range(500)])
    line = [sys.executable, "-m", "shared_core.cli", "show", "--limit", "0", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"user": "alice"')
        process.stdout.close()
        assert process.stderr.read() == b""


# ---------------------------------------------------------------------- being called


def test_without_a_verb_it_tells_the_verbs(run: Run) -> None:
    found = run()
    assert found.code == 0
    for verb in ("import", "search", "show", "users", "stats", "check", "reembed", "demo"):
        assert verb in found.out
        assert run(verb, "--help").code == 0
    assert run("--version").out.startswith("twinmem 0.")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["serch"], "No such command 'serch'"),
        (["search"], "Missing argument 'QUERY'"),
        (["search", "agent.db", "where?"], "a database is named with --db"),
        (["search", "x", "--top", "0"], "--top"),
        (["search", "x", "--colour"], "--colour"),
        (["search", "x", "--where", "{"], "--where is not JSON"),
        (["search", "x", "--where", "[]"], "--where is a JSON object"),
        (["search", "x", "--embedder", "magic"], "magic"),
    ],
)
def test_called_wrongly(command: Run, run: Run, alice: Path, line: list[str], says: str) -> None:
    found = run(*line)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert says in found.err


@pytest.mark.parametrize("line", [["search", "x", "--kind", "poem"], ["search", "x", "--where", '{"a": {"$like": 1}}']])
def test_refused_by_the_memory(run: Run, alice: Path, line: list[str]) -> None:
    found = run(*line)
    assert (found.code, found.out, found.err.count("\n")) == (1, "", 1)


def test_stopped_by_hand(run: Run, talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importing, "_target", interrupted)
    found = run("import", talk, "--user", "alice", "-e", "hashing")
    assert (found.code, found.out) == (130, "")
    assert found.err.startswith("twinmem: stopped")


def test_the_real_command_says_the_same(command: Run, run: Run, alice: Path) -> None:
    inside, outside = run("search", "river"), command("search", "river", COLUMNS="100")
    assert (outside.code, outside.out, outside.err) == (inside.code, inside.out, inside.err)
    done = command("search", "x", "--db", "none.db")
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err


def test_the_library_loads_neither_typer_nor_rich(python: Callable[..., str]) -> None:
    script = "import sys, shared_core; print([n for n in ('typer', 'rich', 'click') if n in sys.modules])"
    assert python(script).strip() == "[]"


# ---------------------------------------------------------------------- pure functions


def test_readable_gives_back_what_was_typed() -> None:
    for text in ("plain", "你好 🏠", "naïve"):
        assert readable(text) == text
        assert readable(text.encode().decode("ascii", "surrogateescape")) == text
    readable("half an emoji \ud83d").encode()
    readable("half \ud83d and a byte \udce4").encode()


def test_inert_keeps_lines_and_tabs() -> None:
    assert inert("a\tb\nc\r\x00\x7f\x85") == "a\tb\nc␍␀␡\ufffd"


def test_numbers_with_nouns() -> None:
    assert [number(count, "memory") for count in (0, 1, 2)] == ["0 memories", "1 memory", "2 memories"]
