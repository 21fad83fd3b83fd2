"""Threads that compute take turns: nothing is asked of a model inside of one, and nobody is stuck behind another."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared_core import AgentMemory, turns
from shared_core.steps import Call, Steps, run
from shared_core.testing import FixedEmbedder
from shared_core.turns import in_turn


def steps(log: list[Any]) -> Steps[str]:
    try:
        log.append((yield Call(lambda word: word + "!", "tea")))
        try:
            yield Call(fails, "milk")
        except ConnectionError as error:
            log.append(str(error))
        return "done"
    finally:
        log.append("closed")


def fails(value: str) -> str:
    raise ConnectionError(value)


def test_steps_in_turn_are_the_same_steps() -> None:
    log: list[Any] = []
    assert run(in_turn(steps(log))) == "done"
    assert log == ["tea!", "milk", "closed"]
    log.clear()
    begun = in_turn(steps(log))
    next(begun)
    begun.close()
    assert log == ["closed"]
    with pytest.raises(ZeroDivisionError):
        run(in_turn(steps_that_raise()))
    assert not any(turns._TURN._mine.held)


def steps_that_raise() -> Steps[None]:
    yield Call(str, 1)
    raise ZeroDivisionError


class Meeting(FixedEmbedder):
    """Answers a question only when another thread asks one at the same time."""

    def __init__(self) -> None:
        super().__init__(dimensions=8)
        self.meeting = threading.Barrier(2)

    def embed_query(self, text: str) -> Any:
        self.meeting.wait(timeout=30)
        return super().embed_query(text)


def test_nothing_is_embedded_inside_of_a_turn() -> None:
    with AgentMemory.open(embedder=Meeting()) as memory:
        for user in ("alice", "bob"):
            memory.scope(user=user).add("I like tea")
        found: dict[str, int] = {}

        def ask(user: str) -> None:
            found[user] = len(memory.scope(user=user).search("tea"))

        threads = [threading.Thread(target=ask, args=(user,)) for user in ("alice", "bob")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {"alice": 1, "bob": 1}


def test_who_has_waited_long_goes_ahead_and_the_next_ones_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_PATIENCE", 0.3)
    taken, done = threading.Event(), threading.Event()

    def slow() -> None:
        with turns._TURN:
            taken.set()
            done.wait(timeout=30)

    holder = threading.Thread(target=slow)
    with AgentMemory.open(embedder=FixedEmbedder(dimensions=8)) as memory:
        scope = memory.scope(user="alice")
        scope.add("I like tea")
        scope.search("tea")
        holder.start()
        taken.wait(timeout=30)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            assert scope.search("tea")
            times.append(time.perf_counter() - start)
        done.set()
        holder.join()
        assert times[0] >= 0.3, "it waits its turn"
        assert sum(times[1:]) < 0.3, "but not for one that is known to be slow"
        assert scope.search("tea")
    assert not turns._TURN._mine.held


def test_r09_who_is_cancelled_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_PATIENCE", 20.0)
    log: list[Any] = []
    begun = in_turn(steps(log))
    next(begun)
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with turns._TURN:
            taken.set()
            done.wait(timeout=30)

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait(timeout=30)
    start = time.perf_counter()
    begun.close()
    took = time.perf_counter() - start
    done.set()
    holder.join()
    assert log == ["closed"]
    assert took < 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_r60_a_fork_has_its_own_turn(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.scope(user="alice").add("I like tea")
        taken, done = threading.Event(), threading.Event()

        def hold() -> None:
            with turns._TURN:
                taken.set()
                done.wait(timeout=30)

        holder = threading.Thread(target=hold)
        holder.start()
        taken.wait(timeout=30)
        child = os.fork()
        if child == 0:
            start = time.perf_counter()
            right = len(memory.scope(user="alice").search("tea")) == 1 and time.perf_counter() - start < 10
            os._exit(0 if right and turns._TURN._free.acquire(blocking=False) else 1)
        done.set()
        holder.join()
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.timing
def test_eight_threads_answer_not_much_less_than_one() -> None:
    questions = [f"what about topic {n}?" for n in range(20)]
    with AgentMemory.open(embedder=FixedEmbedder(dimensions=64)) as memory:
        scopes = [memory.scope(user=f"user {n}") for n in range(8)]
        for scope in scopes:
            scope.add_many([f"topic {n} is {np.sqrt(n):.3f}" for n in range(2_000)])
            scope.search("x")

        def rate(number: int, seconds: float = 0.7) -> float:
            done, until = [0] * number, time.perf_counter() + seconds

            def ask(place: int) -> None:
                while time.perf_counter() < until:
                    scopes[place].search(questions[done[place] % 20])
                    done[place] += 1

            threads = [threading.Thread(target=ask, args=(place,)) for place in range(number)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return sum(done) / seconds

        alone, together = rate(1), rate(8)
    assert together > 0.65 * alone, (alone, together)  # without turns about half
