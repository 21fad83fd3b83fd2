"""Questions to practise, fitted to what a student can do; and whether an answer is right."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from fractions import Fraction
from typing import Final

from examples.learning_assistant.adapting import DEFAULT, Rules, question_level
from examples.learning_assistant.catalogue import Catalogue, Lesson, Question
from examples.learning_assistant.learner import State
from examples.learning_assistant.recommending import recommend

_NUMBER: Final = re.compile(r"[+-]?\d{1,12}(\.\d{1,12})?(/\d{1,12})?")
_TOPICS: Final = 20


def questions(
    state: State,
    catalogue: Catalogue,
    now: datetime,
    *,
    subject: str | None = None,
    count: int = 3,
    rules: Rules = DEFAULT,
) -> list[tuple[Lesson, Question]]:
    """The next questions, one of each topic: of what is due, weak, begun and next, in that order, then of the rest.

    The level follows the subject's and the topic's results; what was answered rightly comes again last.
    """
    recommended = recommend(state, catalogue, now, subject=subject, limit=_TOPICS, rules=rules)
    subjects = (subject,) if subject is not None else state.student.subjects
    known = [lesson for name in subjects for lesson in catalogue.lessons_of(name) if lesson.id in state.standings]
    lessons = {lesson.id: lesson for lesson in (*(each.lesson for each in recommended), *known)}
    return [(lesson, _question(state, lesson, rules)) for lesson in lessons.values()][:count]


def _question(state: State, lesson: Lesson, rules: Rules) -> Question:
    standing = state.standing(lesson.id)
    level = question_level(state.pace(lesson.subject).level, standing, rules)

    def order(question: Question) -> tuple[bool, int, int]:
        return standing.answered.get(question.id, False), abs(question.level.rank - level.rank), question.level.rank

    return min(lesson.practice, key=order)


def right(question: Question, answer: str) -> bool:
    """Whether an answer is one of those that count: numbers by value, texts without case, width and spacing.

    >>> from examples.learning_assistant.catalogue import Both
    >>> both = Both(en="", zh="")
    >>> asked = Question(id="q", level="beginner", ask=both, answers=("1/2",), why=both)
    >>> right(asked, " ２/４ "), right(asked, "0.5"), right(asked, "2")
    (True, True, False)
    """
    given = _plain(answer)
    value = _number(given)
    return any(
        given == _plain(each) or (value is not None and value == _number(_plain(each))) for each in question.answers
    )


def _plain(text: str) -> str:
    """A text as answers are compared.

    >>> _plain(" Have   been. ")
    'have been'
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,;:!?。\"'")
    return re.sub(r"\s*([=/+])\s*", r"\1", folded)


def _number(text: str) -> Fraction | None:
    if not _NUMBER.fullmatch(text):  # bounded: "1e999999999" would fill the memory
        return None
    above, _, below = text.partition("/")
    if below and not int(below):
        return None
    return Fraction(above) / (int(below) if below else 1)
