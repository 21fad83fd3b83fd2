"""Ways from one entity to another over told relations, walked in either direction.

networkx' `shortest_simple_paths` does not take multigraphs, and its `all_simple_edge_paths` gives paths
depth first, so that a limit would keep the long ones, and walks into every dead end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shared_core.long_term.graph.knowledge import Edge, Knowledge


def ways(known: Knowledge, start: int, end: int, most: int) -> Iterator[list[Edge]]:
    """The simple paths of at most `most` steps, the shortest first; only nodes near enough to the end are entered."""
    away = distances(known, end, most)
    if start not in away or start == end:
        return
    for length in range(away[start], most + 1):
        yield from _walk(known, start, end, length, away, frozenset({start}))


def distances(known: Knowledge, start: int, most: int) -> dict[int, int]:
    """How many steps each node is away, up to `most`."""
    found = {start: 0}
    ring = [start]
    for step in range(1, most + 1):
        ahead = []
        for node in ring:
            for other in beside(known, node):
                if other not in found:
                    found[other] = step
                    ahead.append(other)
        ring = ahead
    return found


def beside(known: Knowledge, node: int) -> Iterator[int]:
    """The nodes next to one, each once."""
    yield from known.graph.successors(node)
    for other in known.graph.predecessors(node):
        if not known.graph.has_edge(node, other):
            yield other


def _walk(
    known: Knowledge, node: int, end: int, left: int, away: Mapping[int, int], seen: frozenset[int]
) -> Iterator[list[Edge]]:
    for other in beside(known, node):
        if other in seen or away.get(other, left) > left - 1 or (other == end) is not (left == 1):
            continue
        between = _between(known, node, other)
        if other == end:
            yield from ([edge] for edge in between)
            continue
        for rest in _walk(known, other, end, left - 1, away, seen | {other}):
            yield from ([edge, *rest] for edge in between)


def _between(known: Knowledge, one: int, other: int) -> list[Edge]:
    """The told edges between two nodes, both ways."""
    found = []
    for pair in ((one, other), (other, one)):
        data = known.graph.get_edge_data(*pair) or {}
        found += [each["edge"] for each in data.values()]
    return found
