"""The rules of writing and erasing, on the rows themselves: dedupe, the cascade and its counts, tombstones, revisions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput
from shared_core.store import cascade, ledger, tombstones
from shared_core.store.rows import Draft, dump, instant, load, micros, moment


@pytest.fixture
def told() -> Iterator[Scope]:
    with AgentMemory.open(embedder="hashing", settings={"facts": {"extract": False}}) as memory:
        yield memory.scope(user="alice")


def rows(scope: Scope, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with scope._engine.store.look() as tx:
        return tx._connection.execute(sql, parameters).fetchall()


def run(scope: Scope, sql: str, *parameters: Any) -> None:
    with scope._engine.store.write() as tx:
        tx._connection.execute(sql, parameters)


def seq(scope: Scope, id: str) -> int:
    return int(rows(scope, "SELECT seq FROM record WHERE id = ?", id)[0][0])


def link(scope: Scope, record: str, *sources: str) -> None:
    for source in sources:
        run(scope, "INSERT INTO provenance VALUES (?, ?, 'test', 0)", seq(scope, record), seq(scope, source))


def columns(scope: Scope, table: str) -> dict[str, str]:
    """The stored columns of a table and their types."""
    return {row[1]: row[2] for row in rows(scope, f"PRAGMA table_xinfo({table})") if row[6] == 0}


def tables_with(scope: Scope, column: str) -> list[str]:
    names = [row[0] for row in rows(scope, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return [name for name in names if columns(scope, name).get(column) == "INTEGER"]


NUMBERS = itertools.count(5_000)


def fill(told: Scope, table: str, **given: int) -> None:
    """Put a row into a table, whatever its columns are."""
    something = {"TEXT": "'x{}'", "REAL": "0.5", "BLOB": "x'00'"}
    values: dict[str, object] = {
        name: something.get(kind, "{}").format(next(NUMBERS)) for name, kind in columns(told, table).items()
    }
    values |= {"body": "'knows(A, B) => knows(B, A)'"} if table == "rule" else {}
    values |= {name: value for name, value in given.items() if name in values}
    run(told, f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(map(str, values.values()))})")


def test_erasing_takes_all_that_belongs_to_a_record_and_counts_it(told: Scope) -> None:
    told.add("kept", id="kept")
    told.add("gone", id="gone")
    gone, kept = seq(told, "gone"), seq(told, "kept")
    link(told, "gone", "kept")
    for sql in (
        f"INSERT INTO access VALUES ({gone}, 1, 0)",
        f"INSERT INTO pending (scope, record, work, created_at) VALUES (1, {gone}, 'x', 0)",
        f"INSERT INTO outcome VALUES ({gone}, 1, 0, NULL)",
        f"INSERT INTO trace (reply, record, rank, score) VALUES ({gone}, {kept}, 1, 1.0)",
        f"INSERT INTO trace (reply, record, rank, score) VALUES ({kept}, {gone}, 1, 1.0)",
    ):
        run(told, sql)
    receipt = told.delete("gone")
    assert receipt.erased == {
        "records": 1, "vectors": 1, "access counts": 1, "links": 1, "pending": 1, "outcomes": 1, "traces": 2,
    }  # fmt: skip
    assert (receipt.count, receipt.ids) == (1, ("gone",))
    assert [r.id for r in told.list()] == ["kept"]


def test_no_table_that_names_a_record_is_left_out_of_the_cascade(told: Scope) -> None:
    """Whoever adds a table has to add it to the cascade, or erased texts live on in it."""
    told.add("kept", id="kept")
    told.add("gone", id="gone")
    gone, kept = seq(told, "gone"), seq(told, "kept")
    tables = [table for table in tables_with(told, "record") if table != "erased"]
    assert {"access", "provenance", "pending", "question", "outcome", "trace"} <= set(tables)
    for table in tables:
        fill(told, table, record=gone, scope=1)
        if table in ("access", "outcome"):
            fill(told, table, record=kept, scope=1)
    told.delete("gone")
    left = {table: rows(told, f"SELECT count(*) FROM {table} WHERE record = ?", gone)[0][0] for table in tables}
    assert not any(left.values()), left
    assert rows(told, "SELECT count(*) FROM access WHERE record = ?", kept) == [(1,)]


def test_no_table_that_names_a_scope_is_left_out_when_a_user_is_forgotten(told: Scope) -> None:
    told.add("x")
    [(scope,)] = rows(told, "SELECT id FROM scope")
    tables = [table for table in tables_with(told, "scope") if table not in ("record", "session", "tombstone")]
    assert {"pending", "audit", "question", "entity", "relation", "alias", "archive", "vault"} <= set(tables)
    for table in tables:
        fill(told, table, scope=scope)
        fill(told, table, scope=scope + 1)
    AgentMemory(told._engine).forget("alice")
    for table in tables:
        assert rows(told, f"SELECT count(*) FROM {table} WHERE scope = ?", scope) == [(0,)], table
        assert rows(told, f"SELECT count(*) FROM {table} WHERE scope = ?", scope + 1) == [(1,)], table


def test_what_came_only_from_an_erased_record_goes_with_it_and_what_has_another_source_stays(told: Scope) -> None:
    for id in ("turn1", "turn2", "only1", "both", "grandchild", "own"):
        told.add(f"text of {id}", id=id)
    link(told, "only1", "turn1")
    link(told, "both", "turn1", "turn2")
    link(told, "grandchild", "only1")
    assert {s["record"] for s in told.sources("both")} == {"turn1", "turn2"}
    receipt = told.delete("turn1")
    assert set(receipt.ids) == {"turn1", "only1", "grandchild"}
    assert {r.id for r in told.list()} == {"turn2", "both", "own"}
    assert [s["record"] for s in told.sources("both")] == ["turn2"]
    assert set(told.delete("turn2").ids) == {"turn2", "both"}


def test_records_that_came_from_each_other_do_not_loop(told: Scope) -> None:
    for id in ("a", "b", "c"):
        told.add(id * 3, id=id)
    link(told, "a", "b")
    link(told, "b", "a")
    link(told, "c", "c")
    assert set(told.delete("a").ids) == {"a", "b"}
    assert told.delete("c").count == 1


def test_clearing_a_session_keeps_the_facts_that_came_from_it_and_deleting_does_not(told: Scope) -> None:
    for verb, left in (("clear", {"fact"}), ("delete", set())):
        chat = told.session("s")
        chat.add_messages([{"role": "user", "content": "hello?", "id": "1"}])
        told.add("Alice likes tea", id="fact")
        link(told, "fact", ledger.turn_id("s", "1"))
        getattr(chat, verb)()
        assert {r.id for r in told.list()} == left
        assert rows(told, "SELECT count(*) FROM provenance") == [(0,)]


def test_erasing_a_version_unlinks_the_versions_beside_it(told: Scope) -> None:
    for id in ("v1", "v2", "v3"):
        told.add(id * 2, id=id)
    run(told, "UPDATE record SET superseded_by = 'v2', status = 'superseded' WHERE id = 'v1'")
    run(told, "UPDATE record SET supersedes = 'v1', superseded_by = 'v3', status = 'superseded' WHERE id = 'v2'")
    run(told, "UPDATE record SET supersedes = 'v2' WHERE id = 'v3'")
    told.delete("v2")
    assert told.get("v1").superseded_by is told.get("v3").supersedes is None
    assert [r.id for r in told.list()] == ["v3"]


def test_a_superseded_fact_told_again_stays_superseded(told: Scope) -> None:
    old = told.add("likes tea")
    run(told, "UPDATE record SET status = 'superseded' WHERE id = ?", old.id)
    again = told.add("likes tea")
    assert (again.id, again.status, again.seen) == (old.id, "superseded", 2)


def test_a_tombstone_knows_a_text_again_and_says_nothing_of_it(told: Scope) -> None:
    told.add("my code is 7741", id="x")
    told.delete("x")
    [(hash,)] = rows(told, "SELECT hash FROM tombstone")
    with told._engine.store.write() as tx:
        key = tombstones.secret(tx)
        assert tombstones.secret(tx) == key
    assert tombstones.tombstone(key, Draft(kind="fact", text="my code is 7741")) == hash
    assert tombstones.tombstone(key, Draft(kind="fact", text="my code is 7742")) != hash
    assert tombstones.tombstone(b"another key", Draft(kind="fact", text="my code is 7741")) != hash
    with AgentMemory.open(embedder="hashing") as other:
        other.scope(user="alice").add("my code is 7741", id="x")
        other.scope(user="alice").delete("x")
        assert rows(other.scope(user="alice"), "SELECT hash FROM tombstone") != [(hash,)]


def test_every_write_raises_the_revision_of_its_scope_alone(told: Scope) -> None:
    bob = Scope(told._engine, "bob", "default", told._live)
    bob.add("bob's")

    def revisions() -> list[int]:
        return [row[0] for row in rows(told, "SELECT revision FROM scope ORDER BY user")]

    told.add("x", id="x")
    for write in (
        lambda: told.add("y"), lambda: told.add("y"), lambda: told.add_many(["a", "b"]), lambda: told.update("x", pinned=True),
        lambda: told.session("s").add_messages([{"role": "user", "content": "hi", "id": "1"}]),
        lambda: told.session("s").replace_messages([{"role": "user", "content": "ho"}]),
        lambda: told.session("s").clear(), lambda: told.delete("x"), told.delete_all,
    ):  # fmt: skip
        before = revisions()
        write()
        after = revisions()
        assert after[0] > before[0]
        assert after[1] == before[1]
    before = revisions()
    told.search("y")
    told.list()
    told.delete("nobody")
    assert revisions() == before


def test_the_log_of_erasures_is_cut_and_its_horizon_told(told: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cascade, "_LOG", 5)
    told.add_many([{"text": f"note {n}", "id": f"{n}"} for n in range(12)])
    for n in range(12):
        told.delete(f"{n}")
    [(revision, horizon)] = rows(told, "SELECT revision, horizon FROM scope")
    [(count,)] = rows(told, "SELECT count(*) FROM erased")
    assert count <= 5
    assert 0 < horizon <= revision
    assert rows(told, "SELECT count(*) FROM erased WHERE revision <= ?", horizon) == [(0,)]


def test_forgetting_a_user_leaves_nothing_but_tombstones(told: Scope) -> None:
    told.add("x")
    told.session("s").add_messages([{"role": "user", "content": "hi"}])
    memory = AgentMemory(told._engine)
    receipt = memory.forget("alice")
    assert (receipt.count, receipt.erased["records"], receipt.erased["sessions"]) == (2, 2, 1)
    for table in ("scope", "session", "record", "vector", "audit", "erased", "access", "provenance"):
        assert rows(told, f"SELECT count(*) FROM {table}") == [(0,)], table
    assert told.add("x").seen == 1
    assert memory.check().ok


def test_ids_sort_by_their_time_and_a_turn_has_one_for_good() -> None:
    ids = [ledger.new_id(now) for now in (1, 2, 10**15, 1_800_000_000_000_000)]
    assert ids == sorted(ids)
    assert len({ledger.new_id(5) for _ in range(100)}) == 100
    assert ledger.turn_id("a", "bc") != ledger.turn_id("ab", "c")
    assert ledger.turn_id("1:a", "b") != ledger.turn_id("1", ":ab")
    assert ledger.turn_id("s", "m") == ledger.turn_id("s", "m")


def test_an_embedder_has_one_number_and_the_257th_is_refused(told: Scope) -> None:
    with told._engine.store.write() as tx:
        for n in range(256):
            assert ledger.ensure_embedder(tx, f"m{n}", 8) == n
        assert ledger.ensure_embedder(tx, "m7", 8) == 7
        assert ledger.embedder_id(tx, "m7", 9) is None
        with pytest.raises(InvalidInput, match="256"):
            ledger.ensure_embedder(tx, "m7", 9)


def test_times_and_json_make_the_round_trip() -> None:
    for value in (0, 1, -1, 10**15, -62_135_596_800_000_000, 253_402_300_799_999_999):
        assert micros(instant(value)) == value
        assert moment(value) == instant(value)
    assert moment(None) is None
    for value in ({"a": "\0\ud83d汉"}, [1, 2.5, None, True], "x" * 10, {}):
        assert load(dump(value)) == value
        assert dump(value).isascii()


def test_ids_are_found_many_at_once_whatever_they_are_made_of(told: Scope) -> None:
    ids = ["a", 'quo"te', "a\0b", "a\0c", "a\1b", "a\1\2", "中文", "\\", "'", "x" * 1_000, "😀", "a\nb", "[1]", "null"]
    told.add_many([{"text": f"note {n}", "id": id} for n, id in enumerate(ids)])
    with told._engine.store.read() as tx:
        scope = told._find(tx)
        assert scope is not None
        for wanted in ([], ["a"], ids, ["a\0", "b", *ids[3:5]]):
            one_by_one = [row[0] for id in wanted for row in tx.rows("seq_by_id", (scope, id))]
            assert sorted(ledger.seqs_of(tx, scope, wanted)) == sorted(one_by_one)
        assert len(ledger.seqs_of(tx, scope, ids)) == len(ids)
