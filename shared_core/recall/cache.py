"""The indexes of the scopes in use: built when first needed, current by revision, dropped under a limit."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from shared_core.ports import Store, Transaction, VectorIndex
from shared_core.recall.heat import Heat
from shared_core.recall.index import ScopeIndex
from shared_core.recall.outer import caught_up, collection_of, prefix_of, vector_index
from shared_core.recall.where import Where
from shared_core.settings import Settings
from shared_core.store.listing import RowView

Key = tuple[int, int | None]  # a scope and the number of an embedder


class _Entry:
    """An index under the lock that whoever uses it holds."""

    __slots__ = ("index", "lock")

    def __init__(self, index: ScopeIndex) -> None:
        self.lock = threading.RLock()
        self.index = index


class IndexCache:
    """Scope indexes by scope and embedder, the least used leaving first (D9).

    An index is used under its own lock, together with the read transaction it was brought up to
    date with: so a search sees one state of the rows from its first step to its last.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._outside: VectorIndex | None = None
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._entries: dict[Key, _Entry] = {}
        self._sizes: dict[Key, int] = {}
        self._heat: Heat[Key] = Heat()

    @contextmanager
    def opened(
        self, scope: int, embedder: int | None, dimensions: int | None, where: Where | None = None
    ) -> Iterator[tuple[Transaction, ScopeIndex]]:
        """A scope's index, current, with the transaction that made it so."""
        if self._pid != os.getpid():
            self._reset()  # a fork: the parent's locks and OpenMP threads are not ours
        key = (scope, embedder)
        with self._held(key, dimensions) as entry:
            with self._store.read() as tx:
                self._refresh(tx, key, entry, dimensions)
                if where is not None:
                    self._load_fields(tx, scope, entry.index, where)
                if entry.index.outer is not None:
                    entry.index.outer.reading = tx
                yield tx, entry.index
            self._weigh(key, entry.index)

    @contextmanager
    def _held(self, key: Key, dimensions: int | None) -> Iterator[_Entry]:
        """The entry of a key, for its holder alone."""
        while True:
            with self._lock:
                if key not in self._entries:
                    self._entries[key] = _Entry(ScopeIndex(dimensions, self._settings.recall))
                entry = self._entries[key]
                self._heat.touch(key)
            with entry.lock:
                # Dropped while we waited: another may have made a new one, and two would be in use at once.
                if self._entries.get(key) is entry:
                    yield entry
                    return

    def _refresh(self, tx: Transaction, key: Key, entry: _Entry, dimensions: int | None) -> None:
        scope, embedder = key
        rows = tx.rows("scope_horizon", {"scope": scope})
        revision, horizon = rows[0] if rows else (0, 0)
        if entry.index.revision == revision:
            return
        outside = self._is_outside(tx, key, entry.index)
        if 0 <= entry.index.revision < horizon or outside is not (entry.index.outer is not None):
            entry.index = ScopeIndex(dimensions, self._settings.recall)
        index = entry.index
        try:
            if outside and embedder is not None and dimensions is not None:
                self._reach_outside(tx, scope, embedder, dimensions, index, revision, horizon)
            since = {"scope": scope, "revision": index.revision, "embedder": -1 if embedder is None else embedder}
            erased = [row[0] for row in tx.rows("erased_since", since)] if index.revision >= 0 else []
            index.apply(tx.each("changed_outside" if outside else "changed", since), erased, revision)
        except BaseException:
            # Half taken in: what is in memory can't be trusted, what is in the database can.
            self.drop(scope)
            raise

    # ------------------------------------------------------------------ vectors outside of the process

    def _is_outside(self, tx: Transaction, key: Key, index: ScopeIndex) -> bool:
        settings = self._settings.recall
        if settings.dense == "faiss" or key[1] is None:
            return False
        if index.size:  # one that shrinks stays outside for a while, so that it does not go to and fro
            return len(index) > settings.exact_limit // (2 if index.outer is not None else 1)
        return bool(tx.rows("more_than", {"scope": key[0], "number": settings.exact_limit})[0][0])

    def _reach_outside(
        self,
        tx: Transaction,
        scope: int,
        embedder: int,
        dimensions: int,
        index: ScopeIndex,
        revision: int,
        horizon: int,
    ) -> None:
        vectors, collection = self.outside(), collection_of(tx, self._store.address, scope, embedder)
        if index.outer is None:
            index.search_outside(vectors, collection, embedder)
        self._catch_up(tx, collection, scope, embedder, dimensions, revision, horizon)

    def outside(self) -> VectorIndex:
        """The index outside of the process that the settings name, connected when it is first needed."""
        with self._lock:
            if self._outside is None:
                self._outside = vector_index(self._store, self._settings.recall)
            return self._outside

    def settle(self) -> None:
        """Take out of what lies outside whatever has been erased; a scope that is not in memory is brought up to date too."""
        if self._settings.recall.dense == "faiss":
            return
        outside = self.outside()
        with self._store.look() as tx:
            names = outside.collections(prefix_of(tx, self._store.address))
            sizes = {row[0]: row[2] for row in tx.rows("embedders")}
        for name in names:
            scope, embedder = map(int, name.rsplit("-", 2)[-2:])
            with self._store.read() as tx:
                rows = tx.rows("scope_horizon", {"scope": scope})
                least = {"scope": scope, "number": self._settings.recall.exact_limit // 2}
                if not rows or embedder not in sizes or not tx.rows("more_than", least)[0][0]:
                    outside.drop(name)
                    continue
                self._catch_up(tx, name, scope, embedder, sizes[embedder], *rows[0])

    def _catch_up(
        self, tx: Transaction, collection: str, scope: int, embedder: int, dimensions: int, revision: int, horizon: int
    ) -> None:
        def newest() -> int:
            with self._store.look() as now:
                rows = now.rows("scope_horizon", {"scope": scope})
            return rows[0][0] if rows else 0

        caught_up(tx, self.outside(), collection, scope, embedder, dimensions, revision, horizon, newest)

    def close(self) -> None:
        """Forget all, and let go of what lies outside."""
        self.drop()
        outside, self._outside = self._outside, None
        if outside is not None:
            outside.close()

    def _load_fields(self, tx: Transaction, scope: int, index: ScopeIndex, where: Where) -> None:
        fields = index.fields
        if not fields.missing(where) and fields.revision == index.revision:
            return
        changed = tx.each("changed_records", {"scope": scope, "revision": fields.revision})
        slots = index.slot_of
        fields.load(((slots[row[0]], RowView(row)) for row in changed if row[0] in slots), index.revision)

    def _weigh(self, key: Key, index: ScopeIndex) -> None:
        with self._lock:
            if key not in self._entries:
                return  # dropped while it was in use
            self._sizes[key] = index.nbytes
            total = sum(self._sizes.values())
            while total > self._settings.cache.bytes:
                coldest = self._heat.coldest(self._sizes, but=key)
                if coldest is None:
                    break
                total -= self._sizes.pop(coldest)
                self._entries.pop(coldest, None)
                self._heat.evict(coldest)

    def held(self) -> dict[int, tuple[int, int]]:
        """The scopes in memory: the bytes and uses of each, under whatever embedder."""
        found: dict[int, tuple[int, int]] = {}
        with self._lock:
            for key, size in self._sizes.items():
                bytes_, uses = found.get(key[0], (0, 0))
                found[key[0]] = (bytes_ + size, uses + self._heat.uses(key))
        return found

    @property
    def evicted(self) -> int:
        """How many indexes have left for want of room."""
        return self._heat.evicted

    def drop(self, scope: int | None = None) -> None:
        """Forget a scope's indexes, or all of them; they are built anew when asked for."""
        with self._lock:
            gone = [k for k in self._entries if scope is None or k[0] == scope]
            for key in gone:
                del self._entries[key]
                self._sizes.pop(key, None)
            self._heat.forget(gone)

    def __len__(self) -> int:
        return len(self._entries)
