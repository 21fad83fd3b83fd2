"""`kill -9` before each statement and file operation of every verb that writes: all of it, or nothing (R41)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LONG, ROOT
from tests.store.killing import VERBS

KILLS = 0 if LONG else 3
GROUPS = [
    ["add", "add_many", "update", "delete", "graph", "event", "working", "open"],
    ["add_messages", "replace_messages", "summary", "clear", "consolidate", "cleanup", "background"],
    ["delete_session", "delete_all", "forget", "purge", "archive", "restore"],
    ["import", "reembed", "backup", "rekey"],
]


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and kill")
@pytest.mark.parametrize("verbs", GROUPS, ids=lambda verbs: verbs[0])
def test_r41_a_verb_that_is_killed_anywhere_was_done_or_was_not(tmp_path: Path, verbs: list[str]) -> None:
    """Acknowledged is there, half done is not, `check` is content, and what was cut off can be done again."""
    if "rekey" in verbs:
        pytest.importorskip("sqlcipher3")
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.killing", str(tmp_path), str(KILLS), *verbs],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=1_200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["verb"] for each in figures] == verbs
    for each in figures:
        assert each["kills"] > 3, each


def test_every_verb_is_among_them() -> None:
    assert sorted(verb for group in GROUPS for verb in group) == sorted(VERBS)
