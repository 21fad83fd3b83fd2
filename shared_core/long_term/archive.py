"""`Archive`: sessions and old memories in cold storage, one compressed file each, and the way back (B8).

The database is the truth about its files. A row of `archive` says first that a file is being written;
the file is verified and renamed; then one transaction takes the rows out of the live memory and marks
the file as kept. Wherever a process dies, either the rows are still live or the file is whole; a file
that nobody needs is found by its row and deleted (`settle`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from shared_core.errors import ArchiveUnreachable, InvalidInput, InvalidType, NotFound, StoreBusy, StoreError
from shared_core.long_term import cold_files
from shared_core.long_term.cold_files import Row
from shared_core.moving import vectors
from shared_core.moving.taking import Taker, cut_loose
from shared_core.ports import Transaction
from shared_core.steps import Steps, both, threaded
from shared_core.store import audit, cascade, cold, ledger, scopes, tombstones, vault
from shared_core.store.rows import draft, instant, load
from shared_core.values import Receipt, Record
from shared_core.writing.intake import identifier

if TYPE_CHECKING:
    from shared_core.engine import Engine
    from shared_core.scope import Scope

_LOG = logging.getLogger("twinmem.archive")
_TRIES = 10  # times a move begins anew because its records were changed meanwhile
_STAYS = "waiting"  # facts of an open question are not moved


class Archived(BaseModel):
    """A file in the archive: what it holds, where it lies, and since when.

    `session` is None for a file of single memories. `address` is a path or an fsspec address, `bytes`
    the size of the file, `why` what the one who moved it said.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    session: str | None
    records: int
    bytes: int
    address: str
    why: str = ""
    created_at: datetime


Files = list[Archived]
Records = list[Record]
Rows = list[Row]


def put_records(scope: Scope, ids: Iterable[str], *, why: str = "") -> Archived | None:
    """Move single memories to the archive: old ones, events over their cap, decayed ones.

    For the parts of a memory that let go of records. Call it outside any transaction: it writes one
    file for all of them, and takes the rows out in a transaction of its own, so that a crash loses
    nothing. Ids that are not there, and facts that wait for the user's answer, are passed over; None
    where nothing is left to move. A record whose status is "archived" comes back as active.

    Relations they told leave the graph with them. `scope.archive.restore(result.id)` brings all back;
    `scope.delete(id)` of an archived record erases it in its file.

    Raises `InvalidInput` for a memory that has no place for archives (in memory, and no
    `settings.archive.address`): ask `scope.archive.address` before, which is None then.
    `ArchiveUnreachable` if the file can't be written; everything stays where it was.
    """
    wanted = [ids] if isinstance(ids, str) else list(ids)

    def chosen(tx: Transaction, number: int) -> list[int]:
        found = [row[0] for id in dict.fromkeys(wanted) for row in tx.rows("seq_by_id", (number, id))]
        return [seq for seq in found if _may_move(tx, seq)]

    return _moved(scope, chosen, None, why)


def _may_move(tx: Transaction, seq: int) -> bool:
    rows = tx.rows("raw_record", {"seq": seq})
    return bool(rows) and draft(rows[0]).status != _STAYS and not tx.rows("waiting_on", (seq,))


