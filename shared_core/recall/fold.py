"""A fact and the turn it was read from are one answer: which of them is shown, and where."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from shared_core.ports import Transaction
from shared_core.recall.index import KINDS, ScopeIndex
from shared_core.recall.rank import Ranking
from shared_core.values import Kind

_FACT, _TURN = KINDS.index(Kind.FACT), KINDS.index(Kind.TURN)


def is_mixed(index: ScopeIndex, kinds: Collection[Kind] | None) -> bool:
    """Whether facts and the turns they were read from may both be found."""
    return (kinds is None or {Kind.FACT, Kind.TURN} <= set(kinds)) and bool((index["kind"] == _FACT).any())


def folded(tx: Transaction, index: ScopeIndex, ranking: Ranking, count: int, *, current: bool = True) -> Ranking:
    """The first `count` of a ranking in which a turn stands in the place of what was read from it, if that is better.

    The turn holds the fact in its own words, with what was said around it; beside it the fact would
    only push another memory out. A fact whose turn is not among the ranked ones stays. With
    `current` a turn all of whose facts were replaced comes right after what replaced them.
    """
    seqs = index["seq"][ranking.slots].tolist()
    kinds = index["kind"][ranking.slots]
    facts = [seq for seq, kind in zip(seqs, kinds.tolist(), strict=True) if kind == _FACT]
    place_of = {seq: place for place, seq in enumerate(seqs)}
    turn_of: dict[int, int] = {}
    if facts and (kinds == _TURN).any():
        for fact, source in tx.rows("links_of", {"seqs": str(facts)}):
            if source in place_of:
                turn_of[fact] = min(place_of[source], turn_of.get(fact, len(seqs)))
    order = list(dict.fromkeys(turn_of.get(seq, place) for seq, place in place_of.items()))
    if current and facts:
        order = _newest_first(tx, seqs, order, {seq: turn_of.get(seq, place) for seq, place in place_of.items()})
    order = order[:count]
    if order == list(range(len(seqs))):
        return ranking
    taken = np.array(order, np.int64)
    parts = {name: part[taken] for name, part in ranking.parts.items()}
    return Ranking(ranking.slots[taken], ranking.values[taken], ranking.cosines[taken], parts)


def _newest_first(tx: Transaction, seqs: list[int], order: list[int], shown: dict[int, int]) -> list[int]:
    """The order with successors in front of the turns they made untrue, where both are in it."""
    rows = tx.rows("outdated_turns", {"seqs": str([seqs[place] for place in order])})
    places = {seq: place for place, seq in enumerate(seqs)}
    for turn, successor in rows:
        place = shown.get(successor)
        if place is None or place == places[turn]:
            continue
        behind, ahead = order.index(places[turn]), order.index(place)
        if ahead > behind:
            order.insert(behind, order.pop(ahead))
    return order
