"""Private data in a file from before redaction was on: shown by kind, never in words, and redacted when told to (E1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory

Run = Callable[..., Any]


@pytest.fixture
def held(alice: Path) -> Path:
    with AgentMemory.open(alice, embedder="hashing") as memory:
        memory.scope(user="alice").add_many(
            ["My mail is zoe@example.com", "手机13800138000，邮箱a@example.cn", "I like tea"]
        )
    return alice


def test_e1_redact_only_says_what_is_there_until_told_to(run: Run, held: Path) -> None:
    found = run("redact")
    assert found.code == 0
    assert "2 email, 1 phone" in found.out
    assert "--go redacts them" in found.out
    assert "example" not in found.out
    assert run("search", "mail", "--json").lines[0]["record"]["text"].endswith("@example.com")
    done = run("redact", "--go", "--json").lines
    assert [each["kinds"] for each in done] == [{"email": 1}, {"phone": 1, "email": 1}]
    assert "No memory holds" in run("redact").out
    assert "[email]" in run("show", "--kind", "fact").out
    assert b"zoe@example" not in held.read_bytes()
    assert run("check").code == 0
