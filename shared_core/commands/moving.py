"""`twinmem export` and `twinmem archive`: out of the database, into files, and back from cold storage."""

from __future__ import annotations

from pathlib import Path

from shared_core.commands.database import Place, opened, scope_of, session_of
from shared_core.commands.terminal import number, progress, readable, say, table, when, write_json
from shared_core.long_term.archive import Archived


def export(
    db: Place, to: Path, *, user: str | None, agent: str | None, session: str | None, vectors: bool, audit: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Write a scope, or a session's bundle, to a file."""
    with opened(db) as memory, progress("Writing") as done:
        scope = scope_of(memory, db, user, agent)
        if session is None:
            found = scope.export(to, vectors=vectors, audit=audit, progress=done)
        else:
            found = session_of(scope, session).export(to, vectors=vectors)
        whose = {"user": scope.user, "agent": scope.agent}
    if as_json:
        write_json({"file": readable(found.path), **whose, "bytes": found.bytes, "counts": found.counts})
    else:
        say(f"{to}: {number(found.records, 'record')} of {whose['user']!r}, {found.bytes:,} bytes")


def archive(
    db: Place, session: str | None, *, user: str | None, agent: str | None, restore: str | None, delete: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Move a session away, bring an archive back, erase one, or list them."""
    with opened(db) as memory:
        scope = scope_of(memory, db, user, agent)
        if session is not None:
            _show([scope.archive.session(session)], as_json)
        elif restore is not None:
            back = scope.archive.restore(restore)
            if as_json:
                write_json({"restored": restore, "records": len(back)})
            else:
                say(f"{restore}: {number(len(back), 'record')} back")
        elif delete is not None:
            gone = scope.archive.delete(delete)
            if as_json:
                write_json({"deleted": delete, "records": gone.count})
            else:
                say(f"{delete}: {number(gone.count, 'record')} erased")
        else:
            _show(scope.archive.list(), as_json)


def _show(found: list[Archived], as_json: bool) -> None:
    if as_json:
        for each in found:
            write_json(each.model_dump(mode="json"))
        return
    heads = ("session", "records", "bytes", "since", "id", "why")
    rows = [(each.session or "", each.records, each.bytes, when(each.created_at), each.id, each.why) for each in found]
    say(table(heads, rows) if rows else "nothing is archived")
