"""Kill a process before each statement and each file operation of a verb, and look what is left.

`python -m tests.store.killing FOLDER KILLS VERB...` prints a line of JSON for each verb, killed so often, or before
every step with KILLS 0; and a few times in the middle of whatever it does. In a process of its own: it forks.

After every kill the file opens, `check()` is content, and what is there is what was before or what is
there afterwards; a verb of several transactions may stand between, and then doing it again ends it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shared_core import AgentMemory
from shared_core.errors import EmbedderMismatch, WrongKey
from shared_core.store import sqlite as sqlite_module
from shared_core.store.sqlite import SqliteStore
from shared_core.testing import FixedEmbedder, ManualClock

State = list[Any]
Act = Callable[[AgentMemory], object]
KEY, OTHER = "first key", "second key"


def talk(name: str, turns: int = 3) -> list[dict[str, Any]]:
    said = []
    for n in range(turns):
        said += [
            {"role": "user", "content": f"I live in Lyon{n} and work at Orbit{n}. {name}", "id": f"u{n}"},
            {"role": "assistant", "content": f"Noted {n}.", "id": f"a{n}"},
        ]
    return said


def prepared(memory: AgentMemory) -> None:
    alice = memory.scope(user="alice")
    alice.add_many([{"text": f"note {n} 关于茶", "id": f"r{n}"} for n in range(6)])
    alice.add("Ann lives in Lyon", triple=("Ann", "lives in", "Lyon"), id="lyon")
    alice.add("old and doubtful", id="faded", confidence=0.1, importance=0.1)
    alice.graph.add("Ann", "knows", "Bob")
    alice.session("monday").add_messages(talk("monday"))
    alice.session("monday").working.start("t", "write the report")
    alice.session("tuesday").add_messages(talk("tuesday", 2))
    memory.scope(user="bob").add("Bob likes tea", id="b")
    alice.search("Lyon")
    memory.flush()


def state(memory: AgentMemory) -> State:
    """All that is told of everybody, without made-up ids and times."""
    found: State = []
    for user in ("alice", "bob", "carol"):
        scope = memory.scope(user=user)
        records = scope.list(where={"status": {"$exists": True}})
        found.append(
            [
                sorted(
                    [r.kind.value, r.text, r.status.value, r.session or "", r.seen, r.message_id or ""] for r in records
                ),
                [[name, [m.text for m in scope.session(name).messages()]] for name in sorted(scope.sessions())],
                sorted(str(each) for each in scope.graph.relations()),
                sorted([each.session or "", each.records] for each in scope.archive.list()),
                [[scope.session(n).working.text(), scope.session(n).summary] for n in sorted(scope.sessions())],
            ]
        )
    return found


def archived(memory: AgentMemory) -> None:
    memory.scope(user="alice").archive.session("monday")


def exported(memory: AgentMemory) -> None:
    memory.scope(user="alice").export(str(memory.address) + ".jsonl")
    memory.forget("alice")
    memory.purge()


def forgotten(memory: AgentMemory) -> None:
    for id in ("r1", "r2", "lyon"):
        memory.scope(user="alice").delete(id)


def queued(memory: AgentMemory) -> None:
    with memory.background():
        for n in range(6):
            memory.scope(user="alice").add(f"queued {n}", id=f"q{n}")


VERBS: dict[str, tuple[Act, Act, bool]] = {
    # what is there before, the verb, and whether it is one transaction: all of it, or nothing
    "add": (prepared, lambda m: m.scope(user="carol").add("I live in Oslo", triple=("Carol", "lives in", "Oslo")), True),
    "add_many": (prepared, lambda m: m.scope(user="alice").add_many([f"batch {n}" for n in range(20)]), True),
    "update": (prepared, lambda m: m.scope(user="alice").update("lyon", "Ann lives in Rome", triple=("Ann", "lives in", "Rome")), True),
    "delete": (prepared, lambda m: m.scope(user="alice").delete("lyon"), True),
    "add_messages": (prepared, lambda m: m.scope(user="alice").session("monday").add_messages(talk("again", 8)[6:]), True),
    "replace_messages": (prepared, lambda m: m.scope(user="alice").session("monday").replace_messages(talk("monday")[2:]), True),
    "summary": (prepared, lambda m: m.scope(user="alice").session("monday").summarise(keep_turns=1), False),
    "working": (prepared, lambda m: m.scope(user="alice").session("monday").working.step("look", "found it"), True),
    "graph": (prepared, lambda m: m.scope(user="alice").graph.merge("Ann", "Bob"), True),
    "event": (prepared, lambda m: m.scope(user="alice").episodes.add("decided", type="decision", session="monday"), True),
    "clear": (prepared, lambda m: m.scope(user="alice").session("monday").clear(), False),
    "delete_session": (prepared, lambda m: m.scope(user="alice").session("monday").delete(), True),
    "delete_all": (prepared, lambda m: m.scope(user="alice").delete_all(), True),
    "forget": (prepared, lambda m: m.forget("alice"), True),
    "purge": (lambda m: (prepared(m), forgotten(m)), lambda m: m.purge(), True),
    "consolidate": (prepared, lambda m: m.scope(user="alice").consolidate(), False),
    "cleanup": (prepared, lambda m: m.scope(user="alice").cleanup(dry_run=False), False),
    "archive": (prepared, archived, True),
    "restore": (lambda m: (prepared(m), archived(m)), lambda m: m.scope(user="alice").archive.restore("monday"), True),
    "import": (lambda m: (prepared(m), exported(m)), lambda m: m.scope(user="alice").import_(str(m.address) + ".jsonl", revive=True), False),
    "background": (prepared, queued, False),
    "reembed": (prepared, lambda m: m.reembed(), False),
    "backup": (prepared, lambda m: m.backup(str(m.address) + ".copy"), True),
    "rekey": (prepared, lambda m: m.rekey(OTHER), True),
    "open": (lambda m: None, prepared, False),
}  # fmt: skip
"""Opening a file that is not there is `open`: the migration is among what is cut off."""


_TIMED = 4  # kills after a part of the time it takes, less one
NOT_AGAIN = {"open", "background"}
"""Verbs whose second time is a second thing."""


class Run:
    """One verb, and its file as it was before."""

    def __init__(self, verb: str, folder: Path) -> None:
        self.verb, self.folder = verb, folder
        self.before, self.act, self.whole = VERBS[verb]
        self.path = folder / "agent.db"
        self.base = folder / "base"

    def open(self, *, after: bool = False, key: str | None = None) -> AgentMemory:
        embedder: Any = "hashing"
        if self.verb == "reembed" and after:
            embedder = FixedEmbedder(dimensions=8, name="another")
        if self.verb == "rekey" and key is None:
            key = KEY
        settings = {
            "transfer": {"batch": 5},
            "consolidation": {"batch": 2},
            "decay": {"batch": 2},
            "archive": {"abandoned_seconds": 0.001},
        }
        return AgentMemory.open(self.path, embedder=embedder, settings=settings, clock=ManualClock(), key=key)

    def reset(self) -> None:
        for path in self.folder.iterdir():
            if path != self.base:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.base, self.folder, dirs_exist_ok=True)

    def prepare(self) -> None:
        self.base.mkdir()
        if self.verb != "open":
            with self.open() as memory:
                self.before(memory)
        for path in self.folder.iterdir():
            if path != self.base:
                shutil.copytree(path, self.base / path.name) if path.is_dir() else shutil.copy(
                    path, self.base / path.name
                )

    def child(self, kill_at: int, after: float | None = None) -> tuple[int, bool]:
        """Do it in a child that is killed before its n-th step, or after some seconds; its steps, and whether it was done."""
        mine, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(mine)
            try:
                with counting(kill_at, theirs):
                    memory = self.open(after=True)
                    self.act(memory)
                    os.write(theirs, b"D")
                    memory.close()
                os._exit(0)
            except BaseException as error:
                sys.stderr.write(f"{self.verb} at {kill_at}: {error!r}\n")
                os._exit(3)
        os.close(theirs)
        if after is not None:
            time.sleep(after)
            os.kill(pid, signal.SIGKILL)
        said = b""
        while part := os.read(mine, 65536):
            said += part
        os.close(mine)
        status = os.waitpid(pid, 0)[1]
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, -signal.SIGKILL), (self.verb, kill_at, code)
        return said.count(b"."), b"D" in said

    def look(self) -> State:
        """Open it, check it, and say what is there."""
        try:
            memory = self.open()
        except WrongKey:
            memory = self.open(key=OTHER)
        try:
            report = memory.check()
        except EmbedderMismatch:  # moved to the new one, as a whole
            memory.close()
            memory = self.open(after=True)
            report = memory.check()
        with memory:
            assert report.ok, (self.verb, report.problems)
            return state(memory)

    def again(self) -> State:
        with self.open(after=True) as memory:
            self.act(memory)
        return self.look()


@contextmanager
def counting(kill_at: int, pipe: int) -> Iterator[None]:
    """Count statements and file operations, and kill this process before the n-th."""
    steps = 0

    def step(*_: object) -> None:
        nonlocal steps
        steps += 1
        if steps == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        os.write(pipe, b".")

    connect = SqliteStore._connect

    def traced(self: SqliteStore) -> Any:
        step()
        connection = connect(self)
        connection.set_trace_callback(step)
        return connection

    SqliteStore._connect = traced  # type: ignore[method-assign]
    for name in ("replace", "fsync", "remove", "unlink", "rmdir", "makedirs"):
        real = getattr(os, name)

        def counted(*arguments: Any, _real: Any = real, **keywords: Any) -> Any:
            step()
            return _real(*arguments, **keywords)

        setattr(os, name, counted)
    assert sqlite_module.os is os
    yield


def main(verb: str, folder: Path, kills: int) -> dict[str, Any]:
    """Kill a verb, and give the figures."""
    run = Run(verb, folder)
    run.prepare()
    before: State | None = None
    if verb != "open":
        before = run.look()
    run.reset()
    begun = time.perf_counter()
    steps, done = run.child(0)
    took = time.perf_counter() - begun
    assert done
    after = run.look()
    chosen: list[tuple[int, float | None]] = [
        (n, None) for n in range(steps, 0, -max(1, steps // kills if kills else 1))
    ]
    chosen += [(0, took * n / _TIMED) for n in range(1, _TIMED)]
    acknowledged = between = 0
    for place, seconds in chosen:
        run.reset()
        _, told = run.child(place, seconds)
        if verb == "open" and not run.path.exists():
            continue
        found = run.look()
        if told:
            acknowledged += 1
            assert found == after, (verb, place, "acknowledged, and lost")
        elif run.whole:
            assert found in (before, after), (verb, place, "half done", found, before, after)
        elif found not in (before, after):
            between += 1
            assert verb in NOT_AGAIN or run.again() == after, (verb, place, "can't be ended")
        copy = Path(f"{run.path}.copy")
        if verb == "backup" and copy.exists():
            run.path.unlink()
            copy.rename(run.path)
            assert run.look() == before, (verb, place, "a copy under its name is not whole")
    return {"verb": verb, "steps": steps, "kills": len(chosen), "acknowledged": acknowledged, "between": between}


if __name__ == "__main__":
    for name in sys.argv[3:]:
        place = Path(sys.argv[1]) / name
        place.mkdir(parents=True)
        print(json.dumps(main(name, place, int(sys.argv[2]))), flush=True)
