"""A demo student: four weeks of lessons, reviews, practice and questions, told through the assistant's own verbs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from examples.learning_assistant.assistant import Assistant
from examples.learning_assistant.learner import Completion, Language, LearningStyle, Level, Rating, Student

STUDENTS: Final = {
    "mia": Student("mia", "Mia", LearningStyle.VISUAL, ("mathematics", "python"), Level.BEGINNER, "en"),
    "xiaoyu": Student("xiaoyu", "小雨", LearningStyle.VISUAL, ("mathematics", "python"), Level.BEGINNER, "zh"),
}
"""The demo students, in English and in Chinese."""

WEEKS: Final = 4
_ASKED: Final[dict[Language, tuple[str, str]]] = {
    "en": ("I have an exam on fractions on Friday. How do I add them?", "How do lists and loops work?"),
    "zh": ("我周五有分数考试。分数加法怎么做？", "列表与循环怎么用？"),
}


class Walking:
    """A clock that is walked through the past, and then goes on as the real one does."""

    def __init__(self, real: Callable[[], datetime]) -> None:
        self._real = real
        self._at: datetime | None = None

    def __call__(self) -> datetime:
        """The time it shows, in UTC."""
        return self._at or self._real()

    def walk(self, to: datetime | None) -> None:
        """Stand at a time; None for the present."""
        self._at = to


def seed(assistant: Assistant, clock: Walking, student: Student) -> None:
    """Four weeks of a student, up to now; nothing where the student is known already."""
    if assistant.known(student.user_id):
        return
    now = clock()
    id, (fractions, lists) = student.user_id, _ASKED[student.language]

    def on(day: int) -> None:
        clock.walk(now - timedelta(days=7 * WEEKS - day))

    try:
        on(0)
        assistant.save_profile(student)
        assistant.ask(id, "week-1", fractions, "mathematics")
        assistant.progress(id, "math-fractions", Completion.IN_PROGRESS, 2, 20)
        on(1)
        assistant.progress(id, "math-fractions", Completion.IN_PROGRESS, 2, 25)
        on(3)
        assistant.progress(id, "math-fractions", Completion.COMPLETED, 4, 20)
        assistant.progress(id, "py-variables", Completion.COMPLETED, 5, 15)
        on(8)
        assistant.review(id, "math-fractions", Rating.GOOD)
        assistant.ask(id, "week-2", lists, "python")
        assistant.progress(id, "py-lists", Completion.COMPLETED, 4, 25)
        assistant.answer(id, "py-lists-1", "5")
        on(15)
        assistant.progress(id, "math-percent", Completion.COMPLETED, 2, 30)
        assistant.answer(id, "math-percent-1", "80")
        on(22)
        assistant.progress(id, "py-functions", Completion.STARTED, 3, 10)
        assistant.review(id, "py-variables", Rating.EASY)
    finally:
        clock.walk(None)
