"""What a student should do next: reviews that are due, weak topics, what was begun, then what the prerequisites open."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from examples.learning_assistant.adapting import DEFAULT, Rules, mastery, verdict
from examples.learning_assistant.catalogue import Catalogue, Lesson
from examples.learning_assistant.learner import Completion, State, Verdict
from examples.learning_assistant.reviewing import retrievability


class Reason(StrEnum):
    """Why a lesson is recommended, the most urgent first."""

    DUE = "due"
    WEAK = "weak"
    CONTINUE = "continue"
    NEXT = "next"


class Recommendation(NamedTuple):
    """A lesson to take up, and why; `because` is the lesson that needs it, where it is a prerequisite."""

    lesson: Lesson
    reason: Reason
    because: Lesson | None = None


def recommend(
    state: State,
    catalogue: Catalogue,
    now: datetime,
    *,
    subject: str | None = None,
    limit: int = 5,
    rules: Rules = DEFAULT,
) -> list[Recommendation]:
    """At most `limit` lessons of a subject, or of all the student's subjects, each once."""
    subjects = (subject,) if subject is not None else state.student.subjects
    lessons = [lesson for name in subjects for lesson in catalogue.lessons_of(name)]
    found: dict[str, Recommendation] = {}
    for each in (
        *_due(state, lessons, now),
        *_weak(state, catalogue, lessons, rules),
        *_begun(state, lessons),
        *_next(state, catalogue, lessons, rules),
    ):
        found.setdefault(each.lesson.id, each)
    return list(found.values())[:limit]


def _due(state: State, lessons: list[Lesson], now: datetime) -> Iterator[Recommendation]:
    """What is due for review, what is most likely forgotten first."""
    due = [lesson for lesson in lessons if lesson.id in state.cards and state.cards[lesson.id].due <= now]
    for lesson in sorted(due, key=lambda lesson: retrievability(state.cards[lesson.id], now)):
        yield Recommendation(lesson, Reason.DUE)


def _weak(state: State, catalogue: Catalogue, lessons: list[Lesson], rules: Rules) -> Iterator[Recommendation]:
    """What went badly, the weakest first; before each what it stands on, where that isn't firm."""
    weak = [lesson for lesson in lessons if _is_weak(state, lesson, rules)]
    for lesson in sorted(weak, key=lambda lesson: mastery(state.standing(lesson.id).scores, rules) or 0.0):
        for need in lesson.needs:
            if not _firm(state, catalogue.lessons[need], rules):
                yield Recommendation(catalogue.lessons[need], Reason.WEAK, because=lesson)
        yield Recommendation(lesson, Reason.WEAK)


def _begun(state: State, lessons: list[Lesson]) -> Iterator[Recommendation]:
    for lesson in lessons:
        standing = state.standings.get(lesson.id)
        if standing is not None and standing.status is not Completion.COMPLETED:
            yield Recommendation(lesson, Reason.CONTINUE)


def _next(state: State, catalogue: Catalogue, lessons: list[Lesson], rules: Rules) -> Iterator[Recommendation]:
    """What is new and has all it needs, nearest to the student's level first, not above it where that can be."""
    new = [lesson for lesson in lessons if lesson.id not in state.standings]
    ready = [lesson for lesson in new if all(_firm(state, catalogue.lessons[need], rules) for need in lesson.needs)]

    def distance(lesson: Lesson) -> tuple[bool, int]:
        gap = lesson.level.rank - state.pace(lesson.subject).level.rank
        return gap > 0, abs(gap)

    for lesson in sorted(ready, key=distance):
        yield Recommendation(lesson, Reason.NEXT)


def _is_weak(state: State, lesson: Lesson, rules: Rules) -> bool:
    return verdict(state.standing(lesson.id).scores, rules) is Verdict.WEAK


def _firm(state: State, lesson: Lesson, rules: Rules) -> bool:
    """Whether a lesson is completed and no weakness, so that others can build on it."""
    return state.standing(lesson.id).status is Completion.COMPLETED and not _is_weak(state, lesson, rules)
