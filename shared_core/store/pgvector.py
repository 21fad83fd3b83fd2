"""The vectors of big scopes in the memory's own server, through pgvector: nearest neighbours without holding them.

One table beside the schema, of half-precision vectors; each row hangs on its row of `vector` by a foreign
key, so erasing a record takes it along in the same transaction, and row-level security reaches it. A scope
of some size gets an inverted file (IVFFlat) of its own, as a partial index; where the role may not make
one, the server compares exactly.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from shared_core.errors import InvalidInput, StoreError
from shared_core.ports import Store
from shared_core.recall.arrays import Floats, Slots
from shared_core.store.postgres import PostgresStore
from shared_core.store.sql import statements

_PIECES = 16  # bits of a key that number a record's pieces, as `recall.outer` packs them
_PIECE = (1 << _PIECES) - 1
_WORTH = 10_000  # rows from which an inverted file is quicker than comparing all
_OUTGROWN = 2  # an inverted file made for so many times fewer rows is made anew
_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"


class PgVector:
    """A `ports.VectorIndex` in the server of a `PostgresStore`; `probes` inverted lists are visited."""

    def __init__(self, store: Store, probes: int = 32) -> None:
        if not isinstance(store, PostgresStore):
            raise InvalidInput('recall.dense="pgvector" needs a memory on PostgreSQL; a file has "faiss" or "qdrant"')
        self._store, self._probes = store, probes
        self._sql = statements("pgvector")
        self._lock = threading.Lock()
        self._ext = ""
        self._written: dict[str, int] = {}  # rows since its lists were looked at, a collection
        self._dimensions: dict[str, int] = {}

    # ------------------------------------------------------------------ statements

    def _said(self, name: str, collection: str = "0-0", **numbers: int) -> str:
        scope, embedder = map(int, collection.rsplit("-", 2)[-2:])
        return self._sql[name].format(ext=self._ext, scope=scope, embedder=embedder, **numbers)

    def _ready(self) -> str:
        """The schema of the extension, once it and our tables are there."""
        with self._lock:
            if not self._ext:
                with self._store.connected() as connection:
                    if connection.execute(self._sql["where_extension"]).fetchone() is None:
                        connection.execute(self._sql["extension"])
                    self._ext = connection.execute(self._sql["where_extension"]).fetchone()[0]
                    if connection.execute(self._sql["is_made"]).fetchone()[0] is None:
                        connection.execute(self._said("make"))
            return self._ext

    # ------------------------------------------------------------------ the port

    def reached(self, collection: str) -> int:
        self._ready()
        with self._store.connected() as connection:
            found = connection.execute(self._said("reached", collection)).fetchone()
        return -1 if found is None else int(found[0])

    def write(self, collection: str, records: Sequence[int], keys: Slots, vectors: Floats) -> None:
        self._ready()
        embedder = int(collection.rpartition("-")[2])
        with self._store.connected() as connection, connection.transaction():
            if len(records):
                connection.execute(self._sql["take_out"], ([int(record) << 8 | embedder for record in records],))
            if len(keys):
                connection.execute(self._said("fresh"))
                with connection.cursor().copy(self._sql["fill"]) as copy:
                    copy.write(_copied(np.asarray(keys, np.int64), vectors, embedder))
                connection.execute(self._said("settle", collection))
                self._dimensions[collection] = vectors.shape[1]
        self._written[collection] = self._written.get(collection, 0) + len(keys)

    def reach(self, collection: str, revision: int) -> None:
        with self._store.connected() as connection:
            connection.execute(self._said("reach", collection, revision=revision))
        if self._written.get(collection, 0) >= _WORTH:
            self._written[collection] = 0
            with suppress(StoreError):  # it is as right without, only slower
                self._make_lists(collection)

    def _make_lists(self, collection: str) -> None:
        with self._store.connected() as connection, connection.transaction():
            if not connection.execute(self._sql["mine"]).fetchone()[0]:
                return
            count = connection.execute(self._said("count", collection)).fetchone()[0]
            lists = int(4 * count**0.5)
            known = [row[0] for row in connection.execute(self._said("lists", collection))]
            if known and lists * lists <= _OUTGROWN * known[0] ** 2:
                return
            for old in known:
                connection.execute(self._said("drop_lists", collection, lists=old))
            connection.execute("SET LOCAL maintenance_work_mem TO '512MB'")
            connection.execute(
                self._said("make_lists", collection, lists=min(lists, 32_768), dimensions=self._dimensions[collection])
            )

    def search(self, collection: str, query: Floats, count: int, among: Slots | None = None) -> Slots:
        self._ready()
        text = "[" + ",".join(map(repr, np.asarray(query, np.float32).tolist())) + "]"
        with self._store.connected() as connection, connection.transaction():
            if among is not None:
                keys = np.asarray(among, np.int64)
                embedder = int(collection.rpartition("-")[2])
                given = ((keys >> _PIECES << 8 | embedder).tolist(), (keys & _PIECE).tolist(), text)
                rows = connection.execute(self._said("nearest_among", collection, count=count), given).fetchall()
            else:
                connection.execute(f"SET LOCAL ivfflat.probes TO {self._probes:d}")
                said = self._said("nearest", collection, count=count, dimensions=len(query))
                rows = connection.execute(said, (text,)).fetchall()
        return np.array([row[0] for row in rows], np.int64)

    def collections(self, prefix: str) -> list[str]:
        with self._store.connected() as connection:
            if connection.execute(self._sql["is_made"]).fetchone()[0] is None:
                return []
            return [f"{prefix}-{scope}-{embedder}" for scope, embedder in connection.execute(self._sql["collections"])]

    def drop(self, collection: str) -> None:
        self._ready()
        with self._store.connected() as connection, connection.transaction():
            for part in self._said("drop", collection).split(";"):
                if part.strip():
                    connection.execute(part)
            if connection.execute(self._sql["mine"]).fetchone()[0]:
                for row in connection.execute(self._said("lists", collection)).fetchall():
                    connection.execute(self._said("drop_lists", collection, lists=row[0]))

    def close(self) -> None:
        """Nothing: the connections are the store's."""


def _copied(keys: Slots, vectors: Floats, embedder: int) -> bytes:
    """Rows as `COPY ... (FORMAT BINARY)` takes them: big-endian, each field after its length."""
    dimensions = vectors.shape[1]
    row = np.dtype(
        [("fields", ">i2"), ("a", ">i4"), ("vector", ">i8"), ("b", ">i4"), ("piece", ">i8"), ("c", ">i4"),
         ("length", ">i2"), ("unused", ">i2"), ("half", ">f2", (dimensions,))]
    )  # fmt: skip
    rows = np.zeros(len(keys), row)
    rows["fields"], rows["a"], rows["b"], rows["c"] = 3, 8, 8, 4 + 2 * dimensions
    rows["vector"], rows["piece"] = keys >> _PIECES << 8 | embedder, keys & _PIECE
    rows["length"], rows["half"] = dimensions, vectors
    return _COPY_HEAD + rows.tobytes() + _COPY_END
