"""PostgreSQL as the truth, for many processes and machines that share one memory.

The same statements over the same tables as `sqlite.py` (`sql/dialect.py` respells them), in a schema
of their own. Who writes to a scope locks its row first (`find_scope` in a write transaction takes it
FOR UPDATE), so writers of one scope queue and those of different scopes do not; readers of a
transaction see one snapshot.

Text there can hold no NUL. Rather than keep every text as bytes, which no other tool could read or
sort, the one character is written as two, and so is the one that announces it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from shared_core.errors import (
    InvalidInput,
    MemoryClosed,
    MissingExtra,
    StoreBusy,
    StoreError,
    StoreTooNew,
    StoreUnavailable,
)
from shared_core.store.copying import tables
from shared_core.store.migrating import migrations
from shared_core.store.sql import statements
from shared_core.store.sql.dialect import FUNCTIONS, statement
from shared_core.store.sql.dialect import schema as respelled

_POOL = 16  # connections of one process at most
_WAIT = 30.0  # seconds for a connection
_CHUNK = 2_000  # rows fetched at a time where all would be too many
_LOCKED = " FOR UPDATE"
_LOCKING = {"find_scope", "scopes_of"}
_BESIDE = {"dense": ["vector", "scope"], "dense_reached": ["scope", "revision"]}  # what `pgvector` makes
_MIGRATING = 0x7477696E  # the advisory lock of whoever makes or changes the schema


class Address:
    """A PostgreSQL URL; `schema` in its query is ours, everything else is libpq's."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.schema = query.pop("schema", "twinmem")
        if not self.schema.replace("_", "").isalnum() or not self.schema.isascii() or len(self.schema) > 60:
            raise InvalidInput(f"schema is a plain name of letters, digits and underscores, not {self.schema!r}")
        self.user = query.pop("user_id", None)
        self.conninfo = urlunsplit(parts._replace(query=urlencode(query)))
        host = parts.hostname or query.get("host", "")
        self.shown = f"postgresql://{host}{parts.path or '/'}?schema={self.schema}"  # without a password

    def __repr__(self) -> str:
        return self.shown


