"""Cold storage: a session leaves and comes back as it was, wherever it lies, whatever dies on the way (B8)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Record, Scope
from shared_core.errors import ArchiveUnreachable, InvalidInput, NotFound, StoreDamaged
from shared_core.long_term import archive as archives
from shared_core.long_term import cold_files
from shared_core.long_term.archive import put_records
from shared_core.moving import lines, places
from shared_core.testing import FixedEmbedder, ManualClock, RecordingEmbedder, ScriptedLLM

SENTINEL = "ZXQ-sentinel-7741"
TALK: list[dict[str, Any]] = [
    {"id": "1", "role": "user", "content": "我搬到里昂了 🥖, I live in Lyon"},
    {"id": "2", "role": "assistant", "content": [{"type": "text", "text": "Nice"}, {"type": "image", "url": "x"}]},
    {"id": "3", "role": "assistant", "content": None, "tool_calls": [{"id": "c", "name": "f", "args": {"城": 1}}]},
    {"id": "4", "role": "tool", "content": "ok", "tool_call_id": "c"},
]  # fmt: skip


@pytest.fixture(params=["beside", "folder", "file", "memory"])
def memory(
    request: pytest.FixtureRequest, tmp_path: Path, path: Path, clock: ManualClock, engine_of_test: str
) -> Iterator[AgentMemory]:
    """A memory with its archive beside the database, in a folder, and at two fsspec addresses."""
    if request.param == "beside" and engine_of_test != "sqlite":
        pytest.skip("nothing lies beside a server")
    address = {
        "beside": None,
        "folder": str(tmp_path / "冷 storage"),
        "file": f"file://{tmp_path}/cold",
        "memory": f"memory://{tmp_path.name}",
    }[request.param]
    with AgentMemory.open(path, embedder="hashing", clock=clock, settings={"archive": {"address": address}}) as opened:
        yield opened


@pytest.fixture
def plain(path: Path, clock: ManualClock, engine_of_test: str) -> Iterator[AgentMemory]:
    """A memory with its archive beside the database."""
    place = None if engine_of_test == "sqlite" else f"{path}.archive"
    with AgentMemory.open(path, embedder="hashing", clock=clock, settings={"archive": {"address": place}}) as opened:
        yield opened


def told(scope: Scope, name: str = "monday") -> Scope:
    """The scope with a conversation, of which facts were read, and a fact of its own."""
    scope.session(name).add_messages(TALK)
    scope.add("Keeps bees", id="bees", metadata={"深": [1.5, None]}, pinned=True)
    scope.search("bees")
    return scope


def everything(scope: Scope) -> dict[str, Record]:
    return {record.id: record for record in scope.list(where={"status": {"$ne": "?"}})}


def files(memory: AgentMemory, tmp_path: Path) -> list[str]:
    """The names of all archive files of a test, without manifests."""
    import fsspec

    fs = fsspec.filesystem("memory")
    there = [name for name in fs.find("/") if f"/{tmp_path.name}/" in name]
    here = [str(each) for each in tmp_path.rglob("*") if each.is_file() and "agent.db" not in each.name]
    return sorted(name for name in there + here if not name.endswith(".manifest.json"))


def on_disk(folder: Path, text: str) -> list[str]:
    """The files below a folder that hold a text, in the clear or compressed."""
    found = []
    for each in folder.rglob("*"):
        if not each.is_file():
            continue
        data = each.read_bytes()
        if each.suffix == ".zst":
            data = b"".join(lines.encoded(line.kind, line.value) for line in lines.unpacked(data, each.name))
        if text.encode() in data:
            found.append(each.name)
    return found


# ---------------------------------------------------------------------- there and back


def test_b8_a_session_leaves_and_comes_back_field_by_field(memory: AgentMemory, tmp_path: Path) -> None:
    scope = told(memory.scope(user="alice"))
    chat = scope.session("monday")
    chat.end()
    before, talk = everything(scope), chat.messages()
    sources = {id: scope.sources(id) for id in before}
    facts = {id for id, record in before.items() if record.kind == "fact"}
    assert len(facts) > 1

    moved = scope.archive.session("monday")
    assert (moved.session, moved.records) == ("monday", 4)
    assert scope.sessions() == []
    assert chat.messages() == []
    assert set(everything(scope)) == facts
    assert [each.id for each in scope.archive.list()] == [moved.id]
    assert len(files(memory, tmp_path)) == 1
    assert memory.check().ok

    back = scope.archive.restore(moved.id)
    assert [record.message_id for record in back] == ["1", "2", "3", "4"]
    assert everything(scope) == before
    assert chat.messages() == talk
    assert {id: scope.sources(id) for id in before} == sources
    assert scope.archive.list() == []
    assert files(memory, tmp_path) == []
    assert memory.check().ok
    assert back[0].id in {hit.record.id for hit in scope.search("我搬到里昂了")}
    scope.archive.session("monday")
    assert {hit.record.id for hit in scope.search("我搬到里昂了 Lyon", k=20)} <= facts


def test_b8_what_was_read_from_a_session_stays_and_knows_where_it_came_from(plain: AgentMemory) -> None:
    scope = told(plain.scope(user="alice"))
    fact = next(r for r in scope.list(kinds=["fact"]) if scope.sources(r.id))
    before = scope.sources(fact.id)[0]
    scope.archive.session("monday")
    kept = scope.get(fact.id)
    assert kept is not None
    assert kept.session == "monday"
    assert scope.sources(fact.id) == [{**before, "message_id": None}]


def test_b8_summary_snapshot_and_state_go_along(plain: AgentMemory) -> None:
    scope = told(plain.scope(user="alice"))
    scope.session("monday").working.start("t1", "pack boxes / 打包")
    with plain._live().store.write() as tx:
        row = dict(zip(("id", "name"), tx.rows("find_session", {"scope": 1, "name": "monday"})[0], strict=False))
        state = tx.rows("session_state", {"session": row["id"]})[0][0]
        kept = {"summary": "They moved", "summarised": 2, "snapshot": "里昂", "state": state, "consolidated": 3}
        tx.run("write_session", {"session": row["id"], "created_at": 1, **kept})
        before = tx.rows("moved_session", {"session": row["id"]})
    scope.archive.session("monday")
    with plain._live().store.look() as tx:
        assert tx.rows("moved_session", {"session": row["id"]})[0][3:] == (None, 0, None, None, 0)
    scope.archive.restore("monday")
    with plain._live().store.look() as tx:
        assert tx.rows("moved_session", {"session": row["id"]}) == before
    assert "打包" in scope.session("monday").working.text()


def test_b8_the_same_file_is_read_by_import(plain: AgentMemory, tmp_path: Path) -> None:
    """Whoever lost the database still has the conversations."""
    moved = told(plain.scope(user="alice")).archive.session("monday")
    manifest = json.loads(Path(moved.address.replace(".jsonl.zst", ".manifest.json")).read_text(encoding="utf-8"))
    assert (manifest["session"], manifest["user"], manifest["records"]) == ("monday", "alice", 4)
    assert manifest["checksum"] == places.digest(Path(moved.address).read_bytes())
    with AgentMemory.open(embedder="hashing") as other:
        assert other.scope(user="alice").import_(moved.address).new == 4
        assert [m.id for m in other.scope(user="alice").session("monday").messages()] == ["1", "2", "3", "4"]


def test_b8_a_conversation_that_goes_on_is_archived_again_and_restored_in_order(plain: AgentMemory) -> None:
    scope = told(plain.scope(user="alice"))
    chat = scope.session("monday")
    scope.archive.session("monday")
    chat.add_messages(
        [{"role": "user", "content": "Back again", "id": "5"}, {"role": "assistant", "content": "Hi", "id": "6"}]
    )
    assert scope.sessions() == ["monday"]
    assert [m.id for m in chat.messages()] == ["5", "6"]
    scope.archive.session("monday")
    chat.add_messages([{"role": "user", "content": "Third", "id": "7"}])
    assert len(scope.archive.list()) == 2
    scope.archive.restore("monday")
    assert sorted(str(m.id) for m in chat.messages()) == ["1", "2", "3", "4", "5", "6", "7"]
    assert [m.id for m in chat.messages()][-1] == "7"
    chat.add_messages([{"role": "user", "content": "Last", "id": "8"}])
    assert [m.id for m in chat.messages(last=1)] == ["8"]
    assert plain.check().ok


def test_b8_a_message_that_is_sent_again_meanwhile_is_one_turn_after_all(plain: AgentMemory) -> None:
    scope = told(plain.scope(user="alice"))
    scope.archive.session("monday")
    scope.session("monday").add_messages([{**TALK[0], "content": "changed since"}])
    scope.archive.restore("monday")
    found = scope.session("monday").messages()
    assert sorted(str(m.id) for m in found) == ["1", "2", "3", "4"]
    assert next(m for m in found if m.id == "1").text == "changed since"


@pytest.mark.sqlite_only
def test_b8_vectors_come_back_and_are_made_anew_only_for_another_embedder(path: Path) -> None:
    recorder = RecordingEmbedder(FixedEmbedder())
    with AgentMemory.open(path, embedder=recorder) as memory:
        scope = told(memory.scope(user="alice"))
        scope.archive.session("monday")
        memory._live().model.forget()
        asked = len(recorder.documents)
        scope.archive.restore("monday")
        assert len(recorder.documents) == asked
        scope.archive.session("monday")
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.reembed()
        scope = memory.scope(user="alice")
        back = scope.archive.restore("monday")
        assert memory.check().ok
        assert scope.search("我搬到里昂了 🥖, I live in Lyon", k=1, kinds=["turn"])[0].record.id == back[0].id


@pytest.mark.sqlite_only
def test_b8_an_llm_reads_what_it_owes_before_a_session_is_out_of_reach(path: Path) -> None:
    answers = [RuntimeError("down"), '{"facts": [{"text": "The user keeps bees", "subject": "user", "predicate": "keeps", '
               '"object": "bees"}]}']  # fmt: skip
    with AgentMemory.open(path, embedder="hashing", llm=ScriptedLLM(answers)) as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages([{"role": "user", "content": "I keep bees", "id": "1"}])
        assert scope.list(kinds=["fact"]) == []
        scope.archive.session("monday")
        assert [r.text for r in scope.list(kinds=["fact"])] == ["The user keeps bees"]


# ---------------------------------------------------------------------- single memories


def test_b8_single_memories_leave_with_what_they_told_and_come_back(memory: AgentMemory) -> None:
    scope = memory.scope(user="alice")
    scope.add("Ann works at ACME", id="a", triple=("Ann", "works at", "ACME"), expires_in=timedelta(days=9))
    scope.add("团队开会了", kind="event", id="e"), scope.add("stays", id="s")
    scope.graph.alias("Ann", "安")
    scope.graph.describe("Ann", type="person", source="a")
    before, graph = everything(scope), (scope.graph.relations(), scope.graph.entities())
    moved = put_records(scope, ["a", "e", "nobody"], why="old")
    assert moved is not None
    assert (moved.session, moved.records, moved.why) == (None, 2, "old")
    assert set(everything(scope)) == {"s"}
    assert scope.graph.relations() == []
    assert [r.id for r in scope.archive.read(moved.id)] == ["a", "e"]
    assert [r.text for r in scope.archive.read("e")] == ["团队开会了"]
    assert scope.archive.get("a") == moved
    assert [r.id for r in scope.archive.restore("e")] == ["a", "e"]
    assert everything(scope) == before
    assert (scope.graph.relations(), sorted(e.name for e in scope.graph.entities())) == (
        graph[0], sorted(e.name for e in graph[1]))  # fmt: skip
    assert scope.archive.records(["nobody"]) is None
    assert memory.check().ok


def test_b8_versions_stay_linked_while_the_old_one_is_away(plain: AgentMemory) -> None:
    scope = plain.scope(user="alice")
    scope.add("Alice lives in Paris", triple=("Alice", "lives in", "Paris"), id="old")
    scope.add("Alice lives in Lyon", triple=("Alice", "lives in", "Lyon"), id="new")
    before = everything(scope)
    assert before["new"].supersedes == "old"
    scope.archive.records(["old"])
    assert everything(scope)["new"].supersedes == "old"
    scope.archive.restore("old")
    assert everything(scope) == before
    scope.archive.records(["old"])
    scope.delete("old")
    assert everything(scope)["new"].supersedes is None


def test_b8_a_fact_that_is_told_again_meanwhile_is_one_fact(plain: AgentMemory) -> None:
    scope = plain.scope(user="alice")
    old = scope.add("I like tea")
    scope.archive.records([old.id])
    new = scope.add("I like tea")
    assert new.id != old.id
    scope.archive.restore(old.id)
    assert [r.id for r in scope.list()] == [new.id]
    assert scope.archive.list() == []


@pytest.mark.sqlite_only
def test_b8_facts_that_wait_for_an_answer_stay(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing", settings={"facts": {"strategy": "ask"}}) as memory:
        scope = memory.scope(user="alice")
        scope.add("Alice lives in Paris", triple=("Alice", "lives in", "Paris"), id="old")
        scope.add("Alice lives in Lyon", triple=("Alice", "lives in", "Lyon"), id="new")
        assert len(scope.questions()) == 1
        assert scope.archive.records(["old", "new"]) is None
        assert len(scope.questions()) == 1


# ---------------------------------------------------------------------- what is not there


def test_b8_what_can_not_be_archived_or_restored(plain: AgentMemory) -> None:
    scope = told(plain.scope(user="alice"))
    scope.archive.session("monday")
    with pytest.raises(NotFound, match="lies in the archive"):
        scope.archive.session("monday")
    for verb in (scope.archive.restore, scope.archive.delete, scope.archive.read, scope.archive.session):
        with pytest.raises(NotFound):
            verb("nobody")
    assert scope.archive.get("nobody") is None
    assert plain.scope(user="nobody").archive.list() == []


@pytest.mark.sqlite_only
def test_b8_a_memory_without_a_place_says_so_and_keeps_everything() -> None:
    with AgentMemory.open(embedder="hashing") as memory:
        scope = told(memory.scope(user="alice"))
        before = everything(scope)
        assert scope.archive.address is None
        for move in (lambda: scope.archive.session("monday"), lambda: put_records(scope, ["bees"])):
            with pytest.raises(InvalidInput, match="address"):
                move()
        assert everything(scope) == before


@pytest.mark.parametrize("address", ["nothing://bucket/x", "/proc/none/x"])
def test_b8_a_place_that_can_not_be_reached_leaves_everything_live(path: Path, address: str) -> None:
    with AgentMemory.open(path, embedder="hashing", settings={"archive": {"address": address}}) as memory:
        scope = told(memory.scope(user="alice"))
        before = everything(scope)
        with pytest.raises((ArchiveUnreachable, InvalidInput)):
            scope.archive.session("monday")
        assert everything(scope) == before
        assert scope.archive.list() == []


def test_b8_a_damaged_or_missing_file_says_so_and_changes_nothing(plain: AgentMemory) -> None:
    scope = told(plain.scope(user="alice"))
    moved = scope.archive.session("monday")
    file = Path(moved.address)
    whole = file.read_bytes()
    before = everything(scope)
    for damaged in (whole[:-1], whole[:50] + b"x" + whole[51:], b""):
        file.write_bytes(damaged)
        with pytest.raises(StoreDamaged):
            scope.archive.restore("monday")
    file.unlink()
    with pytest.raises(ArchiveUnreachable):
        scope.archive.restore("monday")
    assert everything(scope) == before
    file.write_bytes(whole)
    assert len(scope.archive.restore("monday")) == 4


@pytest.mark.sqlite_only
def test_b8_the_folder_beside_the_database_moves_with_it(plain: AgentMemory, path: Path, tmp_path: Path) -> None:
    told(plain.scope(user="alice")).archive.session("monday")
    plain.close()
    other = tmp_path / "elsewhere"
    other.mkdir()
    for each in list(tmp_path.glob("agent.db*")):
        shutil.move(each, other / each.name)
    with AgentMemory.open(other / path.name, embedder="hashing") as memory:
        assert len(memory.scope(user="alice").archive.restore("monday")) == 4


def test_b8_a_file_that_reads_back_differently_is_not_trusted(
    plain: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = told(plain.scope(user="alice"))
    before = everything(scope)
    whole = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda self: whole(self)[:-1] if self.name.endswith(".tmp") else whole(self)
    )
    with pytest.raises(StoreDamaged):
        scope.archive.session("monday")
    assert everything(scope) == before
    assert scope.archive.list() == []


# ---------------------------------------------------------------------- who is who

HOSTILE = [
    "alice",
    "../alice",
    "a/b",
    "a\\b",
    "..",
    "con",
    "alice\n",
    "A" * 200,
    "爱丽丝",
    "%2e%2e",
    "file://x",
    "a::b",
    "*",
]


def test_b8_hostile_names_never_meet_and_never_leave_the_folder(memory: AgentMemory, tmp_path: Path) -> None:
    scopes = [memory.scope(user=user, agent=agent) for user in HOSTILE for agent in ("x", "../x")]
    addresses = set()
    for number, scope in enumerate(scopes):
        scope.session("../../s").add_messages([{"role": "user", "content": f"note {number}", "id": "1"}])
        moved = scope.archive.session("../../s")
        addresses.add(moved.address.rpartition("/")[0])
        root = str(scope.archive.address)
        assert moved.address.startswith(root)
        assert ".." not in moved.address.removeprefix(root)
    assert len(addresses) == len(scopes)
    scopes[0].delete_all()
    for number, scope in enumerate(scopes[1:], 1):
        assert [r.text for r in scope.archive.restore("../../s")] == [f"note {number}"]
    assert files(memory, tmp_path) == []


def test_b8_nobody_reaches_another_users_archive(plain: AgentMemory) -> None:
    moved = told(plain.scope(user="alice")).archive.session("monday")
    for other in (plain.scope(user="bob"), plain.scope(user="alice", agent="cook")):
        told(other, "tuesday")
        assert other.archive.list() == []
        assert other.archive.get(moved.id) is None
        for verb in (other.archive.restore, other.archive.read, other.archive.delete):
            with pytest.raises(NotFound):
                verb(moved.id)
        other.delete_all()
    assert len(plain.scope(user="alice").archive.restore("monday")) == 4


# ---------------------------------------------------------------------- erasing


def secret(scope: Scope) -> tuple[str, str]:
    """A session and a single memory with the sentinel, both archived; the ids of the turn and the memory."""
    scope.session("monday").add_messages([
        {"id": "1", "role": "user", "content": f"I live in {SENTINEL}"}, {"id": "2", "role": "assistant", "content": "Noted"},
    ])  # fmt: skip
    turn = scope.list(kinds=["turn"])[0].id
    with scope._live().store.write() as tx:
        session = tx.rows("find_session", {"scope": scope._find(tx), "name": "monday"})[0][0]
        tx.run("write_session", {"session": session, "created_at": 1, "summary": f"of {SENTINEL}", "summarised": 1,
                                 "snapshot": SENTINEL, "state": None, "consolidated": 0})  # fmt: skip
    scope.add(f"{SENTINEL} is a place", id="place", metadata={"x": SENTINEL}), scope.add("stays", id="stays")
    scope.archive.session("monday")
    scope.archive.records(["place", "stays"])
    return turn, "place"


ERASURES: dict[str, Callable[[AgentMemory, Scope, str, str], Any]] = {
    "records": lambda m, s, turn, fact: (s.delete(turn), s.delete(fact)),
    "archives": lambda m, s, turn, fact: (s.archive.delete("monday"), s.archive.delete(fact)),
    "session": lambda m, s, turn, fact: (s.session("monday").delete(), s.delete(fact)),
    "message": lambda m, s, turn, fact: (s.session("monday").delete_messages(["1"]), s.delete(fact)),
    "scope": lambda m, s, turn, fact: s.delete_all(),
    "user": lambda m, s, turn, fact: m.forget("alice"),
}


@pytest.mark.parametrize("how", ERASURES)
def test_r66_what_is_erased_lives_on_in_no_archive(plain: AgentMemory, tmp_path: Path, how: str) -> None:
    scope, control = plain.scope(user="alice"), plain.scope(user="bob")
    turn, fact = secret(scope)
    secret(control)
    assert len(on_disk(tmp_path / "agent.db.archive", SENTINEL)) >= 4
    ERASURES[how](plain, scope, turn, fact)
    for view in (str(scope.list(where={"status": {"$ne": "?"}})), str(scope.graph.relations()), str(scope.archive.list()),
                 str(scope.search(SENTINEL)), str([scope.archive.read(a.id) for a in scope.archive.list()])):  # fmt: skip
        assert SENTINEL not in view
    control.archive.restore("monday")
    assert SENTINEL in str(control.list())
    control.delete_all()
    plain.purge()
    plain.close()
    assert on_disk(tmp_path, SENTINEL) == []


@pytest.mark.parametrize("how", ["records", "message"])
def test_r66_the_rest_of_an_archive_survives_and_comes_back(plain: AgentMemory, how: str) -> None:
    scope = plain.scope(user="alice")
    turn, fact = secret(scope)
    ERASURES[how](plain, scope, turn, fact)
    assert [r.message_id for r in scope.archive.restore("monday")] == ["2"]
    assert [r.id for r in scope.archive.restore("stays")] == ["stays"]
    assert scope.get(turn) is None
    assert plain.check().ok


def test_r66_a_fact_goes_with_the_archived_turn_it_came_from_but_not_with_one_of_two(plain: AgentMemory) -> None:
    scope = plain.scope(user="alice")
    scope.session("a").add_messages([{"id": "1", "role": "user", "content": "I live in Lyon"}])
    scope.session("b").add_messages([{"id": "1", "role": "user", "content": "I live in Lyon"}])
    [fact] = scope.list(kinds=["fact"])
    assert len(scope.sources(fact.id)) == 2
    scope.archive.session("a")
    scope.session("b").delete()
    assert scope.get(fact.id) is not None  # one source is in the archive, and counts
    scope.archive.delete("a")
    assert scope.get(fact.id) is None
    assert scope.graph.relations() == []


def test_r66_an_archived_fact_goes_with_its_live_turn(plain: AgentMemory) -> None:
    scope = plain.scope(user="alice")
    scope.session("a").add_messages([{"id": "1", "role": "user", "content": "I live in Lyon"}])
    [fact] = scope.list(kinds=["fact"])
    scope.archive.records([fact.id])
    receipt = scope.session("a").delete()
    assert fact.id in receipt.ids
    assert scope.archive.list() == []


def test_r66_both_ends_of_a_link_may_be_away_and_are_linked_again_in_any_order(plain: AgentMemory) -> None:
    for first, second in ((0, 1), (1, 0)):
        scope = plain.scope(user=f"u{first}")
        scope.session("a").add_messages([{"id": "1", "role": "user", "content": "I live in Lyon"}])
        [fact] = scope.list(kinds=["fact"])
        before = scope.sources(fact.id)
        moves = [lambda s=scope: s.archive.session("a"), lambda s=scope, f=fact: s.archive.records([f.id])]
        for move in moves:
            move()
        for each in ("a", fact.id)[:: 1 if first == 0 else -1]:
            scope.archive.restore(each)
        assert scope.sources(fact.id) == before
        assert second in (0, 1)


def test_r66_what_a_turn_told_the_graph_stays_while_it_is_away_and_goes_when_it_is_erased(plain: AgentMemory) -> None:
    scope = plain.scope(user="alice")
    scope.session("s").add_messages(
        [{"id": "1", "role": "user", "content": "hm"}, {"id": "2", "role": "user", "content": "ok"}]
    )
    one, two = (r.id for r in scope.list(kinds=["turn"]))
    scope.graph.add("Ann", "knows", "Bob", source=one)
    scope.graph.alias("Bob", "Robert", source=one)
    scope.graph.describe("Ann", type="person", source=one)
    scope.graph.add("Cat", "sees", "Dog", source=two)
    before = (scope.graph.relations(), scope.graph.entities())
    scope.archive.session("s")
    assert [str(r) for r in scope.graph.relations()] == ["Ann knows Bob", "Cat sees Dog"]
    scope.archive.restore("s")
    assert (scope.graph.relations(), scope.graph.entities()) == before
    scope.archive.session("s")
    scope.delete(one)
    assert [str(r) for r in scope.graph.relations()] == ["Cat sees Dog"]
    assert [e.name for e in scope.graph.entities()] == ["Cat", "Dog"]
    scope.archive.restore("s")
    assert [r.source for r in scope.graph.relations()] == [two]


def test_r66_a_file_that_can_not_be_deleted_now_is_deleted_later(
    plain: AgentMemory, tmp_path: Path, monkeypatch: Any
) -> None:
    scope = plain.scope(user="alice")
    secret(scope)
    delete = places.delete

    def down(address: str) -> None:
        raise ArchiveUnreachable(address)

    monkeypatch.setattr(places, "delete", down)
    with pytest.raises(ArchiveUnreachable):
        scope.delete_all()
    assert scope.archive.list() == []  # for the memory it is erased already
    assert on_disk(tmp_path / "agent.db.archive", SENTINEL)
    plain.flush()  # tries again, and goes on all the same
    monkeypatch.setattr(places, "delete", delete)
    plain.flush()
    assert on_disk(tmp_path / "agent.db.archive", SENTINEL) == []


def test_r66_what_was_erased_meanwhile_is_not_restored(plain: AgentMemory, clock: ManualClock) -> None:
    """The same words, erased under another id after the archive was made."""
    scope = plain.scope(user="alice")
    scope.add("a secret", id="one")
    scope.archive.records(["one"])
    clock.advance(seconds=1)
    scope.add("a secret", id="two")
    scope.delete("two")
    assert scope.archive.restore("one") == []
    assert scope.list() == []
    scope.add("told anew", id="x"), scope.delete("x"), scope.add("told anew", id="x")
    clock.advance(seconds=1)
    scope.archive.records(["x"])
    assert [r.id for r in scope.archive.restore("x")] == ["x"]  # erased before it was archived is not erased now


# ---------------------------------------------------------------------- encrypted


@pytest.mark.sqlite_only
def test_b8_the_archive_of_an_encrypted_memory_is_encrypted(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("sqlcipher3")
    pytest.importorskip("cryptography")
    with AgentMemory.open(path, embedder="hashing", key="correct horse") as memory:
        scope = told(memory.scope(user="alice"))
        before = everything(scope)
        moved = scope.archive.session("monday")
        data = Path(moved.address).read_bytes()
        assert b"monday" not in data
        assert not data.startswith(b"\x28\xb5\x2f\xfd")
        manifest = Path(moved.address.replace(".jsonl.zst", ".manifest.json")).read_text(encoding="utf-8")
        assert "alice" not in manifest
        assert "monday" not in manifest
        scope.delete(scope.archive.read("monday")[1].id)
        assert len(scope.archive.restore("monday")) == 3
        assert len(everything(scope)) == len(before) - 1


# ---------------------------------------------------------------------- at once, and killed


def test_b8_what_is_changed_while_it_is_moved_is_moved_as_changed(plain: AgentMemory, monkeypatch: Any) -> None:
    scope = told(plain.scope(user="alice"))
    store, times = cold_files.store, []

    def slow(engine: Any, address: str, made: Any) -> None:
        store(engine, address, made)
        if not times:
            times.append(1)
            scope.session("monday").add_messages([{"id": "5", "role": "user", "content": "one more thing"}])

    monkeypatch.setattr(cold_files, "store", slow)
    assert scope.archive.session("monday").records == 5
    assert len(list(Path(str(scope.archive.address)).rglob("*.zst"))) == 1
    assert [r.message_id for r in scope.archive.restore("monday")] == ["1", "2", "3", "4", "5"]


def test_b8_what_is_erased_while_it_is_moved_is_in_no_file(
    plain: AgentMemory, tmp_path: Path, monkeypatch: Any
) -> None:
    scope = plain.scope(user="alice")
    scope.session("monday").add_messages([{"id": "1", "role": "user", "content": SENTINEL}, *TALK[1:2]])
    store, times = cold_files.store, []

    def slow(engine: Any, address: str, made: Any) -> None:
        store(engine, address, made)
        if not times:
            times.append(1)
            scope.session("monday").delete_messages(["1"])

    monkeypatch.setattr(cold_files, "store", slow)
    assert scope.archive.session("monday").records == 1
    assert on_disk(tmp_path / "agent.db.archive", SENTINEL) == []


KILLED = """
import os, signal, sys
from shared_core import AgentMemory
from shared_core.long_term import archive, cold_files
from shared_core.moving import places

