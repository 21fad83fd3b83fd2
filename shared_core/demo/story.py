"""Wenjing's first three months in Lisbon: a self-written conversation in English and Chinese."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Chat:
    """One conversation; a message is a dict with one of user, assistant, call (of a tool) or tool (its answer)."""

    id: str
    at: datetime
    messages: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Question:
    """What is asked, and the words that have to be in the prompt of whoever answers."""

    ask: str
    expect: str
    note: str
    means: str = ""


@dataclass(frozen=True)
class Story:
    """Whose story it is, the conversations in which it is told, and what is asked about it."""

    user: str
    chats: tuple[Chat, ...]
    questions: tuple[Question, ...]


def story() -> Story:
    """The story that ships with the package.

    >>> sum(len(chat.messages) for chat in story().chats)
    100
    """
    told = json.loads(files("shared_core.demo").joinpath("story.json").read_text(encoding="utf-8"))
    chats = (Chat(chat["id"], datetime.fromisoformat(chat["at"]), tuple(chat["messages"])) for chat in told["sessions"])
    return Story(told["user"], tuple(chats), tuple(Question(**question) for question in told["questions"]))
