"""The log of what was done to records (`Scope.history`); of an erased one only that it was, under a hashed id."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from shared_core.ports import Transaction
from shared_core.store.rows import dump
from shared_core.store.tombstones import secret


def note(tx: Transaction, scope: int, record: str | None, action: str, now: int, detail: Mapping[str, Any]) -> None:
    """One entry of the audit log."""
    tx.run("add_audit", (scope, record or "", action, dump(dict(detail)) if detail else None, now))


def erased_id(key: bytes, id: str) -> str:
    """What the log calls a record that was erased: whoever knows its id finds the entries, nobody else learns it."""
    return "erased-" + hmac.digest(key, f"audit\x1f{id}".encode("utf-8", "surrogatepass"), "sha256")[:16].hex()


def scrub(tx: Transaction, scope: int, key: bytes, id: str) -> None:
    """Leave of the log of a record what was done and when, and neither what it said nor what it was called."""
    hashed = erased_id(key, id)
    after = tx.rows("last_step", (scope, hashed))[0][0]
    tx.run("scrub_audit", {"scope": scope, "id": id, "hashed": hashed, "after": after})


def of(tx: Transaction, scope: int, id: str) -> list[tuple[Any, ...]]:
    """The entries about a record, and about those that were erased under its id before: action, time, detail."""
    names = [id]
    if tx.rows("any_tombstone", {"scope": scope}):  # the secret is made by then
        names.insert(0, erased_id(secret(tx), id))
    return [row for name in names for row in tx.rows("audit_of", {"scope": scope, "id": name})]
