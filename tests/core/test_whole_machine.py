"""The whole memory against a plain model: all kinds, versions, the archive, files, threads, other processes' deaths.

What `test_machine` does with facts and turns goes on here, and beside it everything else that a memory
is told or loses. The long form (TWINMEM_LONG_TESTS) takes 2,000 steps with one memory.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import settings, stateful
from hypothesis import strategies as st
from hypothesis.internal.conjecture import engine
from hypothesis.stateful import initialize, invariant, rule, run_state_machine_as_test

from tests.conftest import LONG
from tests.core.test_machine import FILLERS, SESSIONS, USERS, WHO, MemoryMachine

pytestmark = pytest.mark.sqlite_only  # it copies files, and crashes

KINDS = st.sampled_from(["event", "rule", "summary", "item"])
STEPS = 2_000 if LONG else 60
EVERY = {"status": {"$exists": True}}


class WholeMachine(MemoryMachine):
    """Beside `facts` and `talk`: `others` of each kind, `homes` that supersede one another, `cold` sessions."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.others: dict[tuple[str, str], tuple[str, str]] = {}
        self.homes: dict[str, list[tuple[str, str]]] = {user: [] for user in USERS}
        self.cold: dict[tuple[str, str], list[str]] = {}
        self.erased: list[str] = []
        self.relations: dict[str, set[tuple[str, str]]] = {user: set() for user in USERS}
        self.life = 0

    @initialize()
    def begin(self) -> None:
        self.handles = [self.opened()]

    # ------------------------------------------------------------------ all kinds

    @rule(user=WHO, kind=KINDS, filler=FILLERS)
    def add_other(self, user: str, kind: str, filler: str) -> None:
        text = self.text(filler)
        record = self.scope(user).add(text, kind=kind, metadata={"kind": kind})
        self.others[user, record.id] = (kind, text)

    @rule(user=WHO, data=st.data())
    def change_other(self, user: str, data: st.DataObject) -> None:
        mine = sorted(key for key in self.others if key[0] == user)
        if not mine:
            return
        key = data.draw(st.sampled_from(mine))
        kind, old = self.others[key]
        if data.draw(st.booleans()):
            text = self.text("changed")
            self.scope(user).update(key[1], text)
            self.others[key] = (kind, text)
        else:
            assert self.scope(user).delete(key[1]).count == 1
            del self.others[key]
            self.erased.append(old.split()[-1])

    @rule(user=WHO)
    def move_house(self, user: str) -> None:
        """What is told of one thing anew supersedes what was: that stays, and is what is known no more."""
        city = self.text("lives in").split()[-1]
        record = self.scope(user).add(f"{user} lives in {city}", triple=(user, "lives in", city))
        self.homes[user].append((record.id, record.text))

    @rule(user=WHO)
    def leave_house(self, user: str) -> None:
        if self.homes[user]:
            id, text = self.homes[user].pop(0)
            assert self.scope(user).delete(id).count == 1
            self.erased.append(text.split()[-1])

    @rule(user=WHO, filler=FILLERS)
    def relate(self, user: str, filler: str) -> None:
        name = self.text(filler).split()[-1]
        self.scope(user).graph.add(user, "knows", name)
        self.relations[user].add(("knows", name))

    @rule(user=WHO)
    def unrelate(self, user: str) -> None:
        for told in sorted(self.relations[user])[:1]:
            assert self.scope(user).graph.remove(user, *told).count == 1
            self.relations[user].discard(told)

    @rule(user=WHO)
    def delete_all(self, user: str) -> None:
        receipt = self.scope(user).delete_all()
        mine = [key for table in (self.facts, self.others) for key in table if key[0] == user]
        turns = [text for key, talk in self.talk.items() if key[0] == user for _, text in talk]
        assert receipt.count == len(mine) + len(turns) + len(self.homes[user])
        assert self.handles[-1].verify(receipt).problems == ()
        self.erased += [text.split()[-1] for key, (text, _) in self.facts.items() if key[0] == user]
        for table in (self.facts, self.others, self.talk, self.cold):
            for key in [key for key in table if key[0] == user]:
                del table[key]  # type: ignore[attr-defined]
        self.homes[user], self.relations[user] = [], set()

    # ------------------------------------------------------------------ archive and files

    @rule(user=WHO, filler=FILLERS, turns=st.integers(1, 4))
    def archive(self, user: str, filler: str, turns: int) -> None:
        name = f"old-{self.words}"
        said = [self.text(filler) for _ in range(turns)]
        chat = self.scope(user).session(name)
        chat.add_messages([{"role": "user", "content": text} for text in said])
        assert self.scope(user).archive.session(name).records == turns
        self.cold[user, name] = said

    @rule(user=WHO, data=st.data())
    def restore_or_erase(self, user: str, data: st.DataObject) -> None:
        mine = sorted(key for key in self.cold if key[0] == user)
        if not mine:
            return
        key = data.draw(st.sampled_from(mine))
        said = self.cold.pop(key)
        if data.draw(st.booleans()):
            assert [r.text for r in self.scope(user).archive.restore(key[1])] == said
            self.talk[key] = [(None, text) for text in said]
        else:
            assert self.scope(user).archive.delete(key[1]).count == len(said)
            self.erased += [text.split()[-1] for text in said]

    @rule(user=WHO, data=st.data())
    def export_and_import(self, user: str, data: st.DataObject) -> None:
        """What was erased since stays out of an import, and comes back if that is asked for."""
        file = self.folder.parent / f"{self.folder.name}.jsonl"
        scope = self.scope(user)
        scope.export(file, archived=False)
        try:
            mine = sorted(id for who, id in self.facts if who == user)
            gone = data.draw(st.sampled_from(mine)) if mine else None
            if gone is not None:
                scope.delete(gone)
            assert scope.import_(file).new == 0
            assert gone is None or scope.get(gone) is None
            assert scope.import_(file, revive=True).new == (gone is not None)
        finally:
            file.unlink()

    @rule(user=WHO, other=WHO, session=SESSIONS)
    def nobody_else_reaches_it(self, user: str, other: str, session: str) -> None:
        if user == other:
            return
        for id in [id for who, id in [*self.facts, *self.others] if who == other][:3]:
            if (user, id) not in self.facts:
                assert self.scope(user).get(id) is None
                assert self.scope(user).delete(id).count == 0

    # ------------------------------------------------------------------ threads, deaths, checks

    @rule(user=WHO)
    def three_threads(self, user: str) -> None:
        texts = [self.text("by a thread") for _ in range(3)]
        made: list[Any] = []
        handle = self.handles[-1]
        threads = [
            threading.Thread(target=lambda t=text: made.append(handle.scope(user=user).add(t))) for text in texts
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(record.text for record in made) == sorted(texts)
        for record in made:
            self.facts[user, record.id] = (record.text, {})

    @rule()
    def die(self) -> None:
        """As after `kill -9`: the files as they lie there, in the middle of everything, opened anew."""
        old = self.folder
        self.life += 1
        self.folder = old.parent / f"{old.name.split('+')[0]}+{self.life}"
        shutil.copytree(old, self.folder, ignore=shutil.ignore_patterns("*-shm"))
        for handle in self.handles:
            handle.close()
        shutil.rmtree(old)
        self.handles = [self.opened()]

    @rule()
    def purge(self) -> None:
        """No word of what was erased is in any file."""
        assert self.handles[-1].purge()
        lying = b"".join(p.read_bytes() for p in self.folder.rglob("*") if p.is_file())
        assert not [word for word in self.erased if word.encode() in lying and not self._told_again(word)]

    def _told_again(self, word: str) -> bool:
        return any(word in text for text, _ in self.facts.values())

    @rule()
    def check(self) -> None:
        report = self.handles[-1].check()
        assert report.ok, report.problems

    # ------------------------------------------------------------------ what holds at every step

    @invariant()
    def everything_agrees(self) -> None:
        type(self).steps += 1
        if not hasattr(self, "handles"):
            return
        for user in USERS:
            scope = self.scope(user)
            found = {r.id: (r.kind.value, r.text) for r in scope.list(kinds=["event", "rule", "summary", "item"])}
            assert found == {id: value for (who, id), value in self.others.items() if who == user}
            homes = [(r.id, r.text) for r in scope.list(kinds=["fact"], where={"$and": [EVERY, {"metadata.none": {"$exists": False}}]})
                     if r.triple is not None]  # fmt: skip
            assert sorted(homes) == sorted(self.homes[user])
            assert sorted((a.session, a.records) for a in scope.archive.list()) == sorted(
                (name, len(said)) for (who, name), said in self.cold.items() if who == user
            )

    @invariant()
    def the_lists_agree(self) -> None:
        if not hasattr(self, "handles"):
            return
        for user in USERS:
            scope = self.scope(user)
            found = {r.id: (r.text, r.metadata) for r in scope.list(kinds=["fact"]) if r.triple is None}
            assert found == {id: value for (who, id), value in self.facts.items() if who == user}
            current = [r.text for r in scope.list(kinds=["fact"]) if r.triple is not None]
            assert len(current) <= 1
            if self.homes[user] and current:
                assert current == [self.homes[user][-1][1]]
            names = {name for who, name in self.talk if who == user} | {"monday", "星期二"}
            for name in sorted(names):
                talk = [m.text for m in scope.session(name).messages()]
                assert talk == [text for _, text in self.talk.get((user, name), [])]
            told = {(r.predicate, r.object) for r in scope.graph.relations() if r.predicate == "knows"}
            assert {name for _, name in told} == {name for _, name in self.relations[user]}

    def teardown(self) -> None:
        if hasattr(self, "handles"):
            report = self.handles[-1].check()
            expected = sum(map(len, (self.facts, self.others))) + sum(map(len, self.homes.values()))
            expected += sum(map(len, self.talk.values()))
            for handle in self.handles:
                handle.close()
            assert report.ok, report.problems
            assert report.records == report.vectors == expected
        shutil.rmtree(self.folder)


@contextmanager
def room_for(steps: int) -> Iterator[None]:
    """Hypothesis ends a run that drew too much; a long one needs more."""
    usual = engine.BUFFER_SIZE
    engine.BUFFER_SIZE = stateful.BUFFER_SIZE = max(usual, steps * 200)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        engine.BUFFER_SIZE = stateful.BUFFER_SIZE = usual  # type: ignore[attr-defined]


def test_any_history_of_all_verbs_is_what_a_plain_model_says() -> None:
    """A memory that differs from what it was told, after any of these steps, would have lost or made up something."""
    assert walked(STEPS) >= 2 * STEPS


def walked(steps: int) -> int:
    """Take that many steps with one memory, once all alike and once at random; how many it were."""
    WholeMachine.steps = 0
    with room_for(steps):
        run_state_machine_as_test(
            WholeMachine, settings=settings(settings.default, max_examples=3, stateful_step_count=steps)
        )
    return WholeMachine.steps
