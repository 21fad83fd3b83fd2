"""The vectors of a scope that is too big to hold: an index outside proposes, the rows decide.

`Outer` stands where FAISS stands in a `ScopeIndex`, and keeps no vector. What the `VectorIndex`
proposes is read from the rows and scored exactly, so a stale entry can at most propose in vain, and a
record's score is the same whichever index found it. The index is stamped with the revision it has
reached; what has changed since is written to it before a search, and one that is further behind than
the log of erased rows, or ahead of the rows (a backup was put back), is made anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from shared_core.ports import Store, Transaction, VectorIndex
from shared_core.recall.arrays import Floats, NDArray, Slots
from shared_core.recall.dense import best
from shared_core.settings import Recall

if TYPE_CHECKING:
    from shared_core.recall.index import ScopeIndex

_PIECES = 16  # bits of a key that number a record's pieces
_CHUNK = 4_096  # records written at a time
_FEW = 2_000  # rows that pass a filter, up to which all of them are read and compared here
_SELECTIVE = 0.1  # a filter that keeps less than this share is the index's to apply
_SPARE = 1.5  # how many more are asked for than a filter's share makes likely


class Outer:
    """Searches one scope's vectors where they are; a row is a piece, as everywhere."""

    exact = False
    nbytes = 0

    def __init__(
        self, index: ScopeIndex, vectors: VectorIndex, collection: str, embedder: int, dimensions: int
    ) -> None:
        self._index, self._outside, self._collection = index, vectors, collection
        self._embedder, self._dimensions = embedder, dimensions
        self.size = 0
        self.reading: Transaction | None = None  # of whoever uses the index now

    def grow(self, rows: int) -> None:
        """Number rows whose vectors lie outside."""
        self.size += rows

    def add(self, vectors: Floats) -> None:
        self.size += len(vectors)

    def remove(self, row: int) -> None:
        """Nothing: a key of what is gone leads to no row."""

    def keep(self, rows: Slots) -> None:
        self.size = len(rows)

    def search(self, query: Floats, count: int, allowed: NDArray[np.bool_] | None) -> tuple[Slots, Floats]:
        kept = self.size if allowed is None else int(np.count_nonzero(allowed))
        if not kept or count <= 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        if allowed is not None and kept <= max(count, _FEW):
            rows = np.flatnonzero(allowed)
        elif allowed is not None and kept < _SELECTIVE * self.size:
            among = self._keys(np.flatnonzero(allowed))
            rows = self._located(self._outside.search(self._collection, query, count, among))
        else:
            rows = self._proposed(query, count, allowed, kept)
        return best(rows, self.similarities(query, rows), count)

    def _proposed(self, query: Floats, count: int, allowed: NDArray[np.bool_] | None, kept: int) -> Slots:
        wanted = count if allowed is None else int(_SPARE * count * self.size / kept)
        while True:
            keys = self._outside.search(self._collection, query, wanted)
            rows = self._located(keys)
            rows = rows if allowed is None else rows[allowed[rows]]
            if len(rows) >= count or len(keys) < wanted or wanted >= self.size:
                return rows
            wanted *= 4

    def similarities(self, query: Floats, rows: Slots) -> Floats:
        found: Floats = self.vectors(rows) @ query
        return found

    def scores(self, query: Floats) -> Floats:
        parts = [self.similarities(query, part) for part in _parts(self.size)]
        return np.concatenate(parts) if parts else np.empty(0, np.float32)

    def vectors(self, rows: Slots) -> Floats:
        """These rows' vectors out of the database; zeros for what is not there any more."""
        assert self.reading is not None, "an index is used inside its transaction"
        seqs, pieces = self._places(rows)
        ids = (np.unique(seqs) << 8 | self._embedder).tolist()
        held = {
            record: unit(blob, self._dimensions) for record, blob in self.reading.rows("pieces_of", {"ids": str(ids)})
        }
        found = np.zeros((len(rows), self._dimensions), np.float32)
        for place, (seq, piece) in enumerate(zip(seqs.tolist(), pieces.tolist(), strict=True)):
            if seq in held and piece < len(held[seq]):
                found[place] = held[seq][piece]
        return found

    # ------------------------------------------------------------------ keys

    def _places(self, rows: Slots) -> tuple[Slots, Slots]:
        owner = self._index.owner[rows]
        return self._index["seq"][owner], rows - self._index["row"][owner]

    def _keys(self, rows: Slots) -> Slots:
        seqs, pieces = self._places(rows)
        keys: Slots = seqs << _PIECES | pieces
        return keys

    def _located(self, keys: Slots) -> Slots:
        """The rows of keys; one that is not known here (written, or gone, since) leads to none."""
        slot_of, first, count = self._index.slot_of, self._index["row"], self._index["rows"]
        found = []
        for key in np.asarray(keys).tolist():
            slot, piece = slot_of.get(key >> _PIECES), key & ((1 << _PIECES) - 1)
            if slot is not None and piece < count[slot]:
                found.append(int(first[slot]) + piece)
        return np.array(found, np.int64)


