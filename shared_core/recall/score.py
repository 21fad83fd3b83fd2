"""A record's own score, and the parts that can be weighed into its place.

The score says how well one record answers one question, whatever the other candidates: so a
threshold means the same today and tomorrow, for one user and another.
"""

from __future__ import annotations

import math
from datetime import datetime

from shared_core.recall.text import normal, terms
from shared_core.settings import Mix
from shared_core.values import Hit, Record


def coverage(asked: list[str], text: str) -> float:
    """The share of a question's terms that a text holds, between 0 and 1.

    >>> coverage(["green", "tea"], "She drinks tea")
    0.5
    """
    if not asked:
        return 0.0
    held = set(terms(text))
    return sum(term in held for term in asked) / len(asked)


def same_text(a: str, b: str) -> bool:
    """Whether two texts look the same: NFKC, case and surrounding space aside."""
    return normal(a).strip() == normal(b).strip()


def own_score(cosine: float, matched: float, *, identical: bool, word_bonus: float) -> float:
    """max(0, cosine of its best piece), raised by matched words; 1.0 for identical text.

    With nothing matched it is the cosine; all words matched close `word_bonus` of the gap to 1.

    >>> own_score(0.4, 0.5, identical=False, word_bonus=0.5)
    0.55
    """
    if identical:
        return 1.0
    meaning = min(1.0, max(0.0, cosine))
    return min(1.0, meaning + (1.0 - meaning) * word_bonus * matched)


def recency(record: Record, now: datetime, half_life_hours: float) -> float:
    """1 for now, halved every half-life; from the event time where there is one."""
    hours = (now - (record.event_time or record.created_at)).total_seconds() / 3600
    return float(0.5 ** (max(0.0, hours) / half_life_hours))


def frequency(accesses: int) -> float:
    """log(1 + n) / 5, at most 1."""
    return min(1.0, math.log1p(max(0, accesses)) / 5)


def mixed(relevance: float, record: Record, mix: Mix, now: datetime) -> tuple[float, dict[str, float]]:
    """The weighted sum of relevance, recency, importance and frequency, and its parts (C1)."""
    parts = {
        "relevance": relevance,
        "recency": recency(record, now, mix.half_life_hours),
        "importance": record.importance,
        "frequency": frequency(record.accesses),
    }
    weights = {name: getattr(mix, name) for name in parts}
    total = sum(weights.values()) or 1.0
    return sum(weights[name] * parts[name] for name in parts) / total, parts


def shown(hits: list[Hit]) -> list[Hit]:
    """The list as shown: no hit shows a higher score than the one before it."""
    ceiling, found = 1.0, []
    for hit in hits:
        ceiling = min(ceiling, hit.score)
        found.append(hit if hit.score == ceiling else hit.model_copy(update={"score": ceiling}))
    return found
