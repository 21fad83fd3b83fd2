"""What is measured: twinmem as a user would run it, its peers, and controls that know nothing.

A system is built on one conversation after another and asked that conversation's questions. Where a
conversation is the query, a peer is asked in several views of it, and its best view counts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from shared_core.evaluation.context import fill, line_costs
from shared_core.evaluation.embedders import Shared
from shared_core.evaluation.growth import Growth, growth
from shared_core.evaluation.peers import Peer, quiet
from shared_core.evaluation.sets import Part, Question, Sample
from shared_core.memory import AgentMemory
from shared_core.short_term.tokens import count
from shared_core.values import Hit, Kind

SEED = 20240229
VIEWS: Mapping[str, int | None] = {"last message": 1, "last 2 messages": 2, "whole dialogue": None}
STRING = "last message as a string"
OURS = "twinmem"
_DEEP = 250  # ranks asked for where a budget is filled: 4,000 tokens hold about 150 turns


class System:
    """Built on a conversation in place of the one before, then asked."""

    name = ""
    is_control = False
    is_peer = False
    searches = True

    def views(self, part: Part) -> Sequence[str]:
        """The ways in which a part's questions are put; one without a name by default."""
        return [""]

    def build(self, sample: Sample) -> None:
        """Take in a conversation."""
        raise NotImplementedError

    def rank(self, question: Question, view: str, k: int) -> list[str]:
        """The ids of the first messages for a question, best first."""
        raise NotImplementedError

    def inside(self, question: Question, view: str, budgets: Sequence[int]) -> dict[int, set[str]]:
        """The ids of the messages whose text is inside a prompt of each budget."""
        return fill(self.rank(question, view, _DEEP), self.costs, budgets)

    @property
    def costs(self) -> dict[str, int]:
        """What each message costs as a line of a prompt."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the last conversation."""