class PostgresTransaction:
    """Named statements on one connection."""

    __slots__ = ("_connection", "_open", "_sql")

    def __init__(self, connection: Any, sql: Mapping[str, str], *, is_open: bool) -> None:
        self._connection, self._sql, self._open = connection, sql, is_open

    def _run(self, name: str, parameters: Mapping[str, Any] | Sequence[Any]) -> Any:
        sql = self._sql[name]
        return self._connection.execute(sql, _bound(sql, parameters))

    def rows(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._run(statement, parameters)
        return cursor.fetchall() if cursor.description is not None else []

    def each(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        if not self._open:  # a cursor on the server needs a transaction
            yield from self.rows(statement, parameters)
            return
        sql = self._sql[statement]
        with self._connection.cursor(name=f"each_{os.urandom(4).hex()}", binary=True) as cursor:
            cursor.itersize = _CHUNK
            cursor.execute(sql, _bound(sql, parameters))
            yield from cursor

    def run(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> int:
        return int(self._run(statement, parameters).rowcount)

    def many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        sql = self._sql[statement]
        with self._connection.cursor() as cursor:
            cursor.executemany(sql, [_bound(sql, each) for each in parameters])


def _bound(sql: str, parameters: Mapping[str, Any] | Sequence[Any]) -> Any:
    """Parameters as the statement names them; numbered ones (`?1`) become names."""
    if "%(p1)s" in sql and not isinstance(parameters, Mapping):
        return {f"p{place}": value for place, value in enumerate(parameters, 1)}
    return parameters


@cache
def _postgres_statements() -> dict[str, str]:
    return {name: statement(text) for name, text in statements("sqlite").items()} | statements("postgres")


@cache
def _locking_statements() -> dict[str, str]:
    found = _postgres_statements()
    return found | {name: found[name] + _LOCKED for name in _LOCKING}


class PostgresStore:
    """One schema of a PostgreSQL database, from version 14, used by any number of processes and machines.

    `busy_timeout` is how long a writer waits for another writer of the same scope, in seconds.
    """

    cipher = None

    def __init__(self, address: str, *, busy_timeout: float = 30.0, durability: str = "process") -> None:
        self._at = Address(address)
        self.address = self._at.shown
        self._timeout = busy_timeout
        self._driver = driver()
        self._closed = False
        self._lock = threading.Lock()
        self._pool: Any = None
        self._pid = os.getpid()
        self._here = threading.local()  # how many connections this thread holds
        self._migrate()

    # ------------------------------------------------------------------ connections

    def _connections(self) -> Any:
        """The pool of this process; a fork opens its own, since a connection belongs to one process."""
        with self._lock if self._pid == os.getpid() else threading.Lock():
            if self._closed:
                raise MemoryClosed
            if self._pid != os.getpid():
                self._lock, self._pool, self._pid = threading.Lock(), None, os.getpid()
            if self._pool is None:
                self._pool = self._driver.pool.ConnectionPool(
                    self._at.conninfo,
                    min_size=0,
                    max_size=_POOL,
                    timeout=min(_WAIT, max(self._timeout, 1.0)),
                    kwargs={"autocommit": True, "prepare_threshold": 2},
                    configure=self._configure,
                    open=True,
                    name="twinmem",
                )
            return self._pool

    def _configure(self, connection: Any) -> None:
        self._driver.adapt(connection)
        connection.execute(f'SET search_path TO "{self._at.schema}"')
        connection.execute(f"SET lock_timeout TO {max(1, int(self._timeout * 1000)):d}")
        if self._at.user is not None:  # what row-level security compares
            connection.execute("SELECT set_config('twinmem.user', %s, false)", (self._at.user,))

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        pool = self._connections()
        self._here.depth = self._here.__dict__.get("depth", 0) + 1
        try:
            with pool.connection() as connection:
                yield connection
        except self._driver.psycopg.Error as error:
            failed = self._translated(error)
            if isinstance(failed, StoreUnavailable) and not self._closed:
                pool.check()  # those that lie idle are as dead; the next call opens anew
            raise failed from error
        finally:
            self._here.depth -= 1

    @property
    def held(self) -> bool:
        """Whether this thread is inside a transaction: then it must not wait for another writer."""
        return bool(self._here.__dict__.get("depth", 0))

    def _translated(self, error: Exception) -> StoreError:
        """The memory's own error for a driver's error; the only place where they are told apart."""
        psycopg, said = self._driver.psycopg, " ".join(str(error).split())
        busy = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)
        if isinstance(error, (*busy, self._driver.pool.TooManyRequests)):
            return StoreBusy(f"{self.address}: another writer holds this scope; try again ({said})")
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            return StoreError(f"{self.address}: this role may not do that ({said})")
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | self._driver.pool.PoolTimeout):
            return StoreUnavailable(
                f"{self.address}: the server can't be reached; nothing was written, try again ({said})"
            )
        return StoreError(f"{self.address}: {said}")

    # ------------------------------------------------------------------ transactions

    @contextmanager
    def read(self) -> Iterator[PostgresTransaction]:
        """A consistent view: what is committed now, whatever is written meanwhile."""
        with self._connection() as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield PostgresTransaction(connection, _postgres_statements(), is_open=True)
            finally:
                if not connection.closed:
                    connection.execute("ROLLBACK")

    @contextmanager
    def look(self) -> Iterator[PostgresTransaction]:
        """Single statements, each its own view."""
        with self._connection() as connection:
            yield PostgresTransaction(connection, _postgres_statements(), is_open=False)

    @contextmanager
    def write(self, *, wait: bool = True) -> Iterator[PostgresTransaction]:
        """One write transaction, committed whole or not at all.

        With `wait=False` it raises `StoreBusy` at once if anybody else is writing the same rows.
        """
        with self._connection() as connection:
            connection.execute("BEGIN")
            try:
                if not wait:
                    connection.execute("SET LOCAL lock_timeout TO 1")
                yield PostgresTransaction(connection, _locking_statements(), is_open=True)
            except BaseException:
                if not connection.closed:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """A connection of the pool, outside of a transaction; for what is said to this server alone."""
        with self._connection() as connection:
            yield connection

    # ------------------------------------------------------------------ life cycle

    def _migrate(self) -> None:
        known = migrations()
        with self._connection() as connection:
            found = connection.execute("SELECT to_regclass(%s)", (f"{self._at.schema}.schema_version",)).fetchone()[0]
            version = 0 if found is None else self._version(connection)
            if version > known[-1][0]:
                raise StoreTooNew(
                    f"{self.address} has schema {version}, this twinmem reads up to {known[-1][0]}; upgrade twinmem"
                )
            if version == known[-1][0]:
                return
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
                connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{self._at.schema}"')
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY, applied_at TIMESTAMPTZ NOT NULL)"
                )
                version = self._version(connection)
                if version == 0:
                    connection.execute(FUNCTIONS)
                for number, _, script in known:
                    if number > version:
                        connection.execute(respelled(script))
                        connection.execute("INSERT INTO schema_version VALUES (%s, now())", (number,))

    @staticmethod
    def _version(connection: Any) -> int:
        return int(connection.execute("SELECT coalesce(max(version), 0) FROM schema_version").fetchone()[0])

    def isolate(self, role: str) -> None:
        """Let a role of the server use this memory, and see in it one user's rows only.

        Which user's is said by the address (`?user_id=alice`), or else is the role's own name. The
        server holds to it (row-level security), whatever statement is sent. Called by the owner of the
        schema, who is not bound by it; needs a role that may neither bypass it nor change who it is about:
        one that only twinmem logs in with, or one named as its user.
        """
        if not role.strip() or '"' in role or "\0" in role:
            raise InvalidInput(f"a role is a plain name, not {role!r}")
        schema = self._at.schema
        with self._connection() as connection, connection.transaction():
            connection.execute(
                f'CREATE OR REPLACE FUNCTION "{schema}".visible_user() RETURNS text STABLE LANGUAGE sql AS '
                "$$ SELECT coalesce(nullif(current_setting('twinmem.user', true), ''), session_user::text) $$"
            )
            connection.execute(f'GRANT USAGE ON SCHEMA "{schema}" TO "{role}"')
            connection.execute(f'GRANT SELECT ON schema_version TO "{role}"')
            connection.execute(f'GRANT USAGE ON ALL SEQUENCES IN SCHEMA "{schema}" TO "{role}"')
            beside = {name: columns for name, columns in _BESIDE.items() if self._has(connection, name)}
            for table, columns in (tables() | beside).items():
                connection.execute(f'GRANT SELECT, INSERT, UPDATE, DELETE ON "{table}" TO "{role}"')
                rule = _visible(table, columns)
                if rule is None:  # about the database, not about a user
                    continue
                connection.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
                connection.execute(f'DROP POLICY IF EXISTS own_rows ON "{table}"')
                connection.execute(f'CREATE POLICY own_rows ON "{table}" USING ({rule}) WITH CHECK ({rule})')

    @staticmethod
    def _has(connection: Any, table: str) -> bool:
        return bool(connection.execute("SELECT to_regclass(%s)", (table,)).fetchone()[0])

    def check(self) -> list[str]:
        """Nothing: the server checks its own pages (data checksums, amcheck), and not through this role."""
        return []

    def compact(self, wait: float | None = None) -> bool:
        """Reclaim what erased rows left, by VACUUM; the pages of a full rewrite would lock everybody out."""
        with self._connection() as connection:
            connection.execute("VACUUM (ANALYZE)")
        return True

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None and self._pid == os.getpid():
            pool.close(timeout=5.0)


