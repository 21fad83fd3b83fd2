"""A public set as one common value: conversations, their questions, and the evidence of each question.

A set is read into parts, each of which becomes a table: LoCoMo is one part, MADial-Bench two for each
language, MemDaily one for each amount of noise. A part's conversations may be made only when they are
needed, since the noisy ones together are larger than memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import overload

from shared_core.values import Message

SETS = ("locomo", "madial", "realtalk", "memdaily", "longmemeval")
KS = (1, 5, 10, 25, 50)
TURNS, SESSIONS = "turns", "sessions"


@dataclass(frozen=True)
class Question:
    """A question, or a conversation in which something should be recalled, and what answers it.

    `evidence` holds ids of messages, `sessions` those of whole conversations where the set says so; one
    of the two is not empty. `talk` is the conversation so far where that is the query; `text` is its last
    message then. `asked_at` is None where the set doesn't say when it is asked; `answer` is what a model
    should say, where the set has it.
    """

    text: str
    evidence: tuple[str, ...]
    category: str = ""
    asked_at: datetime | None = None
    talk: tuple[Message, ...] = ()
    sessions: tuple[str, ...] = ()
    answer: str = ""

    def last(self, messages: int | None) -> str:
        """The last messages of the talk (all for None) as one text, a line each; the question without a talk."""
        if not self.talk:
            return self.text
        return "\n".join(message.text for message in self.talk[-(messages or len(self.talk)) :])


@dataclass(frozen=True)
class Sample:
    """What one person's memory holds, and what is asked of it. Only these messages are candidates.

    `sessions` are the conversations in order; each id is that of one message. With `kind="event"` the
    messages are single memories, not talk. `group` is what the spread is taken over (the conversation
    itself by default). `texts` is what a peer's user would store where that isn't "speaker: text".
    """

    name: str
    sessions: Mapping[str, tuple[Message, ...]]
    questions: tuple[Question, ...]
    skipped: int = 0
    kind: str = "turn"
    group: str = ""
    texts: Mapping[str, str] | None = None

    @property
    def messages(self) -> Iterator[Message]:
        """All of them, in order."""
        for messages in self.sessions.values():
            yield from messages

    @property
    def turns(self) -> dict[str, str]:
        """Each message's id and its text as a peer's user would store it."""
        if self.texts is not None:
            return dict(self.texts)
        several = len({message.role for message in self.messages}) > 1
        return {str(message.id): _stored(message, several) for message in self.messages}

    @property
    def session_of(self) -> dict[str, str]:
        """Each message's id and its session."""
        return {str(message.id): name for name, messages in self.sessions.items() for message in messages}

    @property
    def end(self) -> datetime | None:
        """The time of the newest message."""
        return max((message.created_at for message in self.messages if message.created_at), default=None)


def _stored(message: Message, with_role: bool) -> str:
    who = message.name or (message.role if with_role else "")
    return f"{who}: {message.text}" if who else message.text


class Samples(Sequence[Sample]):
    """Conversations that are made anew each time they are taken."""

    def __init__(self, count: int, make: Callable[[int], Sample]) -> None:
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Samples: ...
    def __getitem__(self, index: int | slice) -> Sample | Samples:
        """One conversation, or some of them, still unmade."""
        if isinstance(index, slice):
            chosen = range(self._count)[index]
            return Samples(len(chosen), lambda place: self._make(chosen[place]))
        return self._make(range(self._count)[index])


@dataclass(frozen=True)
class Part:
    """A set under one condition. `how` says how it is scored, for the head of its table.

    `questions` are those of all conversations with the conversation's name, for the control that asks a
    wrong one: of another conversation, or, with `wrong_within`, of the same one without common evidence.
    """

    set: str
    name: str
    samples: Sequence[Sample]
    questions: Sequence[tuple[str, Question]]
    how: str
    spread_over: str = "conversation"
    ks: tuple[int, ...] = KS
    wrong_within: bool = False

    @property
    def depth(self) -> int:
        """How many are asked for."""
        return max(self.ks)

    @property
    def is_talk(self) -> bool:
        """Whether conversations are the queries."""
        return any(question.talk for _, question in self.questions)

    @property
    def with_sessions(self) -> bool:
        """Whether the set also says which sessions hold the answer."""
        return any(question.sessions for _, question in self.questions)


def part(
    set: str, name: str, samples: Sequence[Sample], how: str, *, spread_over: str = "conversation",
    ks: tuple[int, ...] = KS, wrong_within: bool = False,
) -> Part:  # fmt: skip
    """A part whose conversations are all made already."""
    questions = [(sample.name, question) for sample in samples for question in sample.questions]
    return Part(set, name, samples, questions, how, spread_over, ks, wrong_within)


def evenly(count: int, limit: int | None) -> list[int]:
    """`limit` places spread over `count`, in order: sets are sorted by kind, so their first would be of one.

    >>> evenly(10, 3), evenly(2, 5), evenly(3, None)
    ([0, 3, 6], [0, 1], [0, 1, 2])
    """
    if limit is None or limit >= count:
        return list(range(count))
    return [place * count // limit for place in range(limit)]
