"""What goes over HTTP: requests, checked before anything is done, and answers."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from examples.learning_assistant.learner import Completion, Depth, Language, LearningStyle, Level, Rating, Verdict
from examples.learning_assistant.recommending import Reason


def _line(text: str) -> str:
    """One line of text that can be shown and stored."""
    text = unicodedata.normalize("NFC", text)
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text):
        raise ValueError("control characters and line breaks are not allowed")
    return text


def _prose(text: str) -> str:
    """Text of several lines that can be shown and stored."""
    if any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\r\t" for c in text):
        raise ValueError("control characters are not allowed")
    return text


def _limits(most: int) -> StringConstraints:
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=most)


UserId = Annotated[str, _limits(100), AfterValidator(_line)]
SessionId = Annotated[str, _limits(100), AfterValidator(_line)]
SubjectName = Annotated[str, _limits(80), AfterValidator(_line)]
ContentId = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: UserId


class ProfileRequest(_Request):
    """Who learns, and how. `language` is taken from the name where it is not given."""

    name: Annotated[str, _limits(100), AfterValidator(_line)]
    learning_style: LearningStyle
    subjects: Annotated[list[SubjectName], Field(min_length=1, max_length=20)]
    difficulty_preference: Level
    language: Language | None = None


class QuestionRequest(_Request):
    """A question of a student in a conversation."""

    session_id: SessionId
    question: Annotated[str, _limits(4_000), AfterValidator(_prose)]
    subject: SubjectName


class ProgressRequest(_Request):
    """What was done with a lesson; `time_spent` in minutes since the last report."""

    content_id: ContentId
    completion_status: Completion
    understanding_level: Annotated[int, Field(ge=1, le=5, strict=True)]
    time_spent: Annotated[float, Field(ge=0, le=1_440, allow_inf_nan=False)]


class ReviewRequest(_Request):
    """How a review went."""

    rating: Rating


class PracticeRequest(_Request):
    """An answer to a practice question."""

    answer: Annotated[str, _limits(500), AfterValidator(_line)]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Topic(_Answer):
    """How a student stands with a lesson; `mastery` and `minutes` as far as anything was done."""

    content_id: str
    title: str
    subject: str
    status: Completion
    mastery: float | None
    verdict: Verdict | None
    way: LearningStyle
    depth: Depth
    minutes: float
    review_due: datetime | None


class ProfileAnswer(_Answer):
    """A student: what was told, and what results say."""

    user_id: str
    name: str
    learning_style: LearningStyle
    subjects: list[str]
    difficulty_preference: Level
    language: Language
    levels: dict[str, Level]
    strengths: list[str]
    weaknesses: list[str]
    topics: list[Topic]


class Recalled(_Answer):
    """A memory that the model had for its answer, and where it comes from."""

    text: str
    why: str


class QuestionAnswer(_Answer):
    """The tutor's answer, how it was fitted to the student, and what of the memory was in it."""

    answer: str
    session_id: str
    message_id: str
    subject: str
    content_id: str | None
    difficulty: Level
    way: LearningStyle
    depth: Depth
    scripted: bool
    memories: list[Recalled]


class RecommendedLesson(_Answer):
    """A lesson to take up, and why."""

    content_id: str
    title: str
    subject: str
    level: Level
    minutes: int
    reason: Reason
    why: str


class ReviewItem(_Answer):
    """A lesson to review; `retrievability` is the probability in [0, 1] that it is still remembered."""

    content_id: str
    title: str
    subject: str
    due: datetime
    overdue_days: int
    retrievability: float


class PracticeItem(_Answer):
    """A question to practise."""

    question_id: str
    content_id: str
    title: str
    level: Level
    question: str


class PracticeResult(_Answer):
    """Whether an answer was right, why, and what it changed."""

    correct: bool
    answer: str
    why: str
    topic: Topic
    level: Level


class MemoryLine(_Answer):
    """Something remembered: a fact with the time it held, or an event."""

    text: str
    type: str
    at: datetime
    current: bool


class Forgotten(_Answer):
    """What was erased of a student; `verified`: nothing of it is left, in no row and no byte of the file."""

    count: int
    erased: dict[str, int]
    at: datetime
    verified: bool
    pending: bool


class LessonItem(_Answer):
    """A lesson of the catalogue."""

    content_id: str
    title: str
    subject: str
    level: Level
    minutes: int
    needs: list[str]


class Problem(_Answer):
    """What is wrong with a request: the field it is in, and why."""

    where: str
    message: str


class ErrorBody(_Answer):
    """An error: `type` for programs, `message` for people, `problems` one by one for a request that is refused."""

    type: str
    message: str
    problems: list[Problem] = []


class ErrorAnswer(_Answer):
    """The body of every answer that is an error."""

    error: ErrorBody
