"""Relations as rows: told inside whatever transaction is open, so that a record and its edges are one write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared_core.long_term.graph import entities
from shared_core.long_term.graph.names import predicate_key
from shared_core.ports import Transaction
from shared_core.store.rows import dump, load
from shared_core.values import Triple

DIRECT = 0
"""The record of a relation that was told directly."""


def tell(
    tx: Transaction, scope: int, triple: Triple, *, record: int = DIRECT, confidence: float = 1.0,
    attributes: Mapping[str, Any] | None = None, revision: int, now: int,
) -> int:  # fmt: skip
    """Write a relation, and give its row; told again by the same record, in the same spelling, it is the same row.

    The names have passed `names.checked`, `record` is the seq of a record of this scope, `revision`
    that of the write (`scopes.bump`). Told again, the higher confidence counts, and attributes merge.
    """
    subject = entities.ensure(tx, scope, triple.subject, now)
    object_ = entities.ensure(tx, scope, triple.object, now)
    key = predicate_key(triple.predicate)
    known = tx.rows("find_relation", (subject, key, object_, record, triple.subject, triple.object))
    if known:
        row, before, kept = known[0]
        merged = {**(load(kept) or {}), **(attributes or {})}
        tx.run("retell_relation", (max(before, confidence), dump(merged) if merged else None, revision, row))
        return int(row)
    values = (
        scope, subject, key, object_, record, triple.subject, triple.predicate, triple.object, confidence,
        dump(dict(attributes)) if attributes else None, revision, now,
    )  # fmt: skip
    return int(tx.rows("add_relation", values)[0][0])


def describe(
    tx: Transaction, scope: int, name: str, *, type: str | None, attributes: Mapping[str, Any], record: int = DIRECT,
    revision: int, now: int,
) -> None:  # fmt: skip
    """Write what an entity is; told again by the same record it adds to what that told."""
    entity = entities.ensure(tx, scope, name, now)
    known = tx.rows("find_trait", (entity, record))
    before = known[0] if known else (None, None)
    merged = {**(load(before[1]) or {}), **attributes}
    merged = {key: value for key, value in merged.items() if value is not None}
    kept = dump(merged) if merged else None
    tx.run("put_trait", (entity, record, scope, name, before[0] if type is None else type, kept, now))
    reshape(tx, scope, revision)


def reshape(tx: Transaction, scope: int, revision: int) -> None:
    """Say that graphs in memory are to be built anew: names, traits or rules have changed, not only relations."""
    tx.run("raise_graph_horizon", {"scope": scope, "revision": revision})
