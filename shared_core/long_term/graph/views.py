"""What a graph shows of itself: neighbours, paths, surroundings, a text for the prompt. Pure reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import islice

from shared_core.long_term.graph.knowledge import Edge, Knowledge
from shared_core.long_term.graph.names import has_unspaced, predicate_key
from shared_core.long_term.graph.predicates import meaning_of
from shared_core.long_term.graph.values import Neighbour, Path, Relation, Subgraph
from shared_core.long_term.graph.ways import ways

_LONGEST_VALUE = 200  # characters of an attribute in the prompt
_MORE = ("- … and", "- ……另有")


def neighbours(
    known: Knowledge, node: int, predicate: str | None, inferred: bool, limit: int | None
) -> list[Neighbour]:
    """What a node's relations lead to, told ones first."""
    return list(islice(_neighbours(known, node, predicate, inferred), limit))


def _neighbours(known: Knowledge, node: int, predicate: str | None, inferred: bool) -> Iterator[Neighbour]:
    wanted = None if predicate is None else predicate_key(predicate)
    meant = None if wanted is None else meaning_of(wanted)
    for edge in known.edges(node):
        if wanted is None or edge.predicate == wanted or meaning_of(edge.predicate) == meant:
            yield _neighbour(known, node, edge.subject, edge.object, known.relation(edge))
    for fact in known.inferred(node) if inferred else ():
        if meant is None or meant.meaning == fact[1]:
            yield _neighbour(known, node, fact[0], fact[2], known.conclusion(fact))


def _neighbour(known: Knowledge, node: int, subject: int, object: int, relation: Relation) -> Neighbour:
    other = object if subject == node else subject
    # Out of values that are checked already: without validating them again it takes a quarter of the time.
    return Neighbour.model_construct(name=known.name(other), relation=relation, outgoing=subject == node)


def paths(known: Knowledge, start: int, end: int, depth: int, limit: int) -> list[Path]:
    """The ways from one node to another over told relations, the shortest first."""
    found = []
    for edges in islice(ways(known, start, end, depth), limit):
        names, at = [known.name(start)], start
        for edge in edges:
            at = edge.object if edge.subject == at else edge.subject
            names.append(known.name(at))
        found.append(Path(names=tuple(names), relations=tuple(known.relation(edge) for edge in edges)))
    return found


def subgraph(known: Knowledge, node: int, depth: int, limit: int) -> Subgraph:
    """The told relations within `depth` steps of a node, the nearest first, at most `limit` of them."""
    away, edges, complete = _spread(known, [node], depth, limit, frozenset(), closed=True)
    return Subgraph(
        center=known.name(node),
        entities=tuple(known.entity(one) for one in away),
        relations=tuple(known.relation(edge) for edge in edges),
        complete=complete,
    )


def around(known: Knowledge, nodes: Sequence[int], depth: int, limit: int, without: Set[str]) -> list[Relation]:
    """The told relations that lead at most `depth` steps away from any of these nodes, the nearest first."""
    return [known.relation(edge) for edge in _spread(known, nodes, depth, limit, without, closed=False)[1]]


def _spread(
    known: Knowledge, nodes: Sequence[int], depth: int, limit: int, without: Set[str], *, closed: bool
) -> tuple[dict[int, int], dict[Edge, None], bool]:
    """Nodes with their distance, edges, and whether that is all.

    `without` are keys of predicates that are not walked; `closed` takes in the edges between the
    nodes that are farthest away.
    """
    away = dict.fromkeys(nodes, 0)
    edges: dict[Edge, None] = {}
    complete = True
    ring = list(away)
    for step in range(depth + closed):
        ahead = []
        for one in ring:
            for edge in known.edges(one):
                other = edge.object if edge.subject == one else edge.subject
                if edge in edges or edge.predicate in without or (step == depth and other not in away):
                    continue
                if len(edges) == limit:
                    complete = False
                    break
                edges[edge] = None
                if other not in away:
                    away[other] = step + 1
                    ahead.append(other)
        ring = ahead
    return away, edges, complete


def lines(known: Knowledge, nodes: Sequence[int], most: int) -> list[str]:
    """What is known of nodes, a line each: what each of them is, then its surest relations, none of them twice."""
    found: dict[str, None] = {}
    for node in nodes:
        head, *relations = text(known, node, most).splitlines()
        if head != known.name(node) or not relations:
            found[f"- {head}"] = None
        found.update(dict.fromkeys(line for line in relations if not _is_count(line)))
    return list(found)


def _is_count(line: str) -> bool:
    return line.startswith(_MORE)


def text(known: Knowledge, node: int, most: int) -> str:
    """A node and its surest relations, one a line, in the language of its name; told before inferred."""
    relations, more = surest(known, node, most)
    return _written(known, node, relations, more)


def surest(known: Knowledge, node: int, most: int) -> tuple[list[Relation], int]:
    """A node's surest relations, the newest of equals first, told before inferred; how many more there are."""
    edges = sorted(known.edges(node), key=lambda edge: (-edge.confidence, -max(edge.rows)))
    relations = [known.relation(edge) for edge in edges[:most]]
    facts = known.inferred(node)
    if len(relations) < most:
        relations += [known.conclusion(fact) for fact in facts[: most - len(relations)]]
    return relations, len(edges) + len(facts) - len(relations)


def _written(known: Knowledge, node: int, relations: Sequence[Relation], more: int) -> str:
    entity = known.entity(node)
    chinese = has_unspaced(entity.name) or any(has_unspaced(relation.predicate) for relation in relations)
    about = [entity.type] if entity.type else []
    if entity.aliases:
        about.append(("又名 " if chinese else "also ") + ("、" if chinese else ", ").join(entity.aliases))
    about += [f"{key}: {str(value)[:_LONGEST_VALUE]}" for key, value in entity.attributes.items()]
    head = " ".join(f"{entity.name} ({'; '.join(about)})".split()) if about else entity.name
    lines = [f"- {relation}{_notes(relation, chinese)}" for relation in relations]
    if more and lines:
        lines.append(f"{_MORE[1]} {more} 条" if chinese else f"{_MORE[0]} {more} more")
    return "\n".join([head, *lines])


def _notes(relation: Relation, chinese: bool) -> str:
    notes = [("推断" if chinese else "inferred")] if relation.inferred else []
    if relation.confidence < 1:
        notes.append(f"{'置信度' if chinese else 'confidence'} {relation.confidence:.2g}")
    return f" ({', '.join(notes)})" if notes else ""
