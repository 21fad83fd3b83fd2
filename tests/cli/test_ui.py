"""`twinmem ui`: serves the page of a database on this machine until it is stopped."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from shared_core import AgentMemory
from shared_core.errors import InvalidInput
from shared_core.ui.server import Running

ROOT = Path(__file__).parents[2]


def started(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-m", "shared_core.cli", "ui", *arguments, "--no-browser"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def test_e3_the_command_prints_an_address_serves_there_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.scope(user="alice").add("The spare key is under the blue pot")
    running = started(str(path))
    assert running.stdout is not None
    try:
        url = running.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", url)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert "blue pot" in opener.open(url, timeout=30).read().decode()
    finally:
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=30)
    assert running.returncode == 0, told
    assert "Whoever has this address" in told


def test_a_database_that_is_not_there_and_a_port_in_use_are_told_in_a_line(tmp_path: Path) -> None:
    running = started(str(tmp_path / "none.db"))
    _, told = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "no database" in told
    with AgentMemory.open(embedder="hashing") as memory, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InvalidInput, match="can't be used"):
            Running(memory, "x", taken.getsockname()[1])
