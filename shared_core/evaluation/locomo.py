"""LoCoMo and REALTALK: long talks of two people, with questions whose evidence is single turns.

The turns come from the reader that `twinmem import` uses; this module adds the questions. REALTALK has
one file a chat, its sessions beside the questions instead of under `conversation`.

Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents" (2024); Lee et al.,
"REALTALK: A 21-Day Real-World Dataset for Long-Term Conversation" (2025).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.evaluation.retrieval import parse_evidence
from shared_core.evaluation.sets import Part, Question, Sample, evenly, part
from shared_core.evaluation.times import read_time
from shared_core.formats import locomo
from shared_core.formats.conversation import as_name
from shared_core.values import Message

CATEGORIES = {
    "locomo": {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "5": "adversarial"},
    "realtalk": {"1": "multi-hop", "2": "temporal", "3": "commonsense"},
}
_TITLES = {"locomo": "LoCoMo", "realtalk": "REALTALK"}
_HOW = "turns of the question's own conversation; share of the evidence turns; all categories"
_TURN = re.compile(r"D0*(\d+):0*(\d+)")


def matches(document: Any) -> str | None:
    """ "locomo" or "realtalk" for a document of that shape, else None."""
    found = next(_samples(document, ""), None)
    if found is None:
        return None
    return "locomo" if isinstance(found[1].get("conversation"), dict) else "realtalk"


def read(documents: Sequence[tuple[str, Any]], set: str, limit: int | None = None) -> list[Part]:
    """The set's one part, from documents with their names. Raises `InvalidInput` for what is no sample with `qa`."""
    found = [pair for name, document in documents for pair in _samples(document, name)]
    samples: list[Sample] = []
    for place in evenly(len(found), limit):
        name, raw = found[place]
        sample = _sample(name, raw, CATEGORIES[set])
        if any(other.name == sample.name for other in samples):
            raise InvalidInput(f"{name}: a second conversation called {sample.name!r}; name each file once")
        samples.append(sample)
    return [part(set, _TITLES[set], samples, _HOW)]


def _samples(document: Any, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The samples anywhere in a document, each with a name made of the path to it."""
    if locomo.matches(document):
        yield name, document
    elif isinstance(document, list):
        for number, inner in enumerate(document, 1):
            yield from _samples(inner, name if len(document) == 1 else f"{name}-{number}")
    elif isinstance(document, dict):
        for key, inner in document.items():
            if isinstance(inner, dict | list):
                yield from _samples(inner, str(key))


def _sample(name: str, raw: Mapping[str, Any], categories: Mapping[str, str]) -> Sample:
    body = raw["conversation"] if isinstance(raw.get("conversation"), dict) else raw
    entries = raw["qa"] if "qa" in raw else body.get("qa")
    if not isinstance(entries, list):
        raise InvalidInput(f"{name}: a sample needs a list `qa` of questions to be scored; has {sorted(raw)[:8]}")
    sessions: dict[str, tuple[Message, ...]] = {}
    for conversation in locomo.conversations(raw, name, ""):
        key = conversation.session.strip()
        sessions[key] = tuple(_named(list(conversation.messages), body[key], int(key.removeprefix("session_"))))
    known = [str(message.id) for messages in sessions.values() for message in messages]
    questions, skipped = [], 0
    for entry in entries:
        evidence = parse_evidence(entry.get("evidence"), known)
        if evidence and entry.get("question"):
            category = as_name(entry.get("category")) or "none"
            asked_at = read_time(entry.get("asked_at") or entry.get("question_date"))
            text = str(entry["question"])
            kind = categories.get(category, category)
            questions.append(Question(text, tuple(evidence), kind, asked_at, answer=as_name(entry.get("answer")) or ""))
        else:
            skipped += 1
    return Sample(as_name(raw.get("sample_id")) or name, sessions, tuple(questions), skipped)


def _named(messages: list[Message], raw: Sequence[Mapping[str, Any]], session: int) -> Iterator[Message]:
    """The messages under the ids that evidence uses, "D2:10", whatever form the file's own ids have."""
    places = [place for place, turn in enumerate(raw, 1) if locomo.text_of(turn)]
    for place, message in zip(places, messages, strict=True):
        own = as_name(raw[place - 1].get("dia_id")) or ""
        if found := _TURN.fullmatch(own.strip()):
            id = f"D{found[1]}:{found[2]}"
        else:
            id = f"D{session}:{int(own) if own.strip().isdecimal() else place}"
        yield message if message.id == id else message.model_copy(update={"id": id})
