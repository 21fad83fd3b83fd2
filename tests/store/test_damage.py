"""Damaged files, full disks, files that can't be written, locks, clocks: a typed error or a problem, never another memory."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from shared_core import AgentMemory, TwinmemError
from shared_core.errors import StoreBusy, StoreDamaged, StoreError
from shared_core.testing import ManualClock
from tests.conftest import LONG
from tests.disk import raw

FLIPS = 2_000 if LONG else 24
KEY = "correct horse battery staple"
PAGE = 4096


def opened(path: Path, **more: object) -> AgentMemory:
    return AgentMemory.open(path, embedder="hashing", **more)  # type: ignore[arg-type]


def filled(path: Path, **more: object) -> set[str]:
    """Two users' memory, and every text in it."""
    with opened(path, **more) as memory:
        for user in ("alice", "bob"):
            scope = memory.scope(user=user)
            scope.add_many([{"text": f"{user} 说 note {n} about zebra{n}", "metadata": {"n": n}} for n in range(60)])
            scope.add(f"{user} lives in Lyon", triple=(user, "lives in", "Lyon"), entities=[user])
            scope.session("monday").add_messages(
                [{"role": "user", "content": f"{user} turn {n} yak{n}"} for n in range(20)]
            )
            scope.graph.add(user, "knows", "Carol")
        return {
            r.text for u in ("alice", "bob") for r in memory.scope(user=u).list(where={"status": {"$exists": True}})
        }


def looked(memory: AgentMemory, user: str) -> set[str]:
    """All texts that a user is told, by every way."""
    scope = memory.scope(user=user)
    found: set[str] = set()
    ways: list[Callable[[], list[str]]] = [
        lambda: [r.text for r in scope.list()],
        lambda: [h.record.text for h in scope.search(f"{user} zebra7 Lyon", k=20)],
        lambda: [m.text for m in scope.session("monday").messages()],
        lambda: [h.record.text for h in scope.session("monday").context("zebra3 Lyon").hits],
    ]
    for way in ways:
        with suppress(TwinmemError):  # said, and nothing wrong told
            found |= set(way())
    return found


