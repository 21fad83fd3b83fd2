"""Room for events: past their number the least important leave for the archive (B3).

In two steps, so that nothing is lost between them: in the transaction that goes past the number they
are marked as archived; afterwards, many together, they move into a file of the archive.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shared_core.errors import ArchiveUnreachable, StoreError
from shared_core.ports import Transaction
from shared_core.store import scopes

if TYPE_CHECKING:
    from shared_core.scope import Scope

_LOG = logging.getLogger("twinmem.episodes")


def make_room(tx: Transaction, scope: int, most: int, now: int) -> list[int]:
    """Let events past `most` leave: the least important first, of equals the older one, a pinned one never.

    Their seqs. They are archived: neither recalled nor in a timeline, and not lost.
    """
    over = int(tx.rows("count_events", {"scope": scope})[0][0]) - most
    if over <= 0:
        return []
    leaving = [int(row[0]) for row in tx.rows("least_events", {"scope": scope, "limit": over})]
    revision = scopes.bump(tx, scope)
    for seq in leaving:
        tx.run("archive_event", {"seq": seq, "now": now, "revision": revision})
    return leaving


def move_out(scope: Scope) -> int:
    """Move the events that left into a file of the archive, once there are enough for one; how many were moved.

    Where the memory has no place for archives, or it can't be reached, they stay in the database,
    archived: `Scope.list(where={"status": "archived"})` shows them.
    """
    engine = scope._live()
    settings = engine.settings.episodes
    with engine.store.look() as tx:
        number = scope._find(tx)
        left = [] if number is None else [row[0] for row in tx.rows("left_events", {"scope": number})]
    if len(left) < max(1, int(settings.most * settings.file_share)):
        return 0
    from shared_core.long_term.archive import put_records

    try:
        if scope.archive.address is None:
            return 0
        moved = put_records(scope, left, why=f"more than {settings.most} events")
    except (ArchiveUnreachable, StoreError):
        _LOG.warning("%d events wait for the archive", len(left), exc_info=True)
        return 0
    return 0 if moved is None else moved.records
