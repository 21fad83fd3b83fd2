"""What is known of a student, as frozen values; and the words the HTTP interface shares with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple

Language = Literal["en", "zh"]
Texts = Mapping[Language, str]


class LearningStyle(StrEnum):
    """How a student likes things explained."""

    VISUAL = "visual"
    AUDITORY = "auditory"
    READING = "reading"
    KINESTHETIC = "kinesthetic"


class Level(StrEnum):
    """How hard a lesson or a question is."""

    BEGINNER = "beginner"
    INTERMEDIATE = "intermediate"
    ADVANCED = "advanced"

    @property
    def rank(self) -> int:
        """0 for beginner, 2 for advanced."""
        return list(Level).index(self)

    def moved(self, steps: int) -> Level:
        """The level some steps up or down, the ends kept.

        >>> Level.BEGINNER.moved(1), Level.BEGINNER.moved(-1)
        (<Level.INTERMEDIATE: 'intermediate'>, <Level.BEGINNER: 'beginner'>)
        """
        return list(Level)[min(max(self.rank + steps, 0), len(Level) - 1)]


class Completion(StrEnum):
    """How far a student is with a lesson."""

    STARTED = "started"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Verdict(StrEnum):
    """What past results say of a topic."""

    WEAK = "weak"
    DEVELOPING = "developing"
    STRONG = "strong"


class Depth(StrEnum):
    """How much an explanation spells out."""

    STEPWISE = "stepwise"  # every step of a worked example, then the way of seeing it
    WORKED = "worked"  # the idea, the way of seeing it, an example
    BRIEF = "brief"  # the idea in short


class Approach(NamedTuple):
    """How a topic is explained to a student."""

    way: LearningStyle
    depth: Depth


class Rating(StrEnum):
    """How a review went."""

    AGAIN = "again"
    HARD = "hard"
    GOOD = "good"
    EASY = "easy"


@dataclass(frozen=True, slots=True)
class Student:
    """Who learns, and how."""

    user_id: str
    name: str
    style: LearningStyle
    subjects: tuple[str, ...]
    preference: Level
    language: Language


@dataclass(frozen=True, slots=True)
class Standing:
    """How a student stands with one lesson.

    `scores` are the newest results in [0, 1], oldest first; `answered` the last outcome of each practice
    question; `way` how it is explained now, after `misses` results below par in a row.
    """

    content_id: str
    status: Completion = Completion.STARTED
    scores: tuple[float, ...] = ()
    minutes: float = 0.0
    way: LearningStyle | None = None
    misses: int = 0
    answered: Mapping[str, bool] = field(default_factory=dict)
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A lesson's place in spaced repetition: when it is due, and the scheduler's own numbers."""

    content_id: str
    due: datetime
    numbers: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pace:
    """How hard a subject is made for a student: the level, and the results since it was last moved."""

    subject: str
    level: Level
    recent: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """All that decisions about a student are made of."""

    student: Student
    standings: Mapping[str, Standing] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    paces: Mapping[str, Pace] = field(default_factory=dict)

    def pace(self, subject: str) -> Pace:
        """The pace of a subject; at first what the student asked for."""
        return self.paces.get(subject) or Pace(subject, self.student.preference)

    def standing(self, content_id: str) -> Standing:
        """The standing with a lesson; an empty one where nothing was done yet."""
        return self.standings.get(content_id) or Standing(content_id)
