"""Entities as rows: found by the spelling of a name, joined by aliases and merges, split again.

A merge is one row that says "this name means that one". Nothing else is rewritten, so a split only
takes the row away, and every relation is back with the name it was told of.
"""

from __future__ import annotations

from collections.abc import Iterable

from shared_core.errors import InvalidInput, NotFound
from shared_core.long_term.graph.names import entity_key, exact_key
from shared_core.ports import Transaction

_LONGEST_CHAIN = 10_000


def find(tx: Transaction, scope: int, name: str) -> int | None:
    """The entity of a name's own spelling, before any alias; None if nothing is told of it."""
    rows = tx.rows("find_entity", (scope, entity_key(name), exact_key(name)))
    return rows[0][0] if rows else None


def ensure(tx: Transaction, scope: int, name: str, now: int) -> int:
    """The entity of a name, made if it is the first time it is told."""
    found = find(tx, scope, name)
    return int(tx.rows("add_entity", (scope, entity_key(name), name, now))[0][0]) if found is None else found


def root(tx: Transaction, entity: int) -> int:
    """What an entity means: itself, or the end of the aliases that lead away from it."""
    for _ in range(_LONGEST_CHAIN):
        rows = tx.rows("target_of", (entity,))
        if not rows:
            return entity
        entity = rows[0][0]
    raise InvalidInput("more than ten thousand aliases, each of another; split some of them")


def group(tx: Transaction, entity: int) -> list[int]:
    """All entities that mean the same, that which the others mean first."""
    found = [root(tx, entity)]
    for member in found:
        found += [row[0] for row in tx.rows("names_of", (member,))]
    return found


def join(tx: Transaction, scope: int, entity: int, target: int, record: int, now: int) -> bool:
    """Let `entity` mean `target` from now on; False where they are one already.

    One name has one meaning: "the boss" that meant somebody else before means them no more.
    """
    if entity == target:
        return False
    if tx.rows("target_of", (entity,)) == [(target,)]:
        tx.run("add_alias", (entity, target, record, scope, now))  # told by one more source
        return True
    if entity in group(tx, target):
        return False
    tx.run("drop_aliases", (entity,))
    tx.run("add_alias", (entity, target, record, scope, now))
    for one in group(tx, target):
        tx.run("drop_apart", (scope, *sorted((one, entity))))
    return True


def part(tx: Transaction, scope: int, entity: int) -> list[int]:
    """Undo the alias or merge of an entity; of one that others mean, undo all of theirs. What it left."""
    left = [row[0] for row in tx.rows("target_of", (entity,))]
    if left:
        tx.run("drop_aliases", (entity,))
    else:
        left = [row[0] for row in tx.rows("names_of", (entity,))]
        for other in left:
            tx.run("drop_aliases", (other,))
    for other in left:
        tx.run("add_apart", (scope, *sorted((entity, other))))
    return left


def part_from(tx: Transaction, scope: int, entity: int, other: int) -> bool:
    """Undo the one link between two entities that keeps them together; False where they are two already."""
    above = _chain(tx, entity)
    below = _chain(tx, other)
    if above[-1] != below[-1]:
        return False
    # Of the two the one that means the other, directly or through more names, lets go; of two
    # names of a third thing, the first one named.
    cut = other if entity in below else entity
    tx.run("drop_aliases", (cut,))
    tx.run("add_apart", (scope, *sorted((entity, other))))
    return True


def _chain(tx: Transaction, entity: int) -> list[int]:
    found = [entity]
    while rows := tx.rows("target_of", (found[-1],)):
        found.append(rows[0][0])
        if len(found) > _LONGEST_CHAIN:
            raise InvalidInput("more than ten thousand aliases, each of another; split some of them")
    return found


def respell(tx: Transaction, scope: int, entity: int, name: str, revision: int, now: int) -> int:
    """Give one spelling an entity of its own: "apple" told of as "Apple" until now. Its relations follow."""
    new = int(tx.rows("add_entity", (scope, exact_key(name), name, now))[0][0])
    moved = {"new": new, "old": entity, "name": name, "revision": revision}
    if tx.run("respell_subjects", moved) + tx.run("respell_objects", moved) == 0:
        raise NotFound(f"nothing is told of the spelling {name!r} that could be split off")
    tx.run("add_apart", (scope, *sorted((entity, new))))
    rename(tx, [entity])
    return new


def rename(tx: Transaction, touched: Iterable[int]) -> bool:
    """Show entities by a spelling that is still told, where the one shown is not; True if any changed."""
    changed = False
    for entity in touched:
        rows = tx.rows("entity_row", (entity,))
        if rows and not tx.rows("entity_spelt", {"id": entity, "name": rows[0][2]}):
            left = tx.rows("entity_spellings", {"id": entity})
            if left:
                tx.run("rename_entity", (left[0][0], entity))
                changed = True
    return changed


def drop_unused(tx: Transaction, touched: Iterable[int]) -> int:
    """Delete entities that nothing names any more; how many."""
    count = 0
    for entity in dict.fromkeys(touched):
        if not tx.rows("entity_in_use", {"id": entity}):
            count += max(tx.run("delete_entity", (entity,)), 0)
            tx.run("drop_apart_of", {"id": entity})
    return count
