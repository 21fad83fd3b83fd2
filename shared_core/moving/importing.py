"""Exports into a memory: our own line by line, others' as the conversations and memories they hold (E5).

Every import reads its file twice. The first time only looks: a fault anywhere is found before
anything is written. Then batches are written, each in one transaction, and what is known already is
passed over; so an import that was killed goes on where it was when it is started again.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from shared_core.errors import InvalidInput, InvalidType
from shared_core.formats import FORMATS, SYSTEMS, Conversation, Told, detect, read_all
from shared_core.formats.conversation import as_name
from shared_core.moving import lines, vectors
from shared_core.moving.parsing import Moved, Parser, at
from shared_core.moving.taking import DELETED, KNOWN, NEW, Taker, Versions, cut_loose, tie
from shared_core.ports import Transaction
from shared_core.steps import Steps
from shared_core.store import ledger, scopes, tombstones, vault
from shared_core.store.rows import Draft, draft, micros
from shared_core.values import Message
from shared_core.writing.intake import Intake

if TYPE_CHECKING:
    from shared_core.engine import Engine
    from shared_core.scope import Scope

OURS = lines.FORMAT
AUTO = "auto"
_BATCH = 256  # messages or memories of others in one transaction: as many as are embedded in one call

Progress = Callable[[int, int], None]
Target = Callable[[str | None, str | None], tuple["Scope", str | None]]
"""Where something goes, by the user and the session its file names: a scope and a session's name."""


class Imported(BaseModel):
    """What an import found and did: records by what became of them, and all else that was new.

    `deleted` were erased here before, and stay so without `revive`. `counts` are new lines of each
    kind but records; of other systems' files, conversations and messages.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    format: str
    new: int = 0
    changed: int = 0
    known: int = 0
    deleted: int = 0
    conversations: int = 0
    messages: int = 0
    memories: int = 0
    users: tuple[str, ...] = ()
    counts: dict[str, int] = {}

    @property
    def records(self) -> int:
        """How many records the file held."""
        return self.new + self.changed + self.known + self.deleted


def checked_format(path: Any, format: str | None) -> tuple[Path, str]:
    """The file and the name of its format, told by its beginning where none is named."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidType(f"an import comes from a path, not from a {type(path).__name__}")
    file = Path(path)
    if format in (None, AUTO):
        return file, OURS if lines.is_ours(file) else detect(file)
    known = [OURS, *FORMATS, *SYSTEMS]
    if format not in known:
        raise InvalidInput(f"unknown format {format!r}; known: {', '.join(known)}, or auto")
    return file, str(format)


# ---------------------------------------------------------------------- our own


def looked_through(file: Path, intake: Intake) -> int:
    """How many lines an export has, each checked. Raises `InvalidInput`, naming the line."""
    return sum(1 for _ in _values(file, Parser(intake)))


def owner(file: Path) -> tuple[str | None, str | None]:
    """The user and the agent whose memory an export holds."""
    about = next(lines.read(file)).value
    return as_name(about.get("user")), as_name(about.get("agent"))


def ours(scope: Scope, file: Path, *, revive: bool, progress: Progress | None) -> Steps[Imported]:
    """Take the lines of an export, or of an archive's file, into a scope."""
    engine = scope._live()
    intake = scope._intake
    parser = Parser(intake)
    total = looked_through(file, intake)
    intake.taken()
    found: Counter[str] = Counter()
    became: Counter[str] = Counter()
    same: dict[str, str] = {}
    versions: dict[str, Versions] = {}
    done = 0
    for batch in _batches(_values(file, parser), engine.settings.transfer.batch):
        taker = yield from _take(scope, batch, same, revive, intake.taken())
        became.update(taker.became)
        versions |= {
            str(m.item.id): (m.item.supersedes, m.item.superseded_by) for m in _records(batch) if _versioned(m)
        }
        found.update(taker.lines)
        done += len(batch)
        if progress is not None:
            progress(done, total)
    if versions:  # of which the other may have come in a later batch
        with engine.store.write() as tx:
            tie(tx, scope._find(tx) or 0, versions)
    return Imported(
        format=OURS,
        new=became[NEW],
        known=became[KNOWN],
        deleted=became[DELETED],
        counts=dict(found),
        users=(scope.user,),
    )


_Value = tuple[str, Any]


def _values(file: Path, parser: Parser) -> Iterator[_Value]:
    for line in lines.read(file):
        if line.kind != lines.HEADER:
            with at(line.where):
                value = parser.read(line.kind, line.value)
            yield line.kind, value


def _records(batch: Iterable[_Value]) -> list[Moved]:
    return [value for kind, value in batch if kind == "record"]


def _versioned(moved: Moved) -> bool:
    return moved.item.supersedes is not None or moved.item.superseded_by is not None


