"""Processes killed in the middle of their writes, and several processes and threads on one file."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared_core import AgentMemory

WRITER = """
import json, random, sys
from shared_core import AgentMemory

path, seed, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
memory = AgentMemory.open(path, embedder="hashing", settings={"facts": {"extract": False}})
scope = memory.scope(user="alice")
live = [record.id for record in scope.list(kinds=["fact"])]

def say(*what):
    print(json.dumps(what), flush=True)

for step in range(first, first + 200):
    verb = chance.choice(["add", "add", "add", "update", "delete", "turns"])
    if verb in ("update", "delete") and not live:
        verb = "add"
    if verb == "add":
        id, text = f"r{step}", f"note {step} zebra{step}"
        say("try", "put", id, text)
        scope.add(text, id=id)
        live.append(id)
    elif verb == "update":
        id, text = chance.choice(live), f"changed {step} zebra{step}"
        say("try", "put", id, text)
        scope.update(id, text)
    elif verb == "delete":
        id = live.pop(chance.randrange(len(live)))
        say("try", "gone", id, None)
        scope.delete(id)
    else:
        pair = [{"id": f"m{step}{side}", "role": role, "content": f"{role} {step} yak{step}"}
                for side, role in ((0, "user"), (1, "assistant"))]
        say("try", "turns", [m["id"] for m in pair], [m["content"] for m in pair])
        scope.session("talk").add_messages(pair)
    say("ack")
say("done")
"""


def killed_writer(path: Path, seed: int, first: int, after: int, pause: float) -> list[list[object]]:
    """Run the writer, kill it `pause` seconds after its `after`-th line, and give all it managed to say."""
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(seed), str(first)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    said = []
    for line in child.stdout:
        said.append(json.loads(line))
        if len(said) == after:
            time.sleep(pause)
            os.kill(child.pid, signal.SIGKILL)
            break
    said += [json.loads(line) for line in child.stdout if line.endswith("\n")]
    child.stdout.close()
    assert child.wait(30) == -signal.SIGKILL
    return said


def test_r41_a_write_that_was_acknowledged_survives_kill_9_at_any_moment(path: Path) -> None:
    chance = random.Random(41)
    facts: dict[str, str] = {}
    turns: dict[str, str] = {}
    writes = 0
    for kill in range(6):
        said = killed_writer(path, kill, 1000 * kill, chance.randrange(2, 200), chance.random() * 0.004)
        doubtful = None
        for event in said:
            if event[0] == "try":
                doubtful = event[1:]
            elif event[0] == "ack":
                assert doubtful is not None
                writes += 1
                _happened(doubtful, facts, turns)
                doubtful = None
        with AgentMemory.open(path, embedder="hashing") as memory:
            scope = memory.scope(user="alice")
            found = {r.id: r.text for r in scope.list(kinds=["fact"])}
            talk = {str(m.id): m.text for m in scope.session("talk").messages()}
            if doubtful is not None and (found, talk) != (facts, turns):
                _happened(doubtful, facts, turns)  # all of it, or nothing
            assert found == facts
            assert list(talk.items()) == list(turns.items())
            report = memory.check()
            assert report.ok, report.problems
            assert report.records == report.vectors == len(facts) + len(turns)
            for id, text in list(facts.items())[-20:]:
                word = text.split()[-1]
                assert [h.record.id for h in scope.search(word) if word in h.record.text] == [id]
    assert writes > 100


def _happened(event: list[object], facts: dict[str, str], turns: dict[str, str]) -> None:
    what, ids, texts = event
    if what == "put":
        facts[str(ids)] = str(texts)
    elif what == "gone":
        facts.pop(str(ids))
    else:
        assert isinstance(ids, list)
        assert isinstance(texts, list)
        turns.update(zip(ids, texts, strict=True))


HAMMER = """
import sys, threading, random
from shared_core import AgentMemory

path, who = sys.argv[1], sys.argv[2]
memory = AgentMemory.open(path, embedder="hashing")
scope = memory.scope(user="alice")
failures = []

def work(thread):
    chance = random.Random(f"{who}{thread}")
    mine = []
    try:
        for step in range(12):
            record = scope.add(f"{who} {thread} {step} word{who}x{thread}x{step}")
            mine.append(record.id)
            if chance.random() < 0.3:
                scope.update(chance.choice(mine), metadata={"by": who})
            if chance.random() < 0.3:
                assert scope.delete(mine.pop(chance.randrange(len(mine)))).count == 1
            for hit in scope.search(f"word{who}x{thread}x{step}", k=3):
                assert hit.record.id
        kept.extend(mine)
    except BaseException as error:
        failures.append(repr(error))

kept = []
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
memory.close()
assert not failures, failures
print("\\n".join(kept))
"""


def test_r59_two_processes_of_eight_threads_each_lose_nothing(path: Path) -> None:
    children = [
        subprocess.Popen([sys.executable, "-c", HAMMER, str(path), who], stdout=subprocess.PIPE, text=True)
        for who in ("left", "right")
    ]
    kept = set()
    for child in children:
        out, _ = child.communicate(timeout=90)
        assert child.returncode == 0
        kept |= set(out.split())
    with AgentMemory.open(path, embedder="hashing") as memory:
        assert {record.id for record in memory.scope(user="alice").list()} == kept
        report = memory.check()
        assert report.ok, report.problems
        assert report.vectors == len(kept)


RACE = """
import sys
from shared_core import AgentMemory
with AgentMemory.open(sys.argv[1], embedder="hashing") as memory:
    memory.scope(user="alice").add(f"born in {sys.argv[2]}")
