"""How past results change what comes next: pure functions of values and rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from examples.learning_assistant.learner import (
    Approach,
    Depth,
    LearningStyle,
    Level,
    Pace,
    Rating,
    Standing,
    Student,
    Verdict,
)


class Rules(BaseModel):
    """The numbers of adaptation; scores lie in [0, 1]."""

    model_config = ConfigDict(frozen=True)

    keep: int = Field(6, ge=1, description="newest results of a lesson that count")
    newest: float = Field(0.6, gt=0, le=1, description="weight of the newest result against all before it")
    strong: float = Field(0.75, description="mastery from which a topic is a strength")
    weak: float = Field(0.5, description="mastery below which a topic is a weakness")
    rise: float = Field(0.75, description="mean of the last results from which a subject gets harder")
    rise_after: int = Field(3, ge=1, description="results at a level before it can rise")
    fall: float = Field(0.4, description="mean of the last results up to which a subject gets easier")
    fall_after: int = Field(2, ge=1, description="results at a level before it can fall")
    another_way: int = Field(
        2, ge=1, description="results below `weak` in a row after which a topic is explained another way"
    )


DEFAULT: Final = Rules()
RATED: Final = {Rating.AGAIN: 0.0, Rating.HARD: 0.5, Rating.GOOD: 0.75, Rating.EASY: 1.0}
"""What a review says of the mastery of its lesson."""

# The next way to try: from looking to doing, from listening to reading, and round.
_NEXT: Final = {
    LearningStyle.VISUAL: LearningStyle.KINESTHETIC,
    LearningStyle.KINESTHETIC: LearningStyle.AUDITORY,
    LearningStyle.AUDITORY: LearningStyle.READING,
    LearningStyle.READING: LearningStyle.VISUAL,
}


def score_of(understanding: int) -> float:
    """An understanding from 1 to 5 as a score.

    >>> score_of(1), score_of(4)
    (0.0, 0.75)
    """
    return (understanding - 1) / 4


def rating_of(understanding: int) -> Rating:
    """What an understanding says to the scheduler of reviews: 1 again, 2 hard, 3 and 4 good, 5 easy."""
    return (Rating.AGAIN, Rating.HARD, Rating.GOOD, Rating.GOOD, Rating.EASY)[understanding - 1]


def mastery(scores: Sequence[float], rules: Rules = DEFAULT) -> float | None:
    """The exponentially weighted mean of results, the newest counting most; None without any.

    >>> mastery([0.0, 1.0]), mastery([])
    (0.6, None)
    """
    found: float | None = None
    for score in scores:
        found = score if found is None else (1 - rules.newest) * found + rules.newest * score
    return None if found is None else round(found, 4)


def verdict(scores: Sequence[float], rules: Rules = DEFAULT) -> Verdict | None:
    """Whether a topic is a weakness, a strength, or between; None before the first result."""
    value = mastery(scores, rules)
    if value is None:
        return None
    return Verdict.STRONG if value >= rules.strong else Verdict.WEAK if value < rules.weak else Verdict.DEVELOPING


def paced(pace: Pace, score: float, rules: Rules = DEFAULT) -> Pace:
    """The pace of a subject after a result. A level that moves begins to count anew.

    >>> pace = Pace("python", Level.BEGINNER)
    >>> for score in (1.0, 0.75, 1.0):
    ...     pace = paced(pace, score)
    >>> pace
    Pace(subject='python', level=<Level.INTERMEDIATE: 'intermediate'>, recent=())
    """
    recent = (*pace.recent, score)[-max(rules.rise_after, rules.fall_after) :]
    last_up, last_down = recent[-rules.rise_after :], recent[-rules.fall_after :]
    step = 0
    if len(last_up) == rules.rise_after and sum(last_up) / len(last_up) >= rules.rise:
        step = 1
    elif len(last_down) == rules.fall_after and sum(last_down) / len(last_down) <= rules.fall:
        step = -1
    level = pace.level.moved(step)
    return replace(pace, level=level, recent=recent if level is pace.level else ())


def scored(standing: Standing, score: float, style: LearningStyle, rules: Rules = DEFAULT) -> Standing:
    """A standing after a result; after some bad ones in a row the topic is explained another way."""
    way, misses = standing.way or style, standing.misses + 1 if score < rules.weak else 0
    if misses >= rules.another_way:
        way, misses = _NEXT[way], 0
    return replace(standing, scores=(*standing.scores, score)[-rules.keep :], way=way, misses=misses)


def approach(student: Student, standing: Standing, rules: Rules = DEFAULT) -> Approach:
    """How a topic is explained: what is weak in steps, what is strong in short."""
    found = verdict(standing.scores, rules)
    missed = bool(standing.scores) and standing.scores[-1] < rules.weak
    depth = (
        Depth.STEPWISE if found is Verdict.WEAK or missed else Depth.BRIEF if found is Verdict.STRONG else Depth.WORKED
    )
    return Approach(standing.way or student.style, depth)


def question_level(level: Level, standing: Standing, rules: Rules = DEFAULT) -> Level:
    """How hard a practice question on a topic should be: easier where it is weak, harder where it is strong."""
    found = verdict(standing.scores, rules)
    return level.moved({Verdict.WEAK: -1, Verdict.STRONG: 1}.get(found, 0) if found else 0)