path, where, verb = sys.argv[1:4]
owner, name = {"store": (cold_files, "store"), "after store": (cold_files, "store"), "replace": (os, "replace"),
               "out": (archive, "_take_out"), "after out": (archive, "_take_out"), "remove": (cold_files, "remove"),
               "after remove": (cold_files, "remove"), "raw": (cold_files, "raw"), "without": (cold_files, "without")}[where]
real = getattr(owner, name)

def killed(*arguments, **keywords):
    if where.startswith("after"):
        real(*arguments, **keywords)
    os.kill(os.getpid(), signal.SIGKILL)

memory = AgentMemory.open(path, embedder="hashing")
scope = memory.scope(user="alice")
setattr(owner, name, killed)
if verb == "session":
    scope.archive.session("monday")
elif verb == "restore":
    scope.archive.restore("monday")
else:
    scope.session("monday").delete_messages(["1"])
"""


def killed(path: Path, where: str, verb: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), where, verb], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]


def later(path: Path) -> tuple[AgentMemory, Scope]:
    """The memory, so long after that what was being written is taken for abandoned."""
    memory = AgentMemory.open(path, embedder="hashing", settings={"archive": {"abandoned_seconds": 0.001}})
    return memory, memory.scope(user="alice")


@pytest.mark.sqlite_only
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("where", ["store", "replace", "after store", "out", "after out"])
def test_b8_a_move_that_is_killed_anywhere_loses_nothing_and_leaves_no_stray_file(path: Path, where: str) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        before = everything(told(memory.scope(user="alice")))
    killed(path, where, "session")
    memory, scope = later(path)
    with memory:
        assert everything(scope) == before  # each died before the commit
        memory.flush()
        assert list(Path(str(scope.archive.address)).rglob("*.*")) == []
        assert scope.archive.session("monday").records == 4
        scope.archive.restore("monday")
        assert everything(scope) == before
        assert memory.check().ok


@pytest.mark.sqlite_only
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("where", ["raw", "remove", "after remove"])
def test_b8_a_return_that_is_killed_anywhere_loses_nothing(path: Path, where: str) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = told(memory.scope(user="alice"))
        before = everything(scope)
        scope.archive.session("monday")
    killed(path, where, "restore")
    memory, scope = later(path)
    with memory:
        memory.flush()
        if scope.archive.list():
            scope.archive.restore("monday")
        assert everything(scope) == before
        assert list(Path(str(scope.archive.address)).rglob("*.*")) == []
        assert memory.check().ok


@pytest.mark.sqlite_only
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("where", ["without", "store", "replace", "after store", "remove", "after remove"])
def test_r66_an_erasure_that_is_killed_after_it_was_written_is_finished_later(path: Path, where: str) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages([{"id": "1", "role": "user", "content": SENTINEL}, *TALK[1:2]])
        scope.archive.session("monday")
    killed(path, where, "erase")
    memory, scope = later(path)
    with memory:
        memory.flush()
        assert on_disk(path.parent / "agent.db.archive", SENTINEL) == []
        assert len(list(Path(str(scope.archive.address)).rglob("*.zst"))) == 1
        assert [r.message_id for r in scope.archive.restore("monday")] == ["2"]


# ---------------------------------------------------------------------- two at once


def files_of(memory: AgentMemory) -> set[str]:
    found = Path(str(memory.scope(user="alice").archive.address)).rglob("*")
    return {file.name for file in found if file.is_file() and ".zst" in file.name}


@pytest.mark.parametrize("moment", ["before the file", "after the file"])
def test_b8_an_erasure_while_a_file_is_written_leaves_no_file_that_nobody_knows(
    plain: AgentMemory, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Whoever erased deleted a file that was still being written; its writer then made it again, and forgot it."""
    scope = plain.scope(user="alice")
    scope.add(SENTINEL, id="secret")
    scope.session("monday").add_messages(TALK)
    store, done = cold_files.store, []

    def interrupted(*arguments: Any) -> None:
        if moment == "after the file":
            store(*arguments)
        if not done:
            done.append(scope.delete("secret"))
        if moment == "before the file":
            store(*arguments)

    monkeypatch.setattr(cold_files, "store", interrupted)
    kept = scope.archive.session("monday")
    plain.flush()
    assert files_of(plain) == {Path(kept.address).name}
    assert [message.id for message in scope.archive.read("monday")] != []
    plain.purge()
    assert plain.verify(done[0]).ok


