"""`twinmem backup`, `restore`, `copy`, `rekey` and `isolate`: copies of a database, and who may open it."""

from __future__ import annotations

import os
from pathlib import Path

from shared_core.commands.database import Place, UsageFault, opened
from shared_core.commands.terminal import number, progress, readable, say, write_json
from shared_core.store.backup import restore as put_back
from shared_core.store.encryption import from_environment, is_plain
from shared_core.store.postgres import PostgresStore

NEW_KEY = "TWINMEM_NEW_KEY"
"""Where a new key is taken from: a key on the command line would be in the shell's history."""


def backup(db: Place, to: Path, *, encrypt: bool, as_json: bool) -> None:
    """Copy a database that may be in use; with `encrypt` under the key in `TWINMEM_NEW_KEY`."""
    with opened(db) as memory:
        memory.backup(to, key=_new_key() if encrypt else None)
    size = to.stat().st_size
    if as_json:
        write_json(
            {"database": readable(str(db)), "backup": readable(str(to)), "bytes": size, "encrypted": _sealed(to)}
        )
    else:
        say(f"{to}: {size:,} bytes, {'encrypted' if _sealed(to) else 'not encrypted'}, checked.")


def restore(source: Path, db: Place, *, force: bool, as_json: bool) -> None:
    """Put a backup in the place of a database, once it is found whole."""
    key = None if is_plain(str(source)) else from_environment(str(source))
    path = db.as_file("restore into a file, and bring it there with 'twinmem copy'")
    put_back(str(source), os.path.abspath(path), key, replace=force)
    if as_json:
        write_json({"database": readable(str(db)), "backup": readable(str(source)), "bytes": path.stat().st_size})
    else:
        say(f"{db} is now what {source} holds: {path.stat().st_size:,} bytes, checked.")


def copy(db: Place, to: Place, *, encrypt: bool, as_json: bool) -> None:
    """Copy a whole memory into an empty place of either kind; what arrived is compared before it is committed."""
    tables: dict[str, int] = {}
    with opened(db) as memory, progress("Copying") as done:

        def told(table: str, rows: int) -> None:
            tables[table] = rows
            done(sum(tables.values()))

        counts = memory.copy(to.address, key=_new_key() if encrypt else None, progress=told)
    if as_json:
        write_json({"database": readable(str(db)), "copy": readable(str(to)), "rows": counts})
    else:
        held = f"{number(counts['record'], 'record')}, {number(counts['vector'], 'vector')}"
        say(f"{to} now holds what {db} does: {held}, {number(sum(counts.values()), 'row')} in all, compared.")


def isolate(db: Place, role: str, *, as_json: bool) -> None:
    """Let a role of the server see one user's rows only."""
    if db.file is not None:
        raise UsageFault(f"{db} is a file; roles are a server's: name one with --db postgresql://...")
    with opened(db) as memory:
        store = memory._live().store
        assert isinstance(store, PostgresStore)
        store.isolate(role)
    if as_json:
        write_json({"database": readable(str(db)), "role": readable(role)})
    else:
        say(f"{role} may use {db}, and sees one user's rows: those of ?user_id=NAME in its address, else of {role!r}.")


def rekey(db: Place, *, as_json: bool) -> None:
    """Encrypt a database under the key in `TWINMEM_NEW_KEY` instead of its own."""
    key = _new_key()
    with opened(db) as memory:
        memory.rekey(key)
    if as_json:
        write_json({"database": readable(str(db)), "rekeyed": True})
    else:
        say(f"{db} opens with the new key from now on; set TWINMEM_KEY to it.")


def _new_key() -> str:
    found = os.environ.get(NEW_KEY)
    if not found:
        raise UsageFault(f"set {NEW_KEY} to the new key: on the command line it would stay in the shell's history")
    return found


def _sealed(path: Path) -> bool:
    return not is_plain(str(path))
