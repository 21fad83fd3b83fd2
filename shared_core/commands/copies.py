"""`twinmem backup`, `twinmem restore` and `twinmem rekey`: copies of a database, and the key that opens it."""

from __future__ import annotations

import os
from pathlib import Path

from shared_core.commands.database import UsageFault, opened
from shared_core.commands.terminal import readable, say, write_json
from shared_core.store.backup import restore as put_back
from shared_core.store.encryption import from_environment, is_plain

NEW_KEY = "TWINMEM_NEW_KEY"
"""Where a new key is taken from: a key on the command line would be in the shell's history."""


def backup(db: Path, to: Path, *, encrypt: bool, as_json: bool) -> None:
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


def restore(source: Path, db: Path, *, force: bool, as_json: bool) -> None:
    """Put a backup in the place of a database, once it is found whole."""
    key = None if is_plain(str(source)) else from_environment(str(source))
    put_back(str(source), os.path.abspath(db), key, replace=force)
    if as_json:
        write_json({"database": readable(str(db)), "backup": readable(str(source)), "bytes": db.stat().st_size})
    else:
        say(f"{db} is now what {source} holds: {db.stat().st_size:,} bytes, checked.")


def rekey(db: Path, *, as_json: bool) -> None:
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
