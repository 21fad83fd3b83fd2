"""The built-in extractor: a message in, the facts its author states out. No model, no clock, no state."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from shared_core.errors import InvalidInput
from shared_core.values import Message
from shared_core.writing.extraction.answers import answered, corrected
from shared_core.writing.extraction.clauses import in_earnest, is_chinese
from shared_core.writing.extraction.extracted import USER, Extracted

_LONGEST: Final = 20_000  # longer texts are documents somebody pasted: what they say is not about their sender


def extract(
    message: Message, *, at: datetime, speaker: str | None = None, previous: Message | None = None
) -> list[Extracted]:
    """The stable facts that a user's message states, in English or Chinese.

    `at` is the time of the message: aware, and best in the author's own zone, since "yesterday" is
    a day of that zone. `speaker` names the author where several people talk; without one the
    subject is "user". `previous` is the message before it: a short message that answers its
    question, or corrects what it stated, is understood through it.

    Pure and deterministic. Messages of any role but `user` give nothing, nor does code, quoted
    text, or what was recalled into a prompt. Raises `InvalidInput` for a naive `at`.

    >>> from datetime import UTC
    >>> said = Message(role="user", content="I moved to Rome and sold the car")
    >>> [(f.predicate, f.object, f.polarity) for f in extract(said, at=datetime(2024, 5, 15, tzinfo=UTC))]
    [('lives_in', 'Rome', True), ('owns', 'car', False)]
    """
    if at.tzinfo is None:
        raise InvalidInput("at has no timezone; use message.created_at or datetime.now(timezone.utc)")
    if message.role != "user":
        return []
    text = in_earnest(message.text[:_LONGEST])
    found = _read(text, at, speaker)
    if not found and previous is not None:
        found = _in_context(text, at, speaker, previous)
    return _distinct(found)


def _read(text: str, at: datetime, speaker: str | None) -> list[Extracted]:
    # The patterns of a language take some 0.2 s to compile, which an import should not cost anybody.
    if is_chinese(text):
        from shared_core.writing.extraction.chinese import chinese

        return chinese(text, at, speaker)
    from shared_core.writing.extraction.english import english

    return english(text, at, speaker)


def _in_context(text: str, at: datetime, speaker: str | None, previous: Message) -> list[Extracted]:
    before = in_earnest(previous.text[:_LONGEST])
    if whole := answered(before, text, chinese=is_chinese(text) or is_chinese(before)):
        return _read(whole, at, speaker)
    correction = corrected(text)
    if correction is None or previous.role != "user" or (previous.name or None) != (speaker or previous.name or None):
        return []
    new, old = correction
    stated = [fact for fact in _read(before, at, speaker) if fact.polarity and fact.subject == (speaker or USER)]
    meant = [fact for fact in stated if old and old.casefold() in fact.object.casefold()] if old else stated
    if len(meant) != 1:
        return []
    fact = meant[0]
    text = fact.text.replace(fact.object, new)
    entities = tuple(new if name == fact.object else name for name in fact.entities)
    return [replace(fact, object=new, text=text, entities=entities)]


def _distinct(found: list[Extracted]) -> list[Extracted]:
    """Each fact once, in the order it was said."""
    seen: dict[tuple[str, str, str, bool], Extracted] = {}
    for fact in found:
        seen.setdefault((fact.subject.casefold(), fact.predicate, fact.object.casefold(), fact.polarity), fact)
    return list(seen.values())
