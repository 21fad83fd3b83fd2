"""The rows of scopes and sessions, and the revision that tells caches of a write."""

from __future__ import annotations

from collections.abc import Sequence

from shared_core.ports import Transaction
from shared_core.store import tombstones


def scope_id(tx: Transaction, user: str, agent: str) -> int | None:
    """The scope's row, or None where nothing was ever written; reading creates nothing."""
    rows = tx.rows("find_scope", {"user": user, "agent": agent})
    return rows[0][0] if rows else None


def ensure_scope(tx: Transaction, user: str, agent: str, now: int) -> int:
    """The scope's row, made on the first write."""
    found = scope_id(tx, user, agent)
    if found is None:
        tx.run("add_scope", {"user": user, "agent": agent, "now": now})
        found = scope_id(tx, user, agent)
        assert found is not None
        if tx.rows("any_tombstone", {"scope": tombstones.forgotten(tx, user, agent)}):  # who was forgotten is back
            tombstones.move(tx, tombstones.forgotten(tx, user, agent), found)
    return found


def ensure_session(tx: Transaction, scope: int, name: str, now: int) -> int:
    """The session's row, made on its first message, open again if it had ended."""
    key = {"scope": scope, "name": name}
    rows = tx.rows("find_session", key)
    if not rows:
        tx.run("add_session", {**key, "now": now})
        rows = tx.rows("find_session", key)
    elif rows[0][3] is not None:
        tx.run("reopen_session", {"session": rows[0][0]})
    return int(rows[0][0])


def bump(tx: Transaction, scope: int) -> int:
    """The revision of this write; caches that hold a lower one read what changed."""
    return int(tx.rows("bump_scope", {"scope": scope, "count": 0})[0][0])


def numbers(tx: Transaction, scope: int, count: int) -> tuple[int, Sequence[int]]:
    """The revision of this write, and the seqs of the records it may add.

    SQLite has one writer at a time and says the next one; a server gives each writer its own.
    """
    given = tx.rows("bump_scope", {"scope": scope, "count": count})
    revision, first = given[0]
    if not count or len(given) > 1:
        return int(revision), [int(row[1]) for row in given[:count]]
    return int(revision), range(first, first + count)
