"""How a ranking is scored: pure functions, shared by every benchmark.

Recall is fractional: the share of a question's evidence found in the first k, averaged over questions
(not "any" and not "all"). The reciprocal rank is that of the first piece of evidence.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

Id = TypeVar("Id", bound=Hashable)
Other = TypeVar("Other", bound=Hashable)

HIT_K = 5
HIT = f"hit@{HIT_K}"

_TURN = re.compile(r"D(\d+):(\d+)")
_RANGE = re.compile(r"D(\d+):(\d+)\s*[-–—~～至]\s*(?:D(\d+):)?(\d+)")


def parse_evidence(raw: Any, known: Collection[str]) -> list[str]:
    """The turns that a LoCoMo or REALTALK question's `evidence` names, in their order, each once.

    Some strings are malformed: several turns in one, or leading zeros. Every `D<n>:<m>` counts, leading
    zeros are dropped, and so are turns that the conversation (`known`) doesn't have. A range stands for
    every turn from its first to its last.

    >>> parse_evidence(["D8:6; D9:17", "D30:05", "D"], {"D8:6", "D9:17", "D30:5"})
    ['D8:6', 'D9:17', 'D30:5']
    >>> parse_evidence("D1:9-D2:1", {"D1:8", "D1:9", "D1:10", "D2:1", "D2:2"})
    ['D1:9', 'D1:10', 'D2:1']
    """
    if raw is None:
        return []
    turns: list[str] = []
    for string in raw if isinstance(raw, list | tuple) else [raw]:
        if isinstance(string, list | tuple):
            turns += parse_evidence(string, known)
            continue
        place = 0
        for found in _TURN.finditer(str(string)):
            if found.start() < place:
                continue  # the end of a range
            span = _RANGE.match(str(string), found.start())
            if span is None:
                turns.append(f"D{int(found[1])}:{int(found[2])}")
                continue
            place = span.end()
            low, high = (int(span[1]), int(span[2])), (int(span[3] or span[1]), int(span[4]))
            inside = (turn for turn in known if _TURN.fullmatch(turn) and low <= turn_order(turn) <= high)
            turns += sorted(inside, key=turn_order)
    return list(dict.fromkeys(turn for turn in turns if turn in known))


def turn_order(turn: str) -> tuple[int, int]:
    """The place of a turn in its conversation: `D2:10` comes after `D2:9`.

    >>> sorted(["D2:10", "D10:1", "D2:9"], key=turn_order)
    ['D2:9', 'D2:10', 'D10:1']
    """
    match = _TURN.fullmatch(turn)
    if match is None:
        raise ValueError(f"not a turn id of the form D<session>:<turn>: {turn!r}")
    return int(match[1]), int(match[2])


def recall_at(ranking: Sequence[Id], relevant: Collection[Id], k: int) -> float:
    """The share of `relevant` among the first `k` of `ranking`. An id that is ranked twice counts once.

    Raises `ValueError` without anything relevant: such a question must be skipped, not scored 0 or 1.
    """
    wanted = set(relevant)
    if not wanted:
        raise ValueError("recall needs at least one relevant id; skip questions without evidence")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return len(wanted.intersection(ranking[:k])) / len(wanted)


def firsts(ranking: Iterable[Id], group_of: Mapping[Id, Other]) -> list[Other]:
    """The groups (sessions) of a ranking's items, each where its best item stands.

    >>> firsts(["a1", "b1", "a2"], {"a1": "a", "a2": "a", "b1": "b"})
    ['a', 'b']
    """
    return list(dict.fromkeys(group_of[id] for id in ranking if id in group_of))


def mrr(ranking: Sequence[Id], relevant: Collection[Id]) -> float:
    """1 / rank of the first relevant id, 0.0 if none is in `ranking` (so a cut ranking gives MRR@cut)."""
    wanted = set(relevant)
    if not wanted:
        raise ValueError("the reciprocal rank needs at least one relevant id; skip questions without evidence")
    return next((1 / rank for rank, id in enumerate(ranking, 1) if id in wanted), 0.0)


def figures(ranking: Sequence[Id], relevant: Collection[Id], ks: Sequence[int]) -> dict[str, float]:
    """One question's figures: `R@k` for every k, `hit@5` (whether anything relevant is in the first 5), and `MRR`."""
    found = {f"R@{k}": recall_at(ranking, relevant, k) for k in ks}
    return found | {HIT: float(recall_at(ranking, relevant, HIT_K) > 0), "MRR": mrr(ranking, relevant)}


def aggregate(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of every figure over the questions, and their number `n`; `{"n": 0}` for no question."""
    rows = list(rows)
    if not rows:
        return {"n": 0}
    return {"n": len(rows)} | {name: statistics.fmean(row[name] for row in rows) for name in rows[0]}


def group(rows: Iterable[tuple[Any, Mapping[str, float]]]) -> dict[Any, dict[str, float]]:
    """`aggregate` for each key (category, conversation), in the order in which the keys first appear."""
    parts: dict[Any, list[Mapping[str, float]]] = {}
    for key, row in rows:
        parts.setdefault(key, []).append(row)
    return {key: aggregate(part) for key, part in parts.items()}


def spread(groups: Iterable[Mapping[str, float]], names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Mean, min, max and sample sd (n - 1; 0.0 for one group) of each figure over groups of equal weight."""
    groups = list(groups)
    out: dict[str, dict[str, float]] = {}
    for name in names if groups else ():
        values = [float(part[name]) for part in groups]
        out[name] = {
            "mean": statistics.fmean(values),
            "min": min(values),
            "max": max(values),
            "sd": statistics.stdev(values) if len(values) > 1 else 0.0,
        }
    return out


def losses(
    ours: Mapping[str, float],
    others: Mapping[str, Mapping[str, float]],
    names: Sequence[str],
    lower_is_better: Collection[str] = (),
) -> list[tuple[str, str, float, float]]:
    """Each (figure, other, ours, theirs) in which another system is strictly better than ours."""
    lost = []
    for name in names:
        for other, row in others.items():
            if name not in row or name not in ours:
                continue
            better = row[name] < ours[name] if name in lower_is_better else row[name] > ours[name]
            if better:
                lost.append((name, other, ours[name], row[name]))
    return lost
