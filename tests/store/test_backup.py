"""Backups: a copy taken in mid-use is a whole memory, and a bad one never takes the place of a good one."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
import zstandard

from shared_core import AgentMemory
from shared_core.errors import ArchiveUnreachable, InvalidInput, NotFound, StoreDamaged, StoreError, WrongKey
from shared_core.store.backup import backup, restore
from shared_core.store.encryption import is_plain
from shared_core.store.sealing import is_sealed
from shared_core.store.sqlite import SqliteStore


def opened(path: Path, key: Any = None) -> AgentMemory:
    return AgentMemory.open(path, embedder="hashing", key=key)


@pytest.mark.parametrize("key", [None, "secret"])
def test_a_backup_while_others_write_is_a_prefix_of_what_was_written(tmp_path: Path, key: Any) -> None:
    stop = threading.Event()
    with opened(tmp_path / "agent.db", key) as memory:
        scope = memory.scope(user="alice")

        def write() -> None:
            n = 0
            while not stop.is_set():
                scope.add(f"fact {n}")
                n += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for n in range(5):
                memory.backup(tmp_path / f"{n}.bak")
        finally:
            stop.set()
            thread.join()
    sizes = []
    for n in range(5):
        with opened(tmp_path / f"{n}.bak", key) as copy:
            texts = [record.text for record in copy.scope(user="alice").list()]
            assert texts == [f"fact {i}" for i in range(len(texts))]
            assert copy.check().ok
            sizes.append(len(texts))
    assert sizes == sorted(sizes)
    assert sorted(path.name for path in tmp_path.iterdir() if "making" in path.name) == []


def test_e4_a_backup_under_a_key_encrypts_a_plain_memory(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        memory.scope(user="alice").add("I live in Lyon")
        memory.backup(tmp_path / "copy.db", key="secret")
    assert not is_plain(str(tmp_path / "copy.db"))
    assert b"Lyon" not in (tmp_path / "copy.db").read_bytes()
    with opened(tmp_path / "copy.db", "secret") as copy:
        assert copy.scope(user="alice").search("Who lives in Lyon?")[0].record.text == "I live in Lyon"
        assert copy.check().ok


def test_e4_a_backup_of_an_encrypted_memory_is_encrypted(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db", "secret") as memory:
        memory.scope(user="alice").add("I live in Lyon")
        memory.backup(tmp_path / "same.db")
        memory.backup(tmp_path / "other.db", key="another")
    for name, key in (("same.db", "secret"), ("other.db", "another")):
        with opened(tmp_path / name, key) as copy:
            assert copy.scope(user="alice").count() == 1
        with pytest.raises(WrongKey):
            opened(tmp_path / name, "wrong")


def test_a_backup_holds_no_deleted_text(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        scope = memory.scope(user="alice")
        record = scope.add("ZXQ-sentinel-7741")
        scope.add("stays")
        scope.delete(record.id)
        memory.backup(tmp_path / "copy.db")
    raw = (tmp_path / "copy.db").read_bytes()
    assert b"ZXQ-sentinel-7741" not in raw
    assert b"stays" in raw


def test_a_backup_onto_the_database_itself_or_into_nowhere_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        memory.scope(user="alice").add("tea")
        with pytest.raises(InvalidInput, match="itself"):
            memory.backup(tmp_path / "agent.db")
        with pytest.raises(StoreError):
            memory.backup(tmp_path / "no such folder" / "copy.db")
        assert memory.scope(user="alice").count() == 1
    with AgentMemory.open(embedder="hashing") as memory, pytest.raises(InvalidInput, match="export"):
        memory.backup(tmp_path / "copy.db")


def test_restore_verifies_before_it_replaces(tmp_path: Path) -> None:
    path, copy = tmp_path / "agent.db", tmp_path / "copy.db"
    with opened(path) as memory:
        memory.scope(user="alice").add_many([f"fact {n}" for n in range(300)])
        memory.backup(copy)
        memory.scope(user="alice").add("later")
    with pytest.raises(InvalidInput, match="exists"):
        restore(str(copy), str(path))
    broken = tmp_path / "broken.db"
    raw = copy.read_bytes()
    for damaged in (raw[: len(raw) // 2], raw[:4096] + b"\xff" * 4096 + raw[8192:], b"", b"not a database at all"):
        broken.write_bytes(damaged)
        with pytest.raises(StoreDamaged):
            restore(str(broken), str(path), replace=True)
    with pytest.raises(NotFound):
        restore(str(tmp_path / "none.db"), str(path), replace=True)
    with opened(path) as memory:
        assert memory.scope(user="alice").count() == 301
    restore(str(copy), str(path), replace=True)
    with opened(path) as memory:
        assert memory.scope(user="alice").count() == 300
        assert memory.check().ok


TALK = [{"role": "user", "content": "I met Ann in Lyon"}, {"role": "user", "content": "我在里昂认识了小安"}]


@pytest.mark.parametrize("key", [None, "secret"])
def test_b8_a_backup_takes_the_archive_along_and_restore_brings_it_back(tmp_path: Path, key: str | None) -> None:
    path, copy = tmp_path / "agent.db", tmp_path / "copies" / "copy.db"
    copy.parent.mkdir()
    with opened(path, key) as memory:
        scope = memory.scope(user="alice")
        for name in ("monday", "tuesday"):
            scope.session(name).add_messages(TALK)
            scope.archive.session(name)
        memory.backup(copy)
        scope.archive.restore("tuesday")
        memory.backup(copy)  # over the first one: what only that named is gone from beside it
    assert len(list(copy.parent.rglob("*.zst"))) == 1
    shutil.rmtree(f"{path}.archive")
    path.unlink()
    restore(str(copy), str(path), key)
    with opened(path, key) as memory:
        scope = memory.scope(user="alice")
        assert memory.check().ok
        assert [each.text for each in scope.session("tuesday").messages()] == [each["content"] for each in TALK]
        scope.archive.restore("monday")
        assert [each.text for each in scope.session("monday").messages()] == [each["content"] for each in TALK]


def test_b8_e4_a_backup_under_a_key_seals_the_archive(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages(TALK)
        assert not is_sealed(Path(scope.archive.session("monday").address).read_bytes())
        memory.backup(tmp_path / "copy.db", key="secret")
    files = [each for each in (tmp_path / "copy.db.archive").rglob("*") if each.is_file()]
    assert len(files) == 2
    for each in files:
        assert is_sealed(each.read_bytes()) or b"monday" not in each.read_bytes()
    with opened(tmp_path / "copy.db", "secret") as copied:
        assert copied.check().ok
        copied.scope(user="alice").archive.restore("monday")
        assert len(copied.scope(user="alice").session("monday").messages()) == 2


def test_b8_a_backup_that_can_not_have_the_whole_archive_is_none(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        scope = memory.scope(user="alice")
        for name in ("monday", "tuesday"):
            scope.session(name).add_messages(TALK)
            scope.archive.session(name)
        lost = Path(scope.archive.list()[1].address)
        whole = lost.read_bytes()
        for damage, error in ((lambda: lost.write_bytes(whole[:-1]), StoreDamaged), (lost.unlink, ArchiveUnreachable)):
            damage()
            assert [problem.what for problem in memory.check().problems if "archive" in problem.where]
            assert not memory.check(fix=True).ok
            with pytest.raises(error):
                memory.backup(tmp_path / "copy.db")
            assert not (tmp_path / "copy.db").exists()
            assert [each for each in (tmp_path / "copy.db.archive").rglob("*") if each.is_file()] == []
            lost.write_bytes(whole)
        assert memory.check().ok
        memory.backup(tmp_path / "copy.db")
    copied = list((tmp_path / "copy.db.archive").rglob("*.zst"))
    copied[0].unlink()
    with pytest.raises(ArchiveUnreachable):
        restore(str(tmp_path / "copy.db"), str(tmp_path / "agent.db"), replace=True)
    with opened(tmp_path / "agent.db") as memory:
        assert memory.check().ok
        assert len(memory.scope(user="alice").archive.list()) == 2


def test_b8_r66_a_backup_holds_nothing_that_was_erased_in_an_archive(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages([{"role": "user", "content": "ZXQ-sentinel-7742"}, *TALK])
        scope.archive.session("monday")
        [secret] = [each.id for each in scope.archive.read("monday") if "sentinel" in (each.text or "")]
        scope.delete(secret)
        memory.backup(tmp_path / "copy.db")
    for each in tmp_path.rglob("*.zst"):
        assert b"sentinel" not in zstandard.ZstdDecompressor().decompressobj().decompress(each.read_bytes())
    with opened(tmp_path / "copy.db") as copied:
        assert len(copied.scope(user="alice").archive.read("monday")) == 2


def test_b8_r66_a_file_that_still_holds_what_was_erased_is_not_copied(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages(TALK)
        moved = scope.archive.session("monday")
        store = memory._engine.store
        assert isinstance(store, SqliteStore)
        with store.write() as tx:  # as it is between an erasure and the mending of the file
            tx.run("set_archive_state", {"id": moved.id, "state": "stale"})
        with pytest.raises(ArchiveUnreachable, match="mended"):
            backup(store, str(tmp_path / "copy.db"))
        assert not (tmp_path / "copy.db").exists()
        memory.backup(tmp_path / "copy.db")  # which mends it first
        assert (tmp_path / "copy.db").exists()


def test_b8_a_copy_takes_the_archive_along(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages(TALK)
        scope.archive.session("monday")
        memory.copy(tmp_path / "copy.db")
    with opened(tmp_path / "copy.db") as copied:
        copied.scope(user="alice").archive.restore("monday")
        assert len(copied.scope(user="alice").session("monday").messages()) == 2


async def test_abackup_is_the_same(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        await memory.scope(user="alice").aadd("tea")
        await memory.abackup(tmp_path / "copy.db")
    with opened(tmp_path / "copy.db") as copy:
        assert copy.scope(user="alice").count() == 1
