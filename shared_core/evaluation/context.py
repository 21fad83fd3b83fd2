"""Context recall: what share of a question's evidence is in the text that goes into the prompt.

R@k asks where in a list the evidence stands; a prompt has a budget in tokens. twinmem fills it with
`Session.context`; a ranking without a context of its own is filled in here, line by line in its order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from shared_core.ports import TokenCounter

BUDGETS = (500, 1000, 2000, 4000)


def fill(ranking: Iterable[str], costs: Mapping[str, int], budgets: Sequence[int]) -> dict[int, set[str]]:
    """The ids whose lines fit each budget, best first; one that is too long is passed over.

    twinmem passes over what is too long as well, so that a single long text costs no system its place.

    >>> fill(["a", "b"], {"a": 9, "b": 4}, [8, 20])[8]
    {'b'}
    """
    order = list(dict.fromkeys(id for id in ranking if id in costs))
    inside: dict[int, set[str]] = {}
    for budget in budgets:
        left, chosen = budget, set()
        for id in order:
            if costs[id] <= left:
                left -= costs[id]
                chosen.add(id)
        inside[budget] = chosen
    return inside


def line_costs(texts: Mapping[str, str], count: TokenCounter) -> dict[str, int]:
    """What each text costs as a line of its own."""
    return {id: count(text) + 1 for id, text in texts.items()}


def shares(inside: Mapping[int, Collection[str]], evidence: Collection[str]) -> dict[str, float]:
    """The share of the evidence inside each budget, named by it.

    >>> shares({500: {"a"}, 1000: {"a", "b"}}, ["a", "b"])
    {'500': 0.5, '1000': 1.0}
    """
    wanted = set(evidence)
    return {str(budget): len(wanted.intersection(ids)) / len(wanted) for budget, ids in inside.items()}
