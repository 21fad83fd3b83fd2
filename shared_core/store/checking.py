"""Rows that point nowhere: found by `check`, mended by `check(fix=True)`.

What stands in the database is the truth, so a row without what it belongs to says nothing any
more, and goes, as it would have gone with its record. What the rows beside it still tell, an
entity's name for one, is rebuilt from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shared_core.long_term.graph import entities
from shared_core.long_term.graph.names import entity_key
from shared_core.ports import Transaction
from shared_core.values import Problem

Row = tuple[Any, ...]

# What is wrong, the statement that finds it, and the one that takes such a row out.
_LOST = (
    ("an outcome of no record", "lost_outcomes", "delete_outcomes"),
    ("a trace of no record", "lost_traces", "delete_trace"),
    ("recalls of no record", "lost_accesses", "delete_access"),
    ("work on what is not there", "lost_pending", "done_pending"),
    ("a question about no record", "lost_questions", "delete_question"),
    ("a link to no version", "lost_versions", "unlink_lost_versions"),
    ("a relation from no record", "lost_relations", "delete_relation"),
    ("a trait from no record", "lost_traits", "delete_trait"),
)
# After entities were rebuilt from relations and traits: what is left has lost its ends for good.
_ENDLESS = (
    ("an alias of no entity or from no record", "lost_aliases", "delete_alias"),
    ("a split of no entity", "lost_apart", "drop_apart"),
    ("an entity of which nothing is told", "idle_entities", "delete_entity"),
)
_BARE = (
    ("a relation without its entity", "bare_subjects"),
    ("a relation without its entity", "bare_objects"),
    ("a trait without its entity", "bare_traits"),
)
_STRAY = "rows of a scope that is not there"
_PARTS = {
    "relation": "clear_scope_relations", "entity": "clear_scope_entities", "alias": "clear_scope_aliases",
    "trait": "clear_scope_traits", "apart": "clear_scope_apart", "rule": "clear_scope_rules",
    "pending": "clear_scope_pending", "question": "clear_scope_questions", "vault": "clear_scope_vault",
}  # fmt: skip
_WAITING = "a fact that waits for no question"


def problems(tx: Transaction) -> Iterator[Problem]:
    """What points nowhere; `mend` mends all of it."""
    for what, statement, *_ in (*_LOST, *_BARE, *_ENDLESS):
        for row in tx.rows(statement):
            yield _problem(what, row)
    for row in tx.rows("waiting_for_nothing"):
        yield _problem(_WAITING, row)
    for part, scope in tx.rows("stray_rows"):
        yield Problem(what=_STRAY, where=f"{part}, scope {scope}", fixable=True)


def whose(tx: Transaction) -> list[Row]:
    """The rows of which table and index disagree about whose they are: which of them is damaged nobody can tell."""
    table = {row[0]: row[1:] for row in tx.rows("owners_by_table")}
    index = {row[0]: row[1:] for row in tx.rows("owners_by_index")}
    return sorted((seq,) for seq, owner in table.items() if index.get(seq, owner) != owner)


def _problem(what: str, row: Row) -> Problem:
    return Problem(what=what, where=f"row {', '.join(map(str, row))}", fixable=True)


def mend(tx: Transaction, now: int) -> None:
    """Take out what points nowhere, and rebuild what the rest still tells."""
    for part, scope in tx.rows("stray_rows"):
        tx.run(_PARTS[part], {"scope": scope})
    for _, find, delete in _LOST:
        tx.many(delete, tx.rows(find))
    for _, find in _BARE:
        for row in tx.rows(find):
            _rebuild(tx, find, row, now)
    for _, find, delete in _ENDLESS:
        tx.many(delete, tx.rows(find))
    for row in tx.rows("waiting_for_nothing"):
        tx.run("wake", {"seq": row[0], "now": now, "revision": 0})  # raised for all records afterwards
    tx.run("bump_all")
    tx.run("reshape_all")


def _rebuild(tx: Transaction, find: str, row: Row, now: int) -> None:
    """Give a relation or a trait the entity of its name: under the old number, where that is free."""
    id, scope, entity, name = row[:4]
    known = entities.find(tx, scope, name)
    if known is None and not tx.rows("entity_row", (entity,)):
        tx.run("restore_entity", (entity, scope, entity_key(name), name, now))
        return
    target = entities.ensure(tx, scope, name, now) if known is None else known
    if target == entity:
        return  # rebuilt for another row a moment ago
    if find == "bare_traits":
        trait = (entity, row[4])
        told = tx.rows("find_trait", (target, row[4]))
        tx.run("delete_trait", trait) if told else tx.run("point_trait", (target, *trait))
        return
    subject, predicate, object_, *rest = tx.rows("relation_key", (id,))[0]
    ends = (target, object_) if find == "bare_subjects" else (subject, target)
    if tx.rows("find_relation", (ends[0], predicate, ends[1], *rest)):
        tx.run("delete_relation", (id,))  # the same is told there already
    else:
        tx.run("point_relation", (*ends, id))
