"""Copies of a database that is in use, and the way back from one.

A copy is whole or not there: it is made under another name, checked, flushed, and renamed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from shared_core.errors import InvalidInput, NotFound, StoreDamaged, StoreError
from shared_core.long_term import carried
from shared_core.store.encryption import Cipher, Key, driver
from shared_core.store.sqlite import SqliteStore, translated


def backup(store: SqliteStore, path: str, key: Key | None = None) -> None:
    """Copy what is committed now, with the archive's files; encrypted like the original, or under another `key`.

    Raises `InvalidInput` for the path of the database itself, `StoreError` where nothing can be written,
    `ArchiveUnreachable` if a file of the archive went meanwhile, or is still to be mended: try again then.
    """
    if os.path.realpath(path) == store.address:
        raise InvalidInput(f"{path} is the database itself; give the backup another path")
    with _made(path) as making:
        if key is None:
            store.copy(making)
        else:
            _copy_under(store, making, Cipher(making, key))
        mine = None if store.cipher is None else store.cipher.key
        verify(making, mine if key is None else key)
        kept = _carried(making, mine if key is None else key, store.address, path)
    carried.sweep(path, kept)


def restore(source: str, path: str, key: Key | None = None, *, replace: bool = False) -> None:
    """Put a verified backup in the place of a database.

    Raises `InvalidInput` if there is a file already, unless it may be replaced; `StoreDamaged` or
    `WrongKey`, and nothing is touched, if the backup is not whole. No process may have the old file open.
    """
    if not os.path.isfile(source):
        raise NotFound(f"no backup at {source}")
    if os.path.exists(path) and not replace:
        raise InvalidInput(f"{path} exists; remove it, or say that it may be replaced")
    with _made(path) as making:
        shutil.copyfile(source, making)
        verify(making, key)
        _rename(making, key)
        kept = _carried(making, key, source, path)
        for rest in _BESIDE:  # the log of the old file would be taken for the new one's
            with suppress(FileNotFoundError):
                os.remove(path + rest)
    carried.sweep(path, kept)


_BESIDE = ("-wal", "-shm", "-journal")


@contextmanager
def _made(path: str) -> Iterator[str]:
    making = f"{path}.{os.getpid()}.making"
    try:
        yield making
        with open(making, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(making, path)
        folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise StoreError(f"nothing was written to {path}: {error}") from error
    finally:
        for rest in ("", *_BESIDE):
            with suppress(FileNotFoundError):
                os.remove(making + rest)


def _rename(path: str, key: Key | None) -> None:
    """Give a database another identity: what lies outside of it (vectors in Qdrant) belongs to the one it replaces."""
    store = SqliteStore(path, key=key)
    try:
        with store.write() as tx:
            tx.run("set_meta", {"key": "identity", "value": os.urandom(16).hex()})
    finally:
        store.close()


def _carried(making: str, key: Key | None, source: str, path: str) -> set[str]:
    """Copy the archive's files of a database in the making from beside `source` to beside `path`; their paths."""
    store = SqliteStore(making, key=key)
    try:
        with store.write() as tx, carried.along(tx, source, path, encrypted=store.cipher is not None) as kept:
            return kept
    finally:
        store.close()


def _copy_under(store: SqliteStore, path: str, cipher: Cipher) -> None:
    """Copy everything into a new file under another key, which only SQLCipher can do."""
    connection = driver().connect(store.address, isolation_level=None)
    try:
        cipher.quiet(connection)
        if store.cipher is not None:
            store.cipher.unlock(connection)
        connection.execute(f"ATTACH DATABASE ? AS copy KEY {cipher.pragma}", (path,))
        connection.execute("BEGIN")
        version = connection.execute("PRAGMA main.user_version").fetchone()[0]
        connection.execute("SELECT sqlcipher_export('copy')")
        connection.execute(f"PRAGMA copy.user_version = {int(version):d}")
        connection.execute("COMMIT")
    except driver().Error as error:
        raise translated(error, store.address, encrypted=store.cipher is not None) from error
    finally:
        connection.close()


def verify(path: str, key: Key | None) -> None:
    """Raise `StoreDamaged` or `WrongKey` unless a file is a whole twinmem database that the key opens."""
    if os.path.getsize(path) == 0:
        raise StoreDamaged(f"{path} is empty")
    store = SqliteStore(path, key=key)
    try:
        wrong = store.check()
    finally:
        store.close()
    if wrong:
        raise StoreDamaged(f"{path} is damaged: {wrong[0]}")
