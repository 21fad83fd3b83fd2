"""After an erasure: caches, archive files, then the bytes; and the proof that nothing is left (E3).

`secure_delete` overwrites what SQLite frees, but not what it moved before: of 3,000 texts in ordinary tables up to
eleven were still in the file. So the file is rewritten (VACUUM) and its log emptied, which costs as
much as the whole file is long; `settings.erasure` says when. That it is due stands in the database itself, written in
the transaction of the erasure, so whoever closes the file next does it, also after a crash.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from shared_core import memo
from shared_core.errors import InvalidInput, InvalidType, StoreError
from shared_core.ports import Transaction
from shared_core.store import checking, scopes, tombstones
from shared_core.store.rows import draft, micros
from shared_core.values import Problem, Receipt, Verified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared_core.engine import Engine

_LOG = logging.getLogger("twinmem.erasing")


def finish(engine: Engine, receipt: Receipt, user: str, *agents: str, whole: bool = False) -> Receipt:
    """Do what follows an erasure once it is committed, and say in the receipt of whom it was, and what is left to do.

    `whole`: everything of a scope or a user went. Raises `ArchiveUnreachable` where a file could not be
    mended; the rows are gone even so.
    """
    engine.model.forget()
    memo.forget()
    try:
        engine.indexes.settle()
    except StoreError as error:  # the next search of the scope, or the next erasure, takes it out
        _LOG.warning("vectors outside of the database still hold what was erased: %s", error)
    engine.settle()
    pending = bool(receipt.count or receipt.erased) and not swept(engine, receipt.count, whole=whole)
    return receipt.model_copy(update={"user": user, "agents": agents, "pending": pending})


def swept(engine: Engine, records: int, *, whole: bool = False) -> bool:
    """Rewrite the file if that is due by now; whether nothing of what was erased is left in it."""
    if due(engine) is None:
        return True
    settings = engine.settings.erasure
    engine.unswept += records
    now = settings.when == "now" or engine.unswept >= settings.batch
    return (now or (whole and _size(engine) <= settings.small_bytes)) and _tried(engine)


def _size(engine: Engine) -> int:
    return int(getattr(engine.store, "size", 0))


def due(engine: Engine) -> str | None:
    """The mark of erasures whose bytes may be left in the file; None if there are none, in memory, and on a server."""
    if not _size(engine):
        return None
    with engine.store.look() as tx:
        rows = tx.rows("get_meta", {"key": "erased"})
    return str(rows[0][0]) if rows else None


def sweep(engine: Engine) -> bool:
    """Rewrite the file without what was erased; False if readers or writers are in its way for too long."""
    mark = due(engine)
    if not engine.store.compact(engine.settings.erasure.wait):
        return False
    engine.unswept = 0
    if mark is not None:
        with engine.store.write() as tx:  # an erasure since then has set another mark
            tx.run("clear_mark", {"mark": mark})
    return True


def _tried(engine: Engine) -> bool:
    try:
        return sweep(engine)
    except StoreError as error:
        _LOG.warning("the file still holds bytes of what was erased, and will be rewritten later: %s", error)
        return False


def at_close(engine: Engine) -> None:
    """Finish what is due, if it can be; else the next one who closes the file does."""
    with suppress(StoreError):
        if due(engine) is not None:
            _tried(engine)


# ---------------------------------------------------------------------- the proof


def verify(engine: Engine, receipt: Receipt) -> Verified:
    """Look whether an erasure holds: in rows, what belonged to them, tombstones, archive files, and the file's bytes."""
    if not isinstance(receipt, Receipt):
        raise InvalidType(f"verify takes the Receipt of a deletion, not a {type(receipt).__name__}")
    if not receipt.user and (receipt.ids or receipt.tombstones):
        raise InvalidInput("this receipt does not say of whom it is; verify the one that a verb has returned")
    engine.settle(quiet=True)
    with engine.store.read() as tx:
        problems = list(_left(engine, tx, receipt))
        unsettled = bool(tx.rows("unsettled_archives", {"before": engine.now()}))
    return Verified(records=receipt.count, problems=tuple(problems), pending=unsettled or due(engine) is not None)


def _left(engine: Engine, tx: Transaction, receipt: Receipt) -> Iterator[Problem]:
    at = micros(receipt.at)
    known = [tombstones.forgotten(tx, receipt.user, agent) for agent in receipt.agents if receipt.tombstones]
    again: set[bytes] = set()  # told anew since, by somebody who meant to
    for agent in receipt.agents:
        scope = scopes.scope_id(tx, receipt.user, agent)
        if scope is None:
            continue
        known.append(scope)
        again |= _told(tx, scope) if receipt.tombstones else set()
        for id in receipt.ids:
            for row in tx.rows("seq_by_id", (scope, id)):
                if (draft(tx.rows("raw_record", {"seq": row[0]})[0]).created_at or 0) <= at:
                    yield Problem(what="an erased record is there", where=f"record {id}", fixable=False)
        yield from _in_archives(engine, tx, scope, set(receipt.ids), at)
    for name, statement in (("a vector without a record", "orphan_vectors"), ("a link to nothing", "orphan_links")):
        for row in tx.rows(statement):
            yield Problem(what=name, where=f"row {row[0]}", fixable=True)
    yield from checking.problems(tx)
    for hashed in receipt.tombstones:
        hash = bytes.fromhex(hashed)
        if hash not in again and not any(tx.rows("has_tombstone", (scope, hash)) for scope in known):
            yield Problem(what="a tombstone is missing", where=f"hash {hashed[:16]}", fixable=False)


def _told(tx: Transaction, scope: int) -> set[bytes]:
    key = tombstones.secret(tx)
    live = {
        tombstones.tombstone(key, draft(tx.rows("raw_record", {"seq": row[0]})[0]))
        for row in tx.rows("scope_seqs", {"scope": scope})
    }
    return live | {row[0][: tombstones.HASH] for row in tx.rows("cold_hashes", {"scope": scope})}


def _in_archives(engine: Engine, tx: Transaction, scope: int, ids: set[str], at: int) -> Iterator[Problem]:
    from shared_core.long_term import cold_files

    for row in tx.rows("scope_archives", {"scope": scope}):
        if row[5] > at:  # made since, of what was told since
            continue
        for line in cold_files.raw(engine, row):
            if line.kind == "record" and line.value["id"] in ids:
                yield Problem(what="an erased record is in the archive", where=f"archive {row[0]}", fixable=False)
