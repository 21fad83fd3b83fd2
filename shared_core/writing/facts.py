"""What an extractor found as drafts: checked, redacted, with the turn they came from."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from shared_core.errors import InvalidInput
from shared_core.store.rows import Draft, micros
from shared_core.values import Message
from shared_core.writing.conflict import address
from shared_core.writing.intake import Intake, cut, digest, fraction

if TYPE_CHECKING:  # its package compiles the extractor's rules: half of what importing the core takes
    from shared_core.writing.extraction import Extracted

RULES, LLM, CUSTOM = "rules", "llm", "extractor"
"""The names of extractors in a fact's provenance."""

_LOG = logging.getLogger("twinmem.facts")
_EXPLICIT = 0.9  # what somebody asked to have remembered matters
# A memory as `context` writes it: "- [2026-01-02, user] I like tea", lines that go on indented.
_RECALLED = re.compile(r"^[ \t]*- \[\d{4}-\d\d-\d\d, [^\]\n]*\].*(?:\n  .*)*$", re.MULTILINE)


def own_words(text: str) -> str:
    """A message without lines that a context had put into it: what was recalled is never new."""
    return _RECALLED.sub(" ", text) if "- [" in text else text


def spoken(turn: Draft) -> Message:
    """A turn as its extractor reads it: redacted, and only what its author wrote."""
    return Message(role=turn.role or "user", content=own_words(turn.text), name=turn.name, id=turn.message_id)


def worth_reading(turn: Draft) -> bool:
    """Whether a turn may hold facts: only what a user says is one."""
    return turn.kind == "turn" and turn.role == "user" and bool(turn.text)


def drafts(found: Iterable[Extracted], turn: Draft, intake: Intake, now: int) -> list[Draft]:
    """Facts and dated plans as drafts; one that can't be kept is left out with a warning."""
    made = []
    for fact in found:
        try:
            made.append(_draft(fact, turn, intake, now))
        except InvalidInput as error:
            _LOG.warning("a fact of message %s was left out: %s", turn.message_id, error)
    return made


def _draft(fact: Extracted, turn: Draft, intake: Intake, now: int) -> Draft:
    told = now if turn.created_at is None else turn.created_at
    when = None if fact.when is None else micros(fact.when)
    kind = "event" if fact.planned else "fact"
    importance = fraction(fact.importance, "importance")
    item = Draft(
        kind=kind,
        text=intake.text(fact.text),
        type=fact.type,
        triple=intake.triple((fact.subject, fact.predicate, fact.object)),
        polarity=fact.polarity and not fact.ended,
        over=fact.ended,
        entities=intake.entities(fact.entities),
        source=turn.source,
        role=turn.role,
        name=None,
        importance=max(importance, _EXPLICIT) if fact.explicit else importance,
        confidence=fraction(fact.confidence, "confidence"),
        event_time=when,
        created_at=turn.created_at,
    )
    item.topic, item.thing = address(kind, item.text, item.triple, polarity=item.polarity)
    if kind == "fact":
        item.valid_from = when if when is not None and when <= told else None
    else:
        item.digest = digest(kind, item.text, when)  # a plan told again is one plan
    intake.freshen(item, told)
    cut(item)
    return item


def told_at(turn: Draft, now: int) -> int:
    """When a turn was said, in microseconds."""
    return now if turn.created_at is None else turn.created_at
