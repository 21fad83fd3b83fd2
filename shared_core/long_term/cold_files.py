"""The archive's files: what goes into one, where it lies, and how it is read again.

A file is one zstd frame of lines as an export has them, sealed if the database is encrypted, with a
manifest beside it that says what it is without unpacking it. Names are made of hashes and random
numbers: two users, however they are called, never meet at one address.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from shared_core.errors import InvalidInput, StoreDamaged
from shared_core.moving import lines, places, telling
from shared_core.moving.parsing import Moved, Parser, at
from shared_core.moving.telling import Told
from shared_core.ports import Transaction
from shared_core.store import sealing, tombstones
from shared_core.store.rows import dump, instant, load
from shared_core.writing.intake import Intake

if TYPE_CHECKING:
    from shared_core.engine import Engine
    from shared_core.scope import Scope

Row = tuple[Any, ...]
"""A row of `archive`: id, session, address, manifest, state, created_at."""

_BESIDE = "beside:"  # an address in the folder beside the database, wherever that is moved to
_FOLDER = ".archive"
_SUFFIX, _MANIFEST = ".jsonl.zst", ".manifest.json"
_PURPOSE = "archive"


# ---------------------------------------------------------------------- addresses


def root(engine: Engine) -> str | None:
    """Where new files go; None where there is no place."""
    given = engine.settings.archive.address
    if given is not None:
        return given
    base = engine.store.address
    return None if base == ":memory:" or "://" in base else folder_of(base)


def must_root(engine: Engine) -> str:
    """Where new files go."""
    found = root(engine)
    if found is None:
        raise InvalidInput(
            "there is no folder beside this database for archives; give settings={'archive': {'address': ...}}, "
            "a folder or an fsspec address such as 's3://bucket/folder'"
        )
    return found


def address(engine: Engine, base: str, user: str, agent: str, id: str) -> str:
    """What the database calls the place of a new file."""
    whose = f"{len(user)}:{user}{agent}".encode("utf-8", "surrogatepass")
    names = (hashlib.blake2b(whose, digest_size=16).hexdigest(), id + _SUFFIX)
    return _BESIDE + "/".join(names) if engine.settings.archive.address is None else places.join(base, *names)


def renamed(old: str, id: str) -> str:
    """Another address in the same folder."""
    return f"{old.rpartition('/')[0]}/archive-{id}{_SUFFIX}"


def place(engine: Engine, stored: str) -> str:
    """The path or URL of an address as the database has it."""
    return beside(engine.store.address, stored) if is_beside(stored) else stored


def is_beside(stored: str) -> bool:
    """Whether an address is in the folder beside the database."""
    return stored.startswith(_BESIDE)


def beside(database: str, stored: str) -> str:
    """The path of an address in the folder beside a database."""
    return places.join(folder_of(database), *stored.removeprefix(_BESIDE).split("/"))


def folder_of(database: str) -> str:
    """The folder beside a database."""
    return database + _FOLDER


def is_ours(name: str) -> bool:
    """Whether a file's name is one that the archive gives."""
    return name.removesuffix(".tmp").endswith((_SUFFIX, _MANIFEST))


def manifest_of(address: str) -> str:
    """Where the manifest of a file lies."""
    return address.removesuffix(_SUFFIX) + _MANIFEST


# ---------------------------------------------------------------------- making a file


class Marks(NamedTuple):
    """What tells whether records have changed: their revisions, and the row of their session."""

    records: dict[int, int]
    session: tuple[Any, ...] | None


@dataclass(frozen=True)
class Made:
    """A file to be stored: its bytes, its manifest as JSON, and the state it was made of."""

    data: bytes
    manifest: str
    marks: Marks = field(default_factory=lambda: Marks({}, None))


def marks(tx: Transaction, seqs: Sequence[int], scope: int, session: str | None) -> Marks:
    """The state of these records now."""
    revisions = dict(tx.rows("revisions", {"seqs": str(list(seqs))}))
    return Marks({seq: revisions[seq] for seq in seqs}, _session_row(tx, scope, session))


def _session_row(tx: Transaction, scope: int, session: str | None) -> tuple[Any, ...] | None:
    found = [] if session is None else tx.rows("find_session", {"scope": scope, "name": session})
    return tx.rows("moved_session", {"session": found[0][0]})[0] if found else None


def make(
    engine: Engine, tx: Transaction, scope: int, seqs: Sequence[int], *, id: str, session: str | None, owner: Scope,
    why: str,
) -> Made:  # fmt: skip
    """The file of these records, with all that belongs to them."""
    found = list(_told(engine, tx, scope, seqs, session))
    embedder = tx.rows("current_embedder")
    about = {
        "id": id, "session": session, "user": owner.user, "agent": owner.agent, "why": why,
        "embedder": {"name": embedder[0][1], "dimensions": embedder[0][2]} if embedder else None,
        "created_at": instant(engine.now()).isoformat(),
    }  # fmt: skip
    return _packed(engine, tx, about, found, marks(tx, seqs, scope, session))


def _told(engine: Engine, tx: Transaction, scope: int, seqs: Sequence[int], session: str | None) -> Iterator[Told]:
    row = _session_row(tx, scope, session)
    if row is not None:
        yield telling.session(row)
    records = telling.Records(tx, scope, vectors=True, accesses=engine.accesses)
    kinds: dict[str, str] = {}
    for seq in seqs:
        line = records.line(seq)
        if line is not None:
            kinds[line[1]["id"]] = line[1]["kind"]
            if line[1]["status"] == "archived":  # set aside before there was a file; it comes back as what it was
                line[1]["status"] = "active"
            yield line
    for kind, value in telling.belongings(tx, seqs):
        if kind != "question":  # its text quotes another fact, which may be erased on its own
            yield kind, value
    by_records = list(telling.told_by(tx, scope, seqs))
    direct = _direct(tx, scope) if by_records else set()
    for kind, value in by_records:
        kept = kinds.get(value["record"]) == "turn" and telling.place(kind, value) not in direct
        yield kind, {**value, "kept": True} if kept else value


