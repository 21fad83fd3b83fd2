"""What a story is made of: days of steps, and questions with what a right answer holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class User:
    """What the user says."""

    text: str


@dataclass(frozen=True)
class Agent:
    """What the agent answers."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call of the agent and what came back; what begins with "Error" failed."""

    tool: str
    args: Mapping[str, Any]
    result: str


@dataclass(frozen=True)
class Task:
    """The agent begins a task of its working memory."""

    id: str
    description: str
    constraints: Sequence[str] = ()
    plan: Sequence[str] = ()


@dataclass(frozen=True)
class Done:
    """One step of the current task is done; with `complete` so is the task."""

    action: str
    result: str
    complete: bool = False


@dataclass(frozen=True)
class Alias:
    """The agent was told that two names are one person's."""

    name: str
    other: str


@dataclass(frozen=True)
class Meant:
    """What a phrase of the user refers to at this point."""

    phrase: str
    thing: str


@dataclass(frozen=True)
class Forget:
    """The agent erases every memory that holds this word, as the user asked."""

    word: str


Step = User | Agent | Call | Task | Done | Alias | Meant | Forget


@dataclass(frozen=True)
class Day:
    """One conversation."""

    session: str
    steps: Sequence[Step]


Verb = Literal["search", "event", "timeline", "ask", "neighbours", "path", "works", "avoid"]


@dataclass(frozen=True)
class Question:
    """What is asked, by which verb, and what the answer says.

    One of the first answers has to hold all words of `holds`. None before it may hold one of `stale`,
    which was true once, and none at all one of `never`. `day` is a day of the story (1 to 10), at whose
    end the question is asked. `on` is the day of an event.
    """

    asked: str
    holds: Sequence[str] = ()
    verb: Verb = "search"
    stale: Sequence[str] = ()
    never: Sequence[str] = ()
    day: int | None = None
    on: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Story:
    """Ten days, thirty questions, the word that was to be forgotten, and what only the assistant said."""

    user: str
    days: Sequence[Day]
    questions: Sequence[Question]
    secret: str
    unsaid: Sequence[str]