def is_made(url: str) -> bool:
    """Whether there is a memory at an address; nothing is made by asking. Raises `StoreUnavailable`, `InvalidInput`."""
    at = Address(url)
    psycopg = driver().psycopg
    try:
        with psycopg.connect(at.conninfo, autocommit=True) as connection:
            return bool(connection.execute("SELECT to_regclass(%s)", (f"{at.schema}.schema_version",)).fetchone()[0])
    except psycopg.Error as error:
        raise StoreUnavailable(f"{at}: the server can't be reached ({' '.join(str(error).split())})") from error


def _visible(table: str, columns: Sequence[str]) -> str | None:
    """Which rows of a table belong to the user that is looked for, as a condition."""
    if table == "scope":
        return '"user" = visible_user()'
    if table == "tombstone":  # those of forgotten users lie under negative numbers, and say nothing of anybody
        return "scope < 0 OR EXISTS (SELECT 1 FROM scope WHERE scope.id = tombstone.scope)"
    if "scope" in columns:
        return f"EXISTS (SELECT 1 FROM scope WHERE scope.id = {table}.scope)"  # noqa: S608
    owner = next((name for name in ("record", "reply") if name in columns), None)
    if table == "vector":
        owner = "id >> 8"
    return None if owner is None else f"EXISTS (SELECT 1 FROM record r WHERE r.seq = {table}.{owner})"  # noqa: S608


class Driver:
    """psycopg and what it is told about our types, loaded when the first server is opened."""

    def __init__(self) -> None:
        try:
            import psycopg
            import psycopg_pool
            from psycopg.types import numeric, string
        except ImportError as error:
            raise MissingExtra("psycopg", "postgres") from error
        self.psycopg, self.pool = psycopg, psycopg_pool

        class Text(string.StrDumperUnknown):
            def dump(self, obj: str) -> Any:
                return super().dump(_escaped(obj) if "\0" in obj or "\1" in obj else obj)

        class Read(string.TextLoader):
            def load(self, data: Any) -> Any:
                text = super().load(data)
                return _unescaped(str(text)) if "\1" in text else text

        class ReadBinary(string.TextBinaryLoader):
            def load(self, data: Any) -> Any:
                text = super().load(data)
                return _unescaped(str(text)) if "\1" in text else text

        class Whole(numeric.Int8Dumper):
            def dump(self, obj: Any) -> Any:
                return super().dump(int(obj))

        self._adapters = (Text, Read, ReadBinary, Whole)

    def adapt(self, connection: Any) -> None:
        """Numbers as 64 bits, whatever their size; texts with their NUL spelled out."""
        text, read, read_binary, whole = self._adapters
        connection.adapters.register_dumper(str, text)
        connection.adapters.register_dumper(int, whole)
        connection.adapters.register_dumper(bool, whole)
        connection.adapters.register_loader("text", read)
        connection.adapters.register_loader("text", read_binary)


driver: Callable[[], Driver] = cache(Driver)


def _escaped(text: str) -> str:
    """
    >>> _unescaped(_escaped("a\\0b\\1c")) == "a\\0b\\1c", "\\0" in _escaped("a\\0b")
    (True, False)
    """
    return text.replace("\1", "\1\1").replace("\0", "\1\2")


def _unescaped(text: str) -> str:
    parts = text.split("\1\1")
    return "\1".join(part.replace("\1\2", "\0") for part in parts)