class Archive:
    """The cold storage of one scope.

    Every verb has an async twin with the prefix `a`.

    >>> from shared_core import AgentMemory
    >>> memory = AgentMemory.open(embedder="hashing", settings={"archive": {"address": "memory://doctest"}})
    >>> scope = memory.scope(user="alice")
    >>> _ = scope.session("monday").add_messages([{"role": "user", "content": "I moved to Lyon"}])
    >>> moved = scope.archive.session("monday")
    >>> scope.sessions(), [each.session for each in scope.archive.list()]
    ([], ['monday'])
    >>> _ = scope.archive.restore("monday")
    >>> [message.text for message in scope.session("monday").messages()]
    ['I moved to Lyon']
    """

    def __init__(self, scope: Scope) -> None:
        """Use `Scope.archive`."""
        self._scope = scope

    def __repr__(self) -> str:
        return f"Archive(user={self._scope.user!r}, agent={self._scope.agent!r})"

    @property
    def address(self) -> str | None:
        """Where files go: `settings.archive.address`, else a folder beside the database; None if there is no place."""
        return cold_files.root(self._scope._live())

    # ------------------------------------------------------------------ moving there

    def _session(self, id: str) -> Steps[Archived]:
        """Move a conversation to cold storage: its turns, summary, snapshot and state, in one file.

        The facts that were read from it stay in memory, and still know where they came from. If the
        conversation goes on, its new turns are live, and can be moved as well.

        Raises `NotFound` for a conversation without turns, `InvalidInput` where there is no place for
        archives, `ArchiveUnreachable` if the file can't be written; then everything stays as it was.
        """
        scope = self._scope
        name = identifier(id, "session", scope._live().settings)
        cold_files.must_root(scope._live())
        yield from self._read_first(name)

        def chosen(tx: Transaction, number: int) -> list[int]:
            found = tx.rows("find_session", {"scope": number, "name": name})
            return [row[0] for row in tx.rows("session_turns", {"session": found[0][0]})] if found else []

        moved = _moved(scope, chosen, name, "")
        if moved is None:
            where = "it lies in the archive" if self._rows(name) else "scope.sessions() gives those there are"
            raise NotFound(f"the session {id!r} has no turns to move; {where}")
        return moved

    session, asession = both(_session)

    def _read_first(self, name: str) -> Steps[None]:
        """Let the LLM read what it owes of a session before its turns are out of reach."""
        engine = self._scope._live()
        if engine.llm is None or engine.settings.facts.llm != "now":
            return
        with engine.store.look() as tx:
            number = self._scope._find(tx)
            found = [] if number is None else tx.rows("find_session", {"scope": number, "name": name})
            owed = bool(found) and any(
                tx.rows("moved_pending", (row[0],)) for row in tx.rows("session_turns", {"session": found[0][0]})
            )
        if owed:
            yield from self._scope._resume()

    def records(self, ids: Iterable[str], *, why: str = "") -> Archived | None:
        """Move single memories to cold storage, together in one file; None if none of them is there.

        What they told the graph goes along. Facts that wait for the user's answer stay.
        Raises what `session` raises.
        """
        return put_records(self._scope, ids, why=why)

    # ------------------------------------------------------------------ looking

    def list(self) -> Files:
        """What lies in the archive, oldest first."""
        engine = self._scope._live()
        with engine.store.look() as tx:
            number = self._scope._find(tx)
            rows = [] if number is None else tx.rows("scope_archives", {"scope": number})
        return [_shown(engine, row) for row in rows]

    def get(self, id: str) -> Archived | None:
        """The file of an archive id, a session or a record, the newest if there are several; None for anything else."""
        found = self._rows(id)
        return _shown(self._scope._live(), found[-1]) if found else None

    def read(self, id: str) -> Records:
        """The records of an archive, a session or one record, in order, left where they are.

        Raises `NotFound`, and `StoreDamaged` or `ArchiveUnreachable` for a file that can't be read.
        """
        engine = self._scope._live()
        found: list[Record] = []
        for row in self._must(id):
            with engine.store.look() as tx:
                alive = {each[0] for each in tx.rows("cold_of_archive", {"archive": row[0]})}
            moved = cold_files.parsed(engine, row).records
            found += [each.item.record(0, each.session) for each in moved if each.item.id in alive]
        return [record for record in found if record.id == id] or found

    def _rows(self, id: str) -> Rows:
        if not isinstance(id, str):
            raise InvalidType(f"an archive, session or record has a text for an id, not {type(id).__name__}")
        with self._scope._live().store.look() as tx:
            number = self._scope._find(tx)
            rows = [] if number is None else tx.rows("scope_archives", {"scope": number})
            of_record = {row[0] for row in tx.rows("cold_record", (number, id))} if rows else set()
        for fits in (lambda row: row[0] == id, lambda row: row[1] == id, lambda row: row[0] in of_record):
            if found := [row for row in rows if fits(row)]:
                return found
        return []

    def _must(self, id: str) -> Rows:
        found = self._rows(id)
        if not found:
            raise NotFound(f"nothing in the archive is or holds {id!r}; scope.archive.list() gives what there is")
        return found

    # ------------------------------------------------------------------ and back

    def _restore(self, id: str) -> Steps[Records]:
        """Bring an archive back, by its id, its session or one of its records; the records that came back.

        Field by field as they were: ids, times, positions, provenance, access counts. Vectors are
        taken from the file, or made anew if the embedder is another. What was erased meanwhile stays
        erased; a record that is live again under its id stays as it is.

        Raises `NotFound`, and `StoreDamaged` or `ArchiveUnreachable` for a file that can't be read;
        then nothing has changed.
        """
        engine = self._scope._live()
        found: list[Record] = []
        for row in self._must(id):
            while True:
                come = cold_files.parsed(engine, row)
                yield from vectors.embed(engine, come.records)
                with engine.store.write() as tx:
                    now = tx.rows("archive_row", {"id": row[0], "scope": self._scope._find(tx)})
                    if not now or now[0][4] not in ("kept", "stale"):
                        break  # another process brought it back, or it was erased
                    if now[0][2:4] == row[2:4]:
                        found += self._put_back(tx, row, come)
                        break
                row = now[0]
        engine.settle(quiet=True)
        return found

    restore, arestore = both(_restore)

    def _put_back(self, tx: Transaction, row: Row, come: cold_files.Contents) -> Records:
        engine, archive = self._scope._live(), row[0]
        now = engine.now()
        scope = scopes.ensure_scope(tx, self._scope.user, self._scope.agent, now)
        alive = {each[0] for each in tx.rows("cold_of_archive", {"archive": archive})}
        records = [moved for moved in come.records if moved.item.id in alive]
        tx.run("empty_archive", {"archive": archive})

        def erased(hash: bytes) -> bool:
            return bool(tx.rows("has_tombstone", (scope, hash)))  # `_take_out` left none: it was erased since

        taker = Taker(tx, scope, now, engine.claim_embedder(tx), erased=erased, back=True)
        taker.records(records)
        cut_loose(tx, scope, taker.versions)
        for session in come.sessions:
            taker.session(session)
        for kind, value in come.others:
            taker.other(kind, value)
        ids = [str(moved.item.id) for moved in records]
        _thaw_links(tx, scope, ids)
        tx.run("set_archive", {"id": archive, "session": None, "address": row[2], "manifest": row[3], "state": "gone"})
        for id in ids:
            audit.note(tx, scope, id, "restored", now, {})
        seqs = [each[0] for id in ids for each in tx.rows("seq_by_id", (scope, id))]
        stored = self._scope._records(tx, seqs)
        return [stored[seq] for seq in seqs]

    def delete(self, id: str) -> Receipt:
        """Erase an archive, by its id or session, with the facts that came only from it; of a record, that one.

        Raises `NotFound` for anything that is not in the archive, `ArchiveUnreachable` if the file could
        not be deleted; what was said is erased in the database even so, and the file later.
        """
        engine = self._scope._live()
        now = engine.now()
        rows = self._must(id)
        with engine.store.write() as tx:
            scope = self._scope._find(tx) or 0
            whole = [row for row in rows if id in (row[0], row[1])]
            ids = [each[0] for row in whole for each in tx.rows("cold_of_archive", {"archive": row[0]})]
            receipt = cascade.erase(tx, scope, [], now, archived=ids or [id])
            for name in {row[1] for row in whole if row[1] is not None}:
                _drop_empty(tx, scope, name)
        return engine.erased(receipt, self._scope.user, self._scope.agent)

    alist = threaded(list)
    aget = threaded(get)
    aread = threaded(read)
    arecords = threaded(records)
    adelete = threaded(delete)


