"""The database file: migrations, threads, foreign, newer and damaged files, read-only places, handles (cases F)."""

from __future__ import annotations

import gc
import os
import random
import re
import sqlite3
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, TwinmemError
from shared_core.errors import (
    InvalidInput,
    InvalidType,
    MemoryClosed,
    OptionConflict,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
)
from shared_core.store.sql import statements
from shared_core.store.sqlite import SqliteStore, migrations, split
from shared_core.testing import FixedEmbedder


def opened(path: Any, **more: Any) -> AgentMemory:
    return AgentMemory.open(path, embedder="hashing", **more)


def schema(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()


# ---------------------------------------------------------------------- schema


def test_a_fresh_schema_is_the_sum_of_the_migrations(path: Path) -> None:
    SqliteStore(str(path)).close()
    summed = sqlite3.connect(":memory:")
    for _, _, script in migrations():
        summed.executescript(script)
    fresh = sqlite3.connect(path)
    assert schema(fresh) == schema(summed)
    assert fresh.execute("PRAGMA user_version").fetchone()[0] == migrations()[-1][0]
    fresh.close()
    summed.close()


def test_migrations_are_numbered_without_a_gap_and_cut_into_whole_statements() -> None:
    assert [number for number, _, _ in migrations()] == list(range(1, len(migrations()) + 1))
    for _, name, script in migrations():
        assert name
        parts = split(script)
        assert "".join("".join(parts).split()) == "".join(script.split())
        assert all(sqlite3.complete_statement(part) for part in parts)


def test_a_migration_that_fails_leaves_the_old_schema(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shared_core.store import sqlite as module

    SqliteStore(str(path)).close()
    known = migrations()
    later = (known[-1][0] + 1, "broken", "CREATE TABLE extra (x);\nCREATE TABLE extra (x);\n")
    monkeypatch.setattr(module, "migrations", lambda: [*known, later])
    with pytest.raises(StoreError):
        SqliteStore(str(path))
    monkeypatch.undo()
    with opened(path) as memory:
        memory.scope(user="alice").add("still works")
        assert memory.check().ok


def test_every_named_statement_can_be_prepared() -> None:
    connection = sqlite3.connect(":memory:")
    for _, _, script in migrations():
        connection.executescript(script)
    for name, sql in statements("sqlite").items():
        sql = re.sub("--.*", "", sql).strip().removesuffix(";")
        assert ";" not in sql, name
        named = re.findall(r":([a-z_]+)", sql)
        numbered = [int(n) for n in re.findall(r"\?(\d+)", sql)]
        parameters: Any = (
            dict.fromkeys(named) if named else (None,) * max([sql.count("?") if not numbered else 0, *numbered])
        )
        connection.execute(f"EXPLAIN {sql}", parameters)
    connection.close()


# ---------------------------------------------------------------------- files that are not ours, or no longer whole


def test_another_programs_database_is_refused_and_left_alone(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="another program"):
        opened(path)
    after = sqlite3.connect(path)
    assert after.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    after.close()
    assert len(path.read_bytes()) == len(before)


def test_a_file_of_a_newer_version_says_what_to_do(path: Path) -> None:
    with opened(path) as memory:
        memory.scope(user="alice").add("x")
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 999")
    raw.close()
    with pytest.raises(StoreTooNew, match="upgrade"):
        opened(path)


@pytest.mark.parametrize(
    "content", [b"just some text, long enough to be read " * 20, b"\0" * 4096, b"SQLite format 3\0" + b"\xff" * 4080]
)
def test_a_file_that_is_no_database_is_a_typed_error_and_stays_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"agent\.db"):
        opened(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_file_gives_typed_errors_and_check_says_so(path: Path, seed: int) -> None:
    with opened(path) as memory:
        scope = memory.scope(user="alice")
        scope.add_many([f"note {n} " + "word " * 50 for n in range(300)])
    raw = bytearray(path.read_bytes())
    chance = random.Random(seed)
    if seed == 3:
        del raw[len(raw) // 2 :]
    else:
        for _ in range(40):
            start = chance.randrange(4_096, len(raw) - 256)
            raw[start : start + 256] = chance.randbytes(256)
    path.write_bytes(raw)
    seen = False
    try:
        with opened(path) as memory:
            scope = memory.scope(user="alice")
            for attempt in (scope.list, lambda: scope.search("note"), lambda: scope.add("more"), memory.check):
                try:
                    report = attempt()
                except TwinmemError:
                    seen = True
                else:
                    seen = seen or not getattr(report, "ok", True)
    except TwinmemError:
        seen = True
    assert seen


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.touch()
    with opened(path) as memory:
        memory.scope(user="alice").add("x")
        assert memory.check().ok


@pytest.mark.parametrize("address", ["", "  ", "a\0b", "s3://bucket/x"])
def test_an_address_that_is_no_path_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        opened(address)


def test_wrong_kinds_of_addresses_and_options_are_refused(path: Path) -> None:
    for wrong in (5, b"agent.db", ["a"]):
        with pytest.raises(InvalidType):
            opened(wrong)
    for options in (
        {"durability": "none"},
        {"settings": {"limits": {"k": 0}}},
        {"settings": {"colour": 1}},
        {"key": b"x"},
    ):
        with pytest.raises(InvalidInput):
            opened(path, **options)
    for options in ({"llm": "gpt"}, {"settings": 5}):
        with pytest.raises(InvalidType):
            opened(path, **options)
    for embedder in ("nobody", object(), 5):
        with pytest.raises((InvalidInput, InvalidType)):
            AgentMemory.open(path, embedder=embedder)
    with pytest.raises(StoreError):
        opened(path.parent)
    with pytest.raises(StoreError):
        opened(path.parent / "missing" / "agent.db")
    assert list(path.parent.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_place_that_can_not_be_written_gives_a_typed_error(tmp_path: Path, python) -> None:
    """As root nothing is read-only, so the attempt is made as nobody."""
    folder = tmp_path / "locked"
    folder.mkdir()
    script = """
import os, sys
from shared_core import AgentMemory, TwinmemError
AgentMemory.open(embedder="hashing").scope(user="a").add("loads all it needs while it may read it")
if os.geteuid() == 0:
    os.setuid(65534)
try:
    AgentMemory.open(sys.argv[1], embedder="hashing")
except TwinmemError as error:
    print(type(error).__name__)
"""
    for parent in tmp_path.parents:
        if parent == Path("/tmp"):
            break
        os.chmod(parent, os.stat(parent).st_mode | stat.S_IXOTH | stat.S_IROTH)
    tmp_path.chmod(0o755)
    folder.chmod(0o555)
    assert python(script, folder / "agent.db").strip() == "StoreError"
    folder.chmod(0o755)
    with opened(folder / "agent.db") as memory:
        memory.scope(user="alice").add("x")
    (folder / "agent.db").chmod(0o444)
    folder.chmod(0o555)
    assert python(script, folder / "agent.db").strip() == "StoreError"
    folder.chmod(0o755)


# ---------------------------------------------------------------------- transactions


def test_a_write_is_whole_or_not_at_all() -> None:
    store = SqliteStore(None)

    def write(value: str, failure: type[BaseException] | None = None) -> None:
        with store.write() as tx:
            tx.run("set_meta", {"key": "a", "value": value})
            if failure is sqlite3.IntegrityError:
                tx.run("add_embedder", {"id": 999, "name": "x", "dimensions": 1})
            elif failure is not None:
                raise failure

    for failure in (ValueError, KeyboardInterrupt, GeneratorExit):
        with pytest.raises(failure):
            write("1", failure)
        with store.look() as tx:
            assert tx.rows("get_meta", {"key": "a"}) == []
    write("1")
    with pytest.raises(StoreError):
        write("2", sqlite3.IntegrityError)
    with store.look() as tx:
        assert tx.rows("get_meta", {"key": "a"}) == [("1",)]
    store.close()


def test_a_reader_sees_one_state_while_others_write(path: Path) -> None:
    store = SqliteStore(str(path))
    with store.read() as reading:
        assert reading.rows("get_meta", {"key": "a"}) == []
        with store.write() as tx:
            tx.run("set_meta", {"key": "a", "value": "1"})
        assert reading.rows("get_meta", {"key": "a"}) == []
    with store.read() as reading:
        assert reading.rows("get_meta", {"key": "a"}) == [("1",)]
    store.close()


def test_a_database_another_program_holds_is_busy_not_broken(path: Path) -> None:
    with opened(path, settings={"busy_timeout": 0.2}) as memory:
        scope = memory.scope(user="alice")
        scope.add("x")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="try again"):
            scope.add("y")
        assert len(scope.search("x")) == 1  # reading goes on
        other.execute("ROLLBACK")
        other.close()
        scope.add("y")
        assert scope.count() == 2


def test_not_waiting_for_a_turn_is_told_at_once_and_the_patience_comes_back(path: Path) -> None:
    store = SqliteStore(str(path), busy_timeout=5)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy), store.write(wait=False):
        pass
    other.execute("ROLLBACK")
    other.close()
    with store.write() as tx:
        assert tx._connection.execute("PRAGMA busy_timeout").fetchone() == (5_000,)
        failures: list[BaseException] = []

        def impatient() -> None:
            try:
                with store.write(wait=False):
                    pass
            except StoreBusy as error:
                failures.append(error)

        thread = threading.Thread(target=impatient)
        thread.start()
        thread.join()
        assert len(failures) == 1
    store.close()


def test_in_memory_every_thread_works_on_one_database() -> None:
    with opened(None) as memory, opened(None) as other:
        scope = memory.scope(user="alice")
        failures: list[BaseException] = []

        def work(n: int) -> None:
            try:
                for step in range(10):
                    scope.add(f"note {n} {step}", id=f"{n}-{step}")
                    assert scope.get(f"{n}-{step}") is not None
                    scope.search(f"note {n}")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[:2]
        assert scope.count() == 80
        assert other.users() == []
        assert memory.check().ok


# ---------------------------------------------------------------------- handles (R44)


def test_r44_handles_files_and_descriptors_are_given_back(tmp_path: Path) -> None:
    import shutil

    path = tmp_path / "in" / "agent.db"
    path.parent.mkdir()
    open_files = lambda: len(os.listdir("/proc/self/fd"))  # noqa: E731
    for n in range(50):
        if n == 5:
            gc.collect()
            before = open_files()
        with opened(path) as memory:
            memory.scope(user="alice").add(f"note {n}")
            thread = threading.Thread(target=memory.scope(user="alice").list)
            thread.start()
            thread.join()
    gc.collect()
    assert abs(open_files() - before) <= 1
    assert [p.name for p in path.parent.iterdir()] == ["agent.db"]  # no -wal, no -shm
    shutil.rmtree(path.parent)


def test_r44_closing_twice_is_harmless_and_a_closed_memory_says_so(path: Path) -> None:
    memory = opened(path)
    scope, chat = memory.scope(user="alice"), memory.scope(user="alice").session("s")
    scope.add("x", id="x")
    memory.close()
    memory.close()
    for attempt in (
        lambda: scope.add("y"), lambda: scope.add_many(["y"]), lambda: scope.search("x"), lambda: scope.get("x"), scope.list,
        lambda: scope.update("x", "y"), lambda: scope.delete("x"), scope.delete_all, scope.stats, scope.sessions,
        lambda: scope.history("x"), lambda: scope.session("s"), lambda: chat.add_messages([]), chat.messages, chat.window,
        chat.context, chat.clear, chat.delete, chat.end, lambda: memory.scope(user="a"), memory.users, memory.check,
        memory.flush, memory.purge, memory.reembed, lambda: memory.forget("alice"),
    ):  # fmt: skip
        with pytest.raises(MemoryClosed):
            attempt()
    path.unlink()
    with pytest.raises(MemoryClosed):
        memory._engine.store.look().__enter__()
    assert list(path.parent.iterdir()) == []  # a late reader does not bring the file back


def test_handles_of_one_file_share_it_and_the_last_one_closes_it(path: Path) -> None:
    first, second = opened(path), opened(str(path.parent / ".." / path.parent.name / path.name))
    first.scope(user="alice").add("x")
    assert second.scope(user="alice").count() == 1
    first.close()
    assert second.scope(user="alice").search("x")
    with pytest.raises(MemoryClosed):
        first.users()
    second.close()
    assert not path.with_name("agent.db-wal").exists()
    link = path.with_name("link.db")
    link.symlink_to(path)
    with opened(link) as third, opened(path) as fourth:
        third.scope(user="alice").add("y")
        assert fourth.scope(user="alice").count() == 2


def test_a_second_open_with_other_options_is_refused_and_costs_nothing(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing", settings={"busy_timeout": 3}) as memory:
        for options, name in (
            ({"embedder": FixedEmbedder()}, "embedder"),
            ({"settings": {"busy_timeout": 4}}, "settings"),
            ({"llm": print}, "llm"),
            ({"clock": print}, "clock"),
            ({"durability": "power"}, "durability"),
        ):
            with pytest.raises(OptionConflict, match=name):
                AgentMemory.open(path, **options)
        with AgentMemory.open(path) as same, AgentMemory.open(path, embedder="hashing", settings={"busy_timeout": 3}):
            same.scope(user="alice").add("x")
        assert memory.scope(user="alice").count() == 1


def test_an_open_that_failed_leaves_no_handle_behind(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError):
        opened(path)
    path.unlink()
    with opened(path) as memory:
        memory.scope(user="alice").add("x")


def test_power_durability_flushes_every_commit(path: Path) -> None:
    with opened(path, durability="power") as memory:
        memory.scope(user="alice").add("x")
        with memory._engine.store.look() as tx:
            assert tx._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_r42_paths_in_any_script_work_and_leave_nothing_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "记忆 库" / "αβ" / "ağ nt'%.db"
    path.parent.mkdir(parents=True)
    for n in range(5):
        with opened(path) as memory:
            scope = memory.scope(user="用户")
            scope.add(f"第{n}条 note{n}")
            assert len(scope.search("note", k=9)) >= 1
            assert scope.count() == n + 1
            assert memory.address == str(path)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_restoring_a_handle_opens_it_as_registered(path: Path) -> None:
    embedder = FixedEmbedder(name="mine")
    with AgentMemory.open(path, embedder=embedder) as memory:
        memory.scope(user="alice").add("x")
        with AgentMemory.restore(path) as shared:
            assert shared._engine is memory._engine
    AgentMemory.register(path, lambda: {"embedder": FixedEmbedder(name="mine")})
    with AgentMemory.restore(path) as memory:
        assert memory.scope(user="alice").search("x")
    for wrong in (None, ":memory:"):
        with pytest.raises(InvalidInput):
            AgentMemory.register(wrong, dict)
    with pytest.raises(InvalidType):
        AgentMemory.register(path, "factory")


# ---------------------------------------------------------------------- check


def test_check_finds_and_mends_what_does_not_agree(path: Path) -> None:
    with opened(path) as memory:
        scope = memory.scope(user="alice")
        scope.add_many([{"text": f"note {n} zebra{n}", "id": f"{n}"} for n in range(6)])
        memory.scope(user="bob").add("bob's")
        raw = sqlite3.connect(path)
        for sql in (
            "DELETE FROM vector WHERE record = 1",
            "UPDATE record SET words = NULL WHERE seq = 2",
            "UPDATE vector SET pieces = x'00' WHERE record = 3",
            "INSERT INTO vector (id, pieces) VALUES (999 << 8, x'0000')",
            "INSERT INTO provenance VALUES (998, 1, 'x', 0)",
            "INSERT INTO vector (id, pieces) VALUES (4 << 8 | 77, x'0000')",
        ):
            raw.execute(sql)
        raw.commit()
        raw.close()
        report = memory.check()
        assert not report.ok
        assert {problem.what for problem in report.problems} == {
            "a text without a vector", "a record without words", "a vector of a wrong length", "a vector without a record",
            "a link to nothing",
        }  # fmt: skip
        assert not memory.check().ok  # looking changes nothing
        fixed = memory.check(fix=True)
        assert fixed.ok
        assert fixed.fixed == len(fixed.problems)
        again = memory.check()
        assert (again.problems, again.vectors, again.records) == ((), 7, 7)
        for n in range(6):
            assert scope.search(f"zebra{n}", k=1)[0].record.id == f"{n}"


def test_a_text_cut_by_an_older_tokenizer_is_cut_again_at_opening(path: Path) -> None:
    with opened(path) as memory:
        memory.scope(user="alice").add("note zebra")
    raw = sqlite3.connect(path)
    raw.execute("UPDATE record SET words = x''")
    raw.execute("UPDATE meta SET value = '0' WHERE key = 'analyzer'")
    raw.commit()
    raw.close()
    with opened(path) as memory:
        [hit] = memory.scope(user="alice").search("zebra", explain=True)
        assert hit.parts["matched"] == 1.0
        with memory._engine.recalling(1) as (_, index):
            assert index["length"].tolist() == [2]
