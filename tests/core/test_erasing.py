"""Forgetting with proof (E3): nothing of what was erased is left in any file, and the receipt can be checked."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Receipt, Scope
from shared_core.errors import InvalidInput, InvalidType
from shared_core.testing import ManualClock
from tests.conftest import LONG
from tests.disk import on_disk, raw

pytestmark = pytest.mark.sqlite_only  # a server's files are the server's

KEY = "correct horse battery staple"
STEPS = 3_000 if LONG else 200
SECRET = b"ZXQ-secret"


def opened(path: Path, **more: Any) -> AgentMemory:
    return AgentMemory.open(path, embedder="hashing", **more)


class Teller:
    """Says things of every kind for one user, each with a canary of its own, and takes some of them back."""

    def __init__(self, scope: Scope, mark: str, chance: random.Random) -> None:
        self.scope, self.mark, self.chance = scope, mark, chance
        self.live: dict[str, Callable[[], Any]] = {}
        self.gone: list[str] = []
        self.receipts: list[Receipt] = []
        self.said = 0

    def word(self) -> str:
        self.said += 1
        return f"{self.mark}{self.said:06d}q"

    def step(self) -> None:
        verb = self.chance.choice(
            [
                "fact",
                "fact",
                "batch",
                "turn",
                "event",
                "rule",
                "graph",
                "task",
                "summary",
                "update",
                "archive",
                "forget",
                "forget",
            ]
        )
        getattr(self, verb)()

    def fact(self) -> None:
        word = self.word()
        record = self.scope.add(
            f"{word} 关于 {word}" + " filler" * self.chance.randrange(60), metadata={word: {"deep": [word]}}, entities=[word],
            triple=(f"{word} one", f"{word} likes", f"{word} two"), type=word[:30], id=f"id-{word}",
        )  # fmt: skip
        self.live[word] = lambda: self.scope.delete(record.id)

    def batch(self) -> None:
        words = [self.word() for _ in range(self.chance.randrange(1, 8))]
        for word, record in zip(words, self.scope.add_many([f"note {word} " * 9 for word in words]), strict=True):
            self.live[word] = lambda id=record.id: self.scope.delete(id)

    def turn(self) -> None:
        word = self.word()
        chat = self.scope.session(f"session {word}")
        chat.add_messages(
            [
                {"role": "user", "content": f"I live in {word}. My name is {word}.", "name": word},
                {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "name": word, "args": {word: word}}]},
                {"role": "tool", "content": [{"type": "text", "text": f"{word} done"}], "tool_call_id": "c"},
            ]
        )
        assert chat.snapshot is not None
        self.live[word] = chat.delete

    def task(self) -> None:
        word = self.word()
        chat = self.scope.session(f"task {word}")
        chat.working.start(word, f"do {word}", goal=word)
        chat.working.step(f"tried {word}", word)
        chat.working.set(word, word)
        chat.add_messages([{"role": "user", "content": f"and {word}"}])
        self.live[word] = chat.delete

    def summary(self) -> None:
        word = self.word()
        chat = self.scope.session(f"long {word}")
        chat.add_messages([{"role": "user", "content": f"we must never tell {word} number {n}"} for n in range(12)])
        chat.summarise(keep_turns=1)
        assert word in chat.summary
        self.live[word] = chat.delete

    def event(self) -> None:
        word = self.word()
        event = self.scope.episodes.add(f"decided on {word}", type="decision", details={"why": word})
        self.live[word] = lambda: self.scope.delete(event.id)

    def rule(self) -> None:
        word = self.word()
        rule = self.scope.procedures.add(f"when {word}", [f"first {word}", "then stop"])
        self.scope.procedures.outcome(rule.id, True, detail=word)
        self.live[word] = lambda: self.scope.delete(rule.id)

    def graph(self) -> None:
        word = self.word()
        self.scope.graph.add(f"{word} a", f"knows {word}", f"{word} b", attributes={word: word})
        self.scope.graph.alias(f"{word} a", f"{word} nick")
        self.scope.graph.describe(f"{word} b", type=word, attributes={"of": word})

        def both() -> Receipt:
            self.scope.graph.delete(f"{word} a")
            return self.scope.graph.delete(f"{word} b")

        self.live[word] = both

    def update(self) -> None:
        old, new = self.word(), self.word()
        record = self.scope.add(f"{old} at first", metadata={"k": old})
        self.scope.update(record.id, f"{new} by now", metadata={"k": new})

        def take() -> Receipt:
            self.gone.append(old)
            return self.scope.delete(record.id)

        self.live[new] = take

    def archive(self) -> None:
        word = self.word()
        chat = self.scope.session(f"old {word}")
        chat.add_messages([{"role": "user", "content": f"long ago {word} {n}"} for n in range(3)])
        self.scope.archive.session(chat.id)
        if self.chance.random() < 0.3:
            self.scope.archive.restore(chat.id)
        self.live[word] = chat.delete if chat.messages() else lambda: self.scope.archive.delete(chat.id)

    def forget(self) -> None:
        if self.live:
            word = self.chance.choice(sorted(self.live))
            self.receipts.append(self.live.pop(word)())
            self.gone.append(word)


def found(words: list[str], data: bytes) -> list[str]:
    lower = data.lower()
    return [word for word in words if word.lower().encode() in lower]


def whole(mark: str, data: bytes) -> list[bytes]:
    """The canaries in a text; three letters alone stand somewhere in any megabyte of an encrypted file."""
    return re.findall(mark.encode() + rb"\d{6}q", data.lower())


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_r66_e3_no_byte_of_what_was_erased_is_in_any_file(path: Path, key: str | None) -> None:
    """Thousands of writes, changes and deletions of every kind, database and archive; what others told is still there."""
    if key is not None:
        pytest.importorskip("sqlcipher3")
    canaries(path, key, STEPS)


def canaries(path: Path, key: str | None, steps: int) -> dict[str, int]:
    """Say and take back so often; how many words were said, were erased, and how many bytes were looked through."""
    chance = random.Random(66)
    with opened(path, key=key) as memory:
        alice = Teller(memory.scope(user="alice"), "zxqa", chance)
        bob = Teller(memory.scope(user="bob", agent="other"), "zxqb", chance)
        for step in range(steps):
            (bob if step % 4 == 0 else alice).step()
        assert len(alice.gone) > steps // 20
        before = on_disk(path.parent, memory)
        missing = sorted(set(alice.live) - set(found(list(alice.live), before)))
        assert not missing, "a canary that can't be seen proves nothing"
        assert memory.purge()
        after = on_disk(path.parent, memory)
        assert not found(alice.gone, after)
        assert not found(bob.gone, after)
        assert found(list(bob.live), after) == list(bob.live)
        assert found(list(alice.live), after) == list(alice.live)
        if key is not None:
            assert not whole("zxq.", b"".join(p.read_bytes() for p in path.parent.rglob("*") if p.is_file()))
        for receipt in alice.receipts[-10:]:
            assert memory.verify(receipt).ok, memory.verify(receipt)
        memory.backup(path.parent / "copy.db")
        everything = memory.scope(user="alice").delete_all()
        assert not everything.pending
        assert memory.verify(everything).ok, memory.verify(everything)
        assert found(alice.gone, on_disk(path.parent, memory)) == []  # nor in the backup that was made after
        (path.parent / "copy.db").unlink()
        shutil.rmtree(path.parent / "copy.db.archive")
        last = on_disk(path.parent, memory)
        assert not whole("zxqa", last)
        assert found(list(bob.live), last) == list(bob.live)
        memory.forget("bob")
        assert not whole("zxqb", on_disk(path.parent, memory))
        assert memory.check().ok, memory.check().problems
    assert not whole("zxq.", on_disk(path.parent))
    return {
        "steps": steps, "words": alice.said + bob.said, "erased before the rest": len(alice.gone) + len(bob.gone),
        "bytes searched": len(before) + len(after) + len(last),
    }  # fmt: skip


# ---------------------------------------------------------------------- when the bytes go


def test_e3_deletions_share_one_rewriting_that_close_does(path: Path) -> None:
    with opened(path) as memory:
        scope = memory.scope(user="alice")
        records = scope.add_many([f"{SECRET.decode()} {n} " * 40 for n in range(200)])
        scope.add("keep CTRL")
        receipts = [scope.delete(record.id) for record in records]
        assert all(receipt.pending for receipt in receipts)
        assert not memory.verify(receipts[0]).ok
        assert memory.verify(receipts[0]).problems == ()
    assert SECRET not in on_disk(path.parent)
    assert b"CTRL" in on_disk(path.parent)
    with opened(path) as memory:
        assert memory.verify(receipts[0]).ok


def test_e3_at_once_where_that_is_asked_for(path: Path) -> None:
    with opened(path, settings={"erasure": {"when": "now"}}) as memory:
        scope = memory.scope(user="alice")
        fact = scope.add(SECRET.decode(), metadata={"k": SECRET.decode()})
        assert SECRET in on_disk(path.parent)
        receipt = scope.delete(fact.id)
        assert not receipt.pending
        assert memory.verify(receipt).ok
        assert SECRET not in on_disk(path.parent)


def test_e3_after_so_many_records(path: Path) -> None:
    with opened(path, settings={"erasure": {"batch": 3}}) as memory:
        scope = memory.scope(user="alice")
        ids = [record.id for record in scope.add_many([f"note {n}" for n in range(5)])]
        assert [scope.delete(id).pending for id in ids] == [True, True, False, True, True]


@pytest.mark.parametrize("what", ["delete_all", "forget"])
def test_e3_a_reader_makes_it_wait_and_purge_finishes_it(path: Path, what: str) -> None:
    with opened(path, settings={"erasure": {"wait": 0.05}}) as memory:
        scope = memory.scope(user="爱丽丝")
        scope.add_many([f"{SECRET.decode()} {n}" for n in range(100)])
        with memory._engine.store.read() as tx:
            assert tx.rows("count_records")[0][0] == 100  # from now on it sees this moment
            receipt = scope.delete_all() if what == "delete_all" else memory.forget("爱丽丝")
            assert receipt.count == 100
            assert receipt.pending
            assert memory.verify(receipt).pending
            assert memory.purge() is False
            assert scope.list() == []
        assert memory.purge() is True
        assert memory.verify(receipt).ok, memory.verify(receipt)
        assert SECRET not in on_disk(path.parent)


KILLED = """
import os, sys
from shared_core import AgentMemory
memory = AgentMemory.open(sys.argv[1], embedder="hashing")
scope = memory.scope(user="alice")
ids = [record.id for record in scope.add_many([f"ZXQ-secret {n} " * 50 for n in range(100)])]
[scope.delete(id) for id in ids]
os._exit(9)
"""


def test_e3_what_a_killed_process_owed_is_done_by_the_next_one(path: Path) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False).returncode == 9
    assert SECRET in on_disk(path.parent)
    with opened(path) as memory:
        assert memory.check().ok
    assert SECRET not in on_disk(path.parent)


def test_e3_a_receipt_of_nothing_is_not_pending(memory: AgentMemory, scope: Scope) -> None:
    receipt = scope.delete("nobody")
    assert (receipt.count, receipt.pending, receipt.user, receipt.agents) == (0, False, "alice", ("default",))
    assert memory.verify(receipt).ok
    assert not scope.delete(scope.add("in memory nothing is on the disk").id).pending


# ---------------------------------------------------------------------- the receipt


DAMAGE = {
    "an erased record is there": "INSERT INTO record (scope, id, kind, text, source, importance, confidence, revision, "
    "created_at, updated_at) VALUES (1, 'x', 'fact', 'back again', 'user', 1, 1, 1, 1, 1)",
    "a vector without a record": "INSERT INTO vector (id, pieces) VALUES (99999 * 256, x'00')",
    "a tombstone is missing": "DELETE FROM tombstone",
    "a link to nothing": "INSERT INTO provenance VALUES (99998, 99999, 'x', 0)",
    "an outcome of no record": "INSERT INTO outcome VALUES (99999, 1, 0, 'detail')",
    "a relation from no record": "INSERT INTO relation (scope, subject, predicate, object, record, subject_name, verb, "
    "object_name, confidence, revision, created_at) VALUES (1, 1, 'p', 2, 99999, 'a', 'p', 'b', 1, 1, 1)",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_e3_a_receipt_that_does_not_hold_says_what_is_left(path: Path, what: str) -> None:
    with opened(path) as memory:
        scope = memory.scope(user="alice")
        scope.graph.add("a", "p", "b")
        scope.add("I live in Lyon", id="x")
        receipt = scope.delete("x")
        assert memory.purge()
        assert memory.verify(receipt).ok
        raw(path, DAMAGE[what])
        verified = memory.verify(receipt)
        assert not verified.ok
        assert what in {problem.what for problem in verified.problems}


def test_e3_an_archive_file_that_came_back_is_found(path: Path) -> None:
    with opened(path) as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages([{"role": "user", "content": f"{n}", "id": f"{n}"} for n in range(3)])
        archived = scope.archive.session("monday")
        aside = path.parent.parent / f"{path.parent.name}-aside"
        shutil.copytree(f"{path}.archive", aside)
        row = raw(path, "SELECT address, manifest FROM archive")[0]
        receipt = scope.session("monday").delete_messages(["1"])
        assert receipt.count == 1
        assert memory.purge()
        assert memory.verify(receipt).ok, memory.verify(receipt)
        shutil.copytree(aside, f"{path}.archive", dirs_exist_ok=True)
        raw(path, "UPDATE archive SET address = ?, manifest = ?", row)
        assert [p.what for p in memory.verify(receipt).problems] == ["an erased record is in the archive"]
        assert archived.records == 3


def test_e3_a_receipt_of_another_database_holds_nowhere(path: Path, tmp_path: Path) -> None:
    with opened(path) as one, opened(tmp_path / "other.db") as two:
        receipts = [m.scope(user="alice").delete(m.scope(user="alice").add("same text").id) for m in (one, two)]
        one.purge()
        assert one.verify(receipts[0]).ok
        assert [p.what for p in one.verify(receipts[1]).problems] == ["a tombstone is missing"]
        with pytest.raises(InvalidInput, match="of whom"):
            one.verify(receipts[0].model_copy(update={"user": ""}))
        with pytest.raises(InvalidType, match="Receipt"):
            one.verify("receipt")  # type: ignore[arg-type]


def test_e3_a_receipt_survives_json_and_says_nothing_of_what_was_erased(path: Path) -> None:
    with opened(path) as memory:
        scope = memory.scope(user="alice")
        receipt = scope.delete(scope.add(f"{SECRET.decode()} in Lyon", metadata={"k": SECRET.decode()}).id)
        text = receipt.model_dump_json()
        assert SECRET.decode() not in text
        assert memory.verify(Receipt.model_validate_json(text)) == memory.verify(receipt)


def test_e3_what_is_told_anew_is_no_broken_promise(path: Path, clock: ManualClock) -> None:
    with opened(path, clock=clock) as memory:
        scope = memory.scope(user="alice")
        receipt = scope.delete(scope.add("I live in Lyon", id="x").id)
        clock.advance(seconds=1)
        scope.add("I live in Lyon", id="x")
        memory.purge()
        assert memory.verify(receipt).ok
        scope.archive.records(["x"])
        assert memory.verify(receipt).ok
        scope.archive.restore("x")
        assert scope.get("x") is not None
        assert memory.verify(receipt).ok


# ---------------------------------------------------------------------- and it stays away


@pytest.mark.parametrize("what", ["delete", "delete_all", "forget"])
def test_e3_an_import_does_not_bring_it_back_unless_it_is_asked_to(path: Path, tmp_path: Path, what: str) -> None:
    with opened(path) as memory:
        scope = memory.scope(user="alice")
        fact = scope.add("I live in Lyon", id="lyon")
        scope.session("s").add_messages([{"role": "user", "content": "我喜欢绿茶", "id": "m1"}])
        file = tmp_path / "alice.jsonl"
        scope.export(file)
        if what == "delete":
            scope.delete(fact.id)
            scope.session("s").delete()
        else:
            scope.delete_all() if what == "delete_all" else memory.forget("alice")
        assert scope.import_(file).new == 0
        assert scope.list() == []
        scope.add("I live in Lyon")  # said by the user: that counts
        assert [record.text for record in scope.list()] == ["I live in Lyon"]
        scope.delete_all()
        assert scope.import_(file, revive=True).new >= 2
        assert {"I live in Lyon", "我喜欢绿茶"} <= {record.text for record in scope.list()}


def test_e3_to_forget_one_user_bars_no_other(path: Path, tmp_path: Path) -> None:
    with opened(path) as memory:
        memory.scope(user="alice").add("I live in Lyon", id="lyon")
        memory.scope(user="alice").export(tmp_path / "alice.jsonl")
        memory.forget("alice")
        assert "alice" not in str(raw(path, "SELECT * FROM scope"))
        assert memory.scope(user="bob").import_(tmp_path / "alice.jsonl").new == 1
        assert memory.scope(user="alice", agent="other").import_(tmp_path / "alice.jsonl").new == 1
        assert memory.scope(user="alice").import_(tmp_path / "alice.jsonl").new == 0


def test_e3_a_clock_that_was_set_back_loses_nothing_that_was_told_again(path: Path, clock: ManualClock) -> None:
    """Whether a tombstone counts is no matter of the hour: it once was, and a restored memory would have been lost."""
    with opened(path, clock=clock) as memory:
        scope = memory.scope(user="alice")
        scope.delete(scope.add("I live in Lyon", id="x").id)
        clock.advance(seconds=-86_400)
        scope.add("I live in Lyon", id="x")
        scope.archive.records(["x"])
        scope.archive.restore("x")
        assert scope.get("x") is not None
        scope.archive.records(["x"])
        clock.advance(seconds=-86_400)
        scope.delete("x")
        assert scope.archive.list() == []
        assert scope.get("x") is None


def test_e3_the_log_says_that_it_was_erased_and_not_what(path: Path) -> None:
    with opened(path) as memory:
        scope = memory.scope(user="alice")
        fact = scope.add(SECRET.decode(), metadata={"k": SECRET.decode()})
        scope.update(fact.id, f"{SECRET.decode()} changed", importance=0.9)
        scope.delete(fact.id)
        assert scope.history(fact.id)[-1].action == "deleted"
        assert SECRET.decode() not in str(raw(path, "SELECT * FROM audit"))
        assert SECRET.decode() not in str(scope.history(fact.id))


async def test_e3_async_twins(path: Path) -> None:
    async with await AgentMemory.aopen(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        await scope.aadd("I live in Lyon")
        receipt = await scope.adelete_all()
        assert (await memory.averify(receipt)).ok
        assert timedelta(0) <= memory._engine._clock() - receipt.at