"""


def test_r41_processes_that_create_the_same_file_at_once_all_succeed(path: Path) -> None:
    children = [subprocess.Popen([sys.executable, "-c", RACE, str(path), str(n)]) for n in range(4)]
    assert [child.wait(60) for child in children] == [0] * 4
    with AgentMemory.open(path, embedder="hashing") as memory:
        assert len(memory.scope(user="alice").list()) == 4
        assert memory.check().ok


def test_a_second_process_sees_what_the_first_wrote_changed_and_erased(path: Path, python) -> None:
    """A cache that isn't told of another process's writes would answer with erased memories."""
    other = """
import sys
from shared_core import AgentMemory
with AgentMemory.open(sys.argv[1], embedder="hashing") as memory:
    scope = memory.scope(user="alice")
    scope.add("giraffe in the garden", id="new")
    scope.update("kept", "walrus on the roof", metadata={"colour": "grey"})
    scope.delete("gone")
"""
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.add_many([{"id": "kept", "text": "ostrich in the hall"}, {"id": "gone", "text": "lobster in the bath"}])
        assert len(scope.search("ostrich lobster", where={"colour": {"$exists": False}})) == 2
        python(other, path)
        assert {h.record.id for h in scope.search("giraffe walrus lobster ostrich")} == {"new", "kept"}
        assert [h.record.id for h in scope.search("walrus", where={"colour": "grey"})] == ["kept"]


FORK = """
import multiprocessing, sys
from shared_core import AgentMemory

path = sys.argv[1] if len(sys.argv) > 1 else None
memory = AgentMemory.open(path, embedder="hashing")
scope = memory.scope(user="alice")
scope.add_many([f"note {n} zebra{n}" for n in range(1000)])
assert scope.search("zebra7")[0].record.text == "note 7 zebra7"

def child(pipe):
    try:
        found = scope.search("zebra8", k=1)[0].record.text
        scope.add("written by the child okapi")
        again = scope.search("okapi", k=1)[0].record.text
        for _ in range(7):
            scope.search("zebra500", k=1)
        memory.flush()
        pipe.send((found, again))
    except BaseException as error:
        pipe.send(repr(error))

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=child, args=(theirs,))
    process.start()
    assert mine.poll(20), "the child hangs"
    answer = mine.recv()
    process.join(20)
    assert process.exitcode == 0
    assert answer == ("note 8 zebra8", "written by the child okapi"), answer
    if path is not None:
        [counted] = [r for r in scope.list() if r.text == "note 500 zebra500"]
        assert counted.accesses >= 7, "what the child recalled was not counted"
    scope.add("written by the parent tapir")
    assert scope.search("tapir", k=1)[0].record.text == "written by the parent tapir"
    seen = scope.search("okapi", k=1)[0].record.text
    assert (seen == "written by the child okapi") is (path is not None), seen
    report = memory.check()
    assert report.ok, report.problems
    memory.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("where", ["file", "memory"])
def test_r60_a_forked_child_searches_and_writes_and_the_parent_goes_on(path: Path, python, where: str) -> None:
    python(FORK, *([path] if where == "file" else []), timeout=60)


OUTLIVES = """
import multiprocessing, os, sys
from shared_core import AgentMemory

memory = AgentMemory.open(sys.argv[1], embedder="hashing")
scope = memory.scope(user="alice")
scope.add("written by the parent")
context = multiprocessing.get_context("fork")
ready, go = context.Event(), context.Event()

def child():
    scope.add("written before the parent closed")
    ready.set()
    go.wait(20)
    scope.add("written after the parent closed")

process = context.Process(target=child)
process.start()
assert ready.wait(20)
assert len(scope.list()) == 2
memory.close()
go.set()
process.join(20)
assert process.exitcode == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_r60_what_a_child_writes_after_its_parent_closed_is_not_lost(path: Path, python) -> None:
    """SQLite's table of held locks is inherited; the parent once deleted the log that the child was writing to."""
    python(OUTLIVES, path)
    with AgentMemory.open(path, embedder="hashing") as memory:
        assert len(memory.scope(user="alice").list()) == 3
        assert memory.check().ok


BUSY = """
import multiprocessing, sys, threading
from shared_core import AgentMemory

memory = AgentMemory.open(sys.argv[1], embedder="hashing")
scope = memory.scope(user="alice")
scope.add_many([f"note {n} zebra{n}" for n in range(200)])
scope.search("zebra1")
stop, failures = threading.Event(), []

def work(thread):
    n = 0
    try:
        while not stop.is_set():
            scope.add(f"by {thread} {n}")
            assert scope.search(f"zebra{n % 200}", k=1)
            n += 1
    except BaseException as error:
        failures.append(repr(error))

def child():
    assert scope.search("zebra8", k=1)[0].record.text == "note 8 zebra8"
    scope.add("written by a child")

threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
[t.start() for t in threads]
context = multiprocessing.get_context("fork")
for _ in range(8):
    process = context.Process(target=child)
    process.start()
    process.join(20)
    if process.exitcode != 0:
        process.kill()
        failures.append(f"the child ended with {process.exitcode}")
stop.set()
[t.join() for t in threads]
assert not failures, failures
[record] = [r for r in scope.list() if r.text == "written by a child"]
assert record.seen == 8
assert memory.check().ok
memory.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_r60_a_fork_in_the_middle_of_other_threads_work_neither_hangs_nor_fails(path: Path, python) -> None:
    python(BUSY, path)