def _shown(engine: Engine, row: Row) -> Archived:
    id, session, address, manifest, _, created_at = row
    about = load(manifest)
    return Archived(
        id=id, session=session, records=about.get("records", 0), bytes=about.get("bytes", 0), why=about.get("why", ""),
        address=cold_files.place(engine, address), created_at=instant(created_at),
    )  # fmt: skip


def _thaw_links(tx: Transaction, scope: int, ids: Iterable[str]) -> None:
    """Make provenance of cold links whose ends are both live again."""
    for id in ids:
        for record, source, extractor, at in tx.rows("cold_links_of", (scope, id)):
            ends = [tx.rows("seq_by_id", (scope, end)) for end in (record, source)]
            if all(ends):
                tx.run("add_link", (ends[0][0][0], ends[1][0][0], extractor, at))
                tx.run("drop_cold_link", (scope, record, source))


def _drop_empty(tx: Transaction, scope: int, name: str) -> None:
    """Drop the row of a session that has no turns left, here or in the archive; its facts lose their session."""
    found = tx.rows("find_session", {"scope": scope, "name": name})
    if found and not tx.rows("session_turns", {"session": found[0][0]}):
        tx.run("leave_session", {"session": found[0][0], "revision": scopes.bump(tx, scope)})
        tx.run("drop_session", {"session": found[0][0]})


