"""A fact and the turn it was read from are one answer: which of them is shown, and where."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from shared_core.ports import Transaction
from shared_core.recall.arrays import Mask
from shared_core.recall.index import KINDS, ScopeIndex
from shared_core.recall.question import Question
from shared_core.recall.rank import Ranking, cosines
from shared_core.values import Kind

_TURN = KINDS.index(Kind.TURN)
_READ = [KINDS.index(Kind.FACT), KINDS.index(Kind.EVENT)]
_LINKED = [*_READ, KINDS.index(Kind.SUMMARY)]


def is_mixed(index: ScopeIndex, kinds: Collection[Kind] | None) -> bool:
    """Whether turns may be found together with what was read from them."""
    return (kinds is None or Kind.TURN in kinds) and bool(np.isin(index["kind"], _READ).any())


def folded(
    tx: Transaction, index: ScopeIndex, asked: Question, ranking: Ranking, count: int, mask: Mask | None = None
) -> Ranking:
    """The first `count` of a ranking without what was read from turns, for which the turns stand.

    A turn holds the fact in its own words, with what was said around it: beside it, or in front of
    it, the fact would push another memory out (measured on LoCoMo: 2 points of R@5). A fact that
    was told directly, or outlived its turn, stays. A turn comes right after what replaced that fact of it
    which the question is about: of "I am Ann, I live in Lyon" after "I moved to Rome" when asked for the
    place, and not when asked for the name.

    The facts on a subject stand for the summary that holds them, in the same way (in its place among
    them it costs 2.5 points of R@5); who wants summaries asks for them by `kinds`.
    """
    seqs = index["seq"][ranking.slots].tolist()
    kinds = index["kind"][ranking.slots]
    place_of = {seq: place for place, seq in enumerate(seqs)}
    facts = [seqs[place] for place in np.flatnonzero(np.isin(kinds, _LINKED))]
    shown: dict[int, int] = {}  # by fact, the place of its best turn, or its own
    for fact, source in tx.rows("links_of", {"seqs": str(facts)}) if facts else ():
        if mask is not None and (source not in index.slot_of or not mask[index.slot_of[source]]):
            continue  # a filter keeps the turn out, so it can't stand for anything
        shown[fact] = min(place_of.get(source, place_of[fact]), shown.get(fact, len(seqs)))
    order = [place for seq, place in place_of.items() if seq not in shown]
    if (kinds == _TURN).any():
        for turn, successor in _outdated(tx, index, asked, [seqs[place] for place in order]):
            _move_ahead(order, shown.get(successor, place_of.get(successor)), place_of[turn])
    order = order[:count]
    if order == list(range(len(seqs))):
        return ranking
    taken = np.array(order, np.int64)
    parts = {name: part[taken] for name, part in ranking.parts.items()}
    return Ranking(ranking.slots[taken], ranking.values[taken], ranking.cosines[taken], parts)


def _outdated(tx: Transaction, index: ScopeIndex, asked: Question, turns: Sequence[int]) -> list[tuple[int, int]]:
    """Turns whose fact that is nearest to the question was replaced, each with what stands in its place now.

    A fact that ends in a name the question has ("Clara is my sister") is no answer to it, near as it is.
    """
    replaced = _replaced(tx, turns)
    if not replaced:
        return []
    facts_left = tx.rows("facts_of_turns", {"seqs": str(sorted({turn for turn, _, _ in replaced}))})
    told = asked.whole.casefold()
    still = [(turn, fact) for turn, fact, object in facts_left if object is None or object.casefold() not in told]
    facts = sorted({fact for _, fact, *_ in (*replaced, *still) if fact in index.slot_of})
    likeness = dict(
        zip(
            facts,
            cosines(index, asked.for_facts, np.array([index.slot_of[fact] for fact in facts], np.int64)),
            strict=True,
        )
    )
    best: dict[int, float] = {}
    for turn, fact in [(turn, fact) for turn, fact, _ in replaced] + [(turn, fact) for turn, fact in still]:
        best[turn] = max(best.get(turn, -1.0), likeness.get(fact, 0.0))
    return [(turn, heir) for turn, fact, heir in replaced if likeness.get(fact, 0.0) >= best[turn]]


def _replaced(tx: Transaction, turns: Sequence[int]) -> list[tuple[int, int, int]]:
    """Turn, fact and the fact that is true today, of each fact of these turns that was replaced."""
    told = tx.rows("replaced_facts", {"seqs": str(list(turns))})
    steps = tx.rows("successors", {"seqs": str([fact for _, fact in told])}) if told else []
    after, today = {old: new for old, new, _ in steps}, {new for _, new, active in steps if active}
    found = []
    for turn, fact in told:
        heir, seen = after.get(fact), {fact}
        while heir is not None and heir not in today and heir not in seen:  # a damaged file may lead in a circle
            seen.add(heir)
            heir = after.get(heir)
        if heir is not None and heir in today:
            found.append((turn, fact, heir))
    return found


def _move_ahead(order: list[int], place: int | None, of: int) -> None:
    """Put a place right in front of another, unless it stands before it already."""
    if place is None or place == of:
        return
    if place in order:
        if order.index(place) < order.index(of):
            return
        order.remove(place)
    order.insert(order.index(of), place)
