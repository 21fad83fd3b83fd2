"""A scope as a file of lines, or one session with what matters beside it (E5)."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from shared_core.errors import InvalidInput, InvalidType
from shared_core.moving import lines, telling
from shared_core.moving.telling import Told
from shared_core.ports import Transaction
from shared_core.store.rows import instant

if TYPE_CHECKING:
    from shared_core.engine import Engine
    from shared_core.scope import Scope

Progress = Callable[[int, int], None]
"""Told how many records are done, and of how many."""

_STEP = 100  # records between two reports of progress


class Exported(BaseModel):
    """What was written: the file, its size in bytes, and its lines by kind."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    path: str
    bytes: int
    counts: dict[str, int]

    @property
    def records(self) -> int:
        """How many records it holds."""
        return self.counts.get("record", 0)


def scope(
    owner: Scope, path: str | os.PathLike[str], *, vectors: bool, audit: bool, archived: bool, progress: Progress | None
) -> Exported:
    """Everything of a scope."""
    engine = owner._live()
    engine.settle(quiet=True)  # what was erased of archives is not to be read from them

    def told(tx: Transaction, number: int) -> Iterator[Told]:
        cold = list(_archived(engine, tx, number)) if archived else []
        yield from (telling.session(row) for row in tx.rows("moved_sessions", {"scope": number}))
        seqs = [row[0] for row in tx.rows("moved_seqs", {"scope": number})]
        total = len(seqs) + sum(kind == "record" for kind, _ in cold)
        records = telling.Records(tx, number, vectors=vectors, accesses=engine.accesses, audit=audit)
        for done, seq in enumerate(seqs, 1):
            line = records.line(seq)
            if line is not None:
                yield line
            if progress is not None and (done % _STEP == 0 or done == total):
                progress(done, total)
        for kind, value in cold:
            if kind in ("session", "record"):
                yield kind, value if vectors else {key: part for key, part in value.items() if key != "vectors"}
        if progress is not None and cold:
            progress(total, total)
        yield from telling.belongings(tx, seqs)
        if archived:
            for row in tx.rows("cold_links", {"scope": number}):
                yield telling.link(*row)
        yield from _graph(tx, number, cold)

    return _written(owner, path, "scope", told, vectors=vectors)


def _archived(engine: Engine, tx: Transaction, scope: int) -> Iterator[Told]:
    """The lines of all archives of a scope."""
    from shared_core.long_term import cold_files

    for row in tx.rows("scope_archives", {"scope": scope}):
        alive = {each[0] for each in tx.rows("cold_of_archive", {"archive": row[0]})}
        yield from (line for line in cold_files.told(engine, row, alive) if line[0] != "link")


def _graph(tx: Transaction, scope: int, cold: list[Told]) -> Iterator[Told]:
    """The graph, with what archived records told: under these, not as told directly."""
    others = [(kind, value) for kind, value in cold if kind not in ("session", "record")]
    instead = {telling.place(kind, value) for kind, value in others if value.get("kept")}
    for kind, value in telling.graph(tx, scope):
        if "record" in value or kind not in telling.TOLD or telling.place(kind, value) not in instead:
            yield kind, value
    for kind, value in others:
        yield kind, {key: part for key, part in value.items() if key != "kept"}


def session(owner: Scope, name: str, path: str | os.PathLike[str], *, vectors: bool) -> Exported:
    """A session's bundle: its turns, the most important memories, the newest events, the graph."""
    engine = owner._live()
    numbers = engine.settings.transfer

    def told(tx: Transaction, number: int) -> Iterator[Told]:
        found = tx.rows("find_session", {"scope": number, "name": name})
        if found:
            yield telling.session(tx.rows("moved_session", {"session": found[0][0]})[0])
        turns = [row[0] for row in tx.rows("session_turns", {"session": found[0][0]})] if found else []
        given = {"scope": number, "now": engine.now()}
        seqs = turns + [row[0] for row in tx.rows("bundle_memories", {**given, "limit": numbers.memories})]
        seqs += [row[0] for row in tx.rows("bundle_events", {**given, "limit": numbers.events})]
        records = telling.Records(tx, number, vectors=vectors, accesses=engine.accesses)
        known = {row[0] for row in tx.rows("ids_of", {"seqs": str(seqs)})}
        for seq in seqs:
            line = records.line(seq)
            if line is not None:
                value = line[1]
                if value.get("session") != name:  # the other conversations stay where they are
                    value = {key: part for key, part in value.items() if key not in ("session", "position")}
                for version in ("supersedes", "superseded_by"):
                    if value.get(version) not in known:
                        value.pop(version, None)
                yield "record", value
        yield from telling.belongings(tx, seqs, known.__contains__)
        yield from telling.graph(tx, number, known.__contains__)

    return _written(owner, path, "session", told, vectors=vectors, session=name)


def _written(
    owner: Scope,
    path: str | os.PathLike[str],
    what: str,
    told: Callable[[Transaction, int], Iterator[Told]],
    **about: Any,
) -> Exported:
    """Write a file of one moment of the scope; it is there whole, or not at all."""
    engine, target = owner._live(), target_of(path)
    with tempfile.TemporaryFile() as body:  # without a name, so that nothing is left of it whatever happens
        counts: Counter[str] = Counter()
        with engine.store.read() as tx:
            number = owner._find(tx)
            embedder = tx.rows("current_embedder")
            for kind, value in [] if number is None else told(tx, number):
                counts[kind] += 1
                body.write(lines.encoded(kind, value))
        head = lines.header(
            what, counts, user=owner.user, agent=owner.agent, created_at=instant(engine.now()).isoformat(),
            embedder={"name": embedder[0][1], "dimensions": embedder[0][2]} if embedder else None, **about,
        )  # fmt: skip
        with lines.writing(target, engine.settings.transfer.level) as file:
            file.write(head)
            _copy(body, file)
    return Exported(path=os.fspath(target), bytes=target.stat().st_size, counts=dict(counts))


def _copy(body: IO[bytes], file: IO[bytes]) -> None:
    body.seek(0)
    while block := body.read(1 << 20):
        file.write(block)


def target_of(path: str | os.PathLike[str]) -> Path:
    """Where an export goes; raises for what can't be a file's name."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidType(f"an export goes to a path, not to a {type(path).__name__}")
    target = Path(path)
    if not isinstance(os.fspath(path), str) or target.is_dir() or not target.name:
        raise InvalidInput(f"{path!r} is no file; give the path of a file, such as 'alice.jsonl' or 'alice.jsonl.zst'")
    if not target.parent.is_dir():
        raise InvalidInput(f"the folder {target.parent} does not exist")
    return target
