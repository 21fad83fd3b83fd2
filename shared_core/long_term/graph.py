"""`Graph`: what a scope knows of people and things, and how they hang together."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shared_core.errors import InvalidInput, InvalidType, LimitExceeded, NotFound
from shared_core.long_term import entities, forgetting, likeness, relations
from shared_core.long_term.names import checked, entity_key, exact_key, predicate_key, shown
from shared_core.long_term.predicates import BUILTIN, clause
from shared_core.long_term.values import (
    Answer,
    Entity,
    GraphStats,
    Neighbour,
    Path,
    Proposal,
    Relation,
    Rule,
    Subgraph,
)
from shared_core.ports import Transaction
from shared_core.steps import threaded
from shared_core.store import ledger
from shared_core.store.rows import instant, load
from shared_core.values import Receipt, Triple
from shared_core.writing.intake import fraction, identifier

if TYPE_CHECKING:
    from shared_core.long_term.knowledge import Knowledge
    from shared_core.scope import Scope

_ARGUMENTS = frozenset({"subject", "predicate", "object", "confidence", "source", "attributes"})


class _Write:
    """An open write: its transaction, scope, revision and time."""

    __slots__ = ("now", "revision", "scope", "tx")

    def __init__(self, tx: Transaction, scope: int, revision: int, now: int) -> None:
        self.tx, self.scope, self.revision, self.now = tx, scope, revision, now


class Graph:
    """The knowledge graph of one scope: entities, relations between them, and what follows from those.

    Names in other case, width or spacing are one entity; whatever else is one thing is told, by
    `alias` or `merge`, and undone by `split`. Reading verbs give [] or None for what is not known.
    Every verb has an async twin with the prefix `a`.

    >>> from shared_core import AgentMemory
    >>> graph = AgentMemory.open(embedder="hashing").scope(user="alice").graph
    >>> _ = graph.add("Alpha", "is a", "project"), graph.add("Alpha", "uses", "RabbitMQ")
    >>> _ = graph.add("RabbitMQ", "is a", "message queue")
    >>> [answer.text for answer in graph.ask("Which of our projects use a message queue?")]
    ['Alpha']
    """

    def __init__(self, scope: Scope) -> None:
        """Use `Scope.graph`."""
        self._scope = scope

    def __repr__(self) -> str:
        return f"Graph(user={self._scope.user!r}, agent={self._scope.agent!r})"

    # ------------------------------------------------------------------ access

    @contextmanager
    def _writing(self, action: str, record: str | None = None) -> Iterator[_Write]:
        engine = self._scope._live()
        now = engine.now()
        with engine.store.write() as tx:
            scope = ledger.ensure_scope(tx, self._scope.user, self._scope.agent, now)
            yield _Write(tx, scope, ledger.bump(tx, scope), now)
            # Names only what was done: an entry of the log outlives what it is about.
            ledger.audit(tx, scope, record, action, now, {})

    @contextmanager
    def _reading(self) -> Iterator[Knowledge]:
        engine = self._scope._live()
        with engine.store.look() as tx:
            scope = ledger.scope_id(tx, self._scope.user, self._scope.agent)
        with engine.graphs.opened(-1 if scope is None else scope, engine.now()) as known:
            yield known

    def _name(self, value: Any, what: str) -> str:
        engine = self._scope._live()
        longest = engine.settings.limits.id_chars
        name = checked(value, what, longest)
        redactor = engine.intake.redactor
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
        return load(self._scope._live().intake.metadata(attributes)) or {}

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

    def _told(self, item: Mapping[str, Any]) -> tuple[Triple, float, str | None, dict[str, Any]]:
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

    def remove(self, subject: str, predicate: str, object: str) -> Receipt:
        """Take a relation out, whoever told it, with what was inferred from it; the records stay."""
        names = [self._name(value, what) for value, what in ((subject, "subject"), (object, "object"))]
        key = predicate_key(self._name(predicate, "predicate"))
        with self._writing("unrelated") as write:
            tx = write.tx
            ends = [self._group(write, name) for name in names]
            told = forgetting.rows_of(tx, ends[0], key, ends[1])
            return _receipt(forgetting.of_relations(tx, write.scope, told, write.revision), write)

    def delete(self, name: str) -> Receipt:
        """Take an entity out under all its names, with its relations and what was inferred from them."""
        kept = self._name(name, "name")
        with self._writing("unrelated") as write:
            tx, given = write.tx, {"entities": json.dumps(self._group(write, kept))}
            counts = forgetting.of_relations(
                tx, write.scope, tx.rows("relations_of_entities", given), write.revision,  # type: ignore[arg-type]
                aliases=tx.rows("aliases_of_entities", given), traits=tx.rows("traits_of_entities", given),  # type: ignore[arg-type]
            )  # fmt: skip
            return _receipt(counts, write)

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
            entities.join(tx, scope, entity, target, self._record(write, record), write.now)
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
        if other is not None:
            second = self._must(write, other)
            if second == entity:
                entities.respell(tx, scope, entity, other, write.revision, write.now)
            elif not entities.part_from(tx, scope, entity, second):
                raise NotFound(f"{name!r} and {other!r} are two entities already")
            return [name, other]
        left = entities.part(tx, scope, entity) if tx.rows("target_of", (entity,)) else []
        key, spelt = tx.rows("entity_row", (entity,))[0][1:3]
        if not left and name != spelt and key != exact_key(name):
            entities.respell(tx, scope, entity, name, write.revision, write.now)
            return [spelt, name]
        left = left or entities.part(tx, scope, entity)
        if not left:
            raise NotFound(f"{name!r} has no alias and was not merged; there is nothing to split")
        return [name, *(tx.rows("entity_row", (each,))[0][2] for each in left)]

    def _must(self, write: _Write, name: str) -> int:
        found = entities.find(write.tx, write.scope, name)
        if found is None:
            raise NotFound(f"nothing is told of {name!r} in this scope")
        return found

    def proposals(self, limit: int | None = None) -> list[Proposal]:
        """Names that may mean one thing, the likeliest first; nothing is merged until you say so.

        >>> from shared_core import AgentMemory
        >>> graph = AgentMemory.open(embedder="hashing").scope(user="alice").graph
        >>> _ = graph.add("Zhang San", "leads", "Alpha"), graph.add("Director Zhang", "likes", "tea")
        >>> [(p.name, p.other) for p in graph.proposals()]
        [('Zhang San', 'Director Zhang')]
        """
        most = self._scope._live().settings.graph.proposals if limit is None else limit
        with self._reading() as known:
            names = [(node, spelling) for node in sorted(known.graph) for spelling in known.spellings(node)]
            apart = {(min(edge.subject, edge.object), max(edge.subject, edge.object)) for edge in known.all_edges()}
            with self._scope._live().store.look() as tx:
                scope = ledger.scope_id(tx, self._scope.user, self._scope.agent)
                split = [] if scope is None else tx.rows("apart_pairs", {"scope": scope})
            for one, other in split:
                ends = sorted((known.root(one), known.root(other)))
                apart.add((ends[0], ends[1]))
        return likeness.proposals(names, apart, most)

    # ------------------------------------------------------------------ reading

    def _entity(self, name: str) -> Entity:
        found = self.entity(name)
        return Entity(name=name) if found is None else found

    def entity(self, name: str) -> Entity | None:
        """The entity of a name or alias; None if nothing is known of it."""
        kept = shown(name) if isinstance(name, str) else ""
        with self._reading() as known:
            node = known.lookup(kept)
            return None if node is None else known.entity(node)

    def entities(self) -> list[Entity]:
        """All entities, in the order they were first told of."""
        with self._reading() as known:
            return [known.entity(node) for node in sorted(known.graph)]

    def relations(self, name: str | None = None, *, inferred: bool = True) -> list[Relation]:
        """All relations, or those of one entity: as they were told, then what follows from them."""
        if name is not None:
            return [each.relation for each in self.neighbours(name, inferred=inferred)]
        with self._reading() as known:
            return known.relations(inferred=inferred)

    def neighbours(
        self, name: str, predicate: str | None = None, *, inferred: bool = True, limit: int | None = None
    ) -> list[Neighbour]:
        """What an entity's relations lead to, in either direction: one neighbour a relation.

        `predicate` keeps those of that meaning, in either language ("works at" finds "就职于").
        """
        from shared_core.long_term import views

        if limit is not None and limit < 0:
            raise InvalidInput("limit is negative")
        with self._reading() as known:
            node = known.lookup(shown(name))
            return [] if node is None else views.neighbours(known, node, predicate, inferred)[:limit]

    def paths(self, a: str, b: str, max_depth: int | None = None, *, limit: int | None = None) -> list[Path]:
        """The ways from one entity to another over at most `max_depth` (3) told relations, the shortest first.

        Relations are walked in either direction; each path passes an entity once. At most `limit`
        (`settings.graph.paths`) paths are given.
        """
        from shared_core.long_term import views

        settings = self._scope._live().settings.graph
        depth = _whole(settings.path_depth if max_depth is None else max_depth, "max_depth")
        most = _whole(settings.paths if limit is None else limit, "limit")
        with self._reading() as known:
            start, end = known.lookup(shown(a)), known.lookup(shown(b))
            return [] if start is None or end is None else views.paths(known, start, end, depth, most)

    def subgraph(self, name: str, depth: int | None = None, *, limit: int | None = None) -> Subgraph | None:
        """What lies within `depth` (2) steps of an entity; None if nothing is known of it.

        At most `limit` (`settings.graph.subgraph_relations`) relations, the nearest first;
        `complete` tells whether there are more.
        """
        from shared_core.long_term import views

        settings = self._scope._live().settings.graph
        steps = _whole(settings.subgraph_depth if depth is None else depth, "depth")
        most = _whole(settings.subgraph_relations if limit is None else limit, "limit")
        with self._reading() as known:
            node = known.lookup(shown(name))
            return None if node is None else views.subgraph(known, node, steps, most)

    def text(self, name: str, max_relations: int | None = None) -> str:
        """What is known of an entity, for the prompt: its names and surest relations; "" if nothing is.

        >>> from shared_core import AgentMemory
        >>> graph = AgentMemory.open(embedder="hashing").scope(user="alice").graph
        >>> _ = graph.add("Ann", "works_at", "ACME", confidence=0.8)
        >>> print(graph.text("ann"))
        Ann
        - Ann works at ACME (confidence 0.8)
        """
        from shared_core.long_term import views

        settings = self._scope._live().settings.graph
        most = _whole(settings.text_relations if max_relations is None else max_relations, "max_relations")
        with self._reading() as known:
            node = known.lookup(shown(name))
            return "" if node is None else views.text(known, node, most)

    def stats(self) -> GraphStats:
        """How many entities, told relations and inferred relations there are."""
        with self._reading() as known:
            return GraphStats(
                entities=known.graph.number_of_nodes(),
                relations=known.graph.number_of_edges(),
                inferred=len(known.closure.derived),
            )

    # ------------------------------------------------------------------ inference

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
            relations.reshape(write.tx, write.scope, write.revision)

    def rules(self) -> list[Rule]:
        """The rules at work: the built-in ones that are not dropped, then the user's."""
        with self._scope._live().store.look() as tx:
            scope = ledger.scope_id(tx, self._scope.user, self._scope.agent)
            told = [] if scope is None else tx.rows("scope_rules", {"scope": scope})
        own = {name: Rule(name=name, text=text, confidence=sure) for name, text, sure in told if text}
        off = {row[0] for row in told}
        builtin = [Rule(name=name, text=text, builtin=True) for name, text in BUILTIN.items() if name not in off]
        return builtin + list(own.values())

    def ask(self, question: str) -> list[Answer]:
        """Answer a question out of the relations, without a language model; [] where it does not know.

        Understands who, what, which, where and yes-no questions about one relation, in English and
        Chinese. Every word has to be accounted for: a question that says more than the graph knows
        has no answer. Each answer comes with the relations that prove it.

        >>> from shared_core import AgentMemory
        >>> graph = AgentMemory.open(embedder="hashing").scope(user="alice").graph
        >>> _ = graph.add("张伟", "就职于", "ACME")
        >>> [a.text for a in graph.ask("张伟在哪里工作？")], [a.text for a in graph.ask("Who works at ACME?")]
        (['ACME'], ['张伟'])
        >>> graph.ask("Who founded ACME?")
        []
        """
        from shared_core.long_term.ask import answers

        limit = self._scope._live().settings.limits.query_chars
        if not isinstance(question, str):
            raise InvalidType(f"a question is a text, not {type(question).__name__}")
        if len(question) > limit:
            raise LimitExceeded(f"a question of {len(question)} characters; limits.query_chars is {limit}")
        with self._reading() as known:
            return answers(known, question, self._scope.user)

    # ------------------------------------------------------------------ for others

    def to_networkx(self, *, inferred: bool = True) -> Any:
        """A `networkx.MultiDiGraph` of your own: nodes are the shown names, keys the predicates.

        Edges carry predicate, confidence, source, sources, attributes, inferred, rule and premises;
        nodes type, aliases and attributes. Without `inferred`, only what was told.
        """
        with self._reading() as known:
            return known.export(inferred)

    def draw(self, path: str | os.PathLike[str], *, name: str | None = None, depth: int | None = None) -> str:
        """Draw the graph, or the surroundings of one entity, into a .png or .html file; its path.

        HTML is one file that needs no network: drag, zoom, point at things. PNG needs the extra
        `draw` (`MissingExtra` otherwise). Of a large graph the best-connected entities are drawn
        (`settings.graph.drawn`). Raises `InvalidInput` for another ending.
        """
        from shared_core.long_term import drawing

        ending = drawing.ending(path)
        if name is None:
            with self._reading() as known:
                found = known.relations(inferred=True)
                people = [known.entity(node) for node in known.graph]
        else:
            part = self.subgraph(name, depth)
            if part is None:
                raise NotFound(f"nothing is known of {name!r}")
            found, people = list(part.relations), list(part.entities)
        picture = drawing.picture(people, found, self._scope._live().settings.graph.drawn)
        return drawing.write(picture, path, ending)

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write what was told as node-link JSON, as networkx and D3 read it; how many relations."""
        from shared_core.long_term import node_link

        return node_link.write(path, self.entities(), self.relations(inferred=False))

    def load(self, path: str | os.PathLike[str]) -> int:
        """Tell all relations of a node-link JSON file, its edges under "edges" or "links"; how many.

        All of them or none. Sources are not taken along: the records are in the other memory.
        """
        from shared_core.long_term import node_link

        people, found = node_link.read(path)
        names = [(self._name(n, "name"), None if t is None else self._name(t, "type"), a) for n, t, a, _ in people]
        extras = [self._attributes(each[2]) for each in names]
        told = [self._told(item) for item in found]
        aliases = [(self._name(n, "name"), self._name(other, "alias")) for n, _, _, others in people for other in others]
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
                if entity_key(name) != entity_key(other):
                    ends = [entities.ensure(tx, scope, one, write.now) for one in (other, name)]
                    entities.join(tx, scope, *ends, relations.DIRECT, write.now)
            relations.reshape(tx, scope, write.revision)
        return len(told)

    aadd = threaded(add)
    aadd_many = threaded(add_many)
    adescribe = threaded(describe)
    aremove = threaded(remove)
    adelete = threaded(delete)
    aalias = threaded(alias)
    amerge = threaded(merge)
    asplit = threaded(split)
    aproposals = threaded(proposals)
    aentity = threaded(entity)
    aentities = threaded(entities)
    arelations = threaded(relations)
    aneighbours = threaded(neighbours)
    apaths = threaded(paths)
    asubgraph = threaded(subgraph)
    atext = threaded(text)
    astats = threaded(stats)
    arule = threaded(rule)
    adrop_rule = threaded(drop_rule)
    arules = threaded(rules)
    aask = threaded(ask)
    ato_networkx = threaded(to_networkx)
    adraw = threaded(draw)
    asave = threaded(save)
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
    return Receipt(count=kept.get("relations", 0), erased=kept, at=instant(write.now))


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{what} is a whole number from 0, not {value!r}")
    return value
