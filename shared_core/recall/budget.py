"""What enters a token budget: a knapsack, chosen by value per token (C5).

Pure functions of costs and values. A candidate's value is how likely it is to matter: it falls with its
place in the ranking, and rises, by less than its length, with its length. Fitted on LoCoMo: of the lines
at place r a share of about 0.5 / (r + 1)^1.5 is evidence, and of two lines at one place the longer one
more often is. With these two the context holds as much evidence at each budget as the plain order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_EPSILON = 1e-12  # a total has to be better by more than the error of adding floats


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may enter: its tokens, and what it is worth."""

    cost: int
    value: float


def worth(place: int, cost: int, *, decay: float = 1.5, length: float = 0.8) -> float:
    """The value of a line of `cost` tokens at `place` (from 0) of a ranking.

    >>> worth(0, 1), worth(3, 1)
    (1.0, 0.125)
    """
    return float(max(cost, 1) ** length / (place + 1) ** decay)


def choose(candidates: Sequence[Candidate], room: int, *, exact_cells: int = 400_000) -> list[int]:
    """The places of the candidates to take, in ascending order; their costs add up to at most `room`.

    Where candidates times tokens are at most `exact_cells`, the choice has the highest value there is
    (dynamic programming over tokens). Above that it is greedy by value per token: worth at least half
    of the best choice, and short of it by less than the value of one candidate. Of equal choices the
    one with the earlier candidates. What is worth nothing is never taken, what costs nothing always.

    >>> items = [Candidate(6, 6.0), Candidate(5, 4.0), Candidate(5, 4.0)]
    >>> choose(items, 10), choose(items, 10, exact_cells=0)
    ([1, 2], [0])
    """
    free = [place for place, each in enumerate(candidates) if each.cost <= 0 < each.value]
    places = [place for place, each in enumerate(candidates) if 0 < each.cost <= room and each.value > 0]
    if sum(candidates[place].cost for place in places) <= room:
        return sorted(free + places)
    offered = [candidates[place] for place in places]
    found = _exact(offered, room) if len(offered) * (room + 1) <= exact_cells else _greedy(offered, room)
    return sorted(free + [places[each] for each in found])


def _exact(candidates: Sequence[Candidate], room: int) -> list[int]:
    """The best choice: `best[c]` is the highest value within `c` tokens, by the candidates looked at so far."""
    best = np.zeros(room + 1)
    taken = np.zeros((len(candidates), room + 1), np.bool_)
    for place in range(len(candidates) - 1, -1, -1):  # backwards, so that the way back meets the first ones first
        cost, value = candidates[place].cost, candidates[place].value
        with_it = best[: room + 1 - cost] + value
        better = with_it >= best[cost:] - _EPSILON
        taken[place, cost:] = better
        best[cost:] = np.where(better, with_it, best[cost:])
    chosen, left = [], room
    for place, each in enumerate(candidates):
        if taken[place, left]:
            chosen.append(place)
            left -= each.cost
    return chosen


def _greedy(candidates: Sequence[Candidate], room: int) -> list[int]:
    """By value per token, passing over what does not fit; or the most valuable one alone, if that is more."""
    order = sorted(range(len(candidates)), key=lambda place: -candidates[place].value / candidates[place].cost)
    chosen, left = [], room
    for place in order:
        if candidates[place].cost <= left:
            chosen.append(place)
            left -= candidates[place].cost
    alone = max(range(len(candidates)), key=lambda place: candidates[place].value)
    if candidates[alone].value > sum(candidates[place].value for place in chosen):
        return [alone]
    return chosen
