"""One scope's graph in memory: a networkx MultiDiGraph of its rows, and what follows from them.

Nodes are entities after aliases and merges, an edge is one predicate between two of them and holds
every row that tells it. A MultiDiGraph, since two things can have several relations: a simple
digraph would keep one of them. The only module that imports networkx.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import networkx as nx

from shared_core.long_term.graph.inference import Closure, Fact
from shared_core.long_term.graph.names import entity_key, exact_key
from shared_core.long_term.graph.predicates import SYMMETRIC, compiled, meaning_of
from shared_core.long_term.graph.values import Entity, Relation
from shared_core.store.rows import instant, load
from shared_core.values import Triple

Rows = Iterable[tuple[Any, ...]]
_NEVER = 1 << 63


class Told(NamedTuple):
    """One row: a relation as one source told it."""

    row: int
    subject: int
    predicate: str
    object: int
    subject_name: str
    verb: str
    object_name: str
    confidence: float
    attributes: str | None
    created_at: int
    record: str | None
    expires_at: int | None


@dataclass(slots=True, eq=False)
class Edge:
    """All tellings of one predicate between two entities."""

    subject: int
    predicate: str
    object: int
    rows: dict[int, Told] = field(default_factory=dict)

    @property
    def first(self) -> Told:
        """The telling that came first."""
        return self.rows[min(self.rows)]

    @property
    def confidence(self) -> float:
        """The highest of all tellings."""
        return max(row.confidence for row in self.rows.values())

    @property
    def fact(self) -> Fact:
        """What the edge means, in the direction of its meaning."""
        form = meaning_of(self.predicate)
        if form.turned:
            return (self.object, form.meaning, self.subject)
        return (self.subject, form.meaning, self.object)


class Knowledge:
    """The graph of one scope at one revision."""

    def __init__(self, aliases: Rows, traits: Rows, rules: Iterable[tuple[str, str, float]], now: int, limit: int):
        self.revision = -1
        self.graph: Any = nx.MultiDiGraph()
        self.closure = Closure(compiled(rules), limit)
        self.wake = _NEVER  # when the next row expires
        self.reshapes = _NEVER  # when the next alias or trait does: then all is built anew
        self.names: dict[int, str] = {}
        self.stems: dict[tuple[str, ...], set[int]] | None = None  # filled by whoever asks by stems
        self.predicates: Counter[str] = Counter()  # of edges
        self._ids: dict[str, int] = {}
        self._target: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._spellings: dict[int, dict[str, int]] = {}
        self._traits: dict[int, list[tuple[str | None, str | None]]] = {}
        self._edges: dict[int, Edge] = {}  # by row
        self._facts: dict[Fact, dict[Edge, None]] = {}
        self._anchored: set[int] = set()
        self._sure: dict[Fact, float] = {}  # confidences worked out since the last change
        self._join(aliases, now)
        self._describe(traits, now)

    # ------------------------------------------------------------------ taking rows in

    def _join(self, aliases: Rows, now: int) -> None:
        pairs = []
        for entity, target, expires_at, key, name, target_key, target_name in aliases:
            if not self._lasts(expires_at, now):
                continue
            self._know(entity, key, name)
            self._know(target, target_key, target_name)
            self._target[entity] = target
            pairs.append((entity, target))
        for entity in dict.fromkeys(one for pair in pairs for one in pair):
            root = self.root(entity)
            self._members.setdefault(root, []).append(entity)
            self._anchor(root)

    def _describe(self, traits: Rows, now: int) -> None:
        for entity, spelt, type_, attributes, _, _, expires_at, key, name in traits:
            if self._lasts(expires_at, now):
                self._know(entity, key, name)
                self._spell(entity, spelt, 1)
                root = self.root(entity)
                self._anchor(root)
                self._traits.setdefault(root, []).append((type_, attributes))

    def _lasts(self, expires_at: int | None, now: int) -> bool:
        if expires_at is None:
            return True
        if expires_at > now:
            self.reshapes = min(self.reshapes, expires_at)
            return True
        return False

    def _anchor(self, root: int) -> None:
        self._anchored.add(root)
        self.graph.add_node(root)

    def _know(self, entity: int, key: str, name: str) -> None:
        self._ids[key] = entity
        if self.names.get(entity) != name:
            self.names[entity] = name
            self.stems = None

    def _spell(self, entity: int, name: str, times: int) -> None:
        spellings = self._spellings.setdefault(entity, {})
        spellings[name] = spellings.get(name, 0) + times
        if spellings[name] <= 0:
            del spellings[name]

    def take(self, rows: Rows) -> None:
        """Take in rows that are new or changed; `expire` then forgets those that have ended."""
        self._sure.clear()
        facts: dict[Fact, None] = {}
        for values in rows:
            told, alive = Told(*values[:12]), bool(values[12])
            if told.row in self._edges:
                self.drop([told.row])
            if not alive:
                continue
            if told.expires_at is not None:
                self.wake = min(self.wake, told.expires_at)
            self._know(told.subject, values[13], values[14])
            self._know(told.object, values[15], values[16])
            edge = self._insert(told)
            facts[edge.fact] = None
        self.closure.add(facts)

    def _insert(self, told: Told) -> Edge:
        subject, object_ = self.root(told.subject), self.root(told.object)
        data = self.graph.get_edge_data(subject, object_, told.predicate)
        if data is None:
            edge = Edge(subject, told.predicate, object_)
            self.graph.add_edge(subject, object_, told.predicate, edge=edge)
            self._facts.setdefault(edge.fact, {})[edge] = None
            self.predicates[edge.predicate] += 1
        else:
            edge = data["edge"]
        edge.rows[told.row] = told
        self._edges[told.row] = edge
        self._spell(told.subject, told.subject_name, 1)
        self._spell(told.object, told.object_name, 1)
        return edge

    def drop(self, rows: Iterable[int]) -> None:
        """Forget rows that are gone."""
        self._sure.clear()
        unsaid = []
        for row in rows:
            edge = self._edges.pop(row, None)
            if edge is None:
                continue
            told = edge.rows.pop(row)
            self._spell(told.subject, told.subject_name, -1)
            self._spell(told.object, told.object_name, -1)
            if edge.rows:
                continue
            self.graph.remove_edge(edge.subject, edge.object, edge.predicate)
            self.predicates[edge.predicate] -= 1
            fact = edge.fact
            del self._facts[fact][edge]
            if not self._facts[fact]:
                del self._facts[fact]
                unsaid.append(fact)
            for node in {edge.subject, edge.object}:
                if node not in self._anchored and not self.graph.degree(node):
                    self.graph.remove_node(node)
        self.closure.remove(unsaid)

    def resting(self, rows: Iterable[int]) -> int:
        """How many inferences rest on these rows and on nothing else; everything is as before afterwards."""
        left: dict[Fact, int] = {}
        for row in rows:
            edge = self._edges.get(row)
            if edge is not None:
                fact = edge.fact
                left.setdefault(fact, sum(len(each.rows) for each in self._facts[fact]))
                left[fact] -= 1
        unsaid = [fact for fact, count in left.items() if count == 0]
        gone = self.closure.remove(unsaid)
        self.closure.add(unsaid)
        self._sure.clear()
        return len(gone)

    def expire(self, now: int) -> None:
        """Forget rows whose record has expired."""
        if now < self.wake:
            return
        ends = {row: edge.rows[row].expires_at for row, edge in self._edges.items()}
        self.drop([row for row, end in ends.items() if end is not None and end <= now])
        self.wake = min((end for end in ends.values() if end is not None and end > now), default=_NEVER)

    def __len__(self) -> int:
        return len(self._edges)

    # ------------------------------------------------------------------ looking up

    def root(self, entity: int) -> int:
        """What an entity means, after aliases and merges."""
        seen = 0
        while entity in self._target and seen <= len(self._target):
            entity, seen = self._target[entity], seen + 1
        return entity

    def lookup(self, name: str) -> int | None:
        """The node of a name; None if nothing is known of it."""
        found = self._ids.get(exact_key(name))
        if found is None:
            found = self._ids.get(entity_key(name))
        if found is None:
            return None
        root = self.root(found)
        return root if root in self.graph else None

    def named(self) -> Iterator[tuple[int, str]]:
        """Every node with every key that leads to it."""
        for key, entity in self._ids.items():
            root = self.root(entity)
            if root in self.graph:
                yield root, key

    def name(self, node: int) -> str:
        """The name a node is shown by."""
        return self.names[node]

    def spellings(self, node: int) -> list[str]:
        """All names of a node: the one it is shown by, then the others as they were told."""
        found = dict.fromkeys([self.names[node]])
        for entity in self._members.get(node, (node,)):
            found.update(dict.fromkeys(self._spellings.get(entity, ())))
            found[self.names[entity]] = None
        return list(found)

    def type(self, node: int) -> str | None:
        """The type a node was given, the last one if several."""
        return next((type_ for type_, _ in reversed(self._traits.get(node, [])) if type_), None)

    def attributes(self, node: int) -> dict[str, Any]:
        """What a node was described with, the later winning."""
        found: dict[str, Any] = {}
        for _, attributes in self._traits.get(node, []):
            found.update(load(attributes) or {})
        return found

    def entity(self, node: int) -> Entity:
        """A node as a value."""
        name, *aliases = self.spellings(node)
        return Entity(name=name, aliases=tuple(aliases), type=self.type(node), attributes=self.attributes(node))

    # ------------------------------------------------------------------ relations

    def edges(self, node: int) -> Iterator[Edge]:
        """The told edges of a node, outgoing first; one from a node to itself once."""
        for _, _, edge in self.graph.out_edges(node, data="edge"):
            yield edge
        for subject, _, edge in self.graph.in_edges(node, data="edge"):
            if subject != node:
                yield edge

    def all_edges(self) -> Iterator[Edge]:
        """Every told edge."""
        return (edge for _, _, edge in self.graph.edges(data="edge"))

    def inferred(self, node: int) -> list[Fact]:
        """What follows about a node, and was not told."""
        derived, found = self.closure.derived, []
        for predicate in dict.fromkeys(clause.head.predicate for clause in self.closure.clauses):
            found += [(node, predicate, other) for other in self.closure.objects(predicate, node)]
            found += [(other, predicate, node) for other in self.closure.subjects(predicate, node) if other != node]
        return [fact for fact in found if fact in derived]

    def told(self, fact: Fact) -> list[Edge]:
        """The edges that say a fact outright."""
        return list(self._facts.get(fact, ()))

    def known(self, fact: Fact) -> Fact | None:
        """The fact, told or inferred, or the same one seen from the other side; None if neither is."""
        if fact in self.closure:
            return fact
        turned = (fact[2], fact[1], fact[0])
        return turned if fact[1] in SYMMETRIC and turned in self.closure else None

    def objects(self, meaning: str, subject: int) -> list[int]:
        """What a node has under a meaning, told or inferred."""
        found = self.closure.objects(meaning, subject)
        return found + (self.closure.subjects(meaning, subject) if meaning in SYMMETRIC else [])

    def subjects(self, meaning: str, object: int) -> list[int]:
        """What has a node under a meaning, told or inferred."""
        found = self.closure.subjects(meaning, object)
        return found + (self.closure.objects(meaning, object) if meaning in SYMMETRIC else [])

    # ------------------------------------------------------------------ relations as values

    def relation(self, edge: Edge) -> Relation:
        """An edge as a value."""
        rows = [edge.rows[row] for row in sorted(edge.rows)]
        sources = tuple(dict.fromkeys(row.record for row in rows if row.record is not None))
        attributes: dict[str, Any] = {}
        for row in rows:
            if row.attributes is not None:
                attributes.update(load(row.attributes))
        return Relation.model_construct(  # out of values that are checked already
            subject=self.names[edge.subject],
            predicate=rows[0].verb,
            object=self.names[edge.object],
            confidence=edge.confidence,
            source=sources[0] if sources else None,
            sources=sources,
            attributes=attributes,
            created_at=instant(rows[0].created_at),
        )

    def conclusion(self, fact: Fact) -> Relation:
        """An inferred fact as a value, with its rule and premises."""
        derivation = self.closure.derived[fact]
        return Relation.model_construct(
            subject=self.names[fact[0]],
            predicate=self.verb(fact),
            object=self.names[fact[2]],
            confidence=self.confidence(fact),
            inferred=True,
            rule=derivation.clause.name,
            premises=tuple(self.triple(premise) for premise in derivation.premises),
        )

    def triple(self, fact: Fact) -> Triple:
        """A fact in words: as it was told first, or by its meaning."""
        edges = self.told(fact)
        if edges:
            return Triple(self.names[edges[0].subject], edges[0].first.verb, self.names[edges[0].object])
        return Triple(self.names[fact[0]], self.verb(fact), self.names[fact[2]])

    def verb(self, fact: Fact) -> str:
        """The word for an inferred fact: that of the premise that says the same relation, else its meaning."""
        derived: Any = self.closure.derived
        for _ in range(len(derived) + 1):
            if fact not in derived:
                edge = next((edge for edge in self.told(fact) if not meaning_of(edge.predicate).turned), None)
                return fact[1] if edge is None else edge.first.verb
            same = [premise for premise in derived[fact].premises if premise[1] == fact[1]]
            if not same:
                return fact[1]
            fact = same[0]
        return fact[1]

    def confidence(self, fact: Fact) -> float:
        """How sure a fact is: the best of its tellings, or what its premises and rule come to together."""
        waiting = [fact]
        while waiting:
            one = waiting[-1]
            edges = self.told(one)
            if edges:
                self._sure[one] = max(edge.confidence for edge in edges)
            elif one not in self._sure:
                derivation = self.closure.derived[one]
                unsure = [premise for premise in derivation.premises if premise not in self._sure]
                if unsure:
                    waiting += unsure
                    continue
                self._sure[one] = derivation.clause.confidence * math.prod(self._sure[p] for p in derivation.premises)
            waiting.pop()
        return self._sure[fact]

    def proof(self, fact: Fact) -> list[Relation]:
        """What says a fact, then what it rests on, down to what was told."""
        found: dict[Triple, Relation] = {}
        seen: set[Fact] = set()
        waiting = [fact]
        while waiting:
            one = waiting.pop(0)
            if one in seen:
                continue
            seen.add(one)
            edges = self.told(one)
            relations = [self.relation(edge) for edge in edges] if edges else [self.conclusion(one)]
            found.update((relation.triple, relation) for relation in relations if relation.triple not in found)
            if not edges:
                waiting += self.closure.derived[one].premises
        return list(found.values())

    # ------------------------------------------------------------------ the whole

    def export(self, inferred: bool) -> Any:
        """A MultiDiGraph of names and plain values, for others to compute with."""
        made: Any = nx.MultiDiGraph()
        for node in self.graph:
            entity = self.entity(node)
            made.add_node(entity.name, type=entity.type, aliases=list(entity.aliases), attributes=entity.attributes)
        for relation in self.relations(inferred=inferred):
            made.add_edge(
                relation.subject, relation.object, relation.predicate, predicate=relation.predicate,
                confidence=relation.confidence, source=relation.source, sources=list(relation.sources),
                attributes=relation.attributes, inferred=relation.inferred, rule=relation.rule,
                premises=[tuple(premise) for premise in relation.premises],
            )  # fmt: skip
        return made

    def relations(self, *, inferred: bool) -> list[Relation]:
        """All relations in the order they were told, then what follows from them."""
        told = sorted(self.all_edges(), key=lambda edge: min(edge.rows))
        found = [self.relation(edge) for edge in told]
        return found + [self.conclusion(fact) for fact in self.closure.derived] if inferred else found
