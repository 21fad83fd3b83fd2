"""LongMemEval: one question to a haystack of a user's sessions with an assistant, scored by turn and by session.

Every question has a haystack of its own. The evidence turns are those with `has_answer`, the evidence
sessions `answer_session_ids`. Questions that can't be answered (ids ending in `_abs`) have no evidence and
are skipped, as the set's own retrieval benchmark does.

Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory" (2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.evaluation.sets import Part, Question, Sample, Samples, evenly
from shared_core.evaluation.times import read_time
from shared_core.formats.conversation import as_name
from shared_core.values import Message

_PACE = timedelta(seconds=3)
_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant"}


def matches(document: Any) -> bool:
    """Whether a document holds questions with haystacks.

    >>> matches([{"haystack_sessions": []}]), matches([{"session_1": []}])
    (True, False)
    """
    return next(_walk(document), None) is not None


def read(name: str, document: Any, limit: int | None = None) -> list[Part]:
    """The file's one part."""
    found = list(_walk(document))
    answerable = [raw for raw in found if not str(raw.get("question_id", "")).endswith("_abs") and _asked(raw)]
    chosen = [answerable[place] for place in evenly(len(answerable), limit)]
    skipped = len(found) - len(answerable) if limit is None else 0

    def make(place: int) -> Sample:
        return _sample(chosen[place], place, skipped if place == 0 else 0)

    questions = [(_name(raw, place), _question(raw)) for place, raw in enumerate(chosen)]
    how = "turns of both speakers in the question's own haystack; share of the turns with the answer"
    return [Part("longmemeval", f"LongMemEval {name}", Samples(len(chosen), make), questions, how, "kind of question")]


def _walk(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, dict):
        if isinstance(document.get("haystack_sessions"), list):
            yield document
            return
        document = list(document.values())
    if isinstance(document, list):
        for inner in document:
            yield from _walk(inner)


def _asked(raw: Mapping[str, Any]) -> bool:
    """Whether the question has evidence."""
    question = _question(raw)
    return bool(question.text and (question.evidence or question.sessions))


def _name(raw: Mapping[str, Any], place: int) -> str:
    return as_name(raw.get("question_id")) or f"question {place + 1}"


def _kind(raw: Mapping[str, Any]) -> str:
    return as_name(raw.get("question_type")) or "none"


def _sessions(raw: Mapping[str, Any]) -> list[tuple[str, str, list[Mapping[str, Any]], datetime | None]]:
    """For each session the file's id, one that occurs only once, its turns and its date; oldest first."""
    ids, dates = raw.get("haystack_session_ids") or [], raw.get("haystack_dates") or []
    known: set[str] = set()
    found = []
    for place, session in enumerate(raw["haystack_sessions"]):
        if isinstance(session, dict):  # a session with its turns under a key
            session = next((value for value in session.values() if isinstance(value, list)), [])
        if not isinstance(session, list) or not all(isinstance(turn, dict) for turn in session):
            raise InvalidInput(f"{raw.get('question_id')}: a session of haystack_sessions is a list of turns")
        id = as_name(ids[place]) if place < len(ids) else None
        id = id or f"session {place + 1}"
        own = id if id not in known else f"{id} ({place + 1})"
        known.add(own)
        found.append((id, own, session, read_time(dates[place]) if place < len(dates) else None))
    if all(date is not None for *_, date in found):
        found.sort(key=lambda each: (each[3] is None, each[3]))
    return found


def _question(raw: Mapping[str, Any]) -> Question:
    evidence, sessions = [], []
    wanted = raw.get("answer_session_ids") or []
    answers = {as_name(id) for id in (wanted if isinstance(wanted, list) else [wanted])}
    for id, own, turns, _ in _sessions(raw):
        evidence += [f"{own}:{n}" for n, turn in enumerate(turns) if turn.get("has_answer") and _text(turn)]
        if id in answers:
            sessions.append(own)
    text = str(raw.get("question") or "")
    asked_at = read_time(raw.get("question_date"))
    answer = as_name(raw.get("answer")) or ""
    return Question(text, tuple(evidence), _kind(raw), asked_at, sessions=tuple(sessions), answer=answer)


def _sample(raw: Mapping[str, Any], place: int, skipped: int) -> Sample:
    sessions = {
        own: tuple(
            Message(
                role=_role(turn), content=_text(turn), id=f"{own}:{n}", created_at=date + n * _PACE if date else None
            )
            for n, turn in enumerate(turns)
            if _text(turn)
        )
        for _, own, turns, date in _sessions(raw)
    }
    return Sample(_name(raw, place), sessions, (_question(raw),), skipped, group=_kind(raw))


def _text(turn: Mapping[str, Any]) -> str:
    content = turn.get("content", turn.get("text"))
    return content.strip() if isinstance(content, str) else ""


def _role(turn: Mapping[str, Any]) -> str:
    role = str(turn.get("role") or turn.get("speaker") or "user").lower()
    return _ROLES.get(role, role if role in ("user", "assistant", "system") else "user")