def _parts(size: int) -> Iterator[Slots]:
    for start in range(0, size, _CHUNK):
        yield np.arange(start, min(start + _CHUNK, size))


def unit(blob: bytes, dimensions: int) -> Floats:
    """The pieces of a row as unit float32 vectors."""
    vectors = np.frombuffer(blob, np.float16).reshape(-1, dimensions).astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    np.divide(vectors, norms, out=vectors, where=norms > 0)
    return vectors


def caught_up(
    tx: Transaction, vectors: VectorIndex, collection: str, scope: int, embedder: int, dimensions: int,
    revision: int, horizon: int, newest: Callable[[], int],
) -> None:  # fmt: skip
    """Bring a collection to a revision of its scope; `newest` is the scope's revision now, behind `tx` or not."""
    reached = vectors.reached(collection)
    if reached == revision or (reached > revision and reached <= newest()):
        return  # another process has written what we do not see yet
    if reached > revision or reached < horizon:
        vectors.drop(collection)
        reached = -1
    since = {"scope": scope, "revision": reached, "embedder": embedder}
    gone = [int(row[0]) for row in tx.rows("erased_since", since)] if reached >= 0 else []
    if gone:
        vectors.write(collection, gone, *_packed([], dimensions))
    rows = iter(tx.each("changed_vectors", since))
    while chunk := list(islice(rows, _CHUNK)):
        vectors.write(collection, [int(row[0]) for row in chunk] if reached >= 0 else [], *_packed(chunk, dimensions))
    vectors.reach(collection, revision)


def _packed(rows: Iterable[tuple[int, bytes | None]], dimensions: int) -> tuple[Slots, Floats]:
    keys, parts = [], [np.empty((0, dimensions), np.float32)]
    for seq, blob in rows:
        if blob:
            part = unit(blob, dimensions)[: 1 << _PIECES]
            keys += [seq << _PIECES | piece for piece in range(len(part))]
            parts.append(part)
    return np.array(keys, np.int64), np.concatenate(parts)


def collection_of(tx: Transaction, address: str, scope: int, embedder: int) -> str:
    """What a scope's vectors are called outside: the same only for this database at this place.

    A backup that is put back gets another identity, and so does not meet what was written after it was made.
    """
    return f"{prefix_of(tx, address)}-{scope}-{embedder}"


def prefix_of(tx: Transaction, address: str) -> str:
    """What all collections of a memory begin with."""
    rows = tx.rows("get_meta", {"key": "identity"})
    key = f"{rows[0][0] if rows else ''} {address}".encode("utf-8", "surrogatepass")
    return "twinmem-" + hashlib.blake2b(key, digest_size=8).hexdigest()


def vector_index(store: Store, settings: Recall) -> VectorIndex:
    """What `settings.recall.dense` names, over a store. Raises `InvalidInput` where that can't be."""
    if callable(settings.dense):
        made: VectorIndex = settings.dense(store)
        return made
    if settings.dense == "qdrant":
        from shared_core.recall.qdrant import QdrantIndex

        return QdrantIndex(settings.qdrant)
    from shared_core.store.pgvector import PgVector

    return PgVector(store, settings.probes)
