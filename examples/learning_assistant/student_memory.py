"""How a student is kept in twinmem: the only module that reads and writes records.

One scope a student. What is known of the student and what results say (levels, strengths, weaknesses, how a topic
is explained) are facts: a new one supersedes the old, which stays with its dates and is found with `as_of`. What
happened is events. What the application computes with (standings, review cards, the pace of a subject) is items with
fixed ids. One verb writes all that an action changes in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from examples.learning_assistant import words
from examples.learning_assistant.adapting import DEFAULT, Rules, approach, verdict
from examples.learning_assistant.catalogue import Catalogue, Lesson
from examples.learning_assistant.learner import (
    Card,
    Completion,
    Language,
    LearningStyle,
    Level,
    Pace,
    Standing,
    State,
    Student,
)
from shared_core import Record, Scope

AGENT: Final = "learning-assistant"
SETTINGS: Final = {
    "facts": {"single_valued": ("student name", "learning style", "student subjects", "starting level",
                                "answer language", "level", "mastery", "explained")},
}  # fmt: skip
"""What of a student has one value at a time: a new value supersedes."""

_LEARNER, _LEVEL, _MASTERY, _APPROACH = "learner", "level", "mastery", "approach"
_STANDING, _CARD, _PACE = "standing", "review-card", "pace"
_PREDICATES: Final = {"name": "student name", "style": "learning style", "subjects": "student subjects",
                      "preference": "starting level", "language": "answer language"}  # fmt: skip
_ASKED: Final = "question"
Draft = dict[str, Any]


class StudentMemory:
    """What is remembered of one student."""

    def __init__(self, scope: Scope, catalogue: Catalogue, rules: Rules = DEFAULT) -> None:
        self._scope = scope
        self._catalogue = catalogue
        self._rules = rules

    # ------------------------------------------------------------------ reading

    def state(self) -> State | None:
        """All that decisions are made of; None for a student who has no profile."""
        types = [_LEARNER, _LEVEL, _STANDING, _CARD, _PACE]
        by_type: dict[str, list[Mapping[str, Any]]] = {}
        lessons = self._catalogue.lessons
        for record in self._scope.list(kinds=["fact", "item"], where={"type": {"$in": types}}):
            content = record.metadata.get("content")
            if content is None or content in lessons:  # the course may have changed since
                by_type.setdefault(record.type or "", []).append(record.metadata)
        learner = {each["field"]: each["value"] for each in by_type.get(_LEARNER, ())}
        if not learner:
            return None
        student = _student(self._scope.user, learner)
        recent = {each["subject"]: tuple(each["recent"]) for each in by_type.get(_PACE, ())}
        levels = {each["subject"]: Level(each["level"]) for each in by_type.get(_LEVEL, ())}
        return State(
            student,
            {each["content"]: _standing(each) for each in by_type.get(_STANDING, ())},
            {each["content"]: _card(each) for each in by_type.get(_CARD, ())},
            {name: Pace(name, levels.get(name, student.preference), recent.get(name, ())) for name in levels | recent},
        )

    def events(self, limit: int) -> list[Record]:
        """What happened last, newest first."""
        return self._scope.list(kinds=["event"], order="-event_time", limit=limit)

    def versions(self) -> list[Record]:
        """All levels, verdicts and ways of explaining there were, the replaced ones included, newest first."""
        where = {"type": {"$in": [_LEVEL, _MASTERY, _APPROACH]}, "status": {"$in": ["active", "superseded"]}}
        return self._scope.list(kinds=["fact"], where=where, order="-event_time")

    def topic_of(self, session_id: str) -> Lesson | None:
        """The lesson a conversation was last about, within a day."""
        found = self._scope.episodes.timeline(types=[_ASKED], session=session_id, limit=1)
        return self._catalogue.lessons.get(found[0].metadata["content"]) if found else None

    # ------------------------------------------------------------------ writing

    def asked(self, session_id: str, lesson: Lesson, language: Language, at: datetime) -> None:
        """Note what a conversation is about; it goes with the conversation."""
        text = words.sentence("asked", language, topic=lesson.title.in_(language))
        details = {"content": lesson.id, "subject": lesson.subject}
        self._scope.episodes.add(text, type=_ASKED, details=details, importance=0.3, session=session_id, at=at)

    def write(self, before: State | None, after: State, at: datetime, event: Draft | None = None) -> None:
        """Keep what an action changed, and that it happened, in one transaction."""
        drafts = [
            *self._learner(before, after.student),
            *self._levels(before, after, at),
            *self._standings(before, after, at),
            *(_kept_card(card) for id, card in after.cards.items() if before is None or before.cards.get(id) != card),
            *([{"kind": "event", "event_time": at, **event}] if event else ()),
        ]
        self._scope.add_many(drafts)
        if before is None or before.student != after.student:
            self._profile(after.student)

    def _profile(self, student: Student) -> None:
        """What the memory tells every model about the student at the head of its context."""
        profile, language = self._scope.profile, student.language
        titles = [self._catalogue.subject_title(name, language) for name in student.subjects]
        profile.set("name", student.name)
        profile.set("style", words.sentence("answering", language, value=words.STYLES[student.style][language]))
        profile.set("interests", words.listed(titles, language))

    def _learner(self, before: State | None, student: Student) -> Iterator[Draft]:
        for field, value in _fields(student).items():
            if (
                before is not None
                and _fields(before.student)[field] == value
                and before.student.language == student.language
            ):
                continue
            said = words.sentence(field, student.language, value=self._told(field, student))
            yield {
                "text": said, "type": _LEARNER, "metadata": {"field": field, "value": value},
                "triple": ("user", _PREDICATES[field], words.listed(value, "en") if isinstance(value, list) else value),
            }  # fmt: skip

    def _told(self, field: str, student: Student) -> str:
        language = student.language
        if field == "subjects":
            return words.listed((self._catalogue.subject_title(name, language) for name in student.subjects), language)
        if field == "style":
            return words.STYLES[student.style][language]
        return words.LEVELS[student.preference][language] if field == "preference" else student.name

    def _levels(self, before: State | None, after: State, at: datetime) -> Iterator[Draft]:
        language = after.student.language
        for name, pace in after.paces.items():
            old = None if before is None else before.paces.get(name)
            if old == pace:
                continue
            yield _item(_PACE, name, {"subject": name, "recent": list(pace.recent)})
            if old is None or old.level is not pace.level:
                title = self._catalogue.subject_title(name, language)
                text = words.sentence("level", language, level=words.LEVELS[pace.level][language], subject=title)
                found = {"subject": name, "level": pace.level.value}
                yield _fact(text, _LEVEL, (name, "level", pace.level.value), found, at)

    def _standings(self, before: State | None, after: State, at: datetime) -> Iterator[Draft]:
        student = after.student
        for id, standing in after.standings.items():
            old = (before.standings.get(id) if before else None) or Standing(id)
            if old == standing:
                continue
            yield _kept_standing(standing)
            lesson = self._catalogue.lessons[id]
            topic, name = lesson.title.in_(student.language), lesson.title.en
            found = verdict(standing.scores, self._rules)
            if found is not None and found is not verdict(old.scores, self._rules):
                text = words.verdict_text(topic, found, student.language)
                yield _fact(text, _MASTERY, (name, "mastery", found.value), {"content": id, "verdict": found.value}, at)
            way = approach(student, standing, self._rules)
            if standing.scores and (not old.scores or way != approach(student, old, self._rules)):
                spoken = {
                    "way": words.STYLES[way.way][student.language],
                    "depth": words.DEPTHS[way.depth][student.language],
                }
                text = words.sentence("approach", student.language, topic=topic, **spoken)
                kept = {"content": id, "way": way.way.value, "depth": way.depth.value}
                yield _fact(text, _APPROACH, (name, "explained", f"{way.way.value} {way.depth.value}"), kept, at)


# ---------------------------------------------------------------------- values and their records


def _fact(text: str, type: str, triple: tuple[str, str, str], metadata: Draft, at: datetime) -> Draft:
    # Dated: what is true again after something else was is a new fact, not the old one told twice.
    return {"text": text, "type": type, "triple": triple, "metadata": metadata, "event_time": at, "source": AGENT}


def _item(type: str, key: str, metadata: Draft) -> Draft:
    return {"text": None, "kind": "item", "id": f"{type}/{key}", "type": type, "metadata": metadata}


def _fields(student: Student) -> dict[str, Any]:
    return {
        "name": student.name, "style": student.style.value, "subjects": list(student.subjects),
        "preference": student.preference.value, "language": student.language,
    }  # fmt: skip


def _student(user_id: str, found: Mapping[str, Any]) -> Student:
    """A student out of the facts there are; what the student has deleted has its default."""
    return Student(
        user_id, found.get("name", user_id), LearningStyle(found.get("style", "reading")),
        tuple(found.get("subjects", ())), Level(found.get("preference", "beginner")), found.get("language", "en"),
    )  # fmt: skip


def _kept_standing(standing: Standing) -> Draft:
    return _item(
        _STANDING, standing.content_id,
        {
            "content": standing.content_id, "status": standing.status.value, "scores": list(standing.scores),
            "minutes": standing.minutes, "way": standing.way, "misses": standing.misses,
            "answered": dict(standing.answered), "at": standing.at and standing.at.isoformat(),
        },
    )  # fmt: skip


def _standing(found: Mapping[str, Any]) -> Standing:
    way, at = found.get("way"), found.get("at")
    return Standing(
        found["content"], Completion(found["status"]), tuple(found["scores"]), found["minutes"],
        LearningStyle(way) if way else None, found["misses"], found["answered"], datetime.fromisoformat(at) if at else None,
    )  # fmt: skip


def _kept_card(card: Card) -> Draft:
    return _item(_CARD, card.content_id, {"content": card.content_id, "numbers": dict(card.numbers)})


def _card(found: Mapping[str, Any]) -> Card:
    return Card(found["content"], datetime.fromisoformat(found["numbers"]["due"]), found["numbers"])
