"""A fact and the turn it was read from are one answer: which of them is shown, and where."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from shared_core.ports import Transaction
from shared_core.recall.index import KINDS, ScopeIndex
from shared_core.recall.rank import Ranking
from shared_core.values import Kind

_TURN = KINDS.index(Kind.TURN)
_READ = [KINDS.index(Kind.FACT), KINDS.index(Kind.EVENT)]


def is_mixed(index: ScopeIndex, kinds: Collection[Kind] | None) -> bool:
    """Whether turns may be found together with what was read from them."""
    return (kinds is None or Kind.TURN in kinds) and bool(np.isin(index["kind"], _READ).any())


def folded(tx: Transaction, index: ScopeIndex, ranking: Ranking, count: int) -> Ranking:
    """The first `count` of a ranking without what was read from turns, for which the turns stand.

    A turn holds the fact in its own words, with what was said around it: beside it, or in front of
    it, the fact would push another memory out (measured on LoCoMo: 2 points of R@5). A fact that
    was told directly, or outlived its turn, stays. A turn all of whose facts were replaced comes
    right after what replaced them.
    """
    seqs = index["seq"][ranking.slots].tolist()
    kinds = index["kind"][ranking.slots]
    place_of = {seq: place for place, seq in enumerate(seqs)}
    facts = [seqs[place] for place in np.flatnonzero(np.isin(kinds, _READ))]
    shown: dict[int, int] = {}  # by fact, the place of its best turn, or its own
    for fact, source in tx.rows("links_of", {"seqs": str(facts)}) if facts else ():
        shown[fact] = min(place_of.get(source, place_of[fact]), shown.get(fact, len(seqs)))
    order = [place for seq, place in place_of.items() if seq not in shown]
    if (kinds == _TURN).any():
        for turn, successor in tx.rows("outdated_turns", {"seqs": str([seqs[place] for place in order])}):
            _move_ahead(order, shown.get(successor, place_of.get(successor)), place_of[turn])
    order = order[:count]
    if order == list(range(len(seqs))):
        return ranking
    taken = np.array(order, np.int64)
    parts = {name: part[taken] for name, part in ranking.parts.items()}
    return Ranking(ranking.slots[taken], ranking.values[taken], ranking.cosines[taken], parts)


def _move_ahead(order: list[int], place: int | None, of: int) -> None:
    """Put a place right in front of another, unless it stands before it already."""
    if place is None or place == of:
        return
    if place in order:
        if order.index(place) < order.index(of):
            return
        order.remove(place)
    order.insert(order.index(of), place)
