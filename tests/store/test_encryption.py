"""Encryption at rest (E4): nobody without the key reads a byte, and whoever has it loses nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory
from shared_core.errors import InvalidInput, InvalidType, OptionConflict, StoreBusy, StoreDamaged, WrongKey
from shared_core.store.encryption import derived, is_plain

SENTINEL = "ZXQ-sentinel-7741"
KEY = "correct horse 电池"


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def opened(path: Path, key: Any = KEY) -> AgentMemory:
    return AgentMemory.open(path, embedder="hashing", key=key)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.mark.parametrize("text", [f"I keep {SENTINEL} in Lyon", f"我把 {SENTINEL} 放在杭州"])
def test_e4_no_text_is_readable_on_disk_and_all_of_it_is_there_with_the_key(path: Path, text: str) -> None:
    with opened(path) as memory:
        memory.scope(user="alice").add(text)
        memory.scope(user="alice").session("monday").add_messages([{"role": "user", "content": text}])
        assert SENTINEL.encode() not in bytes_of(path.parent)  # the WAL too
    assert SENTINEL.encode() not in bytes_of(path.parent)
    assert not is_plain(str(path))
    with opened(path) as memory:
        assert memory.scope(user="alice").search(text)[0].record.text == text
        assert memory.check().ok


def test_e4_a_plain_file_shows_its_text_so_the_test_above_can_fail(path: Path) -> None:
    with opened(path, None) as memory:
        memory.scope(user="alice").add(SENTINEL)
    assert SENTINEL.encode() in bytes_of(path.parent)


@pytest.mark.parametrize("wrong", ["other", b"k" * 32, KEY + " "])
def test_e4_a_wrong_key_is_a_clear_error_and_nothing_else(path: Path, wrong: Any, capfd: Any) -> None:
    with opened(path) as memory:
        memory.scope(user="alice").add("tea")
    before = path.read_bytes()
    with pytest.raises(WrongKey, match="key does not open") as raised:
        opened(path, wrong)
    assert str(wrong) not in str(raised.value)
    assert path.read_bytes() == before
    assert capfd.readouterr() == ("", "")


def test_e4_an_encrypted_file_without_its_key_says_that_it_may_need_one(path: Path) -> None:
    opened(path).close()
    with pytest.raises(StoreDamaged, match="give its key"):
        opened(path, None)


def test_e4_a_plain_file_with_a_key_says_that_it_is_not_encrypted(path: Path) -> None:
    opened(path, None).close()
    with pytest.raises(WrongKey, match="not encrypted"):
        opened(path)


@pytest.mark.parametrize("key", [KEY, bytes(range(32)), lambda: KEY, lambda: bytes(32)])
def test_e4_a_key_is_a_passphrase_32_bytes_or_a_callable(path: Path, key: Any) -> None:
    opened(path, key).close()
    opened(path, key).close()


@pytest.mark.parametrize(
    ("key", "error"), [("", InvalidInput), ("  ", InvalidInput), (b"short", InvalidInput), (7, InvalidType)]
)
def test_e4_a_key_that_is_none_is_refused_before_a_file_is_made(path: Path, key: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        opened(path, key)
    assert not path.exists()


def test_e4_the_key_comes_from_the_environment_where_none_is_given(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = path.with_name("plain.db")
    opened(plain, None).close()
    monkeypatch.setenv("TWINMEM_KEY", KEY)
    opened(path, None).close()
    opened(plain, None).close()  # a file that was plain before stays readable
    monkeypatch.delenv("TWINMEM_KEY")
    assert is_plain(str(plain))
    assert not is_plain(str(path))
    opened(path).close()


def test_e4_the_passphrase_is_sqlciphers_own_so_other_tools_open_the_file(path: Path) -> None:
    from sqlcipher3 import dbapi2

    with opened(path) as memory:
        memory.scope(user="alice").add("tea")
    other = dbapi2.connect(str(path))
    other.execute(f"PRAGMA key = '{KEY}'")
    assert other.execute("SELECT text FROM record").fetchall() == [("tea",)]
    other.close()
    assert len(derived(KEY, bytes(16))) == 32


def test_e4_a_second_open_in_the_process_needs_the_key_too(path: Path) -> None:
    with opened(path), opened(path):
        for key in (None, "other"):
            with pytest.raises(OptionConflict, match="another key"):
                opened(path, key)


def test_e4_the_key_is_in_no_repr(path: Path) -> None:
    with opened(path) as memory:
        engine = memory._live()
        assert KEY not in repr(memory) + repr(engine.options) + repr(engine.store.cipher)


def test_e4_threads_and_processes_share_an_encrypted_file(path: Path) -> None:
    script = """
        import sys
        from shared_core import AgentMemory
        with AgentMemory.open(sys.argv[1], embedder="hashing", key=sys.argv[2]) as memory:
            for i in range(20):
                memory.scope(user="alice").add(f"{sys.argv[3]} {i}")
    """
    parts = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(path), KEY, name])
        for name in ("one", "two", "three")
    ]  # all of them make the file at once
    assert [part.wait(60) for part in parts] == [0, 0, 0]
    with opened(path) as memory:
        scope = memory.scope(user="alice")
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: scope.add(f"four {i}"), range(20)))
        assert scope.count() == 80
        assert memory.check().ok


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_e4_a_fork_opens_the_file_anew(path: Path) -> None:
    with opened(path) as memory:
        memory.scope(user="alice").add("parent")
        child = os.fork()
        if child == 0:
            memory.scope(user="alice").add("child")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert sorted(record.text for record in memory.scope(user="alice").list()) == ["child", "parent"]


def test_e4_a_changed_byte_is_found_and_never_read_as_a_memory(path: Path) -> None:
    with opened(path) as memory:
        memory.scope(user="alice").add_many([f"fact number {i}" for i in range(500)])
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with opened(path) as memory:
        try:
            assert not memory.check().ok
        except StoreDamaged as error:
            assert "malformed" in str(error)  # noqa: PT017  either way of saying so will do


# ---------------------------------------------------------------------- another key


def test_e4_rekey_changes_the_key_of_a_file_in_use_by_this_handle(path: Path) -> None:
    with opened(path) as memory:
        memory.scope(user="alice").add("tea")
        memory.rekey("new")
        memory.scope(user="alice").add("coffee")
        opened(path, "new").close()
    with pytest.raises(WrongKey):
        opened(path)
    with opened(path, "new") as memory:
        assert [record.text for record in memory.scope(user="alice").list()] == ["tea", "coffee"]


def test_e4_rekey_waits_for_nobody(path: Path) -> None:
    script = """
        import sys
        from shared_core import AgentMemory
        memory = AgentMemory.open(sys.argv[1], embedder="hashing", key=sys.argv[2])
        memory.scope(user="bob").add("mine")
        print("open", flush=True)
        sys.stdin.read()
        memory.scope(user="bob").add("still mine")
        memory.close()
    """
    other = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(path), KEY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdin is not None
    assert other.stdout.readline() == b"open\n"
    with AgentMemory.open(path, embedder="hashing", key=KEY, settings={"busy_timeout": 0.2}) as memory:
        with pytest.raises(StoreBusy):
            memory.rekey("new")
        memory.scope(user="alice").add("tea")  # the old key goes on
    other.stdin.close()
    assert other.wait(30) == 0
    other.stdout.close()
    with opened(path) as memory:
        assert memory.scope(user="bob").count() == 2


@pytest.mark.parametrize("after", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_e4_a_kill_while_the_key_changes_leaves_one_of_the_two(path: Path, after: float) -> None:
    with opened(path) as memory:
        memory.scope(user="alice").add_many([f"fact number {i} " + "x" * 2000 for i in range(2000)])
    script = """
        import sys
        from shared_core import AgentMemory
        memory = AgentMemory.open(sys.argv[1], embedder="hashing", key=sys.argv[2])
        print("go", flush=True)
        memory.rekey("new")
    """
    other = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script), str(path), KEY], stdout=subprocess.PIPE)
    assert other.stdout is not None
    other.stdout.readline()
    try:
        other.wait(0.15 + after)  # deriving the key takes the first tenth of a second
    except subprocess.TimeoutExpired:
        other.kill()
        other.wait()
    other.stdout.close()
    try:
        memory = opened(path)
    except WrongKey:
        memory = opened(path, "new")
    with memory:
        assert memory.scope(user="alice").count() == 2000
        assert memory.check().ok


def test_e4_rekey_of_a_plain_file_says_how_to_encrypt_it(path: Path) -> None:
    with opened(path, None) as memory, pytest.raises(InvalidInput, match="back it up with a key"):
        memory.rekey("new")


def test_e4_a_database_in_memory_takes_no_key() -> None:
    with pytest.raises(InvalidInput, match="in no file"):
        AgentMemory.open(key=KEY)