def _batches(values: Iterator[_Value], size: int) -> Iterator[list[_Value]]:
    batch: list[_Value] = []
    records = 0
    for value in values:
        batch.append(value)
        records += value[0] == "record"
        if records >= size:
            yield batch
            batch, records = [], 0
    if batch:
        yield batch


def _take(
    scope: Scope, batch: Sequence[_Value], same: dict[str, str], revive: bool, secrets: dict[str, bytes] | None
) -> Steps[Taker]:
    engine = scope._live()
    records = _records(batch)
    with engine.store.look() as tx:
        number = scope._find(tx)
        fresh = [m for m in records if number is None or not tx.rows("seq_by_id", (number, m.item.id))]
    yield from vectors.embed(engine, fresh)
    now = engine.now()
    with engine.store.write() as tx:
        into = scopes.ensure_scope(tx, scope.user, scope.agent, now)
        vault.keep(tx, into, secrets, now)
        embedder = engine.claim_embedder(tx) if any(moved.item.vector for moved in fresh) else None
        taker = Taker(tx, into, now, embedder, erased=_erased(tx, into, revive))
        taker.same = same
        for run in _runs(batch):
            if run[0][0] == "record":
                taker.records([value for _, value in run])
            elif run[0][0] == "session":
                taker.session(run[0][1])
            else:
                taker.other(*run[0])
        cut_loose(tx, into, taker.versions)  # each batch is whole by itself, wherever the import is killed
    return taker


def _runs(batch: Sequence[_Value]) -> Iterator[list[_Value]]:
    """Neighbouring records together, all else one by one."""
    run: list[_Value] = []
    for value in batch:
        if run and (value[0] != "record" or run[0][0] != "record"):
            yield run
            run = []
        run.append(value)
    if run:
        yield run


def _erased(tx: Transaction, scope: int, revive: bool) -> Callable[[bytes], bool]:
    """Whether something was erased here; to revive it is to forget that."""

    def erased(hash: bytes) -> bool:
        if revive:
            tx.run("drop_tombstone", (scope, hash))
            return False
        return bool(tx.rows("has_tombstone", (scope, hash)))

    return erased


# ---------------------------------------------------------------------- other systems


@dataclass
class _Tally:
    became: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    users: dict[str, None] = field(default_factory=dict)  # in the order of the file


def read_through(
    file: Path, format: str, whose: Callable[[str | None], Any], progress: Callable[[int], None] | None = None
) -> int:
    """How many messages and memories a file has; `whose` is told of the user of each conversation and memory."""
    total = 0
    for item in read_all(file, format):
        whose(item.user)
        for _ in [item] if isinstance(item, Told) else item.messages:
            total += 1
            if progress is not None:
                progress(total)
    return total


def others(
    target: Target, file: Path, format: str, *, revive: bool, progress: Progress | None, total: int | None = None
) -> Steps[Imported]:
    """Remember the conversations and memories of another system's export; `total` of one that was read through."""
    if total is None:
        total = read_through(file, format, lambda user: target(user, None))
    tally = _Tally()
    for scope, session, batch in _groups(read_all(file, format), target):
        tally.users[scope.user] = None
        if session is None:
            yield from _memories(scope, batch, tally, revive)
        else:
            yield from _messages(scope, session, batch, tally, revive)
        if progress is not None:
            progress(tally.counts["messages"] + tally.counts["memories"], total)
    became = tally.became
    return Imported(
        format=format, new=became[NEW], changed=became["changed"], known=became[KNOWN], deleted=became[DELETED],
        conversations=tally.counts["conversations"], messages=tally.counts["messages"],
        memories=tally.counts["memories"], users=tuple(tally.users),
    )  # fmt: skip


def apart(theirs: str | None, session: str | None, user: str) -> str | None:
    """A session's name where one user takes in the conversations of another: both may have a "session_1".

    >>> apart("bob", "monday", "alice"), apart(None, "monday", "alice")
    ('bob monday', 'monday')
    """
    return session if session is None or theirs is None or theirs == user else f"{theirs} {session}"


def _groups(items: Iterable[Conversation | Told], target: Target) -> Iterator[tuple[Scope, str | None, list[Any]]]:
    """Batches of messages of one session, or (without one) of memories of one scope."""
    waiting: list[Told] = []
    whose: Scope | None = None
    for item in items:
        session = item.session if isinstance(item, Conversation) else None
        scope, session = target(item.user, session)
        if waiting and (isinstance(item, Conversation) or whose is not scope or len(waiting) == _BATCH):
            assert whose is not None
            yield whose, None, waiting
            waiting = []
        if isinstance(item, Told):
            waiting.append(item)
            whose = scope
            continue
        first = True
        for batch in _chunks(item.messages):
            yield scope, session, [first, *batch]
            first = False
    if waiting and whose is not None:
        yield whose, None, waiting


