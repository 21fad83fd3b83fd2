"""The built-in extractor: a message in, the facts its author states out. No model, no clock, no state."""

from __future__ import annotations

from datetime import datetime

from shared_core.errors import InvalidInput
from shared_core.values import Message
from shared_core.writing.extraction.chinese import chinese
from shared_core.writing.extraction.clauses import in_earnest, is_chinese
from shared_core.writing.extraction.english import english
from shared_core.writing.extraction.extracted import Extracted

_LONGEST = 20_000  # longer texts are documents somebody pasted; what they say of themselves stands at their start


def extract(
    message: Message, *, at: datetime, speaker: str | None = None, previous: Message | None = None
) -> list[Extracted]:
    """The stable facts that a user's message states, in either language."""
    if at.tzinfo is None:
        raise InvalidInput("at has no timezone")
    if message.role != "user":
        return []
    text = in_earnest(message.text[:_LONGEST])
    found = chinese(text, at, speaker) if is_chinese(text) else english(text, at, speaker)
    return _distinct(found)


def _distinct(found: list[Extracted]) -> list[Extracted]:
    seen: dict[tuple[str, str, str, bool], Extracted] = {}
    for fact in found:
        seen.setdefault((fact.subject.casefold(), fact.predicate, fact.object.casefold(), fact.polarity), fact)
    return list(seen.values())
