"""Threads and processes with mixed verbs on one file: nothing lost, nothing doubled, order kept (R59, R61).

Each thread writes down what it was told is done; at the end the file has to hold exactly that. Also a program:
`python tests/core/test_load.py FILE SECONDS` runs the load and prints what it held; `TWINMEM_LONG_TESTS` makes the
test a minute long.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import StoreBusy

PROCESSES, THREADS = 4, 8
USERS = ("alice", "爱丽丝")
SHARED_FACT = "the kettle is shared by all"
LONG = bool(os.environ.get("TWINMEM_LONG_TESTS"))


def opened(path: Path | str) -> AgentMemory:
    return AgentMemory.open(path, embedder="hashing")


class Worker:
    """One thread: verbs drawn by chance, and a plain account of what has been acknowledged."""

    def __init__(self, memory: AgentMemory, folder: Path, process: str, thread: int) -> None:
        self.name = f"{process}{thread}"
        self.user = USERS[thread % 2]
        self.scope: Scope = memory.scope(user=self.user)
        self.chance = random.Random(self.name)
        self.folder = folder
        self.words = 0
        self.facts: dict[str, str] = {}
        self.gone: list[str] = []
        self.talk: list[tuple[str, str]] = []
        self.shared_talk: list[str] = []
        self.steps: list[str] = []
        self.known: list[str] = []
        self.events: list[str] = []
        self.told = 0
        self.verbs: Counter[str] = Counter()
        self.busy: Counter[str] = Counter()

    VERBS: ClassVar[dict[str, int]] = {
        "add": 10, "add_many": 4, "update": 6, "delete": 4, "tell_shared": 3, "say": 8, "say_shared": 8, "replace": 3,
        "clear": 1, "relate": 4, "happen": 3, "step": 2, "search": 10, "read": 8, "context": 3, "graph": 3,
        "archive": 1, "upkeep": 1, "carry": 1, "copy": 1,
    }  # fmt: skip

    def run(self, until: float) -> None:
        names, weights = list(self.VERBS), list(self.VERBS.values())
        first = names[int(self.name[1:]) :: THREADS]  # so that all are used, however slow the machine
        while first or time.monotonic() < until:
            verb = first.pop() if first else self.chance.choices(names, weights)[0]
            try:
                getattr(self, verb)()
                self.verbs[verb] += 1
            except StoreBusy as error:  # documented, and refused whole: the account below has nothing of it
                self.busy[f"{verb}: {str(error)[-60:]}"] += 1

    def text(self) -> str:
        self.words += 1
        return f"{self.user} noted zq{self.name}n{self.words}x"

    # ------------------------------------------------------------------ writing

    def add(self) -> None:
        text, id = self.text(), f"{self.name}-{self.words}"
        assert self.scope.add(text, id=id, metadata={"by": self.name}).id == id
        self.facts[id] = text

    def add_many(self) -> None:
        items = [{"text": self.text(), "id": f"{self.name}-{self.words}"} for _ in range(5)]
        self.scope.add_many(items)
        self.facts.update({item["id"]: item["text"] for item in items})

    def update(self) -> None:
        if self.facts:
            id, text = self.chance.choice(list(self.facts)), self.text()
            assert self.scope.update(id, text).text == text
            self.facts[id] = text

    def delete(self) -> None:
        if self.facts:
            id = self.chance.choice(list(self.facts))
            assert self.scope.delete(id).count == 1
            word = self.facts.pop(id).split()[-1]
            self.gone.append(id)
            assert self.scope.get(id) is None
            assert not [hit for hit in self.scope.search(word, k=3) if word in hit.record.text]

    def tell_shared(self) -> None:
        self.scope.add(SHARED_FACT)
        self.told += 1

    def pair(self) -> list[dict[str, str]]:
        words = [self.text() for _ in range(2)]
        roles = ("user", "assistant")
        return [{"role": role, "content": word, "id": word} for role, word in zip(roles, words, strict=True)]

    def say(self) -> None:
        pair = self.pair()
        self.scope.session(self.name).add_messages(pair)
        self.talk += [(message["id"], message["content"]) for message in pair]

    def say_shared(self) -> None:
        pair = self.pair()
        self.scope.session("all").add_messages(pair)
        self.shared_talk += [message["content"] for message in pair]

    def replace(self) -> None:
        pair = self.pair()
        whole = [{"role": "user", "content": text, "id": id} for id, text in self.talk[-6:]] + pair
        self.scope.session(self.name).replace_messages(whole)
        self.talk = [(str(message["id"]), message["content"]) for message in whole]

    def clear(self) -> None:
        assert self.scope.session(self.name).clear().count == len(self.talk)
        self.talk = []

    def relate(self) -> None:
        self.words += 1
        other = f"place zq{self.name}n{self.words}x"
        self.scope.graph.add(f"person {self.name}", "visited", other)
        self.known.append(other)

    def happen(self) -> None:
        text = self.text()
        self.events.append(self.scope.episodes.add(text, type="decision").id)

    def step(self) -> None:
        if len(self.steps) >= 40:  # a task is one value, written whole
            return
        text = self.text()
        self.scope.session("board").working.step(text, "done")
        self.steps.append(text)

    # ------------------------------------------------------------------ reading

    def search(self) -> None:
        wanted = self.chance.choice(list(self.facts.values())) if self.facts else self.user
        hits = self.scope.search(wanted, k=5, where={"by": self.name} if self.chance.random() < 0.2 else None)
        for hit in hits:
            text = hit.record.text
            assert text.startswith(self.user) or text == SHARED_FACT or self.user in text, (self.user, text)

    def read(self) -> None:
        for id, text in self.chance.sample(list(self.facts.items()), min(3, len(self.facts))):
            record = self.scope.get(id)
            assert record is not None
            assert record.text == text
        assert [message.text for message in self.scope.session(self.name).messages()] == [text for _, text in self.talk]
        for id in self.gone[-3:]:
            assert self.scope.get(id) is None

    def context(self) -> None:
        other = USERS[1 - USERS.index(self.user)]
        assert f"{other} noted" not in self.scope.session("all").context(self.user, max_tokens=400).text

    def graph(self) -> None:
        found = {each.name for each in self.scope.graph.neighbours(f"person {self.name}")}
        assert found >= set(self.known[-3:])

    # ------------------------------------------------------------------ upkeep

    def archive(self) -> None:
        if self.talk:
            kept = self.scope.archive.session(self.name)
            assert self.scope.session(self.name).messages() == []
            self.scope.archive.restore(kept.id)

    def upkeep(self) -> None:
        self.scope.consolidate()
        self.scope.cleanup(dry_run=True)

    def carry(self) -> None:
        file = self.folder / f"{self.name}.jsonl"
        self.scope.session(self.name).export(file, vectors=False)
        file.unlink()

    def copy(self) -> None:
        self.scope.stats()
        self.scope.profile.text()

    def account(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name in ("name", "user", "facts", "gone", "talk", "shared_talk", "steps", "known", "events", "told",
                         "verbs", "busy")
        }  # fmt: skip


def one_process(path: str, process: str, seconds: float) -> list[dict[str, Any]]:
    """Eight threads on one handle for so many seconds; their accounts, or the first failure raised."""
    failures: list[BaseException] = []
    with opened(path) as memory:
        workers = [Worker(memory, Path(path).parent, process, n) for n in range(THREADS)]
        until = time.monotonic() + seconds

        def run(worker: Worker) -> None:
            try:
                worker.run(until)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    return [worker.account() for worker in workers]


def load(path: Path, seconds: float) -> list[dict[str, Any]]:
    """Four processes of eight threads; what each thread says has happened."""
    with opened(path) as memory:
        for user in USERS:
            memory.scope(user=user).session("board").working.start("board", f"{user} keeps a board")
    command = [sys.executable, __file__, "--process", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    children = [
        subprocess.Popen([*command, name, str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, encoding="utf-8", env=environment)
        for name in "abcd"[:PROCESSES]
    ]  # fmt: skip
    accounts = []
    ended = [child.communicate(timeout=seconds * 4 + 120) for child in children]
    for child, (out, errors) in zip(children, ended, strict=True):
        assert child.returncode == 0, errors[-3000:]
        accounts += json.loads(out)
    return accounts


def verify(path: Path, accounts: list[dict[str, Any]]) -> int:
    """The file holds what was acknowledged, once, in order, and nothing else; how many writes that were."""
    writes = 0
    with opened(path) as memory:
        report = memory.check()
        assert report.ok, report.problems[:3]
        for user in USERS:
            scope, mine = memory.scope(user=user), [each for each in accounts if each["user"] == user]
            facts = {id: text for each in mine for id, text in each["facts"].items()}
            every = scope.list(where={"status": {"$exists": True}})
            named = {record.id: record.text for record in every if record.kind == "fact" and "-" in record.id}
            assert {id: named.get(id) for id in facts} == facts, "a fact was lost or is another one's"
            ids = {id for id in named if id.partition("-")[0] in {each["name"] for each in mine}}
            assert ids == set(facts), "a fact is there that was erased, or never told"
            _once([record.text for record in every if " noted zq" in record.text and record.kind == "fact"])
            told = sum(each["told"] for each in mine)
            assert [record.seen for record in every if record.text == SHARED_FACT] == [told] * (told > 0)
            events = {id for each in mine for id in each["events"]}
            assert events <= {record.id for record in every if record.kind == "event"}
            _talk(scope, mine)
            for each in mine:
                found = [one.name for one in scope.graph.neighbours(f"person {each['name']}")]
                assert sorted(found) == sorted(each["known"]), "a relation was lost or doubled"
            _steps(scope, mine)
            sample = random.Random(1).sample(sorted(facts.values()), min(20, len(facts)))
            for text in sample:
                word = text.split()[-1]
                assert [hit.record.text for hit in scope.search(word, k=5) if word in hit.record.text] == [text]
            writes += sum(
                len(each["facts"]) + len(each["gone"]) + len(each["talk"]) + len(each["shared_talk"])
                + len(each["known"]) + len(each["events"]) + each["told"] + len(each["steps"])
                for each in mine
            )  # fmt: skip
        memory.flush()
        known = {Path(one.address).name for user in USERS for one in memory.scope(user=user).archive.list()}
        files = {file.name for file in Path(f"{path}.archive").rglob("*.zst*")}
        assert files == known, "an archive file was lost, or left behind by a move that did not come to its end"
    return writes


def _once(texts: list[str]) -> None:
    twice = [text for text, number in Counter(texts).items() if number > 1]
    assert not twice, twice[:3]


def _talk(scope: Scope, mine: list[dict[str, Any]]) -> None:
    for each in mine:
        said = [message.text for message in scope.session(each["name"]).messages()]
        assert said == [text for _, text in each["talk"]], each["name"]
    shared = [message.text for message in scope.session("all").messages()]
    _once(shared)
    assert sorted(shared) == sorted(text for each in mine for text in each["shared_talk"])
    place = {text: number for number, text in enumerate(shared)}
    for each in mine:
        places = [place[text] for text in each["shared_talk"]]
        assert places == sorted(places), "a thread's messages are out of order"
        assert all(places[n + 1] == places[n] + 1 for n in range(0, len(places), 2)), "a pair was torn apart"


def _steps(scope: Scope, mine: list[dict[str, Any]]) -> None:
    task = scope.session("board").working.current
    assert task is not None
    actions = [step.action for step in task.steps]
    assert sorted(actions) == sorted(step for each in mine for step in each["steps"])
    for each in mine:
        assert [action for action in actions if action in set(each["steps"])] == each["steps"]


@pytest.mark.sqlite_only
def test_r59_r61_four_processes_of_eight_threads_with_mixed_verbs_lose_and_double_nothing(path: Path) -> None:
    accounts = load(path, 60 if LONG else 3)
    assert len(accounts) == PROCESSES * THREADS
    assert verify(path, accounts) > (2_000 if LONG else 100)
    used = sum((Counter(each["verbs"]) for each in accounts), Counter())
    assert set(used) == set(Worker.VERBS)


if __name__ == "__main__":
    if sys.argv[1] == "--process":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        print(json.dumps(one_process(sys.argv[2], sys.argv[3], float(sys.argv[4]))))
    else:
        began = time.monotonic()
        done = load(Path(sys.argv[1]), float(sys.argv[2]))
        total = sum(sum(each["verbs"].values()) for each in done)
        writes = verify(Path(sys.argv[1]), done)
        print(json.dumps({
            "processes": PROCESSES, "threads": THREADS, "seconds": float(sys.argv[2]), "verbs": total,
            "writes_verified": writes, "busy": sum((Counter(each["busy"]) for each in done), Counter()),
            "seconds_in_all": round(time.monotonic() - began, 1),
        }))  # fmt: skip