# ---------------------------------------------------------------------- the move


def _moved(
    scope: Scope, chosen: Callable[[Transaction, int], list[int]], session: str | None, why: str
) -> Archived | None:
    """Write a file of the chosen records, then take them out; anew if they were changed meanwhile."""
    engine = scope._live()
    root = cold_files.must_root(engine)
    engine.settle(quiet=True)
    for _ in range(_TRIES):
        now = engine.now()
        id = f"archive-{ledger.new_id(now)}"
        address = cold_files.address(engine, root, scope.user, scope.agent, id)
        with engine.store.write() as tx:
            number = scope._find(tx)
            if number is None or not chosen(tx, number):
                return None
            tx.run("add_archive", (id, number, None, address, "{}", "writing", now))
        try:
            with engine.store.read() as tx:
                made = cold_files.make(
                    engine, tx, number, chosen(tx, number), id=id, session=session, owner=scope, why=why
                )
            cold_files.store(engine, address, made)
            with engine.store.write() as tx:
                row = tx.rows("archive_row", {"id": id, "scope": number})
                still = (
                    row
                    and row[0][4] == "writing"
                    and made.marks == cold_files.marks(tx, chosen(tx, number), number, session)
                )
                if still:
                    _take_out(engine, tx, number, id, address, made, session)
                    return _shown(engine, (id, session, address, made.manifest, "kept", now))
        finally:
            _abandon(engine, id)
    raise StoreBusy("what was to be archived was changed each time it was about to be moved; try again")


def _abandon(engine: Engine, id: str) -> None:
    """Delete the file of a move that did not come to its end."""
    with engine.store.write() as tx:
        if not tx.run("abandon_archive", {"id": id}):
            return
    engine.settle(quiet=True)