class Twinmem(System):
    """A new memory, the sessions as messages (or the memories as events), then `search` and `context`.

    The clock stands at the question's own time where the set gives one, never before the last message.
    """

    def __init__(self, embedder: Shared, name: str = OURS, settings: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self._embedder = embedder
        self._settings = dict(settings or {})
        self._memory: AgentMemory | None = None
        self._asked_at: datetime | None = None
        self._end: datetime | None = None

    def views(self, part: Part) -> Sequence[str]:
        """Messages as messages; where those are the query, also the last one as a string."""
        return ["", STRING] if part.is_talk else [""]

    def build(self, sample: Sample) -> None:
        """Take in a conversation, or a list of memories."""
        self.close()
        self._asked_at, self._end = None, sample.end
        self._memory = AgentMemory.open(embedder=self._embedder, clock=self._now, settings=self._settings or None)
        self._scope = self._memory.scope(user=sample.name)
        self._kind = sample.kind
        if sample.kind == Kind.EVENT:
            events = [
                {"id": m.id, "text": m.text, "kind": "event", "event_time": m.created_at} for m in sample.messages
            ]
            self._scope.add_many(events)
            return
        for name, messages in sample.sessions.items():
            self._scope.session(name).add_messages(messages)

    def _now(self) -> datetime:
        if self._asked_at is None:
            return datetime.now(UTC)
        return self._asked_at if self._end is None else max(self._asked_at, self._end)

    def _id(self, hit: Hit) -> str:
        return str(hit.record.id if self._kind == Kind.EVENT else hit.record.message_id)

    def rank(self, question: Question, view: str, k: int) -> list[str]:
        """The hits of `search`; what a benchmark asks is nothing that somebody recalled."""
        self._asked_at = question.asked_at
        with self._scope._live().uncounted():
            hits = self._scope.search(_query(question, view), k=k, kinds=[self._kind])
        return [self._id(hit) for hit in hits]

    def inside(self, question: Question, view: str, budgets: Sequence[int]) -> dict[int, set[str]]:
        """What a new session's `context` holds."""
        self._asked_at = question.asked_at
        session = self._scope.session("the question")
        found = {}
        for budget in budgets:
            context = session.context(_query(question, view), max_tokens=budget)
            found[budget] = {self._id(hit) for hit in context.hits} | {str(m.id) for m in context.messages}
        return found

    def context(self, question: Question, max_tokens: int) -> str:
        """The text for a prompt."""
        self._asked_at = question.asked_at
        return self._scope.session("the question").context(_query(question, ""), max_tokens=max_tokens).text

    def growth(self) -> Growth:
        """What a conversation has left in the memory, by its last day."""
        return growth(self._scope.list(), self._end or self._now())

    def close(self) -> None:
        """Close the memory."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None


def _query(question: Question, view: str) -> Any:
    return list(question.talk) if question.talk and view != STRING else question.text


class WrongQuery(Twinmem):
    """Control: twinmem is asked a question that belongs elsewhere. What remains is prior, not recall."""

    is_control = True

    def __init__(self, embedder: Shared, part: Part) -> None:
        super().__init__(embedder, "control: a wrong query")
        self._part = part
        self._conversation = ""

    def views(self, part: Part) -> Sequence[str]:
        """One."""
        return [""]

    def build(self, sample: Sample) -> None:
        """The same as twinmem."""
        super().build(sample)
        self._conversation = sample.name

    def rank(self, question: Question, view: str, k: int) -> list[str]:
        """Asked something else."""
        other = wrong(self._part, self._conversation, question)
        return super().rank(other, view, k) if other else []

    def inside(self, question: Question, view: str, budgets: Sequence[int]) -> dict[int, set[str]]:
        """Asked something else."""
        other = wrong(self._part, self._conversation, question)
        return super().inside(other, view, budgets) if other else {budget: set() for budget in budgets}


def wrong(part: Part, conversation: str, question: Question) -> Question | None:
    """A question of another conversation or, where that would be no fair one, of this one about something else."""
    others = [] if part.wrong_within else [q for name, q in part.questions if name != conversation]
    if not others:
        answers = {*question.evidence, *question.sessions}
        own = [q for name, q in part.questions if name == conversation]
        others = [q for q in own if not answers.intersection((*q.evidence, *q.sessions))]
    return random.Random(f"{SEED} {conversation} {question.last(None)}").choice(others) if others else None


class _Blind(System):
    """A control that doesn't look at the question's words."""

    is_control = True
    searches = False

    def build(self, sample: Sample) -> None:
        """Keep the order of the conversation."""
        self._sample = sample
        self._ids = [str(message.id) for message in sample.messages]

    @property
    def costs(self) -> dict[str, int]:
        """Of the texts a peer would store."""
        return line_costs(self._sample.turns, count)


class RandomOrder(_Blind):
    """Control: shuffled, anew for each question, the same in each run."""

    name = "control: random order"

    def rank(self, question: Question, view: str, k: int) -> list[str]:
        """Any."""
        ids = list(self._ids)
        random.Random(f"{SEED} {self._sample.name} {question.last(None)}").shuffle(ids)
        return ids[:k]


class NewestFirst(_Blind):
    """Control: the newest, whatever was asked."""

    name = "control: newest first"

    def build(self, sample: Sample) -> None:
        """Order them once: by time where there is one, else as they stand."""
        super().build(sample)
        times = {str(m.id): m.created_at.timestamp() if m.created_at else 0.0 for m in sample.messages}
        places = {id: place for place, id in enumerate(self._ids)}
        newest_last = sample.kind != Kind.EVENT  # of two events on one day the first stands first
        self._ids.sort(key=lambda id: (-times[id], -places[id] if newest_last else places[id]))

    def rank(self, question: Question, view: str, k: int) -> list[str]:
        """The last ones."""
        return self._ids[:k]


class PeerSystem(System):
    """A peer, given each message as its user would store it, and each question as one text."""

    is_peer = True

    def __init__(self, peer: Peer) -> None:
        self.name = peer.name
        self._peer = peer

    def views(self, part: Part) -> Sequence[str]:
        """A talk as its last message, its last two, and whole."""
        return list(VIEWS) if part.is_talk else [""]

    def build(self, sample: Sample) -> None:
        """Index its texts."""
        self._turns = sample.turns
        self._costs: dict[str, int] | None = None
        with quiet():
            self._peer.build(list(self._turns.values()), list(self._turns))

    def rank(self, question: Question, view: str, k: int) -> list[str]:
        """Ask it."""
        text = question.last(VIEWS[view]) if view else question.text
        with quiet():
            return self._peer.rank(text, k)

    @property
    def costs(self) -> dict[str, int]:
        """Of the texts it stored."""
        if self._costs is None:
            self._costs = line_costs(self._turns, count)
        return self._costs
