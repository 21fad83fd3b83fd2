"""What says the same becomes one, and what has faded goes: only when asked, and after it was shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory

Run = Callable[..., Any]


@pytest.fixture
def told(alice: Path) -> Path:
    with AgentMemory.open(alice, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.add_many(["Bob likes green tea", "BOB likes green tea!", "王芳喜欢绿茶", "王芳 喜欢绿茶。"])
        scope.add("It may rain", confidence=0.1)
        scope.add("It may snow", confidence=0.1, pinned=True)
        scope.add_many([
            {"text": f"Ann likes thing {n}", "triple": ("Ann", "likes", f"thing {n}")} for n in range(8)])  # fmt: skip
    return alice


def test_d7_consolidate_says_what_it_merged(run: Run, told: Path) -> None:
    found = run("consolidate")
    assert found.code == 0
    assert "BOB likes green tea!" in found.out
    assert "Bob likes green tea" in found.out
    assert "王芳 喜欢绿茶。" in found.out
    again = run("consolidate", "--json").lines[0]
    assert (again["user"], again["examined"], again["merges"]) == ("alice", 0, [])
    folded = run("consolidate", "--user", "alice", "--fold", "--json").lines[0]
    assert "Ann" in [fold["subject"] for fold in folded["folds"]]
    assert run("check").code == 0


def test_d6_cleanup_only_says_what_would_go_until_told_to(run: Run, told: Path) -> None:
    found = run("cleanup")
    assert found.code == 0
    for part in ("It may rain", "low confidence", "archive", "--go does it", "1 stay because they are pinned"):
        assert part in found.out
    assert run("search", "rain", "--json").lines
    assert "It may rain" in run("show", "--kind", "fact").out
    done = run("cleanup", "--go", "--delete", "--json").lines[0]
    assert {"text": "It may rain", "to": "delete"} in [
        {"text": each["text"], "to": each["to"]} for each in done["gone"]
    ]
    assert "It may rain" not in run("show", "--kind", "fact").out
    assert "It may snow" in run("show", "--kind", "fact").out
    assert "none has faded" in run("cleanup").out


def test_d6_the_threshold_can_be_given(run: Run, told: Path) -> None:
    assert len(run("cleanup", "--threshold", "1", "--json").lines[0]["gone"]) > 5
    assert run("cleanup", "--threshold", "2").code == 2
    assert run("cleanup", "--user", "nobody").code == 1
