"""Files into a memory: what was deleted stays deleted, a broken file leaves nothing, a killed import goes on (E5)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import EmbedderMismatch, InvalidInput, InvalidType
from shared_core.moving import lines
from shared_core.testing import FixedEmbedder

pytestmark = pytest.mark.sqlite_only

Opened = Callable[..., AgentMemory]
Rich = Callable[[Scope], None]


@pytest.fixture
def file(opened: Opened, rich: Rich, tmp_path: Path) -> Path:
    """The export of a rich memory."""
    with opened("source.db") as memory:
        rich(memory.scope(user="alice"))
        memory.scope(user="alice").export(tmp_path / "x.jsonl", audit=True)
    return tmp_path / "x.jsonl"


# ---------------------------------------------------------------------- tombstones


@pytest.mark.parametrize("text", ["My password is tulip", "我的密码是郁金香"])
def test_e5_what_was_deleted_is_not_brought_back_unless_it_is_asked_for(
    opened: Opened, tmp_path: Path, text: str
) -> None:
    with opened() as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages([{"role": "user", "content": text, "id": "1"}])
        scope.add(text, id="secret"), scope.add("I like tea", id="tea")
        scope.graph.add("alice", "uses", "tulip", source="secret")
        scope.export(tmp_path / "x.jsonl")
        scope.delete("secret")
        scope.session("monday").delete()
        found = scope.import_(tmp_path / "x.jsonl")
        assert (found.new, found.known, found.deleted) == (0, 1, 2)
        assert [r.id for r in scope.list()] == ["tea"]
        assert scope.graph.relations() == []
        assert scope.search(text, min_score=0.9) == []
        back = scope.import_(tmp_path / "x.jsonl", revive=True)
        assert (back.new, back.deleted) == (2, 0)
        assert len(scope.search(text, min_score=0.9)) == 2
        assert [str(r) for r in scope.graph.relations()] == ["alice uses tulip"]
        again = scope.import_(tmp_path / "x.jsonl")  # what was brought back is not deleted any more
        assert (again.known, again.deleted) == (3, 0)


def test_e5_deleting_everything_and_importing_brings_back_nothing(opened: Opened, file: Path) -> None:
    with opened("source.db") as memory:
        scope = memory.scope(user="alice")
        scope.delete_all()
        found = scope.import_(file)
        assert (found.new, found.deleted) == (0, found.records)
        assert scope.list(where={"status": {"$in": ["active", "superseded"]}}) == []
        assert [e.name for e in scope.graph.entities() if e.name == "The Boss"] == []
        assert scope.import_(file, revive=True).new == found.records
        assert memory.check().ok


def test_e5_deleted_in_one_scope_is_deleted_for_that_one_only(opened: Opened, tmp_path: Path) -> None:
    with opened() as memory:
        for user in ("alice", "bob"):
            memory.scope(user=user).add("the same words", id="x")
        memory.scope(user="alice").export(tmp_path / "x.jsonl")
        memory.scope(user="bob").delete("x")
        assert memory.scope(user="bob").import_(tmp_path / "x.jsonl").deleted == 1
        assert memory.scope(user="carol").import_(tmp_path / "x.jsonl").new == 1


# ---------------------------------------------------------------------- into a memory that is not empty


def test_e5_a_fact_that_is_known_under_another_id_is_that_fact(opened: Opened, tmp_path: Path) -> None:
    with opened("a.db") as one, opened("b.db") as two:
        here, there = one.scope(user="alice"), two.scope(user="alice")
        here.session("s").add_messages([{"role": "user", "content": "I like tea", "id": "1"}])
        fact = here.add("I like tea")
        with here._live().store.write() as tx:
            seqs = {row[1]: row[0] for row in tx.rows("scope_seqs", {"scope": 1})}
            tx.run("add_link", (seqs[fact.id], next(s for i, s in seqs.items() if i != fact.id), "rules", 1))
        here.export(tmp_path / "x.jsonl")
        mine = there.add("I like tea")
        found = there.import_(tmp_path / "x.jsonl")
        assert (found.new, found.known) == (1, 1)
        assert [r.id for r in there.list(kinds=["fact"])] == [mine.id]
        assert there.get(mine.id).seen == 1  # type: ignore[union-attr]
        assert [each["message_id"] for each in there.sources(mine.id)] == ["1"]


def test_e5_a_conversation_that_went_on_elsewhere_keeps_its_order(opened: Opened, tmp_path: Path) -> None:
    def say(scope: Scope, *names: str) -> None:
        scope.session("s").add_messages([{"role": "user", "content": name, "id": name} for name in names])

    with opened("a.db") as one, opened("b.db") as two:
        here, there = one.scope(user="alice"), two.scope(user="alice")
        say(here, "1", "2")
        here.export(tmp_path / "x.jsonl")
        there.import_(tmp_path / "x.jsonl")
        say(there, "3", "4")
        say(here, "5")
        there.export(tmp_path / "y.jsonl")
        here.import_(tmp_path / "y.jsonl")
        assert [m.id for m in here.session("s").messages()] == ["1", "2", "5", "3", "4"]
        say(here, "6")
        assert [m.id for m in here.session("s").messages(last=1)] == ["6"]


def test_e5_another_scope_of_the_same_database_takes_it_all_in(
    opened: Opened, rich: Rich, state: Any, tmp_path: Path
) -> None:
    with opened() as memory:
        rich(memory.scope(user="alice"))
        memory.scope(user="alice").export(tmp_path / "x.jsonl")
        memory.scope(user="bob", agent="b").import_(tmp_path / "x.jsonl")
        assert memory.check().ok
    one, two = state(tmp_path / "agent.db"), state(tmp_path / "agent.db", "bob", "b")
    assert len(two["question"]) == 1  # its id is one of the database, so it gets another
    for table in one.keys() - {"question"}:
        assert two[table] == one[table]


# ---------------------------------------------------------------------- broken files


def broken(file: Path, **changes: Any) -> bytes:
    """The file with its third line changed."""
    parts = file.read_bytes().split(b"\n")
    value = json.loads(parts[2])
    kind = next(iter(value))
    for key, new in changes.items():
        if new is ...:
            del value[kind][key]
        else:
            value[kind][key] = new
    parts[2] = json.dumps(value).encode()
    return b"\n".join(parts)


DAMAGE: dict[str, Callable[[Path], bytes]] = {
    "line 2: broken JSON": lambda f: f.read_bytes().replace(b'\n{"session"', b'\n{"session', 1),
    "line 3: not a value": lambda f: broken(f, created_at=...),
    "line 3: a session has no 'colour'": lambda f: broken(f, colour="red"),
    "has no timezone": lambda f: broken(f, created_at="2026-01-01T00:00:00"),
    "is not whole": lambda f: b"\n".join(f.read_bytes().split(b"\n")[:-3]) + b"\n",
    "not UTF-8": lambda f: f.read_bytes().replace("里".encode(), b"\xff\xfe", 1),
    "one session more than the header says": lambda f: f.read_bytes() + b"\n".join(f.read_bytes().split(b"\n")[1:2] * 1),
    "no export of twinmem": lambda f: b"\n".join(f.read_bytes().split(b"\n")[1:]),
    "format version 99": lambda f: f.read_bytes().replace(b'"version":1', b'"version":99', 1),
    "an object with one key": lambda f: f.read_bytes().replace(b'\n{"session":', b'\n{"other":1,"session":', 1),
    "unknown kind of line": lambda f: f.read_bytes().replace(b'"session":2', b'"secession":2').replace(b'{"session":', b'{"secession":'),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.parametrize("packed", [False, True])
def test_e5_a_damaged_file_says_where_and_leaves_nothing_half_done(
    opened: Opened, file: Path, tmp_path: Path, what: str, packed: bool
) -> None:
    data = DAMAGE[what](file)
    assert data != file.read_bytes()
    bad = tmp_path / ("bad.jsonl.zst" if packed else "bad.jsonl")
    bad.write_bytes(lines.compressed([data], 3) if packed else data)
    with opened("b.db") as memory:
        with pytest.raises(InvalidInput) as caught:
            memory.scope(user="alice").import_(bad)
        assert what in str(caught.value)
        assert "bad.jsonl" in str(caught.value)
        assert memory.users() == []


WRONG: dict[str, dict[str, Any]] = {
    "unknown kind": {"kind": "wish"}, "importance is 3": {"importance": 3}, "unknown status": {"status": "lost"},
    "seen is a whole number": {"seen": 0}, "text is a text": {"text": 7}, "a triple is": {"triple": ["a"]},
    "is not the id of message": {"message_id": "other"}, "a turn needs": {"position": ...},
    "base64": {"vectors": [{"embedder": "hashing", "dimensions": 64, "pieces": "?"}]},
    "64 dimensions": {"vectors": [{"embedder": "hashing", "dimensions": 64, "pieces": "AAAA"}]},
    "not of length 1": {"vectors": [{"embedder": "hashing", "dimensions": 1, "pieces": "AH4="}]},
    "metadata is a dict": {"metadata": [1]}, "body is an object": {"body": "x"},
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_e5_a_record_that_can_not_be_is_refused_with_its_line(opened: Opened, tmp_path: Path, what: str) -> None:
    with opened("a.db") as one, opened("b.db") as two:
        one.scope(user="alice").session("s").add_messages([{"role": "user", "content": "fine", "id": "1"}])
        one.scope(user="alice").export(tmp_path / "x.jsonl")
        (tmp_path / "x.jsonl").write_bytes(broken(tmp_path / "x.jsonl", **WRONG[what]))
        with pytest.raises(InvalidInput) as caught:
            two.scope(user="alice").import_(tmp_path / "x.jsonl")
        assert what in str(caught.value)
        assert "line 3" in str(caught.value)
        assert two.users() == []


def test_e5_a_damaged_byte_of_a_compressed_file_is_noticed(opened: Opened, rich: Rich, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl.zst"
    with opened("a.db") as one, opened("b.db") as two:
        rich(one.scope(user="alice"))
        one.scope(user="alice").export(file)
        whole = file.read_bytes()
        for place in range(20, len(whole), len(whole) // 12):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
            with pytest.raises(InvalidInput):
                two.scope(user="alice").import_(file)
        file.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(InvalidInput):
            two.scope(user="alice").import_(file)
        assert two.users() == []


def test_e5_what_can_not_be_imported(opened: Opened, tmp_path: Path) -> None:
    with opened() as memory:
        scope = memory.scope(user="alice")
        for path, format in ((tmp_path / "nowhere", "twinmem"), (tmp_path, "auto"), (tmp_path / "x", "word")):
            with pytest.raises(InvalidInput):
                scope.import_(path, format)
        with pytest.raises(InvalidType):
            scope.import_(None)  # type: ignore[arg-type]


def test_e5_limits_and_another_embedder_hold_for_imports_too(opened: Opened, file: Path) -> None:
    with opened("b.db", limits={"text_chars": 5}) as memory, pytest.raises(InvalidInput, match=r"limits\.text_chars"):
        memory.scope(user="alice").import_(file)
    with opened("c.db", FixedEmbedder()) as memory:
        memory.scope(user="bob").add("made with another one")
    with opened("c.db", "hashing") as memory, pytest.raises(EmbedderMismatch):
        memory.scope(user="alice").import_(file)


# ---------------------------------------------------------------------- batches, and processes that die


def test_e5_batches_tell_how_far_they_are_and_lose_nothing(
    opened: Opened, file: Path, state: Any, tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    with opened("b.db", transfer={"batch": 2}) as memory:
        memory.scope(user="alice").import_(file, progress=lambda done, of: told.append((done, of)))
    assert len(told) > 3
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1]
    assert state(tmp_path / "b.db") == state(tmp_path / "source.db")


IMPORTER = """
import sys
from shared_core import AgentMemory
memory = AgentMemory.open(sys.argv[1], embedder="hashing", settings={"facts": {"extract": False}, "transfer": {"batch": 3}})
memory.scope(user="alice").import_(sys.argv[2], progress=lambda done, of: print(done, flush=True))
"""


@pytest.mark.parametrize("after", [1, 2, 4, 6])
def test_e5_an_import_that_is_killed_goes_on_where_it_was(file: Path, state: Any, tmp_path: Path, after: int) -> None:
    path = tmp_path / "b.db"
    child = subprocess.Popen([sys.executable, "-c", IMPORTER, str(path), str(file)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for _ in range(after):
        child.stdout.readline()
    os.kill(child.pid, signal.SIGKILL)
    child.stdout.close()
    child.wait(30)
    with AgentMemory.open(path, embedder="hashing", settings={"facts": {"extract": False}}) as memory:
        assert memory.check().ok
        memory.scope(user="alice").import_(file)
        assert memory.check().ok
    assert state(path) == state(tmp_path / "source.db")


# ---------------------------------------------------------------------- other systems


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


MEM0 = {
    "results": [
        {"id": "a1", "memory": "Likes oolong tea", "hash": "h", "metadata": {"topic": "drinks"}, "user_id": "alice",
         "created_at": "2025-03-01T10:00:00-08:00", "updated_at": None},
        {"id": "a2", "memory": "住在里昂", "hash": "i", "metadata": None, "created_at": "2025-03-02T10:00:00Z",
         "updated_at": "2025-03-03T10:00:00Z", "user_id": "alice", "run_id": "monday"},
    ],
    "relations": [{"source": "alice", "relationship": "works_at", "target": "acme_corp"}],
}  # fmt: skip


@pytest.mark.parametrize("format", ["mem0", "auto"])
def test_e5_mem0s_memories_come_with_their_times_and_once(opened: Opened, tmp_path: Path, format: str) -> None:
    file = write(tmp_path / "mem0.json", MEM0)
    with opened() as memory:
        scope = memory.scope(user="alice")
        found = scope.import_(file, format)
        assert (found.format, found.new, found.memories) == ("mem0", 3, 3)
        tea, home = scope.get("mem0:a1"), scope.get("mem0:a2")
        assert tea is not None
        assert home is not None
        assert (tea.text, tea.metadata) == ("Likes oolong tea", {"topic": "drinks", "mem0": {"hash": "h"}})
        assert tea.created_at == datetime(2025, 3, 1, 18, tzinfo=UTC)
        assert (home.text, home.updated_at) == ("住在里昂", datetime(2025, 3, 3, 10, tzinfo=UTC))
        assert [str(r) for r in scope.graph.relations()] == ["alice works at acme corp"]
        again = scope.import_(file, format)
        assert (again.new, again.changed, again.known) == (0, 0, 3)
        changed = {**MEM0, "results": [{**MEM0["results"][0], "memory": "Likes green tea"}, MEM0["results"][1]]}
        grown = scope.import_(write(file, changed), format)
        assert (grown.new, grown.changed, grown.known) == (0, 1, 2)
        assert scope.get("mem0:a1").text == "Likes green tea"  # type: ignore[union-attr]
        scope.delete("mem0:a2")
        assert scope.import_(file, format).deleted == 1
        assert scope.get("mem0:a2") is None
        assert scope.import_(file, format, True).new == 1


def test_e5_what_was_false_in_zep_is_history_here(opened: Opened, tmp_path: Path) -> None:
    edge = {"uuid": "e1", "name": "WORKS_AT", "fact": "Ann works at ACME", "source_node_uuid": "n1", "target_node_uuid": "n2",
            "created_at": "2025-01-01T00:00:00Z", "valid_at": "2024-05-01T00:00:00Z", "invalid_at": None, "expired_at": None}  # fmt: skip
    old = {**edge, "uuid": "e0", "fact": "Ann works at Initech", "target_node_uuid": "n3", "valid_at": "2020-01-01T00:00:00Z",
           "invalid_at": "2024-05-01T00:00:00Z", "expired_at": "2025-01-01T00:00:00Z"}  # fmt: skip
    nodes = [{"uuid": "n1", "name": "Ann"}, {"uuid": "n2", "name": "ACME"}, {"uuid": "n3", "name": "Initech"}]
    file = write(tmp_path / "zep.json", {"edges": [edge, old], "nodes": nodes})
    with opened() as memory:
        scope = memory.scope(user="alice")
        assert scope.import_(file, "auto").new == 2
        assert [r.text for r in scope.list()] == ["Ann works at ACME"]
        past = scope.get("zep:e0")
        assert past is not None
        assert (past.status, past.valid_from, past.valid_until) == (
            "superseded", datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC))  # fmt: skip
        assert past.triple == ("Ann", "works at", "Initech")
        assert [
            h.record.text for h in scope.search("Where does Ann work?", as_of=datetime(2022, 1, 1, tzinfo=UTC))
        ] == ["Ann works at Initech"]
        assert [str(r) for r in scope.graph.relations()] == ["Ann works at ACME"]
        assert scope.import_(file, "zep").known == 2


def test_e5_a_letta_agent_file_gives_its_blocks_passages_and_talk(opened: Opened, tmp_path: Path) -> None:
    said = json.dumps({"type": "user_message", "message": "你好，我是小李", "time": "…"}, ensure_ascii=False)
    beat = json.dumps({"type": "heartbeat", "reason": "…"})
    speech = {"id": "c1", "function": {"name": "send_message", "arguments": '{"message": "Hello Li"}'}}
    file = write(tmp_path / "helper.af", {
        "agents": [{"id": "agent-0", "name": "helper", "messages": [
            {"id": "message-0", "role": "system", "content": [{"type": "text", "text": "You are Letta"}]},
            {"id": "message-1", "role": "user", "content": [{"type": "text", "text": said}], "created_at": "2025-03-01T10:00:00Z"},
            {"id": "message-2", "role": "assistant", "content": [{"type": "text", "text": "greet them"}], "tool_calls": [speech]},
            {"id": "message-3", "role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": '{"status": "OK"}'}]},
            {"id": "message-4", "role": "user", "content": [{"type": "text", "text": beat}]},
        ]}],
        "blocks": [{"id": "block-0", "label": "human", "value": "Name: 小李", "limit": 20000, "description": "the user"}],
    })  # fmt: skip
    with opened() as memory:
        scope = memory.scope(user="alice")
        found = scope.import_(file, "auto")
        assert (found.format, found.memories, found.messages, found.conversations) == ("letta", 1, 2, 1)
        assert [(m.role, m.text) for m in scope.session("helper").messages()] == [
            ("user", "你好，我是小李"), ("assistant", "Hello Li")]  # fmt: skip
        block = scope.list(kinds=["fact"])[0]
        assert (block.text, block.type, block.pinned) == ("Name: 小李", "human", True)
        assert scope.import_(file, "letta").new == 0
        passages = [{"id": "passage-1", "text": "Prefers tea", "created_at": "2025-03-01T10:00:00Z", "tags": ["taste"]}]
        scope.import_(write(tmp_path / "p.json", passages), "letta")
        kept = scope.get("letta:passage-1")
        assert kept is not None
        assert (kept.text, kept.metadata) == ("Prefers tea", {"letta": {"tags": ["taste"]}})


def test_e5_langgraph_items_keep_their_address(opened: Opened, tmp_path: Path) -> None:
    from shared_core.verbs.items import Items

    items = [{"namespace": ["memories", "alice"], "key": "a/b 茶", "value": {"text": "likes tea", "n": 3},
              "created_at": "2025-03-01T10:00:00+00:00", "updated_at": "2025-03-02T10:00:00+00:00"}]  # fmt: skip
    with opened() as memory:
        assert memory.scope(user="alice").import_(write(tmp_path / "i.json", items), "auto").new == 1
        found = Items(memory).get("alice", ("memories", "alice"), "a/b 茶")
        assert found is not None
        assert found.record.metadata == {"text": "likes tea", "n": 3}
        assert found.record.created_at == datetime(2025, 3, 1, 10, tzinfo=UTC)
        assert [h.record.id for h in memory.scope(user="alice").search("likes tea")] == [found.record.id]


def test_e5_a_llamaindex_chat_store_keeps_its_messages_own_form(opened: Opened, tmp_path: Path) -> None:
    call = {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "weather", "tool_kwargs": {"city": "里昂"}}
    talk = [
        {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "里昂天气如何？"}]},
        {"role": "assistant", "additional_kwargs": {}, "blocks": [call]},
        {
            "role": "tool",
            "additional_kwargs": {"tool_call_id": "c1"},
            "blocks": [{"block_type": "text", "text": "sunny"}],
        },
        {"role": "assistant", "content": "Sunny.", "additional_kwargs": {}},
    ]
    store = {"store": {"monday": talk}, "class_name": "SimpleChatStore"}
    for name, value in (
        ("store.json", store),
        ("buffer.json", {"token_limit": 9, "chat_store": store, "chat_store_key": "monday"}),
    ):
        with opened(name + ".db") as memory:
            scope = memory.scope(user="alice")
            assert scope.import_(write(tmp_path / name, value), "auto").messages == 4
            found = scope.session("monday").messages()
            assert [(m.role, m.text) for m in found] == [
                ("user", "里昂天气如何？"), ("assistant", ""), ("tool", "sunny"), ("assistant", "Sunny.")]  # fmt: skip
            assert found[1].tool_calls == ({"id": "c1", "name": "weather", "args": {"city": "里昂"}},)
            assert found[2].tool_call_id == "c1"
            assert found[1].payload == {"llamaindex": {"role": "assistant", "additional_kwargs": {}, "blocks": [call]}}
            assert scope.import_(tmp_path / name, "llamaindex").new == 0


def test_e5_conversations_of_others_go_through_the_same_verb_and_learn_facts(tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "I live in Lyon", "id": "1"},
        {"role": "user", "content": "我养了一只猫", "id": "2"},
    ]
    with AgentMemory.open(embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        found = scope.import_(write(tmp_path / "monday.json", talk), "openai")
        assert (found.conversations, found.messages, found.new) == (1, 2, 2)
        assert any("Lyon" in r.text for r in scope.list(kinds=["fact"]))
        scope.session("monday").delete_messages(["1"])
        assert scope.import_(tmp_path / "monday.json", "openai").deleted == 1
        assert [m.id for m in scope.session("monday").messages()] == ["2"]


@pytest.mark.parametrize("value", [
    {"results": [{"id": "1", "memory": "fine"}, {"id": "2", "memory": " "}]},
    {"results": [{"id": "1", "memory": "fine"}, {"memory": "no id", "id": None}]},
    {"edges": [{"uuid": "1", "fact": "fine"}, {"uuid": "2", "fact": "x", "created_at": "2025-01-01T00:00:00"}]},
    {"agents": [{"name": "a", "messages": [{"role": "user", "content": "fine"}, 7]}], "blocks": []},
    [{"namespace": ["a"], "key": "k", "value": {}}, {"namespace": "a", "key": "k", "value": {}}],
])  # fmt: skip
def test_e5_a_broken_export_of_another_system_leaves_nothing(opened: Opened, tmp_path: Path, value: Any) -> None:
    with opened() as memory:
        with pytest.raises(InvalidInput, match=r"x\.json"):
            memory.scope(user="alice").import_(write(tmp_path / "x.json", value), "auto")
        assert memory.users() == []
