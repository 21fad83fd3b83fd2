"""How the tests call the command line: in this process through typer's runner, or as a real command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from shared_core.cli import app

TALK = [
    {"id": "m1", "role": "user", "content": "I moved to Lyon and live near the river", "created_at": 1_772_445_600},
    {"id": "m2", "role": "assistant", "content": "Lyon is lovely in spring"},
    {"id": "m3", "role": "user", "content": "我养了一只叫元宝的猫 🐈"},
    {"id": "m4", "role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "里昂"}'}}]},
    {"id": "m5", "role": "tool", "tool_call_id": "c1", "content": "sunny, 21 degrees"},
]  # fmt: skip


@dataclass
class Outcome:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The JSON Lines of its output."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An own folder and a terminal of a known width, whatever the machine has."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TWINMEM_DB", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run() -> Run:
    """`run("search", "where?")` in this process."""

    def _run(*arguments: object) -> Outcome:
        result = CliRunner().invoke(app, [str(each) for each in arguments], prog_name="twinmem")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return _run


@pytest.fixture
def command() -> Run:
    """The same as a process of its own; keywords add to its environment."""

    def _command(*arguments: object, flags: tuple[str, ...] = (), **env: str) -> Outcome:
        line = [sys.executable, *flags, "-m", "shared_core.cli", *(os.fsencode(str(each)) for each in arguments)]
        done = subprocess.run(line, capture_output=True, timeout=120, env={**os.environ, **env})
        return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return _command


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """An export of one conversation, OpenAI-style."""
    path = tmp_path / "monday.json"
    path.write_text(json.dumps(TALK, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def alice(run: Run, talk: Path) -> Path:
    """`agent.db` in this folder, with that conversation of alice."""
    assert run("import", talk, "--user", "alice", "--embedder", "hashing").code == 0
    return Path("agent.db").resolve()
