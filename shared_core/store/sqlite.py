"""SQLite as the truth: connections, transactions, migrations.

Why a pool and not one connection a thread: threads come and go (worker threads of event loops,
request handlers), and a connection that outlives its thread leaks. A connection here belongs to
whoever is using it.

No connection to a file is open while the process forks. SQLite keeps a table of the locks that its
process holds; a child that inherits it takes them for its own though it holds none, so its parent
may delete the log the child is writing to, and what the child was told is written is lost
("How To Corrupt An SQLite Database File", 2.6). So a fork waits for the transactions that are under
way, and parent and child both open anew.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from shared_core.errors import InvalidInput, MemoryClosed, StoreBusy, StoreDamaged, StoreError, StoreTooNew, WrongKey
from shared_core.store.encryption import Cipher, Key, driver, is_plain
from shared_core.store.migrating import migrations, split
from shared_core.store.sql import statements

_IDLE = 8  # connections kept open between uses
_FORK_PATIENCE = 10.0  # seconds a fork waits for transactions that are under way
_CHECKPOINT = 8_000  # pages (32 MB) in the WAL before they are copied back: a page written often is copied once
_VACUUM_IN_MEMORY = 256_000_000  # bytes up to which a file is rewritten without a temporary one beside it
_BUSY_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED_CODES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def translated(error: Exception, address: str, *, encrypted: bool = False) -> StoreError:
    """The memory's own error for a driver's error; the only place where they are told apart."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _BUSY_CODES:
        return StoreBusy(f"{address}: the database is locked by another process; try again ({error})")
    if encrypted and code == sqlite3.SQLITE_NOTADB:
        if is_plain(address):
            return WrongKey(
                f"{address} is not encrypted: open it without a key, and encrypt it with a backup under one"
            )
        return WrongKey(f"{address}: the key does not open it, or it is no encrypted twinmem database")
    if code == sqlite3.SQLITE_NOTADB:
        return StoreDamaged(f"{address}: not a readable twinmem database, or an encrypted one: then give its key")
    if "decode to UTF-8" in str(error):
        return StoreDamaged(f"{address}: a text in it is damaged ({error}); restore a backup, or see check()")
    if code in _DAMAGED_CODES:
        return StoreDamaged(f"{address}: not a readable twinmem database ({error}); restore a backup or check the path")
    return StoreError(f"{address}: {error}")


