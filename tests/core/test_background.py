"""The background writer: opt-in, quick, in order, and nothing is lost that `flush()` or `close()` answered for (D8)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory
from shared_core.errors import InvalidInput, QueuedWriteFailed
from shared_core.testing import FixedEmbedder, ManualClock


class Slow(FixedEmbedder):
    """A model that takes its time, and can be down."""

    seconds = 0.15
    down: BaseException | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        time.sleep(self.seconds)
        if self.down is not None:
            raise self.down
        return super().embed_documents(texts)


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def writers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "twinmem-writer"]


def test_d8_no_thread_and_no_queue_unless_opted_in(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.add("tea")
        scope.session("s").add_messages([user("hello")])
        assert writers() == []
        assert memory.stats().queued == 0


@pytest.mark.timing
def test_d8_writes_return_at_once_and_are_there_after_flush(path: Path) -> None:
    with AgentMemory.open(path, embedder=Slow(), settings={"background": {"on": True}}) as memory:
        scope = memory.scope(user="alice")
        chat = scope.session("s")
        begin = time.perf_counter()
        for n in range(20):
            chat.add_messages([user(f"message {n}")])
            scope.add(f"note {n}")
        assert time.perf_counter() - begin < 1.0, "forty calls of 0.15 s each would take six"
        memory.flush()
        assert memory.stats().queued == 0
        assert [m.text for m in chat.messages()] == [f"message {n}" for n in range(20)]
    with AgentMemory.open(path, embedder=Slow()) as memory:
        assert {f"note {n}" for n in range(20)} <= {record.text for record in memory.scope(user="alice").list()}
    assert writers() == []


def test_d8_what_waits_together_is_embedded_together(path: Path) -> None:
    embedder = Slow()
    with AgentMemory.open(path, embedder=embedder, settings={"background": {"on": True}}) as memory:
        scope = memory.scope(user="alice")
        for n in range(50):
            scope.add(f"note {n}")
        memory.flush()
        assert embedder.calls <= 4
        assert scope.count() == 50


def test_d8_a_reader_sees_what_it_wrote_and_all_writes_keep_their_order(path: Path) -> None:
    with AgentMemory.open(path, embedder=Slow()) as memory, memory.background():
        scope = memory.scope(user="alice")
        chat = scope.session("s")
        chat.add_messages([user("I moved to Lyon")])
        assert [m.text for m in chat.messages()] == ["I moved to Lyon"]
        assert "Lyon" in chat.context("Where do I live?").text
        fact = scope.add("draft")
        assert scope.update(fact.id, "final").text == "final", "a write that is not queued waits for those before it"
        assert scope.get(fact.id).text == "final"  # type: ignore[union-attr]
        scope.add("gone")
        scope.delete_all()
        assert scope.count() == 0


def test_d8_times_are_those_of_the_call_and_ids_those_that_were_told(path: Path) -> None:
    clock = ManualClock()
    with AgentMemory.open(path, embedder=Slow(), clock=clock, settings={"background": {"on": True}}) as memory:
        scope = memory.scope(user="alice")
        told, times = [], []
        for n in range(3):
            times.append(clock())
            told.append(scope.add(f"note {n}"))
            [turn] = scope.session("s").add_messages([user(f"message {n}")])
            told.append(turn)
            clock.advance(hours=1)
        memory.flush()
        for place, record in enumerate(told):
            stored = scope.get(record.id)
            assert stored is not None
            assert stored.text == record.text
            assert stored.created_at == times[place // 2] == record.created_at
        again = scope.add("note 0")
        memory.flush()
        assert scope.get(again.id) is None, "what was known already keeps its own id"
        assert scope.get(told[0].id).seen == 2  # type: ignore[union-attr]


def test_d8_it_does_what_the_verbs_do_without_it(path: Path, tmp_path: Path) -> None:
    def story(memory: AgentMemory) -> list[Any]:
        scope = memory.scope(user="a")
        chat = scope.session("s")
        chat.add_messages([user("I live in Lyon", id="1"), {"role": "assistant", "content": "Nice", "id": "2"}])
        chat.add_messages([user("I moved to Oslo", id="3")])
        scope.add_many(["tea", {"text": "Ann likes tea", "triple": ("Ann", "likes", "tea")}])
        scope.add("tea")
        scope.add("Ann no longer likes tea", triple=("Ann", "likes", "tea"))
        memory.flush()
        found = scope.list(where={"status": {"$in": ["active", "superseded"]}})
        return sorted((r.kind, r.text, r.status, r.seen, r.importance) for r in found)

    with AgentMemory.open(path, embedder="hashing") as one, one.background():
        queued = story(one)
    with AgentMemory.open(tmp_path / "other.db", embedder="hashing") as two:
        assert story(two) == queued


def test_d8_bad_input_raises_where_it_is_given(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory, memory.background():
        scope = memory.scope(user="alice")
        with pytest.raises(InvalidInput):
            scope.add(" ")
        with pytest.raises(InvalidInput):
            scope.session("s").add_messages([{"content": "no role"}])
        with pytest.raises(InvalidInput):
            scope.add_many(["fine", {"text": "x", "kind": "nothing"}])
        assert memory.stats().queued == 0
        assert scope.count() == 0


def test_d8_a_failure_surfaces_at_flush_with_what_failed_and_nothing_is_lost(path: Path) -> None:
    embedder = Slow()
    embedder.seconds = 0.0
    with AgentMemory.open(path, embedder=embedder, settings={"background": {"on": True}}) as memory:
        alice, bob = memory.scope(user="alice"), memory.scope(user="bob")
        embedder.vectors["boom"] = ConnectionError("no model")
        alice.add("first")
        told = alice.add("boom")
        alice.add("behind")
        bob.add("bob's")
        with pytest.raises(QueuedWriteFailed, match="no model") as caught:
            memory.flush()
        failures = caught.value.failures
        assert [(each.user, each.texts, bool(each.error)) for each in failures] == [
            ("alice", ("boom",), True), ("alice", ("behind",), False)]  # fmt: skip
        assert failures[0].ids == (told.id,)
        assert failures[0].verb == "add"
        assert bob.count() == 1, "one user's failure stops nobody else"
        assert [record.text for record in alice.list()] == ["first"], "a read does not wait for what has failed"
        assert memory.stats().queued == 2
        del embedder.vectors["boom"]
        memory.flush()
        assert [record.text for record in alice.list()] == ["first", "boom", "behind"]
        assert alice.get(told.id) is not None


def test_d8_what_can_never_be_written_can_be_given_up(path: Path) -> None:
    embedder = Slow({"poison": ValueError("too long")}, dimensions=8)
    embedder.seconds = 0.0
    with AgentMemory.open(path, embedder=embedder, settings={"background": {"on": True}}) as memory:
        scope = memory.scope(user="alice")
        scope.add("poison")
        scope.add("fine")
        with pytest.raises(QueuedWriteFailed):
            memory.flush()
        [dropped] = memory.drop_failed()
        assert dropped.texts == ("poison",)
        memory.flush()
        assert [record.text for record in scope.list()] == ["fine"]


def test_d8_closing_writes_what_waits_and_says_what_it_could_not(path: Path) -> None:
    embedder = Slow()
    memory = AgentMemory.open(path, embedder=embedder, settings={"background": {"on": True}})
    memory.scope(user="alice").add("in time")
    memory.close()
    memory = AgentMemory.open(path, embedder=embedder, settings={"background": {"on": True}})
    embedder.down = ConnectionError("gone")
    memory.scope(user="alice").add("too late")
    with pytest.raises(QueuedWriteFailed) as caught:
        memory.close()
    assert caught.value.failures[0].texts == ("too late",)
    memory.close()
    with AgentMemory.open(path, embedder=Slow()) as memory:
        assert [record.text for record in memory.scope(user="alice").list()] == ["in time"]
    assert writers() == []


def test_d8_the_error_of_a_block_is_not_hidden_by_that_of_its_writes(path: Path) -> None:
    embedder = Slow()
    embedder.down = ConnectionError("gone")
    memory = AgentMemory.open(path, embedder=embedder)

    def block() -> None:
        with memory.background():
            memory.scope(user="alice").add("x")
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        block()
    assert any("gone" in note for note in caught.value.__notes__)
    memory.drop_failed()
    memory.close()


def test_d8_a_full_queue_makes_the_next_write_wait(path: Path) -> None:
    embedder = Slow()
    embedder.seconds = 0.02
    settings = {"background": {"on": True, "queued": 5, "batch": 2}}
    with AgentMemory.open(path, embedder=embedder, settings=settings) as memory:
        scope = memory.scope(user="alice")
        most = 0
        for n in range(40):
            scope.add(f"note {n}")
            most = max(most, memory.stats().queued)
        assert most <= 5
        memory.flush()
        assert scope.count() == 40


def test_d8_many_threads_and_scopes(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing", settings={"background": {"on": True}}) as memory:

        def work(name: str) -> None:
            chat = memory.scope(user=name).session("s")
            for n in range(30):
                chat.add_messages([user(f"{n}")])
                if n % 10 == 0:
                    assert len(chat.messages()) == n + 1

        threads = [threading.Thread(target=work, args=(f"user {n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        memory.flush()
        for n in range(4):
            messages = memory.scope(user=f"user {n}").session("s").messages()
            assert [m.text for m in messages] == [str(k) for k in range(30)]
        assert memory.check().ok


@pytest.mark.timing
async def test_d8_async_verbs_are_queued_alike(path: Path) -> None:
    async with await AgentMemory.aopen(path, embedder=Slow()) as memory, memory.background():
        scope = memory.scope(user="alice")
        begin = time.perf_counter()
        for n in range(5):
            await scope.aadd(f"note {n}")
            await scope.session("s").aadd_messages([user(f"message {n}")])
        assert time.perf_counter() - begin < 0.7
        await memory.aflush()
        assert await scope.acount(kinds=["turn"]) == 5


FORKED = """
import os, sys
from shared_core import AgentMemory
memory = AgentMemory.open(sys.argv[1], embedder="hashing", settings={"background": {"on": True}})
scope = memory.scope(user="alice")
for n in range(50):
    scope.add(f"parent {n}")
