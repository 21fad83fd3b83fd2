"""The graph's part of the erase cascade: what came only from a record goes with it, and is counted.

Called inside the transaction that erases, before the records' rows are gone. Counts are of relations
and entities that nothing else supports, not of rows: told by two records, a relation outlives one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from shared_core.long_term.graph import entities
from shared_core.long_term.graph.names import shown
from shared_core.long_term.graph.relations import reshape
from shared_core.ports import Transaction
from shared_core.store.rows import load

if TYPE_CHECKING:
    from shared_core.long_term.graph.inference import Closure, Fact

# The words of relations, and inference over them, load where something is erased: 15 ms of an import else.

Row = tuple[int, int, str, int, int]  # id, subject, predicate, object, record
Alias = tuple[int, int, int]  # entity, target, record
Counts = dict[str, int]

_LOG = 20_000  # vanished relations remembered for graphs in memory; one further behind is built anew


Lost = Callable[[Transaction, int, Sequence[Row]], int | None]
"""Counts the inferences that rest on rows, out of a graph in memory; None where there is no such graph at hand."""


def of_records(
    tx: Transaction, scope: int, seqs: Sequence[int], revision: int, by_memory: Lost | None = None
) -> Counts:
    """Take out what was told by these records: relations, traits, aliases, and entities left without any."""
    given = {"scope": scope, "seqs": json.dumps(list(seqs))}
    if not tx.rows("graph_knows_records", given):
        return {}
    told, aliases = tx.rows("relations_of_records", given), tx.rows("aliases_of_records", given)
    traits = tx.rows("traits_of_records", given)
    counts = of_relations(tx, scope, told, revision, aliases=aliases, traits=traits, by_memory=by_memory)
    return {name: count for name, count in counts.items() if count}


def of_relations(
    tx: Transaction, scope: int, told: Sequence[Row], revision: int, *, aliases: Sequence[Alias] = (),
    traits: Sequence[tuple[int, int]] = (), by_memory: Lost | None = None,
) -> Counts:  # fmt: skip
    """Take out rows of the graph, and what nothing else supports."""
    remembered = by_memory(tx, scope, told) if by_memory is not None and told and not aliases else None
    counts = {"inferences": lost(tx, scope, told, aliases) if remembered is None else remembered}
    groups = {
        entity: tuple(entities.group(tx, entity)) for entity in {entity for row in told for entity in (row[1], row[3])}
    }
    for row in told:
        tx.run("delete_relation", (row[0],))
        tx.run("add_unrelated", (scope, revision, row[0]))
    triples = {(groups[row[1]], row[2], groups[row[3]]) for row in told}
    counts["relations"] = sum(not rows_of(tx, *triple) for triple in triples)
    for alias in aliases:
        tx.run("delete_alias", alias)
    counts["aliases"] = len({alias[:2] for alias in aliases if not tx.rows("target_of", (alias[0],))})
    for trait in traits:
        tx.run("delete_trait", trait)
    touched = dict.fromkeys([*groups, *(e for alias in aliases for e in alias[:2]), *(trait[0] for trait in traits)])
    counts["entities"] = entities.drop_unused(tx, touched)
    if entities.rename(tx, touched) or aliases or traits:
        reshape(tx, scope, revision)
    if told and tx.rows("count_unrelated", {"scope": scope})[0][0] > _LOG:
        tx.run("clear_scope_unrelated", {"scope": scope})
        reshape(tx, scope, revision)
    return counts


def rows_of(tx: Transaction, subjects: Iterable[int], predicate: str, objects: Iterable[int]) -> list[Row]:
    """The rows that tell a relation between any of these subjects and objects."""
    given = {"subjects": json.dumps(list(subjects)), "objects": json.dumps(list(objects)), "predicate": predicate}
    return tx.rows("relations_of_triple", given)


def of_scope(tx: Transaction, scope: int, revision: int) -> Counts:
    """Take out the whole graph of a scope."""
    given = {"scope": scope}
    counts = {
        "inferences": len(_closure(tx, scope, None)[0].derived),
        "relations": tx.rows("count_relations", given)[0][0],
    }
    tx.run("clear_scope_relations", given)
    for name, statement in (
        ("aliases", "clear_scope_aliases"), ("apart", "clear_scope_apart"), ("traits", "clear_scope_traits"),
        ("entities", "clear_scope_entities"), ("rules", "clear_scope_rules"), ("log", "clear_scope_unrelated"),
    ):  # fmt: skip
        counts[name] = max(tx.run(statement, given), 0)
    reshape(tx, scope, revision)
    return {name: count for name, count in counts.items() if count and name not in ("apart", "traits", "log")}


def detach(tx: Transaction, scope: int, seqs: Sequence[int], revision: int) -> None:
    """Keep what these records told as told directly: the turns of a cleared session go, what they said stays."""
    given = {"scope": scope, "seqs": json.dumps(list(seqs))}
    if not tx.rows("graph_knows_records", given):
        return
    doubled = []
    for row in tx.rows("relations_of_records", given):
        if not tx.run("rehome_relation", (revision, row[0])):
            doubled.append(row)  # told directly as well: one row is enough
    for entity, record in tx.rows("traits_of_records", given):
        tx.run("rehome_trait", (entity, record))
        tx.run("delete_trait", (entity, record))
    for alias in tx.rows("aliases_of_records", given):
        tx.run("rehome_alias", alias)
        tx.run("delete_alias", alias)
    of_relations(tx, scope, doubled, revision)
    reshape(tx, scope, revision)


def stale(tx: Transaction, scope: int, seq: int, text: str, revision: int) -> None:
    """Take out what the text of a record told, if it is about to become another that does not say so.

    What the record is by its triple goes in any case: whoever changes a record tells that again.
    What was added by hand, with the record as its source, stays.
    """
    found = tx.rows("told_otherwise", {"seq": seq, "text": text})
    if not found:
        return
    from shared_core.long_term.graph.said import unsaid, untold

    old, *triple = found[0]
    own = [shown(part or "") for part in triple]
    told = [
        row[:5]
        for row in tx.rows("relation_names_of_record", (seq,))
        if [*row[5:]] == own or unsaid(old, text, (row[5], row[6], row[7]))
    ]
    traits = []
    for entity, record, name, type_, attributes in tx.rows("trait_names_of_record", (seq,)):
        values = [str(value) for value in (load(attributes) or {}).values()]
        if untold(old, text, [name, *filter(None, [type_]), *values]):
            traits.append((entity, record))
    aliases = [row[:3] for row in tx.rows("alias_names_of_record", (seq,)) if untold(old, text, [row[3], row[4]])]
    if told or traits or aliases:
        of_relations(tx, scope, told, revision, aliases=aliases, traits=traits)


# ---------------------------------------------------------------------- counting inferences


def lost(tx: Transaction, scope: int, told: Sequence[Row], aliases: Sequence[Alias] = ()) -> int:
    """How many inferences rest on these rows, and on nothing else."""
    if not told and not aliases:
        return 0
    from shared_core.long_term.graph.predicates import meaning_of

    wanted = None if aliases else {meaning_of(row[2]).meaning for row in told}
    before, facts = _closure(tx, scope, wanted)
    if not before.derived:
        return 0
    if aliases:
        after, _ = _closure(tx, scope, wanted, {row[0] for row in told}, set(aliases))
        return max(len(before.derived) - len(after.derived), 0)
    left = Counter(facts.values())
    left.subtract(facts[row[0]] for row in told if row[0] in facts)
    return len(before.remove([fact for fact, count in left.items() if count <= 0]))


def _closure(
    tx: Transaction,
    scope: int,
    wanted: Set[str] | None,
    without: Set[int] = frozenset(),
    apart: Set[Alias] = frozenset(),
) -> tuple[Closure, Mapping[int, Fact]]:
    """What follows in a scope, and the fact of each row; nothing if no rule is about what is `wanted`."""
    from shared_core.long_term.graph.inference import Closure
    from shared_core.long_term.graph.predicates import compiled, meaning_of

    closure = Closure(compiled(tx.rows("scope_rules", {"scope": scope})))
    premises = {atom.predicate for clause in closure.clauses for atom in clause.body}
    if wanted is not None and not wanted & premises:
        return closure, {}
    meant = premises | {clause.head.predicate for clause in closure.clauses}
    forms = {row[0]: meaning_of(row[0]) for row in tx.rows("graph_predicates", {"scope": scope})}
    keys = [key for key, form in forms.items() if form.meaning in meant]
    target: dict[int, int] = {}
    for entity, other, *_ in tx.rows("graph_aliases", {"scope": scope}):
        if not any(alias[:2] == (entity, other) for alias in apart):
            target[entity] = other
    facts: dict[int, Fact] = {}
    for row, subject, predicate, object_ in tx.rows("graph_triples", {"scope": scope, "predicates": json.dumps(keys)}):
        if row in without:
            continue
        form = forms[predicate]
        subject, object_ = follow(target, subject), follow(target, object_)
        facts[row] = (object_, form.meaning, subject) if form.turned else (subject, form.meaning, object_)
    closure.add(facts.values())
    return closure, facts


def follow(target: Mapping[int, int], entity: int) -> int:
    """The end of the aliases that lead away from an entity."""
    while entity in target:
        entity = target[entity]
    return entity