def _chunks(messages: Iterable[Message]) -> Iterator[list[Message]]:
    batch: list[Message] = []
    for message in messages:
        batch.append(message)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _messages(scope: Scope, session: str, batch: list[Any], tally: _Tally, revive: bool) -> Steps[None]:
    """Messages of one session; the facts in them are read as of any others."""
    first, *messages = batch
    engine = scope._live()
    tally.counts["conversations"] += int(first)
    tally.counts["messages"] += len(messages)
    intake = scope._intake
    drafts = [intake.turn(message, session, now=engine.now()) for message in messages]
    before, gone = _standing(engine, scope, drafts, revive)
    wanted = [message for place, message in enumerate(messages) if place not in gone]
    tally.became[DELETED] += len(gone)
    if wanted:
        yield from scope.session(session)._add_messages(wanted)
    _count(engine, scope, [item for place, item in enumerate(drafts) if place not in gone], before, tally)


def _standing(
    engine: Engine, scope: Scope, drafts: Sequence[Draft], revive: bool
) -> tuple[dict[str, int], frozenset[int]]:
    """The revisions of what is here already, and the places of what was erased here."""
    before: dict[str, int] = {}
    gone = set()
    with engine.store.write() as tx:
        number = scope._find(tx)
        if number is None:
            return {}, frozenset()
        key, erased = tombstones.secret(tx), _erased(tx, number, revive)
        for place, item in enumerate(drafts):
            revision = _revision(tx, number, item)
            if revision is not None:
                before[str(item.id)] = revision
            elif erased(tombstones.tombstone(key, item)):
                gone.add(place)
    return before, frozenset(gone)


def _revision(tx: Transaction, scope: int, item: Draft) -> int | None:
    rows = tx.rows("seq_by_id", (scope, item.id))
    return int(tx.rows("revisions", {"seqs": f"[{rows[0][0]}]"})[0][1]) if rows else None


def _count(engine: Engine, scope: Scope, drafts: Sequence[Draft], before: dict[str, int], tally: _Tally) -> None:
    with engine.store.look() as tx:
        number = scope._find(tx)
        for id in dict.fromkeys(str(item.id) for item in drafts):
            now = None if number is None else _revision(tx, number, Draft(kind="", text="", id=id))
            if id not in before:
                tally.became[NEW] += 1
            else:
                tally.became[KNOWN if now == before[id] else "changed"] += 1
        tally.became[KNOWN] += len(drafts) - len({item.id for item in drafts})


def _memories(scope: Scope, batch: Sequence[Told], tally: _Tally, revive: bool) -> Steps[None]:
    """Memories of another system: those that hold meet what is known as if they were told here, the rest is history."""
    engine = scope._live()
    now = engine.now()
    tally.counts["memories"] += len(batch)
    intake = scope._intake
    drafts = [_draft(intake, told, now) for told in batch]
    before, gone = _standing(engine, scope, drafts, revive)
    fresh = [item for place, item in enumerate(drafts) if place not in gone and not _same(engine, scope, item, before)]
    tally.became[DELETED] += len(gone)
    past = [item for item in fresh if item.status != "active"]
    if present := [item for item in fresh if item.status == "active"]:
        yield from scope._store(present, now)
    if past:
        yield from vectors.embed(engine, [Moved(item, None) for item in past])
        with engine.store.write() as tx:
            number = scopes.ensure_scope(tx, scope.user, scope.agent, now)
            ledger.put(tx, number, past, now, engine.claim_embedder(tx))
    _count(engine, scope, [item for place, item in enumerate(drafts) if place not in gone], before, tally)


def _same(engine: Engine, scope: Scope, item: Draft, before: dict[str, int]) -> bool:
    """Whether a memory is here, and says what it said."""
    if item.id not in before:
        return False
    with engine.store.look() as tx:
        rows = tx.rows("seq_by_id", (scope._find(tx), item.id))
        old = draft(tx.rows("raw_record", {"seq": rows[0][0]})[0])
    return (old.text, old.metadata, old.type) == (item.text, item.metadata, item.type)


def _draft(intake: Intake, told: Told, now: int) -> Draft:
    id = told.id
    kind, type_ = told.kind, told.type
    if kind == "item":
        from shared_core.verbs.items import item_address

        id, type_ = item_address(*json.loads(told.id))
    item = intake.record(
        told.text, now=now, kind=kind, type=type_, triple=told.triple, source=told.source, metadata=told.metadata,
        pinned=told.pinned, id=id,
    )  # fmt: skip
    item.created_at = now if told.created_at is None else micros(told.created_at)
    item.updated_at = item.created_at if told.updated_at is None else micros(told.updated_at)
    if told.valid_from is not None:
        item.event_time = item.valid_from = micros(told.valid_from)
    if told.valid_until is not None:
        item.valid_until = micros(told.valid_until)
    if told.ended:
        item.status = "superseded"
    return item