def test_b8_an_erasure_while_a_file_is_written_anew_does_not_lose_the_archive(
    plain: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file without what was erased was deleted by the next erasure, and then taken for the archive's file."""
    scope = plain.scope(user="alice")
    scope.add_many([{"text": "one thing", "id": "one"}, {"text": "another", "id": "two"}])
    scope.session("monday").add_messages(TALK)
    scope.archive.session("monday")
    first = scope.archive.read("monday")[0].id
    store, done = cold_files.store, []

    def interrupted(*arguments: Any) -> None:
        store(*arguments)
        if not done:
            done.append("two")
            scope.delete("two")

    monkeypatch.setattr(cold_files, "store", interrupted)
    scope.delete(first)
    plain.flush()
    assert [record.message_id for record in scope.archive.restore("monday")] == ["2", "3", "4"]
    plain.flush()
    assert files_of(plain) == set()


def test_b8_folders_that_come_and_go_do_not_fail_a_move(plain: AgentMemory) -> None:
    """The last file of a folder takes it along, also from under whoever is about to write into it."""
    scope = plain.scope(user="alice")
    failures: list[str] = []

    def work(n: int) -> None:
        try:
            for _ in range(8):
                scope.session(f"s{n}").add_messages([{"role": "user", "content": f"hello {n}", "id": "1"}])
                scope.archive.session(f"s{n}")
                scope.archive.restore(f"s{n}")
        except Exception as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert sorted(record.text for record in scope.list(kinds=["turn"])) == [f"hello {n}" for n in range(4)]


# ---------------------------------------------------------------------- the rest


async def test_b8_async_twins(plain: AgentMemory) -> None:
    scope = told(plain.scope(user="alice"))
    before = everything(scope)
    moved = await scope.archive.asession("monday")
    single = await scope.archive.arecords(["bees"])
    assert single is not None
    assert {a.id for a in await scope.archive.alist()} == {moved.id, single.id}
    assert await scope.archive.aget("monday") == moved
    assert len(await scope.archive.aread("monday")) == 4
    assert len(await scope.archive.arestore("monday")) == 4
    await scope.archive.arestore(single.id)
    assert everything(scope) == before
    await scope.archive.asession("monday")
    assert (await scope.archive.adelete("monday")).count >= 4


def test_b8_an_export_holds_what_is_archived_and_an_import_makes_it_live(plain: AgentMemory, tmp_path: Path) -> None:
    scope = told(plain.scope(user="alice"))
    turn = scope.list(kinds=["turn"])[0].id
    scope.graph.add("Ann", "knows", "Bob", source=turn)
    before, sources = everything(scope), {id: scope.sources(id) for id in everything(scope)}
    relations = {(str(r), r.sources) for r in scope.graph.relations()}
    scope.archive.session("monday"), scope.archive.records(["bees"])
    assert scope.export(tmp_path / "x.jsonl").records == len(before)
    assert scope.export(tmp_path / "live.jsonl", archived=False).records == len(before) - 5
    with AgentMemory.open(embedder="hashing") as other:
        copy = other.scope(user="alice")
        copy.import_(tmp_path / "x.jsonl")
        assert everything(copy) == before
        assert {id: copy.sources(id) for id in before} == sources
        assert {(str(r), r.sources) for r in copy.graph.relations()} == relations
        assert copy.import_(tmp_path / "x.jsonl").counts == {}
        assert {(str(r), r.sources) for r in copy.graph.relations()} == relations


def test_b8_nothing_is_looked_for_where_nothing_waits(plain: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deleting must not grow slower with the number of archives."""
    scope = told(plain.scope(user="alice"))
    scope.archive.session("monday")
    monkeypatch.setattr(archives, "settle", lambda *a, **k: pytest.fail("there was nothing to settle"))
    scope.delete("bees")
    assert os.path.isdir(str(scope.archive.address))
