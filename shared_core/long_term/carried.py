"""The archive's files, taken along when their database is copied, backed up or restored.

Only what lies in the folder beside the database: files at an address of `settings.archive.address` stay where
they are, and the copy knows them there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from shared_core.errors import ArchiveUnreachable, InvalidInput
from shared_core.long_term import cold_files
from shared_core.moving import places
from shared_core.ports import Transaction
from shared_core.store import sealing
from shared_core.store.rows import dump, load


@contextmanager
def along(tx: Transaction, source: str, target: str, *, encrypted: bool) -> Iterator[set[str]]:
    """Copy what the database of `tx` has in its archive from beside `source` to beside `target`; their paths there.

    `tx` writes into the copy: where that is `encrypted` and a file is not, it is sealed on its way. A copy on a
    server has no folder beside it, so `InvalidInput` then. If the block fails, the files that were not there
    before are taken away again. Raises `ArchiveUnreachable` for a file that is not there, or holds what was erased
    (`Engine.settle` mends it), `StoreDamaged` for one that is damaged.
    """
    rows = [row for row in tx.rows("every_archive") if cold_files.is_beside(row[2])]
    if rows and "://" in target:
        raise InvalidInput(
            f"{len(rows)} archives lie in a folder beside {source}, and a server has none; bring them back first "
            "(scope.archive.restore), or open the memory with settings.archive.address and archive them there"
        )
    made: list[str] = []
    kept: set[str] = set()
    try:
        for row in rows:
            where = cold_files.beside(target, row[2])
            if not os.path.exists(where):
                made.append(where)
            _copied(tx, row, cold_files.beside(source, row[2]), where, encrypted=encrypted)
            kept |= {where, cold_files.manifest_of(where)}
        yield kept
    except BaseException:
        for where in made:
            with suppress(ArchiveUnreachable):
                cold_files.discard(where)
        raise


def _copied(tx: Transaction, row: cold_files.Row, source: str, target: str, *, encrypted: bool) -> None:
    if row[4] != "kept":
        raise ArchiveUnreachable(f"{source} has still to be mended: something of it was erased")
    about = load(row[3])
    data = places.read(source, about.get("checksum", ""))
    if encrypted and not sealing.is_sealed(data):
        data = cold_files.sealed_with(tx, data)
        about |= {"sealed": True, "bytes": len(data), "checksum": places.digest(data)}
        tx.run(
            "set_archive",
            {"id": row[0], "session": row[1], "address": row[2], "manifest": dump(about), "state": row[4]},
        )
    cold_files.put(target, data, about)


def sweep(target: str, kept: set[str]) -> None:
    """Delete what an earlier copy left beside `target`: nothing names it any more."""
    for folder, _, names in os.walk(cold_files.folder_of(target)):
        for name in names:
            if cold_files.is_ours(name) and os.path.join(folder, name) not in kept:
                places.delete(os.path.join(folder, name))
