"""The whole memory against a plain dict: any sequence of verbs, reopenings and handles gives what the dict gives."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from shared_core import AgentMemory, Scope

USERS = ("alice", "爱丽丝")
WHO = st.sampled_from([USERS[0], USERS[0], USERS[0], USERS[1]])
IDS = st.sampled_from(["r0", "r1", "r2", "r3"])
SESSIONS = st.sampled_from(["monday", "monday", "星期二"])
FILLERS = st.sampled_from(["note about", "the dog ate", "关于", "co-op's C++"])
METADATA = st.dictionaries(
    st.sampled_from(["tag", "n", "标签"]),
    st.one_of(st.integers(0, 3), st.sampled_from(["a", "b"]), st.none()),
    max_size=2,
)
MESSAGE_IDS = st.one_of(st.none(), st.sampled_from(["m0", "m1", "m2", "m3", "m4"]))


class MemoryMachine(RuleBasedStateMachine):
    """`facts` maps (user, id) to text and metadata; `talk` maps (user, session) to (message id, text) in order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="twinmem-"))
        self.words = 0
        self.facts: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
        self.talk: dict[tuple[str, str], list[tuple[str | None, str]]] = {}

    @initialize()
    def begin(self) -> None:
        self.handles = [self.opened()]

    def opened(self) -> AgentMemory:
        return AgentMemory.open(self.folder / "agent.db", embedder="hashing", settings={"facts": {"extract": False}})

    def scope(self, user: str) -> Scope:
        return self.handles[-1].scope(user=user)

    def text(self, filler: str) -> str:
        self.words += 1
        return f"{filler} zq{self.words}x"

    # ------------------------------------------------------------------ records

    @rule(user=WHO, filler=FILLERS, id=st.one_of(st.none(), IDS), metadata=METADATA)
    def add(self, user: str, filler: str, id: str | None, metadata: dict[str, Any]) -> None:
        record = self.scope(user).add(self.text(filler), id=id, metadata=metadata)
        assert id is None or record.id == id
        assert record == self.scope(user).get(record.id)
        self.facts[user, record.id] = (record.text, metadata)

    @rule(user=WHO, data=st.data(), metadata=METADATA)
    def tell_again(self, user: str, data: st.DataObject, metadata: dict[str, Any]) -> None:
        unnamed = sorted(id for who, id in self.facts if who == user and not id.startswith("r"))
        if not unnamed:
            return
        id = data.draw(st.sampled_from(unnamed))
        text, known = self.facts[user, id]
        before = self.scope(user).get(id)
        record = self.scope(user).add(f"  {text}", metadata=metadata)
        # A fact whose text was changed by `update` is still found by the text it has now.
        assert record.id == id
        assert before is not None
        assert record.seen == before.seen + 1
        self.facts[user, id] = (text, {**known, **metadata})

    @rule(user=WHO, ids=st.lists(st.one_of(st.none(), IDS), max_size=4), filler=FILLERS)
    def add_many(self, user: str, ids: list[str | None], filler: str) -> None:
        items = [{"text": self.text(filler), "id": id, "metadata": {"batch": n}} for n, id in enumerate(ids)]
        records = self.scope(user).add_many([" ", *items, "\u3000"])
        assert len(records) == len(items)
        for item, record in zip(items, records, strict=True):
            self.facts[user, record.id] = (str(item["text"]), dict(item["metadata"]))
            assert record == self.scope(user).get(record.id)

    @rule(user=WHO, data=st.data(), filler=FILLERS, metadata=METADATA)
    def update(self, user: str, data: st.DataObject, filler: str, metadata: dict[str, Any]) -> None:
        ids = sorted(id for who, id in self.facts if who == user)
        if not ids:
            return
        id = data.draw(st.sampled_from(ids))
        text, known = self.facts[user, id]
        if data.draw(st.booleans()):
            text = self.text(filler)
            self.scope(user).update(id, text, metadata=metadata)
        else:
            self.scope(user).update(id, metadata=metadata)
        merged = {key: value for key, value in {**known, **metadata}.items() if value is not None}
        self.facts[user, id] = (text, merged)

    @rule(user=WHO, data=st.data())
    def delete(self, user: str, data: st.DataObject) -> None:
        ids = sorted(id for who, id in self.facts if who == user)
        id = data.draw(st.sampled_from([*ids, "nobody"]))
        gone = self.facts.pop((user, id), None)
        assert self.scope(user).delete(id).count == (gone is not None)
        assert self.scope(user).get(id) is None
        if gone is not None:
            word = gone[0].split()[-1]
            assert not [hit for hit in self.scope(user).search(word, k=10) if word in hit.record.text]

    @rule(user=WHO)
    def delete_all(self, user: str) -> None:
        mine = [key for key in self.facts if key[0] == user]
        turns = [key for key in self.talk if key[0] == user]
        receipt = self.scope(user).delete_all()
        assert receipt.count == len(mine) + sum(len(self.talk[key]) for key in turns)
        for key in mine:
            del self.facts[key]
        for key in turns:
            del self.talk[key]

    # ------------------------------------------------------------------ conversations

    @rule(user=WHO, session=SESSIONS, ids=st.lists(MESSAGE_IDS, max_size=4), filler=FILLERS)
    def add_messages(self, user: str, session: str, ids: list[str | None], filler: str) -> None:
        talk = self.talk.setdefault((user, session), [])
        messages = [{"role": "user", "content": self.text(filler), "id": id} for id in ids]
        records = self.scope(user).session(session).add_messages(messages)
        assert len(records) == len(messages)
        for message in messages:
            place = next((n for n, (id, _) in enumerate(talk) if id is not None and id == message["id"]), None)
            if place is None:
                talk.append((message["id"], str(message["content"])))
            else:
                talk[place] = (message["id"], str(message["content"]))

    @rule(user=WHO, session=SESSIONS, data=st.data(), filler=FILLERS)
    def replace_messages(self, user: str, session: str, data: st.DataObject, filler: str) -> None:
        talk = self.talk.get((user, session), [])
        kept = list(talk)
        how = data.draw(st.sampled_from(["grow", "thin", "turn round"]))
        if how == "thin":
            kept = [each for each in talk if data.draw(st.booleans())]
        elif how == "turn round":
            kept.reverse()
        ids = data.draw(st.lists(MESSAGE_IDS, max_size=2, unique=True))
        held = {id for id, _ in kept if id is not None}
        new = kept + [(id, self.text(filler)) for id in ids if id is None or id not in held]
        messages = [{"role": "user", "content": text, "id": id} for id, text in new]
        self.scope(user).session(session).replace_messages(messages)
        self.talk[user, session] = new

    @rule(user=WHO, session=SESSIONS)
    def clear(self, user: str, session: str) -> None:
        turns = self.talk.pop((user, session), [])
        assert self.scope(user).session(session).clear().count == len(turns)

    @rule(user=WHO, session=SESSIONS)
    def delete_session(self, user: str, session: str) -> None:
        turns = self.talk.pop((user, session), [])
        assert self.scope(user).session(session).delete().count == len(turns)
        assert session not in self.scope(user).sessions()

    @rule(user=WHO, session=SESSIONS, data=st.data())
    def delete_turns(self, user: str, session: str, data: st.DataObject) -> None:
        talk = self.talk.get((user, session), [])
        for text in [text for _, text in talk if data.draw(st.booleans())]:
            turns = [r for r in self.scope(user).list(kinds=["turn"]) if r.session == session and r.text == text]
            assert len(turns) == 1
            assert self.scope(user).delete(turns[0].id).count == 1
            talk[:] = [each for each in talk if each[1] != text]

    # ------------------------------------------------------------------ handles

    @rule()
    def reopen(self) -> None:
        for handle in self.handles:
            handle.close()
        self.handles = [self.opened()]

    @rule()
    def second_handle(self) -> None:
        if len(self.handles) < 3:
            self.handles.append(self.opened())
        else:
            self.handles.pop(0).close()

    # ------------------------------------------------------------------ what holds at every step

    @rule(user=WHO, data=st.data())
    def search(self, user: str, data: st.DataObject) -> None:
        texts = [text for (who, _), (text, _) in self.facts.items() if who == user]
        texts += [text for (who, _), talk in self.talk.items() if who == user for _, text in talk]
        others = [text for (who, _), (text, _) in self.facts.items() if who != user]
        if texts:
            text = data.draw(st.sampled_from(sorted(texts)))
            word = text.split()[-1]
            assert [hit.record.text for hit in self.scope(user).search(word, k=10) if word in hit.record.text] == [text]
        for text in others[:1]:
            word = text.split()[-1]
            assert not [hit for hit in self.scope(user).search(word, k=10) if word in hit.record.text]

    @rule(user=WHO, value=st.integers(0, 3))
    def filter(self, user: str, value: int) -> None:
        expected = {id for (who, id), (_, metadata) in self.facts.items() if who == user and metadata.get("n") == value}
        assert {r.id for r in self.scope(user).list(where={"n": value})} == expected
        found = self.scope(user).search("note dog 关于 C++ zq", k=100, where={"n": value})
        assert {hit.record.id for hit in found} == expected

    @invariant()
    def the_lists_agree(self) -> None:
        if not hasattr(self, "handles"):
            return
        for user in USERS:
            scope = self.scope(user)
            found = {r.id: (r.text, r.metadata) for r in scope.list(kinds=["fact"])}
            assert found == {id: value for (who, id), value in self.facts.items() if who == user}
            for session in ("monday", "星期二"):
                talk = [m.text for m in scope.session(session).messages()]
                assert talk == [text for _, text in self.talk.get((user, session), [])]

    def teardown(self) -> None:
        if hasattr(self, "handles"):
            report = self.handles[-1].check()
            expected = len(self.facts) + sum(map(len, self.talk.values()))
            for handle in self.handles:
                handle.close()
            assert report.ok, report.problems
            assert report.records == report.vectors == expected
        shutil.rmtree(self.folder)


TestMemory = MemoryMachine.TestCase
TestMemory.settings = settings(max_examples=settings.default.max_examples, stateful_step_count=40)
