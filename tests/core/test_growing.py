"""What must not get in the way as a memory grows: no lock while a model works, no cost a scope's size adds to a write."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from shared_core import AgentMemory

WAIT = 20.0


class Slow:
    """An embedder that stops at a text with "slow" in it until it is let go."""

    name, dimensions = "slow", 16

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        if "slow" in text.lower():
            self.reached.set()
            assert self.go_on.wait(WAIT)
        return list(np.random.default_rng(len(text)).standard_normal(self.dimensions))


@pytest.fixture
def slow() -> Iterator[Slow]:
    embedder = Slow()
    yield embedder
    embedder.go_on.set()


@pytest.mark.parametrize("verb", ["search", "add", "add_many", "add_messages", "update"])
def test_nobody_waits_while_a_text_is_embedded(slow: Slow, path: Path, verb: str) -> None:
    with AgentMemory.open(path, embedder=slow) as memory:
        scope = memory.scope(user="alice")
        known = scope.add("I live in Lyon")
        scope.search("Lyon")
        verbs = {
            "search": lambda: scope.search("a slow question"),
            "add": lambda: scope.add("a slow fact"),
            "add_many": lambda: scope.add_many(["one", "a slow fact"]),
            "add_messages": lambda: scope.session("s").add_messages([{"role": "user", "content": "a slow message"}]),
            "update": lambda: scope.update(known.id, "a slow text"),
        }
        worker = threading.Thread(target=verbs[verb])
        worker.start()
        assert slow.reached.wait(WAIT)
        done = threading.Event()

        def others() -> None:
            scope.add("My bike is red")
            assert scope.search("bike")
            scope.delete(scope.add("gone").id)
            done.set()

        other = threading.Thread(target=others)
        other.start()
        assert done.wait(WAIT / 2), f"{verb} holds a lock while it embeds"
        slow.go_on.set()
        for each in (worker, other):
            each.join()


@pytest.mark.sqlite_only
def test_no_step_of_a_write_reads_the_scope(path: Path) -> None:
    """SQLite's own count of steps: what an add does is the same with 100 records and with 3,000."""
    counts = []
    with AgentMemory.open(path, embedder="hashing", settings={"facts": {"extract": False}}) as memory:
        scope = memory.scope(user="alice")
        for size in (100, 2_900):
            scope.add_many([f"Note {size} {n} about {n % 17} things" for n in range(size)])
            scope.add("a first one, so that all is cached")
            steps = _Steps(memory)
            scope.add(f"one more after {size}")
            counts.append(steps.taken())
    assert counts[1] < 1.5 * counts[0], counts


class _Steps:
    """Counts the virtual machine's steps on every connection of a memory, in tens."""

    def __init__(self, memory: AgentMemory) -> None:
        self._count = 0
        self._connections: list[sqlite3.Connection] = memory._live().store._idle  # type: ignore[attr-defined]
        assert self._connections
        for connection in self._connections:
            connection.set_progress_handler(self._step, 10)

    def _step(self) -> int:
        self._count += 1
        return 0

    def taken(self) -> int:
        for connection in self._connections:
            connection.set_progress_handler(None, 0)
        return self._count


@pytest.mark.sqlite_only
def test_d9_many_scopes_stay_under_the_limit(path: Path) -> None:
    limit = 1_000_000
    with AgentMemory.open(path, embedder="hashing", settings={"cache": {"bytes": limit}}) as memory:
        for number in range(60):
            memory.scope(user=f"user-{number}").add_many([f"Note {number} {n}" for n in range(30)])
        for number in range(60):
            assert (
                memory.scope(user=f"user-{number}").search(f"Note {number} 7", k=1)[0].record.text == f"Note {number} 7"
            )
        stats = memory.stats()
    assert stats.bytes <= limit
    assert stats.evicted > 0