def _take_out(
    engine: Engine, tx: Transaction, scope: int, id: str, address: str, made: cold_files.Made, session: str | None
) -> None:
    """The one transaction in which records are no longer live, and lie in the archive."""
    now = engine.now()
    seqs = list(made.marks.records)
    key = tombstones.secret(tx)
    found = {seq: draft(tx.rows("raw_record", {"seq": seq})[0]) for seq in seqs}
    hashes = {seq: tombstones.hashes(tx, key, seq, item) for seq, item in found.items()}
    turns = [seq for seq, item in found.items() if item.kind == "turn"]
    told = cold.detach(tx, scope, turns, scopes.bump(tx, scope)) if turns else {}
    for record, source, extractor, at in tx.rows("moved_links", {"seqs": str(seqs)}):
        tx.run("add_cold_link", (scope, record, source, extractor, at))
    for seq, item in found.items():
        tx.run("drop_tombstone", (scope, tombstones.tombstone(key, item)))  # told again since it was erased
        tx.run("add_cold", (scope, item.id, id, hashes[seq], told.get(seq), vault.listed(item)))
    cascade.erase(tx, scope, seqs, now, action=cascade.ARCHIVED, derived=False)
    if session is not None:
        number = tx.rows("find_session", {"scope": scope, "name": session})[0][0]
        tx.run("lend_session", {"session": number})
    tx.run(
        "set_archive", {"id": id, "session": session, "address": address, "manifest": made.manifest, "state": "kept"}
    )


# ---------------------------------------------------------------------- upkeep


def settle(engine: Engine, rows: Iterable[Row], *, quiet: bool) -> None:
    """Do to files what the database has decided: delete those that are gone, rewrite those that hold what was erased.

    `Engine.settle` calls it with the rows of `unsettled_archives`. Raises `ArchiveUnreachable` after
    all others are done, or with `quiet` logs it: it is tried again.
    """
    failed: StoreError | None = None
    for row in rows:
        try:
            _settle_one(engine, *row)
        except (ArchiveUnreachable, InvalidInput) as error:
            failed = error if isinstance(error, StoreError) else ArchiveUnreachable(str(error))
            if quiet:
                _LOG.warning("an archive file was not settled: %s", error)
    if failed is not None and not quiet:
        raise failed


def _settle_one(
    engine: Engine, id: str, scope: int, session: str | None, address: str, manifest: str, state: str, created_at: int
) -> None:
    with engine.store.look() as tx:
        alive = {row[0] for row in tx.rows("cold_of_archive", {"archive": id})}
    if state == "stale" and alive:
        _scrub(engine, (id, session, address, manifest, state, created_at), scope, alive)
        return
    if state == "stopped" and created_at >= engine.abandoned():
        # Whoever is writing it may write on for a moment: the row stays until that one has cleared up, or was killed.
        cold_files.remove(engine, address)
        return
    with engine.store.write() as tx:
        tx.run("set_archive_state", {"id": id, "state": "gone"})
    cold_files.remove(engine, address)
    with engine.store.write() as tx:
        tx.run("drop_archive", {"id": id})


def _scrub(engine: Engine, row: Row, scope: int, alive: set[str]) -> None:
    """Write a file anew without what was erased, and let go of the old one."""
    id, session, old, _, _, created_at = row
    made = cold_files.without(engine, row, alive)
    address = cold_files.renamed(old, ledger.new_id(engine.now()))
    with engine.store.write() as tx:  # the new file is known before it is there, as every other
        waiting = f"{id}/{ledger.new_id(engine.now())}"
        tx.run("add_archive", (waiting, scope, None, address, "{}", "writing", engine.now()))
    cold_files.store(engine, address, made)
    with engine.store.write() as tx:
        now = tx.rows("archive_row", {"id": id, "scope": scope})
        still = {each[0] for each in tx.rows("cold_of_archive", {"archive": id})}
        mine = tx.rows("archive_row", {"id": waiting, "scope": scope})
        stopped = not mine or mine[0][4] != "writing"  # by an erasure meanwhile, and the new file may be deleted
        if stopped or not now or now[0][2] != old or now[0][4] != "stale" or still != alive:
            tx.run("set_archive_state", {"id": waiting, "state": "gone"})
            return
        tx.run("set_archive", {"id": waiting, "session": None, "address": old, "manifest": "{}", "state": "gone"})
        tx.run(
            "set_archive",
            {"id": id, "session": session, "address": address, "manifest": made.manifest, "state": "kept"},
        )
    _settle_one(engine, waiting, scope, None, old, "{}", "gone", created_at)
