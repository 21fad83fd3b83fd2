"""What enters a token budget: the best choice where that can be known, a good one elsewhere (C5)."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.recall.budget import Candidate, choose, worth

CANDIDATES = st.lists(
    st.builds(Candidate, cost=st.integers(1, 30), value=st.floats(0.01, 10, allow_nan=False)), max_size=9
)


def total(candidates: list[Candidate], places: list[int]) -> tuple[int, float]:
    return sum(candidates[p].cost for p in places), sum(candidates[p].value for p in places)


def brute(candidates: list[Candidate], room: int) -> float:
    """The highest value of all choices that fit, by trying each."""
    choices = (list(c) for n in range(len(candidates) + 1) for c in combinations(range(len(candidates)), n))
    return max(value for cost, value in (total(candidates, c) for c in choices) if cost <= room)


@given(CANDIDATES, st.integers(0, 120))
def test_c5_a_small_choice_is_the_best_there_is(candidates: list[Candidate], room: int) -> None:
    places = choose(candidates, room)
    cost, value = total(candidates, places)
    assert cost <= room
    assert places == sorted(set(places))
    assert value == pytest.approx(brute(candidates, room))


@given(CANDIDATES, st.integers(0, 120))
def test_c5_a_greedy_choice_is_within_its_bounds(candidates: list[Candidate], room: int) -> None:
    cost, value = total(candidates, choose(candidates, room, exact_cells=0))
    best = brute(candidates, room)
    assert cost <= room
    assert value >= best / 2 - 1e-9
    assert value >= best - max((c.value for c in candidates), default=0) - 1e-9


def test_c5_a_large_choice_is_greedy_and_nearly_as_good_as_the_exact_one() -> None:
    random = Random(5)
    candidates = [Candidate(cost := random.randint(20, 90), worth(place, cost)) for place in range(400)]
    exact = total(candidates, choose(candidates, 2_000, exact_cells=10**9))
    greedy = total(candidates, choose(candidates, 2_000, exact_cells=0))
    assert exact[0] <= 2_000
    assert greedy[0] <= 2_000
    assert 0.97 * exact[1] <= greedy[1] <= exact[1] + 1e-9


def test_c5_value_per_token_decides_and_the_plain_order_would_not() -> None:
    """One long first hit against three short ones that together say more."""
    candidates = [Candidate(30, 3.0), Candidate(10, 2.0), Candidate(10, 2.0), Candidate(10, 2.0)]
    assert choose(candidates, 30) == [1, 2, 3]
    assert choose(candidates, 30, exact_cells=0) == [1, 2, 3]
    assert choose(candidates, 60) == [0, 1, 2, 3]


@pytest.mark.parametrize("cells", [0, 10**6])
def test_c5_equals_go_to_the_earlier_worthless_ones_stay_out_free_ones_come_in(cells: int) -> None:
    same = [Candidate(5, 1.0)] * 4
    assert choose(same, 10, exact_cells=cells) == [0, 1]
    assert choose([Candidate(1, 0.0), Candidate(0, 1.0), Candidate(9, 1.0)], 5, exact_cells=cells) == [1]
    assert choose([], 5, exact_cells=cells) == []
    assert choose([Candidate(1, 1.0)], 0, exact_cells=cells) == []


def test_c5_worth_falls_with_the_place_and_rises_with_the_length_but_not_per_token() -> None:
    places = [worth(place, 20) for place in range(50)]
    assert places == sorted(places, reverse=True)
    assert worth(4, 20) < worth(4, 80) < 4 * worth(4, 20)