class SqliteTransaction:
    """Named statements on one connection."""

    __slots__ = ("_connection", "_sql")

    def __init__(self, connection: sqlite3.Connection, sql: Mapping[str, str]) -> None:
        self._connection = connection
        self._sql = sql

    def rows(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(self._sql[statement], parameters).fetchall()

    def each(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        return self._connection.execute(self._sql[statement], parameters)

    def run(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> int:
        return self._connection.execute(self._sql[statement], parameters).rowcount

    def many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(self._sql[statement], parameters)


class SqliteStore:
    """One SQLite database, in a file or in memory, used by any number of threads.

    `durability`: "process" (WAL, synchronous normal) survives `kill -9`; "power" (synchronous
    full) also survives a power cut, at the cost of one disk flush a write.
    """

    def __init__(
        self, path: str | None, *, busy_timeout: float = 30.0, durability: str = "process", key: Key | None = None
    ) -> None:
        self.address = path or ":memory:"
        # SQLCipher is another build of SQLite with a module of its own, whose errors are no `sqlite3.Error`.
        self.cipher = None if key is None or path is None else Cipher(path, key)
        self._driver: Any = sqlite3 if self.cipher is None else driver()
        self._uri = f"file:/twinmem-{uuid.uuid4().hex}?vfs=memdb" if path is None else None
        self._path = path
        self._timeout = busy_timeout
        self._synchronous = {"process": "NORMAL", "power": "FULL"}[durability]
        self._sql = statements("sqlite")
        self._closed = False
        self._begin_pool()
        # A memdb lives as long as a connection to it does; this one is never lent.
        self._anchor: sqlite3.Connection | None = None
        try:
            first = self._first()
        except self._driver.Error as error:
            raise self._translated(error) from error
        try:
            self._migrate(first)
        except BaseException as error:
            first.close()
            if isinstance(error, self._driver.Error):
                raise self._translated(error) from error
            raise
        if path is None:
            self._anchor = first
        else:
            self._idle.append(first)
        _watch_forks()
        _stores.add(self)

    # ------------------------------------------------------------------ connections

    def _translated(self, error: Exception) -> StoreError:
        return translated(error, self.address, encrypted=self.cipher is not None)

    def _first(self) -> sqlite3.Connection:
        """The first connection; of two processes that make an encrypted file at once, one takes the other's salt."""
        cipher = self.cipher
        if cipher is None or not cipher.fresh:
            return self._connect()
        try:
            connection = self._connect()
            connection.execute("SELECT count(*) FROM sqlite_master")
        except self._driver.DatabaseError:
            cipher.derive()
            return self._connect()
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection: sqlite3.Connection = self._driver.connect(
            self._uri or str(self._path),
            uri=self._uri is not None,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            if self.cipher is not None:
                self.cipher.unlock(connection)
            if self._uri is None:
                self._to_wal(connection)
                connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT}")
            connection.execute(f"PRAGMA synchronous={self._synchronous}")
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.execute("PRAGMA secure_delete=ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _to_wal(self, connection: sqlite3.Connection) -> None:
        # Switching a new file to WAL takes an exclusive lock that ignores the busy timeout, so two
        # processes that create the same file at once have to take turns here.
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except self._driver.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _BUSY_CODES or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _begin_pool(self) -> None:
        self._pid = os.getpid()
        self._writing = threading.Lock()  # writers of one process queue here, fairly and without polling
        self._pool = threading.Condition(threading.Lock())
        self._idle: list[sqlite3.Connection] = []
        self._lent = 0
        self._here = threading.local()  # how many connections this thread holds
        self._forking = False

    def before_fork(self) -> None:
        """Close every connection, as soon as nobody uses one; none is lent until the fork is over."""
        with self._pool:
            self._forking = True
            self._pool.wait_for(lambda: not self._lent, _FORK_PATIENCE)
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def after_fork(self, *, child: bool) -> None:
        """Lend connections again; in the child with locks of its own."""
        if child:
            self._begin_pool()
            return
        with self._pool:
            self._forking = False
            self._pool.notify_all()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._pool:
            self._pool.wait_for(lambda: not self._forking)
            if self._closed:  # a new connection would bring a deleted file back, or an empty memory
                raise MemoryClosed
            connection = self._idle.pop() if self._idle else None
            self._lent += 1
        pid = self._pid
        self._here.depth = self._here.__dict__.get("depth", 0) + 1
        try:
            if connection is None:
                connection = self._connect()
            yield connection
        except self._driver.Error as error:
            raise self._translated(error) from error
        finally:
            self._here.depth -= 1
            if pid == self._pid:
                with self._pool:
                    keep = connection is not None and not self._closed and not self._forking and len(self._idle) < _IDLE
                    if keep and connection is not None:
                        self._idle.append(connection)
                    elif connection is not None:
                        connection.close()
                    self._lent -= 1
                    if self._forking:
                        self._pool.notify_all()

    @property
    def held(self) -> bool:
        """Whether this thread is inside a transaction: then it must not wait for another writer."""
        return bool(self._here.__dict__.get("depth", 0))

    # ------------------------------------------------------------------ transactions

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        """A consistent view: what is committed now, whatever is written meanwhile."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            try:
                yield SqliteTransaction(connection, self._sql)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def look(self) -> Iterator[SqliteTransaction]:
        """Single statements, each its own view: for one look-up a transaction would only cost."""
        with self._connection() as connection:
            yield SqliteTransaction(connection, self._sql)

    @contextmanager
    def _turn(self, wait: bool) -> Iterator[sqlite3.Connection]:
        """A connection of ours alone to write with, as soon as it is this writer's turn."""
        writing = self._writing
        if not writing.acquire(blocking=wait):
            raise StoreBusy(f"{self.address}: another thread is writing")
        try:
            with self._connection() as connection:
                yield connection
        finally:
            writing.release()

    @contextmanager
    def write(self, *, wait: bool = True) -> Iterator[SqliteTransaction]:
        """One write transaction, committed whole or not at all.

        With `wait=False` it raises `StoreBusy` at once if anybody else is writing.
        """
        with self._turn(wait) as connection:
            try:
                if not wait:
                    connection.execute("PRAGMA busy_timeout=0")
                connection.execute("BEGIN IMMEDIATE")
            finally:
                if not wait:
                    connection.execute(f"PRAGMA busy_timeout={int(self._timeout * 1000):d}")
            try:
                yield SqliteTransaction(connection, self._sql)
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            else:
                try:
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise

    # ------------------------------------------------------------------ life cycle

    def _migrate(self, connection: sqlite3.Connection) -> None:
        known = migrations()
        newest = known[-1][0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == newest:
            return
        if version > newest:
            raise StoreTooNew(
                f"{self.address} has schema {version}, this twinmem reads up to {newest}; upgrade twinmem to open it"
            )
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise StoreDamaged(f"{self.address} is a SQLite database of another program; give another path")
            for number, _, script in known:
                if number > version:
                    for statement in split(script):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version={number:d}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def check(self) -> list[str]:
        """What SQLite's own integrity check says, nothing if it is content."""
        with self._connection() as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            if self.cipher is not None:  # every page has a keyed hash
                found += [row[0] for row in connection.execute("PRAGMA cipher_integrity_check")]
        return [] if found == ["ok"] else found

    def reindex(self) -> None:
        """Build every index anew from its table."""
        with self._turn(True) as connection:
            connection.execute("REINDEX")

    def compact(self, wait: float | None = None) -> bool:
        """Rewrite the file without its free pages and empty the WAL; False if somebody blocks it for `wait` seconds."""
        if self._path is None:
            return True
        with self._turn(True) as connection:
            try:
                connection.execute(f"PRAGMA busy_timeout={int((self._timeout if wait is None else wait) * 1000):d}")
                return self._rewrite(connection)
            except self._driver.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY_CODES:
                    return False
                raise
            finally:
                connection.execute(f"PRAGMA busy_timeout={int(self._timeout * 1000):d}")
                connection.execute("PRAGMA temp_store=MEMORY")

    def _rewrite(self, connection: sqlite3.Connection) -> bool:
        # The log first: while a reader keeps it, a rewriting would only make it longer by the whole file.
        if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            return False
        if self.cipher is None and os.path.getsize(str(self._path)) > _VACUUM_IN_MEMORY:
            connection.execute("PRAGMA temp_store=FILE")
        connection.execute("VACUUM")
        return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    @property
    def size(self) -> int:
        """Bytes of the file; 0 in memory."""
        try:
            return 0 if self._path is None else os.path.getsize(self._path)
        except OSError:
            return 0

    def copy(self, path: str) -> None:
        """Write what is committed now into a new file, under the same key, while others read and write."""
        with self._connection() as connection:
            connection.execute("VACUUM INTO ?", (path,))

    def rekey(self, key: Key) -> None:
        """Encrypt the file under another key, in place; a crash leaves it whole under the old one or the new.

        Raises `StoreBusy` while anybody else has the file open, `InvalidInput` for a file that is not encrypted.
        """
        if self.cipher is None or self._path is None:
            raise InvalidInput(f"{self.address} is not encrypted; back it up with a key, and use the copy")
        with self._writing:
            self.before_fork()
            try:
                if self._lent:
                    raise StoreBusy(f"{self.address}: other threads are using it; rekey when they are done")
                cipher = Cipher(self._path, key)
                try:
                    connection = self._connect()
                    try:
                        # The pages as they were are kept in a rollback journal, under the old key, until all are done.
                        connection.execute("PRAGMA journal_mode=DELETE")
                        connection.execute(f"PRAGMA rekey = {cipher.pragma}")
                    finally:
                        connection.close()
                except self._driver.Error as error:
                    raise self._translated(error) from error
                self.cipher = cipher
            finally:
                self.after_fork(child=False)

    def close(self) -> None:
        """Close every connection that is not in use; those in use close when they are returned."""
        with self._pool:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        if self._anchor is not None:
            self._anchor.close()
            self._anchor = None


_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()


@cache
def _watch_forks() -> None:
    """Have every open store told of forks; asked for when the first one is opened, not at import."""

    def each(act: Callable[[SqliteStore], None]) -> None:
        for store in list(_stores):
            act(store)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lambda: each(SqliteStore.before_fork),
            after_in_parent=lambda: each(lambda store: store.after_fork(child=False)),
            after_in_child=lambda: each(lambda store: store.after_fork(child=True)),
        )
