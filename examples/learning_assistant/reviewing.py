"""When a lesson is to be reviewed: spaced repetition by FSRS. The only module that knows the package `fsrs`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, cast

import fsrs

from examples.learning_assistant.learner import Card, Rating

# Lessons come back after days: no steps of minutes, as flashcards have. Without fuzz a due date can be told in advance.
_SCHEDULER: Final = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
_RATINGS: Final = {
    Rating.AGAIN: fsrs.Rating.Again,
    Rating.HARD: fsrs.Rating.Hard,
    Rating.GOOD: fsrs.Rating.Good,
    Rating.EASY: fsrs.Rating.Easy,
}


def reviewed(content_id: str, card: Card | None, rating: Rating, now: datetime) -> Card:
    """The card of a lesson after a review, the first one included.

    >>> from datetime import UTC
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> reviewed("py-lists", None, Rating.GOOD, now).due.date().isoformat()
    '2026-01-03'
    """
    before = fsrs.Card(card_id=1, due=now) if card is None else _theirs(card)
    after, _ = _SCHEDULER.review_card(before, _RATINGS[rating], now)
    return Card(content_id, after.due, dict(after.to_dict()))


def retrievability(card: Card, now: datetime) -> float:
    """The probability in [0, 1] that the lesson is still remembered, as FSRS estimates it."""
    return round(float(_SCHEDULER.get_card_retrievability(_theirs(card), now)), 4)


def _theirs(card: Card) -> fsrs.Card:
    return fsrs.Card.from_dict(cast(Any, card.numbers))
