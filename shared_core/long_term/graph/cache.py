"""The graphs of the scopes in use: built when first needed, current by revision, dropped under a limit."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shared_core.long_term.graph.forgetting import Row
from shared_core.ports import Store, Transaction
from shared_core.recall.heat import Heat
from shared_core.settings import Settings

if TYPE_CHECKING:
    from shared_core.long_term.graph.knowledge import Knowledge


class _Entry:
    """A graph under the lock that whoever uses it holds."""

    __slots__ = ("asked", "knowledge", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.knowledge: Knowledge | None = None
        self.asked = 0  # the clock at the last use


class GraphCache:
    """Graphs by scope, the least used leaving first (D9). Only committed rows are ever taken in."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._entries: dict[int, _Entry] = {}
        self._heat: Heat[int] = Heat()
        self._missed: set[int] = set()

    @contextmanager
    def opened(self, scope: int, now: int) -> Iterator[Knowledge]:
        """A scope's graph as it is now, for its holder alone."""
        if self._pid != os.getpid():
            self._reset()  # a fork: the parent's locks are not ours
        with self._held(scope) as entry:
            with self._store.read() as tx:
                try:
                    knowledge = self._current(tx, scope, entry, now)
                except BaseException:
                    entry.knowledge = None  # half taken in: the rows know better
                    raise
            yield knowledge
        self._trim(scope)

    def warm(self, scope: int | None, now: int) -> None:
        """Bring a graph that is in memory up to date before a deletion, so that it can count what is `lost`.

        One that is not there is built only if it was missed before: by the second deletion in a row.
        """
        if self._pid == os.getpid() and scope is not None and (scope in self._entries or scope in self._missed):
            self._missed.discard(scope)
            with self.opened(scope, now):
                pass

    def lost(self, tx: Transaction, scope: int, told: Sequence[Row]) -> int | None:
        """How many inferences rest on rows that `tx` is about to delete, and on nothing else.

        Looks at the graph in memory if it is what the transaction sees, and nobody uses it; else
        None, and it has to be counted out of the rows. It never waits: whoever holds the graph may be
        waiting for this very transaction. Nothing is taken in, since the transaction may yet fail.
        """
        if self._pid != os.getpid():
            return None
        with self._lock:
            entry = self._entries.get(scope)
        if entry is None or not entry.lock.acquire(blocking=False):
            self._missed.add(scope)
            return None
        try:
            rows = tx.rows("graph_horizon", {"scope": scope})
            knowledge = entry.knowledge
            # The write's own revision is one ahead of what was committed before it.
            if knowledge is None or not rows or knowledge.revision != rows[0][0] - 1 or knowledge.closure.full:
                return None
            return knowledge.resting(row[0] for row in told)
        except BaseException:
            entry.knowledge = None
            raise
        finally:
            entry.lock.release()

    @contextmanager
    def _held(self, scope: int) -> Iterator[_Entry]:
        while True:
            with self._lock:
                entry = self._entries.setdefault(scope, _Entry())
                self._heat.touch(scope)
            with entry.lock:
                if self._entries.get(scope) is entry:  # else dropped while we waited
                    yield entry
                    return

    def _current(self, tx: Transaction, scope: int, entry: _Entry, now: int) -> Knowledge:
        rows = tx.rows("graph_horizon", {"scope": scope})
        revision, horizon = rows[0] if rows else (0, 0)
        knowledge = entry.knowledge
        if knowledge is not None and self._usable(tx, scope, entry, now, revision, horizon):
            since = {"scope": scope, "revision": knowledge.revision}
            if knowledge.revision != revision:
                knowledge.drop(row[0] for row in tx.rows("unrelated_since", since))
                knowledge.take(tx.rows("graph_rows_of_changed_records", since))
                knowledge.take(tx.rows("graph_rows", since))
        else:
            knowledge = self._built(tx, scope, now)
        knowledge.expire(now)
        knowledge.revision = revision
        entry.knowledge, entry.asked = knowledge, now
        return knowledge

    def _usable(self, tx: Transaction, scope: int, entry: _Entry, now: int, revision: int, horizon: int) -> bool:
        knowledge = entry.knowledge
        if knowledge is None or knowledge.revision < horizon or knowledge.revision > revision:
            return False
        if now < entry.asked or now >= knowledge.reshapes:
            return False  # a clock that was set back may revive what had expired
        if knowledge.revision == revision:
            return True
        if knowledge.closure.full:
            return False  # which inferences fit the limit depends on the order; from the start it is always the same
        return not tx.rows("graph_shape_changed", {"scope": scope, "revision": knowledge.revision})

    def _built(self, tx: Transaction, scope: int, now: int) -> Knowledge:
        from shared_core.long_term.graph.knowledge import Knowledge  # networkx loads in 50 ms, on first use only

        given = {"scope": scope}
        knowledge = Knowledge(
            tx.rows("graph_aliases", given),
            tx.rows("graph_traits", given),
            [(name, body, confidence) for name, body, confidence in tx.rows("scope_rules", given)],
            now,
            self._settings.graph.inferred,
        )
        knowledge.take(tx.each("graph_rows", {"scope": scope, "revision": -1}))
        return knowledge

    def _trim(self, scope: int) -> None:
        with self._lock:
            while self._size() > self._settings.graph.cached:
                coldest = self._heat.coldest(self._entries, but=scope)
                if coldest is None:
                    break
                del self._entries[coldest]
                self._heat.evict(coldest)

    def held(self) -> dict[int, tuple[int, int]]:
        """The scopes whose graph is in memory: its relations, and how often it was asked for."""
        with self._lock:
            return {
                scope: (len(entry.knowledge), self._heat.uses(scope))
                for scope, entry in self._entries.items()
                if entry.knowledge is not None
            }

    def _size(self) -> int:
        return sum(len(entry.knowledge) for entry in self._entries.values() if entry.knowledge is not None)

    def drop(self, scope: int | None = None) -> None:
        """Forget a scope's graph, or all of them; they are built anew when asked for."""
        with self._lock:
            gone = [key for key in self._entries if scope is None or key == scope]
            for one in gone:
                del self._entries[one]
            self._heat.forget(gone)

    def __len__(self) -> int:
        return len(self._entries)
