"""Which scope leaves memory first: the one used least, of late."""

from __future__ import annotations

import random

from shared_core.recall.heat import Heat


def swept(heat: Heat[str], keys: list[str], room: int, uses: list[str]) -> int:
    """Use things with room for a few; how often something had to be loaded."""
    loads = 0
    for key in uses:
        if key not in keys:
            loads += 1
            keys.append(key)
        heat.touch(key)
        while len(keys) > room:
            coldest = heat.coldest(keys, but=key)
            assert coldest is not None
            keys.remove(coldest)
            heat.evict(coldest)
    return loads


def test_d9_a_sweep_over_cold_ones_does_not_push_out_what_is_used_all_the_time() -> None:
    heat: Heat[str] = Heat()
    keys: list[str] = []
    swept(heat, keys, 10, ["hot"] * 50)
    swept(heat, keys, 10, [f"cold {n}" for n in range(40)])
    assert "hot" in keys
    assert heat.uses("hot") == 50
    assert heat.evicted == 31


def test_d9_what_was_hot_once_cools_down() -> None:
    heat: Heat[str] = Heat()
    keys: list[str] = []
    swept(heat, keys, 3, ["was hot"] * 20)
    swept(heat, keys, 3, [f"new {n % 4}" for n in range(400)])
    assert "was hot" not in keys


def test_d9_of_equals_the_one_used_longest_ago_leaves_and_never_the_one_in_use() -> None:
    heat: Heat[str] = Heat()
    for key in "abc":
        heat.touch(key)
    assert heat.coldest("abc", but="a") == "b"
    assert heat.coldest("a", but="a") is None
    heat.forget("abc")
    assert heat.uses("a") == 0


def test_d9_it_keeps_more_of_a_skewed_load_than_the_least_recently_used_would() -> None:
    from collections import OrderedDict

    rng = random.Random(4)
    uses = [f"user {int(rng.paretovariate(0.8))}" if rng.random() < 0.7 else f"once {n}" for n in range(4_000)]
    lru: OrderedDict[str, None] = OrderedDict()
    loads = 0
    for key in uses:
        loads += key not in lru
        lru[key] = None
        lru.move_to_end(key)
        if len(lru) > 30:
            lru.popitem(last=False)
    assert swept(Heat(), [], 30, uses) < loads
