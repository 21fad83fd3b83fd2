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

_REST = ("recency", "importance", "frequency")


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


def recency(record: Record, now: datetime, half_life_hours: float, of: str = "event") -> float:
    """1 for now, halved every half-life; of the event (its time, else when it was stored) or of the last access."""
    return float(0.5 ** (age_hours(record, now, of) / half_life_hours))


def age_hours(record: Record, now: datetime, of: str = "event") -> float:
    """Hours since it happened (else since it was stored), or since it was last recalled; 0 for what is yet to come."""
    since = record.event_time or record.created_at
    if of == "access":
        since = record.accessed_at or since
    return max(0.0, (now - since).total_seconds() / 3600)


def frequency(accesses: int) -> float:
    """log(1 + n) / 5, at most 1."""
    return min(1.0, math.log1p(max(0, accesses)) / 5)


def mixed(relevance: float, record: Record, mix: Mix, now: datetime) -> tuple[float, dict[str, float]]:
    """The value of a record under a mix, and the parts it is made of, each in [0, 1] (C1).

    A sum is the mean of relevance, recency, importance and frequency by their weights. A product is
    relevance * (importance, 1/(1 + days) and accesses/10 by their weights).
    """
    if mix.form == "product":
        parts = {
            "relevance": relevance,
            "recency": 1 / (1 + age_hours(record, now, mix.recency_of) / 24),
            "importance": record.importance,
            "frequency": min(1.0, max(0, record.accesses) / 10),
        }
        return relevance * sum(getattr(mix, name) * parts[name] for name in _REST), parts
    parts = {
        "relevance": relevance,
        "recency": recency(record, now, mix.half_life_hours, mix.recency_of),
        "importance": record.importance,
        "frequency": frequency(record.accesses),
    }
    weights = {name: getattr(mix, name) for name in parts}
    total = sum(weights.values()) or 1.0
    return sum(weights[name] * parts[name] for name in parts) / total, parts


def is_plain(mix: Mix) -> bool:
    """Whether a mix leaves the order to relevance alone."""
    return mix.form == "sum" and not any(getattr(mix, name) for name in _REST)


def shown(hits: list[Hit]) -> list[Hit]:
    """The list as shown: no hit shows a higher score than the one before it."""
    ceiling, found = 1.0, []
    for hit in hits:
        ceiling = min(ceiling, hit.score)
        found.append(hit if hit.score == ceiling else hit.model_copy(update={"score": ceiling}))
    return found