def fault(path: Path, texts: set[str], key: str | None, where: str) -> str:
    """What a damaged file did: "said" it at once, was "found" by check, or "harmless"; anything else fails."""
    try:
        memory = opened(path, key=key)
    except TwinmemError:
        return "said"
    try:
        told = {user: looked(memory, user) for user in ("alice", "bob")}
        report = memory.check()
        wrong = [text for each in told.values() for text in each if text not in texts]
        foreign = [text for user, each in told.items() for text in each if text in texts and not text.startswith(user)]
        assert not foreign, (where, foreign)
        assert not wrong or not report.ok, (where, wrong)
        return "harmless" if report.ok else "found"
    except TwinmemError as error:
        pytest.fail(f"{where}: check raised {error!r}")
    finally:
        with suppress(TwinmemError):
            memory.close()


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
@pytest.mark.parametrize("what", ["bit", "byte", "page"])
def test_r41_flipped_bytes_are_said_or_found_and_nobody_is_told_anything_else(
    path: Path, key: str | None, what: str
) -> None:
    if key is not None:
        pytest.importorskip("sqlcipher3")
    outcomes = flipped(path, key, what, FLIPS // (3 if key else 1))
    assert outcomes.get("said", 0) + outcomes.get("found", 0) > 0


def flipped(path: Path, key: str | None, what: str, count: int) -> dict[str, int]:
    """Damage a file so often, each time anew, and count what came of it."""
    texts = filled(path, key=key)
    whole = path.read_bytes()
    chance = random.Random(f"{what}{key}")
    outcomes: dict[str, int] = {}
    for flip in range(count):
        data = bytearray(whole)
        at = chance.randrange(len(data))
        if what == "bit":
            data[at] ^= 1 << chance.randrange(8)
        elif what == "byte":
            data[at] = chance.randrange(256)
        else:
            start = at // PAGE * PAGE
            other = chance.randrange(len(data) // PAGE) * PAGE
            data[start : start + PAGE] = data[other : other + PAGE] if flip % 2 else os.urandom(PAGE)
        for each in path.parent.glob(f"{path.name}*"):
            if each.is_file():
                each.unlink()
        path.write_bytes(data)
        outcome = fault(path, texts, key, f"{what} at {at}")
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if key is not None and bytes(data) != whole:
            assert outcome != "harmless", f"an encrypted page was changed at {at}, and nobody noticed"
    return outcomes


def killed_with_log(path: Path, key: str | None = None) -> list[str]:
    """A process that is killed after acknowledged writes, so that they lie in the log; the texts in order."""
    script = (
        "import os, sys\nfrom shared_core import AgentMemory\n"
        "memory = AgentMemory.open(sys.argv[1], embedder='hashing', key=sys.argv[2] or None)\n"
        "scope = memory.scope(user='alice')\n"
        "for n in range(40):\n    scope.add(f'alice note {n} ' + 'filler ' * 40, id=f'r{n:03}')\n"
        "    print(f'r{n:03}', flush=True)\nos._exit(9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), key or ""], capture_output=True, text=True, check=False
    )
    assert done.returncode == 9, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_r41_a_truncated_log_gives_the_writes_up_to_there(path: Path, key: str | None) -> None:
    if key is not None:
        pytest.importorskip("sqlcipher3")
    ids = killed_with_log(path, key)
    assert len(ids) == 40
    log = Path(f"{path}-wal")
    aside = path.parent / "aside"
    aside.mkdir()
    for each in (path, log):
        shutil.copy(each, aside / each.name)
    size = log.stat().st_size
    kept = []
    for share in range(21 if LONG else 8):
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()
        shutil.copy(aside / path.name, path)
        cut = size - size * share // (20 if LONG else 7)
        log.write_bytes((aside / log.name).read_bytes()[:cut])
        try:
            memory = opened(path, key=key)
        except StoreError:  # not even the schema was in it
            kept.append(0)
            continue
        with memory:
            found = sorted(r.id for r in memory.scope(user="alice").list())
            assert found == ids[: len(found)], "a hole in what was kept"
            assert memory.check().ok
            kept.append(len(found))
    assert kept[0] == 40
    assert kept == sorted(kept, reverse=True)
    assert 0 < kept[len(kept) // 2] < 40


def test_r41_flipped_bytes_in_the_log_end_it_there(path: Path) -> None:
    ids = killed_with_log(path)
    log, chance = Path(f"{path}-wal"), random.Random(41)
    whole, base = log.read_bytes(), path.read_bytes()
    for _ in range(FLIPS // 4):
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()
        path.write_bytes(base)
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        log.write_bytes(data)
        try:
            memory = opened(path)
        except StoreError:
            continue
        with memory:
            found = sorted(r.id for r in memory.scope(user="alice").list())
            assert found == ids[: len(found)]
            assert memory.check().ok


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_check_raises_nothing_on_a_file_that_is_damaged_under_it(path: Path, key: str | None) -> None:
    if key is not None:
        pytest.importorskip("sqlcipher3")
    filled(path, key=key)
    memory = opened(path, key=key)
    size = path.stat().st_size
    with path.open("rb+") as file:
        file.seek(PAGE * 3)
        file.write(os.urandom(size - PAGE * 3))
    memory._engine.store.after_fork(child=True)  # type: ignore[attr-defined]  # new connections read from the disk
    report = memory.check()
    assert not report.ok
    assert any(problem.where == "file" for problem in report.problems)
    assert not memory.check(fix=True).ok
    with pytest.raises(StoreDamaged):
        memory.scope(user="alice").search("zebra")
    memory.close()


def test_check_rebuilds_an_index_of_the_database_and_names_a_changed_text(path: Path) -> None:
    filled(path)
    with opened(path) as memory:
        ids = [r.id for r in memory.scope(user="alice").list(limit=3)]
        [[seq]] = raw(path, "SELECT seq FROM record WHERE id = ?", (ids[0],))
        raw(path, "UPDATE record SET text = replace(text, 'zebra', 'zebrb') WHERE seq = ?", (seq,))
        [problem] = memory.check().problems
        assert problem.what == "a text that is not the one its words were cut from"
        assert problem.where == f"row {seq}"
        raw(path, "UPDATE record SET text = replace(text, 'zebrb', 'zebra') WHERE seq = ?", (seq,))
        raw(path, "UPDATE record SET words = x'0000000000000000' WHERE seq = ?", (seq,))
        assert memory.check(fix=True).fixed == 1  # the digest proves the text
        raw(path, f"UPDATE vector SET pieces = zeroblob(length(pieces) - 2) || x'007e' WHERE id >> 8 = {seq}")
        assert [p.what for p in memory.check().problems] == ["a vector of a wrong length"]
        assert memory.check(fix=True).ok
        assert memory.check().ok
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema=ON")
    root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'record_revision'").fetchone()[0]
    connection.execute("UPDATE sqlite_master SET rootpage = rootpage WHERE 0")
    connection.close()
    with path.open("rb+") as file:  # an empty leaf: none of the rows is in the index
        file.seek((root - 1) * PAGE)
        file.write(bytes([10, 0, 0, 0, 0, 16, 0, 0]) + bytes(PAGE - 8))
    with opened(path) as memory:
        report = memory.check()
        assert not report.ok
        if all(problem.fixable for problem in report.problems):
            assert memory.check(fix=True).ok
            assert memory.check().ok
            assert len(memory.scope(user="alice").list(limit=1_000)) > 60


# ---------------------------------------------------------------------- disks, permissions, locks


FULL = """
import resource, signal, sys
from shared_core import AgentMemory
from shared_core.errors import StoreError, TwinmemError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = AgentMemory.open(sys.argv[1], embedder="hashing", settings={"facts": {"extract": False}})
scope = memory.scope(user="alice")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
verbs = {
    "add": lambda n: scope.add(f"note {n} " + "filler " * 200, id=f"r{n}"),
    "batch": lambda n: scope.add_many([{"text": f"note {n} {m} " + "filler " * 60, "id": f"r{n}-{m}"} for m in range(8)]),
    "turns": lambda n: scope.session("s").add_messages([{"role": "user", "content": f"turn {n} " + "filler " * 200, "id": f"m{n}"}]),
}
for n in range(4000):
    try:
        verbs[sys.argv[3]](n)
        print(n, flush=True)
    except StoreError as error:
        break
else:
    raise SystemExit("the disk never got full")
try:
    memory.scope(user="alice").list()  # reading goes on
except TwinmemError:
    pass
try:
    memory.close()
except TwinmemError:
    pass
print("full")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs setrlimit")
@pytest.mark.parametrize("verb", ["add", "batch", "turns"])
def test_a_full_disk_is_a_clear_error_and_what_was_acknowledged_is_there(path: Path, verb: str) -> None:
    filled(path)
    room = path.stat().st_size + 400_000
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path), str(room), verb], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    *said, last = done.stdout.split()
    assert last == "full"
    assert len(said) > 5
    with opened(path, settings={"facts": {"extract": False}}) as memory:
        scope = memory.scope(user="alice")
        report = memory.check()
        assert report.ok, report.problems
        if verb == "turns":
            assert [m.id for m in scope.session("s").messages()] == [f"m{n}" for n in said]
        else:
            ids = {r.id for r in scope.list(limit=10_000) if r.id.startswith("r") and r.id[1:2].isdigit()}
            expected = {f"r{n}" for n in said} if verb == "add" else {f"r{n}-{m}" for n in said for m in range(8)}
            assert ids == expected
        scope.add("there is room again")


@pytest.mark.skipif(sys.platform == "win32", reason="needs setrlimit")
def test_a_disk_that_is_full_at_a_deletion_leaves_it_pending(path: Path) -> None:
    filled(path)
    script = (
        "import resource, signal, sys\nfrom shared_core import AgentMemory\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "memory = AgentMemory.open(sys.argv[1], embedder='hashing')\nscope = memory.scope(user='bob')\n"
        "ids = [r.id for r in scope.list(limit=5)]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))\n"
        "receipts = [scope.delete(id) for id in ids]\nassert all(r.pending for r in receipts)\n"
        "memory.close()\n"
    )
    room = path.stat().st_size * 3 // 4  # enough for the log of a few deletions, not for the whole file
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), str(room)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    with opened(path) as memory:
        assert len(memory.scope(user="bob").list(limit=1_000)) > 50
        assert memory.purge()
        assert memory.check().ok


READ_ONLY = """
import os, sys
from shared_core import AgentMemory
from shared_core.errors import StoreError
with AgentMemory.open(embedder="hashing") as memory:  # all is loaded before the rights are given up
    memory.scope(user="alice").add("warm")
    memory.scope(user="alice").search("warm")
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    memory = AgentMemory.open(sys.argv[1], embedder="hashing")
    scope = memory.scope(user="alice")
    found = len(scope.list())
    try:
        scope.add("not to be written")
        print("written")
    except StoreError as error:
        print("refused", found)
    try:
        memory.close()
    except StoreError:
        pass
except StoreError as error:
    print("refused 0")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions")
@pytest.mark.parametrize("what", ["file", "folder", "both"])
def test_what_must_not_be_written_is_refused_and_stays(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    path = folder / "agent.db"
    filled(path)
    before = path.read_bytes()
    for parent in (tmp_path, *list(tmp_path.parents)[:3]):
        if os.access(parent, os.W_OK) and parent != Path("/") and parent != Path("/tmp"):
            parent.chmod(0o755)
    path.chmod(0o444 if what != "folder" else 0o666)
    folder.chmod(0o555 if what != "file" else 0o777)
    try:
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(path)], capture_output=True, text=True, check=False,
            env={**os.environ, "HOME": "/nonexistent"},
        )  # fmt: skip
    finally:
        folder.chmod(0o755)
        path.chmod(0o644)
    assert done.returncode == 0, done.stderr[-2_000:]
    assert done.stdout.startswith("refused"), done.stdout
    assert path.read_bytes() == before
    with opened(path) as memory:
        assert memory.check().ok


def test_a_locked_database_says_so_and_nothing_is_half_written(path: Path) -> None:
    filled(path)
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    with opened(path, settings={"busy_timeout": 0.05}) as memory:
        scope = memory.scope(user="alice")
        verbs: list[Callable[[], object]] = [
            lambda: scope.add("x"), lambda: scope.add_many(["x", "y"]), lambda: scope.delete_all(),
            lambda: scope.session("s").add_messages([{"role": "user", "content": "x"}]), lambda: memory.forget("alice"),
            lambda: scope.graph.add("a", "b", "c"), lambda: memory.check(fix=True) if not memory.check().ok else scope.add("z"),
        ]  # fmt: skip
        before = [r.text for r in scope.list(limit=1_000)]
        for verb in verbs:
            with pytest.raises(StoreBusy):
                verb()
        assert [r.text for r in scope.list(limit=1_000)] == before  # reading goes on
        lock.execute("ROLLBACK")
        scope.add("x")
        assert memory.check().ok
    lock.close()


# ---------------------------------------------------------------------- clocks


def test_a_clock_that_goes_backwards_changes_no_order(path: Path) -> None:
    """Positions, revisions and ids are counted, not timed: what a second process reads is whole, whatever the hour."""
    clock = ManualClock()
    with opened(path, clock=clock) as memory:
        scope, other = memory.scope(user="alice"), memory.scope(user="bob")
        chat = scope.session("s")
        said = []
        ids = []
        for n in range(30):
            clock.advance(seconds=-3_600 if n % 3 == 2 else 600)
            chat.add_messages(
                [{"role": "user", "content": f"turn {n} yak{n}"}, {"role": "assistant", "content": f"answer {n}"}]
            )
            said += [f"turn {n} yak{n}", f"answer {n}"]
            ids.append(scope.add(f"fact {n} zebra{n}").id)
            assert scope.search(f"zebra{n}", k=1)[0].record.text == f"fact {n} zebra{n}"
            other.add(f"bob {n}")
        assert [m.text for m in chat.messages()] == said
        assert [m.text for m in chat.window(max_turns=2)] == said[-4:]
        assert len(set(ids)) == 30
        scope.update(ids[3], "fact 3 changed giraffe")
        assert scope.search("giraffe", k=1)[0].record.id == ids[3]
        assert scope.history(ids[3])[-1].action != "added"
        scope.delete(ids[4])
        assert not [h for h in scope.search("zebra4", k=5) if "zebra4" in h.record.text.split()]
        listed = scope.list(kinds=["fact"], limit=100)
        assert [r.created_at for r in listed] == sorted(r.created_at for r in listed)
        starts = [each.event_time or each.created_at for each in scope.episodes.timeline(hours=10_000)]
        assert starts == sorted(starts) or starts == sorted(starts, reverse=True)
        seqs = raw(path, "SELECT revision FROM scope")
        assert all(isinstance(row[0], int) for row in seqs)
        assert memory.check().ok


# ---------------------------------------------------------------------- power


def test_power_flushes_each_commit_to_the_disk(path: Path) -> None:
    with opened(path, durability="power") as memory, memory._engine.store._connection() as connection:  # type: ignore[attr-defined]
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    with opened(path) as memory, memory._engine.store._connection() as connection:  # type: ignore[attr-defined]
        assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("durability", ["process", "power"])
def test_power_is_one_flush_a_write_as_the_kernel_sees_it(tmp_path: Path, durability: str) -> None:
    script = (
        "import sys\nfrom shared_core import AgentMemory\n"
        "memory = AgentMemory.open(sys.argv[1], embedder='hashing', durability=sys.argv[2])\n"
        "scope = memory.scope(user='a')\nscope.add('warm')\nsys.stderr.flush()\n"
        "for n in range(20):\n    scope.add(f'note {n}')\nimport os\nos._exit(0)\n"
    )
    log = tmp_path / "calls"
    done = subprocess.run(
        ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o", str(log), sys.executable, "-c", script, str(tmp_path / "a.db"), durability],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "ptrace" in done.stderr and done.returncode:
        pytest.skip("ptrace is not allowed here")
    assert done.returncode == 0, done.stderr[-1_000:]
    flushes = sum("sync(" in line for line in log.read_text().splitlines())
    assert flushes >= 20 if durability == "power" else flushes < 10
