"""Many threads on one memory: nothing raised, nothing lost, nobody else's found (R59)."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import pytest

from shared_core import AgentMemory
from shared_core.errors import NotFound


@pytest.mark.parametrize("where", ["file", "memory"])
def test_r59_sixteen_threads_add_search_change_and_erase(path: Path, where: str) -> None:
    failures: list[str] = []
    kept: dict[str, set[str]] = {"alice": set(), "bob": set()}
    started = threading.Barrier(16)
    until = time.monotonic() + 60

    with AgentMemory.open(path if where == "file" else None, embedder="hashing") as memory:

        def work(thread: int) -> None:
            chance = random.Random(thread)
            user = "alice" if thread % 2 else "bob"
            scope = memory.scope(user=user)
            mine: list[str] = []
            started.wait()
            try:
                for step in range(14):
                    mine.append(scope.add(f"{user} {thread} {step} word{thread}x{step}").id)
                    if chance.random() < 0.4:
                        scope.update(chance.choice(mine), f"{user} changed {thread} {step}", metadata={"t": thread})
                    if chance.random() < 0.3:
                        gone = mine.pop(chance.randrange(len(mine)))
                        assert scope.delete(gone).count == 1
                        assert gone not in {h.record.id for h in scope.search(f"{user} {thread}", k=100)}
                    where = {"t": {"$gte": 0}} if chance.random() < 0.3 else None
                    for hit in scope.search(f"word{thread}x{step} {user}", k=20, where=where):
                        assert hit.record.text.startswith(user), hit.record.text
                    assert time.monotonic() < until
            except BaseException as error:
                failures.append(repr(error))
            kept[user].update(mine)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[:3]
        for user, expected in kept.items():
            scope = memory.scope(user=user)
            assert {r.id for r in scope.list()} == expected
            assert {h.record.id for h in scope.search(user, k=1_000)} == expected
        report = memory.check()
        assert report.ok, report.problems
        assert report.records == report.vectors == sum(map(len, kept.values()))


def test_r59_a_memory_outlives_the_thread_that_made_it(path: Path) -> None:
    made: list[AgentMemory] = []

    def make() -> None:
        memory = AgentMemory.open(path, embedder="hashing")
        memory.scope(user="alice").add("made elsewhere")
        made.append(memory)

    for work in (make, lambda: made[0].scope(user="alice").add("added elsewhere")):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert {h.record.text for h in made[0].scope(user="alice").search("elsewhere")} == {
        "made elsewhere",
        "added elsewhere",
    }
    made[0].close()


def test_r59_the_same_fact_from_many_threads_is_one_record(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        threads = [threading.Thread(target=scope.add, args=("I like tea",)) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [record] = scope.list()
        assert record.seen == 12


def test_r59_an_update_and_a_deletion_at_once_end_in_one_of_the_two(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        for n in range(15):
            scope.add("first", id=f"{n}")
            outcome: list[object] = []

            def update(n: int = n, outcome: list[object] = outcome) -> None:
                try:
                    outcome.append(scope.update(f"{n}", "second").text)
                except NotFound:
                    outcome.append(None)

            thread = threading.Thread(target=update)
            thread.start()
            assert scope.delete(f"{n}").count == 1
            thread.join()
            assert outcome in (["second"], [None])
            assert scope.get(f"{n}") is None
        assert scope.list() == []
        assert memory.check().ok