child = os.fork()
if not child:
    for n in range(20):
        scope.add(f"child {n}")
    memory.flush()
    os._exit(0 if memory.stats().queued == 0 else 1)
for n in range(50, 60):
    scope.add(f"parent {n}")
memory.flush()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
texts = sorted(record.text for record in scope.list())
assert texts == sorted([f"parent {n}" for n in range(60)] + [f"child {n}" for n in range(20)]), len(texts)
memory.close()
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.sqlite_only
def test_r60_d8_a_fork_writes_its_own_and_never_its_parents(path: Path, python: Any) -> None:
    for _ in range(3):
        assert python(FORKED, path.with_name(f"{time.monotonic_ns()}.db")).strip() == "fine"


KILLED = """
import sys, time
from shared_core import AgentMemory
memory = AgentMemory.open(sys.argv[1], embedder="hashing", settings={"background": {"on": True}})
scope = memory.scope(user="alice")
n = 0
while True:
    for _ in range(7):
        scope.add(f"note {n}")
        n += 1
    memory.flush()
    print(n, flush=True)
"""


@pytest.mark.sqlite_only
def test_r41_d8_what_a_flush_answered_for_survives_a_kill(path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    promised = 0
    for _ in range(8):
        promised = int(process.stdout.readline())
    process.kill()
    promised = max([promised, *map(int, process.stdout.read().split())])
    process.wait()
    process.stdout.close()
    with AgentMemory.open(path, embedder="hashing") as memory:
        texts = {record.text for record in memory.scope(user="alice").list()}
        assert {f"note {n}" for n in range(promised)} <= texts
        assert memory.check().ok


@pytest.mark.sqlite_only
def test_d8_a_program_that_forgets_to_close_loses_nothing_that_can_be_written(path: Path, python: Any) -> None:
    script = """
import sys
from shared_core import AgentMemory
memory = AgentMemory.open(sys.argv[1], embedder="hashing", settings={"background": {"on": True}})
for n in range(30):
    memory.scope(user="alice").add(f"note {n}")
"""
    python(script, path)
    with AgentMemory.open(path, embedder="hashing") as memory:
        assert memory.scope(user="alice").count() == 30
