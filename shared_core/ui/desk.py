"""What one run of the page has in hand: the memory, and the deletions that wait to be confirmed.

A deletion is first only noted here, so undoing it is forgetting the note: nothing is half deleted, and if the
page is closed before it was confirmed, nothing is deleted at all.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared_core.errors import InvalidInput, TwinmemError
from shared_core.ui.asking import FIELDS

if TYPE_CHECKING:
    from shared_core.memory import AgentMemory
    from shared_core.scope import Scope
    from shared_core.values import Receipt, Verified

MEMORY, SESSION, ARCHIVE = "memory", "session", "archive"
WHAT = (MEMORY, SESSION, ARCHIVE)
Item = tuple[str, str]  # what it is, and its id


@dataclass
class Desk:
    """The memory that the page shows, and what is about to be deleted from it."""

    memory: AgentMemory
    name: str
    warms: bool = False
    _warm: set[tuple[str, str]] = field(default_factory=set)
    _held: dict[tuple[str, str], dict[Item, str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def warm(self, scope: Scope) -> None:
        """Have the index, the embedder and the columns of all filters ready before the first search asks for them."""
        key = (scope.user, scope.agent)
        with self._lock:
            if not self.warms or key in self._warm:
                return
            self._warm.add(key)
        threading.Thread(target=_warm, args=(scope,), daemon=True).start()

    def hold(self, scope: Scope, what: str, id: str, shown: str) -> None:
        """Note that this is to be deleted; `shown` is what reminds the user of it."""
        if what not in WHAT:
            raise InvalidInput(f"unknown thing to delete {what!r}; known: {', '.join(WHAT)}")
        with self._lock:
            self._held.setdefault((scope.user, scope.agent), {})[what, id] = shown

    def undo(self, scope: Scope, what: str | None = None, id: str | None = None) -> int:
        """Take back one deletion, or all of the scope; how many."""
        key = (scope.user, scope.agent)
        with self._lock:
            if what is None or id is None:
                return len(self._held.pop(key, {}))
            return int(self._held.get(key, {}).pop((what, id), None) is not None)

    def held(self, scope: Scope) -> dict[Item, str]:
        """What waits, in the order in which it was deleted."""
        with self._lock:
            return dict(self._held.get((scope.user, scope.agent), {}))

    def confirm(self, scope: Scope) -> list[tuple[Item, Receipt, Verified]]:
        """Delete what waits, and prove it: for each its receipt, and what was found when it was looked after."""
        done = []
        for item in self.held(scope):
            what, id = item
            if what == MEMORY:
                receipt = scope.delete(id)
            elif what == SESSION:
                receipt = scope.session(id).delete()
            else:
                receipt = scope.archive.delete(id)
            self.undo(scope, what, id)  # done: only what is not done yet stays noted, should the next one fail
            done.append((item, receipt))
        self._sweep([receipt for _, receipt in done])
        return [(item, receipt, self.memory.verify(receipt)) for item, receipt in done]

    def delete_all(self, scope: Scope, *, agents: bool = False) -> tuple[Receipt, Verified]:
        """Delete everything of a scope, or of its user with all agents, and prove it."""
        self.undo(scope)
        receipt = self.memory.forget(scope.user) if agents else scope.delete_all()
        self._sweep([receipt])
        return receipt, self.memory.verify(receipt)

    def _sweep(self, receipts: list[Receipt]) -> None:
        if any(receipt.pending for receipt in receipts):
            self.memory.purge()


def _warm(scope: Scope) -> None:
    # Whatever is wrong is told to whoever searches.
    with scope._engine.uncounted(), suppress(TwinmemError):
        everything = {key: {"$exists": True} for key in FIELDS}
        scope.search("a", k=1, where={"$or": [{name: each} for name, each in everything.items()]})
