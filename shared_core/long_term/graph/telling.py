"""What a scope is told of people and things: relations, traits, names, rules. The writing half of `Graph`.

Every verb is one transaction: the rows, the scope's revision and an entry of the audit log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shared_core.errors import InvalidInput, InvalidType, LimitExceeded, NotFound
from shared_core.long_term.graph import entities, forgetting, relations
from shared_core.long_term.graph.names import checked, entity_key, exact_key, predicate_key
from shared_core.long_term.graph.predicates import BUILTIN, clause
from shared_core.long_term.graph.values import Entity, Relation, Rule
from shared_core.ports import Transaction
from shared_core.steps import threaded
from shared_core.store import audit, cascade, scopes, vault
from shared_core.store.rows import instant, load
from shared_core.values import Receipt, Triple
from shared_core.writing.intake import fraction, identifier

if TYPE_CHECKING:
    from shared_core.long_term.graph.knowledge import Knowledge
    from shared_core.scope import Scope

_ARGUMENTS = frozenset({"subject", "predicate", "object", "confidence", "source", "attributes"})
_DESCRIBED = frozenset({"name", "type", "attributes", "source"})
_Told = tuple[Triple, float, str | None, dict[str, Any]]  # the triple, confidence, source, attributes


class _Write:
    """An open write: its transaction, scope, revision and time."""

    __slots__ = ("now", "revision", "scope", "tx")

    def __init__(self, tx: Transaction, scope: int, revision: int, now: int) -> None:
        self.tx, self.scope, self.revision, self.now = tx, scope, revision, now


class Telling:
    """The verbs of `Graph` that write."""

    def __init__(self, scope: Scope) -> None:
        """Use `Scope.graph`."""
        self._scope = scope
        self._intake = scope._intake

    def __repr__(self) -> str:
        return f"Graph(user={self._scope.user!r}, agent={self._scope.agent!r})"

    # ------------------------------------------------------------------ access

    @contextmanager
    def _writing(self, action: str, record: str | None = None) -> Iterator[_Write]:
        engine = self._scope._live()
        now = engine.now()
        with engine.store.write() as tx:
            scope = scopes.ensure_scope(tx, self._scope.user, self._scope.agent, now)
            yield _Write(tx, scope, scopes.bump(tx, scope), now)
            # Names only what was done: an entry of the log outlives what it is about.
            audit.note(tx, scope, record, action, now, {})
            vault.keep(tx, scope, self._intake.taken(), now)

    @contextmanager
    def _reading(self) -> Iterator[Knowledge]:
        engine = self._scope._live()
        with engine.store.look() as tx:
            scope = scopes.scope_id(tx, self._scope.user, self._scope.agent)
        with engine.graphs.opened(-1 if scope is None else scope, engine.now()) as known:
            yield known

    def _name(self, value: Any, what: str) -> str:
        engine = self._scope._live()
        longest = engine.settings.limits.id_chars
        name = checked(value, what, longest)
        redactor = self._intake.redactor
        return name if redactor is None else checked(redactor(name), what, longest)

    def _record(self, write: _Write, source: str | None) -> int:
        """The seq of the record a relation comes from."""
        if source is None:
            return relations.DIRECT
        found = write.tx.rows("seq_by_id", (write.scope, source))
        if not found:
            raise NotFound(f"no record {source!r} in this scope that a relation could come from; add it first")
        return int(found[0][0])

    def _source(self, source: Any) -> str | None:
        return None if source is None else identifier(source, "source", self._scope._live().settings)

    def _attributes(self, attributes: Mapping[str, Any] | None) -> dict[str, Any]:
        return load(self._intake.metadata(attributes)) or {}

    # ------------------------------------------------------------------ telling

    def add(
        self, subject: str, predicate: str, object: str, *, confidence: float = 1.0, source: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Relation:  # fmt: skip
        """Tell a relation: "Ann", "works at", "ACME".

        `source` is the id of the record it came from: deleting that record takes the relation
        along, unless another source told it too. Told again it is one relation, with the higher
        confidence and the attributes of both. Two entities can have any number of relations.

        Raises `InvalidInput` for a blank name or a confidence outside [0, 1], `InvalidType` for
        attributes JSON can't hold, `NotFound` for a source that is no record of this scope.

        >>> from shared_core import AgentMemory
        >>> graph = AgentMemory.open(embedder="hashing").scope(user="alice").graph
        >>> print(graph.add("张伟", "就职于", "ACME", confidence=0.9))
        张伟 就职于 ACME
        >>> graph.entity("张 伟").name, [n.name for n in graph.neighbours("acme")]
        ('张伟', ['张伟'])
        """
        item = {
            "subject": subject, "predicate": predicate, "object": object, "confidence": confidence, "source": source,
            "attributes": attributes,
        }  # fmt: skip
        triple, sure, record, extra = self._told(item)
        with self._writing("related", record) as write:
            return self._tell(write, triple, sure, record, extra)

    def add_many(self, items: Iterable[tuple[str, str, str] | Mapping[str, Any]]) -> list[Relation]:
        """Tell many relations in one transaction: all of them, or none.

        Each is a triple, or a dict of `add`'s arguments. Raises what `add` raises, and
        `LimitExceeded` over `limits.batch`.
        """
        if isinstance(items, str | Mapping):
            raise InvalidType("add_many takes a list of triples or dicts; for one relation use add")
        limit = self._scope._live().settings.limits.batch
        told = []
        for item in items:
            told.append(self._told(_arguments(item)))
            if len(told) > limit:
                raise LimitExceeded(f"more than limits.batch ({limit}) relations in one call")
        if not told:
            return []
        with self._writing("related") as write:
            return [self._tell(write, *each) for each in told]

    def _told(self, item: Mapping[str, Any]) -> _Told:
        names = (self._name(item.get(what), what) for what in ("subject", "predicate", "object"))
        sure = fraction(item.get("confidence", 1.0), "confidence")
        return Triple(*names), sure, self._source(item.get("source")), self._attributes(item.get("attributes"))

    def _tell(
        self, write: _Write, triple: Triple, confidence: float, source: str | None, attributes: dict[str, Any]
    ) -> Relation:
        tx, record = write.tx, self._record(write, source)
        row = relations.tell(
            tx, write.scope, triple, record=record, confidence=confidence, attributes=attributes,
            revision=write.revision, now=write.now,
        )  # fmt: skip
        return self._stored(tx, row)

    @staticmethod
    def _stored(tx: Transaction, row: int) -> Relation:
        subject, predicate, object_ = tx.rows("relation_row", (row,))[0]
        tellings = tx.rows("tellings", (subject, predicate, object_))
        names = [tx.rows("entity_row", (entities.root(tx, one),))[0][2] for one in (subject, object_)]
        sources = tuple(each[3] for each in tellings if each[3] is not None)
        attributes: dict[str, Any] = {}
        for each in tellings:
            attributes.update(load(each[2]) or {})
        return Relation(
            subject=names[0], predicate=tellings[0][0], object=names[1], sources=sources, attributes=attributes,
            confidence=max(each[1] for each in tellings), source=sources[0] if sources else None,
            created_at=instant(tellings[0][4]),
        )  # fmt: skip

    def describe(
        self, name: str, *, type: str | None = None, attributes: Mapping[str, Any] | None = None,
        source: str | None = None,
    ) -> Entity:  # fmt: skip
        """Tell what an entity is: its type, and attributes of its own; None as a value takes one out.

        With `source`, deleting that record takes this along.
        """
        kept, record = self._name(name, "name"), self._source(source)
        kind, extra = None if type is None else self._name(type, "type"), self._attributes(attributes)
        with self._writing("described", record) as write:
            relations.describe(
                write.tx, write.scope, kept, type=kind, attributes=extra, record=self._record(write, record),
                revision=write.revision, now=write.now,
            )  # fmt: skip
        return self._entity(kept)

    def describe_many(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Tell what many entities are in one transaction, all of them or none; each a dict of `describe`'s arguments."""
        told = []
        for item in items:
            unknown = set(item) - _DESCRIBED
            if unknown or "name" not in item:
                raise InvalidInput(f"an entity has a name, and of {sorted(_DESCRIBED)} what is known: {sorted(item)}")
            type_ = item.get("type")
            told.append((
                self._name(item["name"], "name"), None if type_ is None else self._name(type_, "type"),
                self._attributes(item.get("attributes")), self._source(item.get("source")),
            ))  # fmt: skip
        limit = self._scope._live().settings.limits.batch
        if len(told) > limit:
            raise LimitExceeded(f"more than limits.batch ({limit}) entities in one call")
        if not told:
            return
        with self._writing("described") as write:
            for name, kind, extra, record in told:
                relations.describe(
                    write.tx, write.scope, name, type=kind, attributes=extra, record=self._record(write, record),
                    revision=write.revision, now=write.now,
                )  # fmt: skip

    def remove(self, subject: str, predicate: str, object: str) -> Receipt:
        """Take a relation out, whoever told it, with what was inferred from it; the records stay."""
        names = [self._name(value, what) for value, what in ((subject, "subject"), (object, "object"))]
        key = predicate_key(self._name(predicate, "predicate"))
        with self._writing("unrelated") as write:
            tx = write.tx
            ends = [self._group(write, name) for name in names]
            told = forgetting.rows_of(tx, ends[0], key, ends[1])
            receipt = _receipt(forgetting.of_relations(tx, write.scope, told, write.revision), write)
        return self._scope._live().erased(receipt, self._scope.user, self._scope.agent)

    def delete(self, name: str) -> Receipt:
        """Take an entity out under all its names, with its relations and what was inferred from them."""
        kept = self._name(name, "name")
        with self._writing("unrelated") as write:
            tx, given = write.tx, {"entities": json.dumps(self._group(write, kept))}
            counts = forgetting.of_relations(
                tx, write.scope, tx.rows("relations_of_entities", given), write.revision,
                aliases=tx.rows("aliases_of_entities", given), traits=tx.rows("traits_of_entities", given),
            )  # fmt: skip
            receipt = _receipt(counts, write)
        return self._scope._live().erased(receipt, self._scope.user, self._scope.agent)

    @staticmethod
    def _group(write: _Write, name: str) -> list[int]:
        found = entities.find(write.tx, write.scope, name)
        return [] if found is None else entities.group(write.tx, found)

    # ------------------------------------------------------------------ names

    def alias(self, name: str, other: str, *, source: str | None = None) -> Entity:
        """Tell that `other` is another name of `name`: "张伟", "老板".

        A name means one thing: told again for another entity, it means that one from now on. What
        was told of it under either name is united; `split` undoes it.
        """
        kept, also, record = self._name(name, "name"), self._name(other, "other"), self._source(source)
        with self._writing("aliased", record) as write:
            tx, scope = write.tx, write.scope
            target, entity = (entities.ensure(tx, scope, each, write.now) for each in (kept, also))
            before = [row[0] for row in tx.rows("target_of", (entity,))]
            entities.join(tx, scope, entity, target, self._record(write, record), write.now)
            entities.drop_unused(tx, [*before, target, entity])
            relations.reshape(tx, scope, write.revision)
        return self._entity(kept)

    def merge(self, name: str, other: str) -> Entity:
        """Make two entities one, under the name that `name` is shown by; nothing is rewritten, `split` undoes it.

        Raises `NotFound` if nothing is told of one of them: to tell a name in advance use `alias`.
        """
        kept, also = self._name(name, "name"), self._name(other, "other")
        with self._writing("merged") as write:
            tx, scope = write.tx, write.scope
            target, entity = (self._must(write, each) for each in (kept, also))
            entities.join(tx, scope, entities.root(tx, entity), target, relations.DIRECT, write.now)
            relations.reshape(tx, scope, write.revision)
        return self._entity(kept)

    def split(self, name: str, other: str | None = None) -> list[Entity]:
        """Undo an alias or a merge; the entities as they are then.

        With `other`, what makes the two one is undone. Alone, a name leaves what it was an alias
        of, and a name that others mean lets all of them go. A mere spelling ("apple" of "Apple")
        becomes an entity of its own, with the relations that were told under it.

        Raises `NotFound` if there is nothing to undo.
        """
        kept = self._name(name, "name")
        also = None if other is None else self._name(other, "other")
        with self._writing("split") as write:
            names = self._apart(write, kept, also)
            relations.reshape(write.tx, write.scope, write.revision)
        with self._reading() as known:
            nodes = dict.fromkeys(node for each in names if (node := known.lookup(each)) is not None)
            return [known.entity(node) for node in nodes]

    def _apart(self, write: _Write, name: str, other: str | None) -> list[str]:
        tx, scope = write.tx, write.scope
        entity = self._must(write, name)
        whole = entities.group(tx, entity)
        names = [name, *(tx.rows("entity_row", (each,))[0][2] for each in whole)]
        if other is not None:
            second = self._must(write, other)
            if second == entity:
                return self._respelt(write, entity, [name, other])
            if not entities.part_from(tx, scope, entity, second):
                raise NotFound(f"{name!r} and {other!r} are two entities already")
            names = [name, other]
        elif name != (spelt := tx.rows("entity_row", (entity,))[0][2]) and not tx.rows("target_of", (entity,)):
            return self._respelt(write, entity, [spelt, name])
        elif not entities.part(tx, scope, entity):
            raise NotFound(f"{name!r} has no alias and was not merged; there is nothing to split")
        entities.drop_unused(tx, whole)
        return names

    @staticmethod
    def _respelt(write: _Write, entity: int, names: list[str]) -> list[str]:
        """Give the spelling that an entity is not shown by an entity of its own."""
        key, spelt = write.tx.rows("entity_row", (entity,))[0][1:3]
        own = next((name for name in reversed(names) if name != spelt), None)
        if own is None or key == exact_key(spelt):
            raise NotFound(f"{names[-1]!r} is one name in one spelling; there is nothing to split")
        entities.respell(write.tx, write.scope, entity, own, write.revision, write.now)
        return names

    def _must(self, write: _Write, name: str) -> int:
        found = entities.find(write.tx, write.scope, name)
        if found is None:
            raise NotFound(f"nothing is told of {name!r} in this scope")
        return found

    def _entity(self, name: str) -> Entity:
        with self._reading() as known:
            node = known.lookup(name)
            return Entity(name=name) if node is None else known.entity(node)

    # ------------------------------------------------------------------ rules

    def rule(self, text: str, *, name: str | None = None, confidence: float = 1.0) -> Rule:
        """Declare a rule: "uses(A, B) & is_a(B, C) => uses(A, C)"; what follows from it is known at once.

        Predicates of both languages that mean the same are the same ("使用" is `uses`). `name`
        (the text, if not given) names it in what was inferred, and in `drop_rule`; a name that is
        there already is replaced. Raises `InvalidInput` for anything that is no rule.
        """
        if not isinstance(text, str):
            raise InvalidType(f"a rule is a text, not {type(text).__name__}")
        sure = fraction(confidence, "confidence")
        kept = self._name(text, "rule")
        called = kept if name is None else self._name(name, "name")
        clause(called, kept, sure)
        with self._writing("rule declared") as write:
            write.tx.run("put_rule", (write.scope, called, kept, sure, write.now))
            relations.reshape(write.tx, write.scope, write.revision)
        return Rule(name=called, text=kept, confidence=sure)

    def drop_rule(self, name: str) -> None:
        """Take a rule out, a built-in one too, with all that only it inferred. Raises `NotFound` for another name."""
        with self._writing("rule dropped") as write:
            if name in BUILTIN:
                write.tx.run("put_rule", (write.scope, name, "", 1.0, write.now))
            elif not write.tx.run("delete_rule", (write.scope, name)):
                raise NotFound(f"no rule {name!r}; `graph.rules()` shows those there are")
            cascade.mark(write.tx)
            relations.reshape(write.tx, write.scope, write.revision)

    # ------------------------------------------------------------------ files

    def load(self, path: str | os.PathLike[str]) -> int:
        """Tell all relations of a node-link JSON file, its edges under "edges" or "links"; how many.

        All of them or none. Sources are not taken along: the records are in the other memory.
        """
        from shared_core.long_term.graph import node_link

        people, found = node_link.read(path)
        names = [(self._name(n, "name"), None if t is None else self._name(t, "type"), a) for n, t, a, _ in people]
        extras = [self._attributes(each[2]) for each in names]
        told = [self._told(item) for item in found]
        aliases = [
            (self._name(n, "name"), self._name(other, "alias")) for n, _, _, others in people for other in others
        ]
        with self._writing("loaded") as write:
            tx, scope = write.tx, write.scope
            for each in told:
                self._tell(write, *each)
            for (name, kind, _), extra in zip(names, extras, strict=True):
                if kind is not None or extra or entities.find(tx, scope, name) is None:
                    relations.describe(
                        tx, scope, name, type=kind, attributes=extra, revision=write.revision, now=write.now
                    )
            for name, other in aliases:
                if entity_key(name) == entity_key(other):
                    self._spell(write, told, other)
                else:
                    entity, target = (entities.ensure(tx, scope, one, write.now) for one in (other, name))
                    entities.join(tx, scope, entity, target, relations.DIRECT, write.now)
            relations.reshape(tx, scope, write.revision)
        return len(told)

    def _spell(self, write: _Write, told: Iterable[_Told], spelling: str) -> None:
        """Tell one relation of an entity once more in another spelling of its name."""
        key = entity_key(spelling)
        for triple, sure, record, extra in told:
            if key in (entity_key(triple.subject), entity_key(triple.object)):
                ends = [spelling if entity_key(each) == key else each for each in (triple.subject, triple.object)]
                self._tell(write, Triple(ends[0], triple.predicate, ends[1]), sure, record, extra)
                return

    aadd = threaded(add)
    aadd_many = threaded(add_many)
    adescribe = threaded(describe)
    adescribe_many = threaded(describe_many)
    aremove = threaded(remove)
    adelete = threaded(delete)
    aalias = threaded(alias)
    amerge = threaded(merge)
    asplit = threaded(split)
    arule = threaded(rule)
    adrop_rule = threaded(drop_rule)
    aload = threaded(load)


def _arguments(item: Any) -> Mapping[str, Any]:
    if isinstance(item, Mapping):
        unknown = set(item) - _ARGUMENTS
        if unknown:
            raise InvalidInput(f"unknown arguments {sorted(map(str, unknown))}; known: {sorted(_ARGUMENTS)}")
        return item
    if isinstance(item, str) or not isinstance(item, Iterable) or len(parts := list(item)) != 3:
        raise InvalidType("a relation is a triple (subject, predicate, object), or a dict of add's arguments")
    return dict(zip(("subject", "predicate", "object"), parts, strict=True))


def _receipt(counts: Mapping[str, int], write: _Write) -> Receipt:
    kept = {name: count for name, count in counts.items() if count}
    if kept:
        cascade.mark(write.tx)
    return Receipt(count=kept.get("relations", 0), erased=kept, at=instant(write.now))
