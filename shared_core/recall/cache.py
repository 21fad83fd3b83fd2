"""The indexes of the scopes in use: built when first needed, current by revision, dropped under a limit."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from shared_core.ports import Store, Transaction
from shared_core.recall.index import ScopeIndex
from shared_core.recall.where import Where
from shared_core.settings import Settings
from shared_core.store.rows import record

Key = tuple[int, int | None]  # a scope and the number of an embedder


class _Entry:
    """An index under the lock that whoever uses it holds."""

    __slots__ = ("index", "lock")

    def __init__(self, index: ScopeIndex) -> None:
        self.lock = threading.RLock()
        self.index = index


class IndexCache:
    """Scope indexes by scope and embedder, the least recently used leaving first.

    An index is used under its own lock, together with the read transaction it was brought up to
    date with: so a search sees one state of the rows from its first step to its last.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._sizes: dict[Key, int] = {}

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
                self._entries.move_to_end(key)
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
        if 0 <= entry.index.revision < horizon:
            entry.index = ScopeIndex(dimensions, self._settings.recall)
        index = entry.index
        try:
            since = {"scope": scope, "revision": index.revision, "embedder": -1 if embedder is None else embedder}
            erased = [row[0] for row in tx.rows("erased_since", since)] if index.revision >= 0 else []
            index.apply(tx.each("changed", since), erased, revision)
        except BaseException:
            # Half taken in: what is in memory can't be trusted, what is in the database can.
            self.drop(scope)
            raise

    def _load_fields(self, tx: Transaction, scope: int, index: ScopeIndex, where: Where) -> None:
        fields = index.fields
        if not fields.missing(where) and fields.revision == index.revision:
            return
        changed = tx.each("changed_records", {"scope": scope, "revision": fields.revision})
        slots = index.slot_of
        fields.load(((slots[row[0]], record(row)) for row in changed if row[0] in slots), index.revision)

    def _weigh(self, key: Key, index: ScopeIndex) -> None:
        with self._lock:
            if key not in self._entries:
                return  # dropped while it was in use
            self._sizes[key] = index.nbytes
            while sum(self._sizes.values()) > self._settings.cache.bytes and len(self._entries) > 1:
                oldest = next(iter(self._entries))
                if oldest == key:
                    break
                del self._entries[oldest]
                self._sizes.pop(oldest, None)

    def drop(self, scope: int | None = None) -> None:
        """Forget a scope's indexes, or all of them; they are built anew when asked for."""
        with self._lock:
            for key in [k for k in self._entries if scope is None or k[0] == scope]:
                del self._entries[key]
                self._sizes.pop(key, None)

    def __len__(self) -> int:
        return len(self._entries)