def _direct(tx: Transaction, scope: int) -> set[tuple[Any, ...]]:
    """What is told directly, besides."""
    return {telling.place(kind, value) for kind, value in telling.told_by(tx, scope, None) if "record" not in value}


def _packed(engine: Engine, tx: Transaction, about: Mapping[str, Any], told: Iterable[Told], state: Marks) -> Made:
    counts: Counter[str] = Counter()
    body = []
    for kind, value in told:
        counts[kind] += 1
        body.append(lines.encoded(kind, value))
    data = lines.compressed([lines.header("archive", counts, **about), *body], engine.settings.archive.level)
    sealed = getattr(engine.store, "cipher", None) is not None
    if sealed:
        data = sealed_with(tx, data)
    manifest = {
        "format": lines.FORMAT, "version": lines.VERSION, **about, "counts": dict(counts), "sealed": sealed,
        "records": counts["record"], "bytes": len(data), "checksum": places.digest(data),
    }  # fmt: skip
    return Made(data, dump(manifest), state)


def store(engine: Engine, stored: str, made: Made) -> None:
    """Write a file and the manifest beside it; the file is verified."""
    put(place(engine, stored), made.data, load(made.manifest))


def put(where: str, data: bytes, about: Mapping[str, Any]) -> None:
    """Write the bytes of a file and, beside it, what is known `about` it."""
    if about["sealed"]:  # no names beside what is encrypted
        about = {name: value for name, value in about.items() if name not in ("user", "agent", "session", "why")}
    places.write(manifest_of(where), json.dumps(about, ensure_ascii=False, indent=1).encode("utf-8"))
    places.write(where, data)


def sealed_with(tx: Transaction, data: bytes) -> bytes:
    """The bytes of a file, to be read with this database only."""
    return sealing.seal(data, tombstones.secret(tx), _PURPOSE)


def remove(engine: Engine, stored: str) -> None:
    """Delete a file, its manifest, and what a killed process left of either."""
    discard(place(engine, stored))


def discard(where: str) -> None:
    """Delete the file at a path or URL, and its manifest."""
    for name in (where, manifest_of(where)):
        places.delete(name + ".tmp")
        places.delete(name)


# ---------------------------------------------------------------------- reading one


@dataclass(slots=True)
class Contents:
    """A file, read: sessions and other lines as checked values, records as drafts."""

    sessions: list[dict[str, Any]] = field(default_factory=list)
    records: list[Moved] = field(default_factory=list)
    others: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def raw(engine: Engine, row: Row) -> Iterator[lines.Line]:
    """The lines of an archive, header first.

    Raises `StoreDamaged` for a file that is not what was written, `ArchiveUnreachable` if it can't be read.
    """
    where = place(engine, row[2])
    data = places.read(where, load(row[3]).get("checksum", ""))
    if sealing.is_sealed(data):
        with engine.store.look() as tx:
            data = sealing.opened(data, tombstones.secret(tx), _PURPOSE)
    try:
        yield from lines.unpacked(data, where)
    except InvalidInput as error:
        raise StoreDamaged(str(error)) from error


def parsed(engine: Engine, row: Row) -> Contents:
    """An archive as values; not redacted again, since all of it has been here before."""
    parser = Parser(Intake(engine.settings))
    found = Contents()
    for line in raw(engine, row):
        if line.kind == lines.HEADER:
            continue
        with at(line.where):
            value = parser.read(line.kind, line.value)
        if line.kind == "record":
            found.records.append(value)
        elif line.kind == "session":
            found.sessions.append(value)
        else:
            found.others.append((line.kind, value))
    return found


def told(engine: Engine, row: Row, alive: set[str]) -> list[Told]:
    """The lines of an archive but for the header, without what was erased of it."""
    found = [line for line in raw(engine, row) if line.kind != lines.HEADER]
    gone = {line.value["id"] for line in found if line.kind == "record"} - alive
    return [(line.kind, _trimmed(line, gone)) for line in found if not gone & set(_names(line))]


def without(engine: Engine, row: Row, alive: set[str]) -> Made:
    """An archive as it is to be, without what was erased of it."""
    kept = told(engine, row, alive)
    about = {key: value for key, value in load(row[3]).items() if key in _ABOUT}
    with engine.store.write() as tx:  # the secret may have to be made
        return _packed(engine, tx, about, kept, Marks({}, None))


_ABOUT = frozenset("id session user agent why embedder created_at".split())


def _names(line: lines.Line) -> Iterator[str]:
    """The records that a line is about."""
    if line.kind == "record":
        yield line.value["id"]
    else:
        yield from (line.value[name] for name in ("record", "source", "reply") if name in line.value)


def _trimmed(line: lines.Line, gone: set[str]) -> dict[str, Any]:
    if line.kind == "session" and gone:  # what sums up a conversation may quote what was erased of it
        return {key: value for key, value in line.value.items() if key in ("id", "created_at", "ended_at")}
    if line.kind == "record":
        return {
            key: value
            for key, value in line.value.items()
            if key not in ("supersedes", "superseded_by") or value not in gone
        }
    return line.value
