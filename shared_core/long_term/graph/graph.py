"""`Graph`: what a scope knows of people and things, and how they hang together."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shared_core.errors import InvalidInput, InvalidType, LimitExceeded, NotFound
from shared_core.long_term.graph import likeness
from shared_core.long_term.graph.names import predicate_key, shown
from shared_core.long_term.graph.predicates import BUILTIN
from shared_core.long_term.graph.telling import Telling
from shared_core.long_term.graph.values import (
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
from shared_core.recall.dense import normalised
from shared_core.recall.text import is_blank
from shared_core.steps import Steps, both, threaded
from shared_core.store import scopes

if TYPE_CHECKING:
    from shared_core.long_term.graph.knowledge import Knowledge

Likenesses = list[tuple[Entity, float]]


class Graph(Telling):
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

    def _repr_html_(self) -> str:
        from shared_core.notebook import graph

        return graph(self)

    # ------------------------------------------------------------------ reading

    def entity(self, name: str) -> Entity | None:
        """The entity of a name or alias; None if nothing is known of it."""
        with self._reading() as known:
            node = known.lookup(_spelling(name))
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
        from shared_core.long_term.graph import views

        if limit is not None and limit < 0:
            raise InvalidInput("limit is negative")
        with self._reading() as known:
            node = known.lookup(_spelling(name))
            return [] if node is None else views.neighbours(known, node, predicate, inferred, limit)

    def paths(self, a: str, b: str, max_depth: int | None = None, *, limit: int | None = None) -> list[Path]:
        """The ways from one entity to another over at most `max_depth` (3) told relations, the shortest first.

        Relations are walked in either direction; each path passes an entity once. At most `limit`
        (`settings.graph.paths`) paths are given.
        """
        from shared_core.long_term.graph import views

        settings = self._scope._live().settings.graph
        depth = _whole(settings.path_depth if max_depth is None else max_depth, "max_depth")
        most = _whole(settings.paths if limit is None else limit, "limit")
        with self._reading() as known:
            start, end = known.lookup(_spelling(a)), known.lookup(_spelling(b))
            return [] if start is None or end is None else views.paths(known, start, end, depth, most)

    def subgraph(self, name: str, depth: int | None = None, *, limit: int | None = None) -> Subgraph | None:
        """What lies within `depth` (2) steps of an entity; None if nothing is known of it.

        At most `limit` (`settings.graph.subgraph_relations`) relations, the nearest first;
        `complete` tells whether there are more.
        """
        from shared_core.long_term.graph import views

        settings = self._scope._live().settings.graph
        steps = _whole(settings.subgraph_depth if depth is None else depth, "depth")
        most = _whole(settings.subgraph_relations if limit is None else limit, "limit")
        with self._reading() as known:
            node = known.lookup(_spelling(name))
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
        from shared_core.long_term.graph import views

        settings = self._scope._live().settings.graph
        most = _whole(settings.text_relations if max_relations is None else max_relations, "max_relations")
        with self._reading() as known:
            node = known.lookup(_spelling(name))
            return "" if node is None else views.text(known, node, most)

    def around(
        self, names: Sequence[str], depth: int | None = None, *, limit: int | None = None, without: Collection[str] = ()
    ) -> list[Relation]:
        """The told relations that lead at most `depth` (2) steps away from any of these entities, the nearest first.

        At most `limit` (`settings.graph.subgraph_relations`); `without` names predicates that are
        not walked. Unlike `subgraph` it takes in no relation between two that are farthest away.
        """
        from shared_core.long_term.graph import views

        settings = self._scope._live().settings.graph
        steps = _whole(settings.subgraph_depth if depth is None else depth, "depth")
        most = _whole(settings.subgraph_relations if limit is None else limit, "limit")
        keys = frozenset(predicate_key(each) for each in without)
        with self._reading() as known:
            nodes = [node for name in names if (node := known.lookup(_spelling(name))) is not None]
            return views.around(known, nodes, steps, most, keys)

    def named(self, text: str | Sequence[str], limit: int | None = None) -> list[Entity]:
        """The entities a text names, in its order, then whoever says "I"; at most `limit` (5).

        Of several texts the first comes first. The last `settings.graph.named_chars` characters of
        a text are read, and of all texts together no more.

        >>> from shared_core import AgentMemory
        >>> graph = AgentMemory.open(embedder="hashing").scope(user="alice").graph
        >>> _ = graph.add("张伟", "就职于", "ACME")
        >>> [entity.name for entity in graph.named("Does acme still employ 张伟?")]
        ['ACME', '张伟']
        """
        with self._naming(text, limit) as (known, nodes):
            return [known.entity(node) for node in nodes]

    def about(
        self, text: str | Sequence[str], *, max_entities: int | None = None, max_relations: int | None = None
    ) -> list[str]:
        """What is known of the entities a text (or several) names, for the prompt: a line each, none of them twice.

        Of at most `max_entities` (5) entities, and of each its surest `max_relations` (10) relations.

        >>> from shared_core import AgentMemory
        >>> graph = AgentMemory.open(embedder="hashing").scope(user="alice").graph
        >>> _ = graph.add("Ann", "works at", "ACME"), graph.add("Bob", "likes", "tea")
        >>> graph.about("How is Ann?")
        ['- Ann works at ACME']
        """
        from shared_core.long_term.graph import views

        settings = self._scope._live().settings.graph
        most = _whole(settings.text_relations if max_relations is None else max_relations, "max_relations")
        with self._naming(text, max_entities) as (known, nodes):
            return views.lines(known, nodes, most)

    @contextmanager
    def _naming(self, text: Any, limit: int | None) -> Iterator[tuple[Knowledge, list[int]]]:
        from shared_core.long_term.graph import mentions

        settings = self._scope._live().settings.graph
        most = _whole(settings.named if limit is None else limit, "limit")
        texts, read, left = [text] if isinstance(text, str) else text, list[str](), settings.named_chars
        if not isinstance(texts, Sequence) or not all(isinstance(each, str) for each in texts):
            raise InvalidType(f"a text, or a list of texts, is needed to look for names, not {type(text).__name__}")
        for each in texts:
            read.append(each[-left:] if left else "")
            left -= len(read[-1])
        with self._reading() as known:
            yield known, mentions.named(known, "\n".join(read), self._scope.user)[:most]

    def _similar(self, query: str | Sequence[float], k: int = 5) -> Steps[Likenesses]:
        """The entities whose names are nearest to a text in meaning: each with its cosine, cut at 0, best first.

        A vector instead of a text has to come from the memory's own embedder. Raises
        `InvalidInput` for one of another length, or that is no vector.

        Embeds every name that is not in the embedder's cache, so it suits graphs of thousands of
        entities, not of millions. Likeness proposes: whether two are one thing is for you to say.
        """
        engine = self._scope._live()
        most = _whole(k, "k")
        with self._reading() as known:
            names = [known.name(node) for node in sorted(known.graph)]
        if not names or not most or (isinstance(query, str) and is_blank(query)):
            return []
        vectors = yield from engine.model.documents(names)
        if isinstance(query, str):
            asked = yield from engine.model.query(str(self._scope._as_asked(query)))
        else:
            asked = normalised([query], vectors.shape[1], 1)[0]
        scores = (vectors @ asked).clip(0, 1)
        best = sorted(range(len(names)), key=lambda place: (-scores[place], place))[:most]
        with self._reading() as known:
            nodes = [(known.lookup(names[place]), float(scores[place])) for place in best]
            return [(known.entity(node), score) for node, score in nodes if node is not None]

    similar, asimilar = both(_similar)

    def stats(self) -> GraphStats:
        """How many entities, told relations and inferred relations there are."""
        with self._reading() as known:
            return GraphStats(
                entities=known.graph.number_of_nodes(),
                relations=known.predicates.total(),
                inferred=len(known.closure.derived),
            )

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
                scope = scopes.scope_id(tx, self._scope.user, self._scope.agent)
                split = [] if scope is None else tx.rows("apart_pairs", {"scope": scope})
            for one, other in split:
                ends = sorted((known.root(one), known.root(other)))
                apart.add((ends[0], ends[1]))
        return likeness.proposals(names, apart, most)

    # ------------------------------------------------------------------ inference and questions

    def rules(self) -> list[Rule]:
        """The rules at work: the built-in ones that are not dropped, then the user's."""
        with self._scope._live().store.look() as tx:
            scope = scopes.scope_id(tx, self._scope.user, self._scope.agent)
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
        from shared_core.long_term.graph.ask import answers

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
        from shared_core.long_term.graph import drawing

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
        from shared_core.long_term.graph import node_link

        return node_link.write(path, self.entities(), self.relations(inferred=False))

    aproposals = threaded(proposals)
    aentity = threaded(entity)
    aentities = threaded(entities)
    arelations = threaded(relations)
    aneighbours = threaded(neighbours)
    apaths = threaded(paths)
    asubgraph = threaded(subgraph)
    atext = threaded(text)
    aaround = threaded(around)
    anamed = threaded(named)
    aabout = threaded(about)
    astats = threaded(stats)
    arules = threaded(rules)
    aask = threaded(ask)
    ato_networkx = threaded(to_networkx)
    adraw = threaded(draw)
    asave = threaded(save)


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{what} is a whole number from 0, not {value!r}")
    return value


def _spelling(name: Any) -> str:
    """A name as it would be kept; a blank one is simply nobody's."""
    if not isinstance(name, str):
        raise InvalidType(f"a name is a text, not {type(name).__name__}")
    return shown(name)
