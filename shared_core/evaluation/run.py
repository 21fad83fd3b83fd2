"""Measuring: each conversation is built into every system, every question is asked and scored.

Milliseconds are for a second pass over a conversation's first questions, whose embedding is then cached
for all systems alike.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared_core.evaluation.answers import LLM, Answered, Judge, answered, gain
from shared_core.evaluation.context import BUDGETS, shares
from shared_core.evaluation.embedders import Shared
from shared_core.evaluation.growth import Growth
from shared_core.evaluation.peers import PEERS
from shared_core.evaluation.retrieval import HIT, aggregate, figures, firsts, group, losses, spread
from shared_core.evaluation.sets import SESSIONS, TURNS, Part, Question, Sample
from shared_core.evaluation.systems import (
    OURS,
    VIEWS,
    NewestFirst,
    PeerSystem,
    RandomOrder,
    System,
    Twinmem,
    WrongQuery,
)
from shared_core.values import Kind

TIMED = 60  # questions a conversation in the timed pass: enough for a mean, and the slowest peers stay bearable
SESSION_KS = (1, 5, 10)
ANSWER_TOKENS = 2_000  # of the context that an answer is given out of

Row = tuple[str, str, dict[str, float]]  # group, category, figures
Progress = Callable[[int], None]


@dataclass
class Result:
    """One system's figures for every question, by level, and its times."""

    is_control: bool = False
    rows: dict[str, list[Row]] = field(default_factory=dict)
    contexts: list[Row] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    build_seconds: float = 0.0

    def total(self, level: str = TURNS) -> dict[str, float]:
        """Over all questions of all categories, with the mean time of a question."""
        timed = {"ms/query": statistics.fmean(self.milliseconds)} if self.milliseconds and level == TURNS else {}
        return aggregate(row for *_, row in self.rows.get(level, [])) | timed

    def by_category(self, level: str = TURNS) -> dict[str, dict[str, float]]:
        """For each kind of question, in the order in which they first appear."""
        return group((category, row) for _, category, row in self.rows.get(level, []))

    def by_group(self, level: str = TURNS) -> dict[str, dict[str, float]]:
        """For each conversation, or whatever the spread is taken over."""
        return group((name, row) for name, _, row in self.rows.get(level, []))

    def context(self) -> dict[str, float]:
        """Context recall at each budget; empty if it wasn't measured."""
        return aggregate(row for *_, row in self.contexts) if self.contexts else {}

    def context_by_group(self) -> dict[str, dict[str, float]]:
        """The same for each conversation."""
        return group((name, row) for name, _, row in self.contexts)


@dataclass
class PartResult:
    """All systems on one part of a set."""

    part: Part
    embedder: str
    results: dict[str, Result] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    conversations: list[str] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
    answered: list[tuple[str, Answered]] = field(default_factory=list)
    messages: int = 0
    n: int = 0
    skipped: int = 0

    @property
    def ours(self) -> Result | None:
        """twinmem's figures, if it was measured."""
        return self.results.get(OURS)

    @property
    def levels(self) -> list[str]:
        """What was scored: turns, sessions or both."""
        return [level for level in (TURNS, SESSIONS) if any(result.rows.get(level) for result in self.results.values())]

    def names(self, level: str = TURNS) -> tuple[str, ...]:
        """The figures of a level."""
        ks = self.part.ks if level == TURNS else SESSION_KS
        return (*(f"R@{k}" for k in ks), HIT, "MRR")

    def loses(self) -> list[tuple[str, str, float, float]]:
        """Every figure in which a peer or control is better: (figure, to whom, ours, theirs)."""
        if self.ours is None:
            return []
        lost = []
        for level in self.levels:
            others = {name: r.total(level) for name, r in self.results.items() if name != OURS}
            for name, row in others.items():
                if self.results[name].is_control or name.startswith(OURS):
                    row.pop("ms/query", None)  # twinmem asked something else is no rival in time
            lost += losses(self.ours.total(level), others, (*self.names(level), "ms/query"), ("ms/query",))
        contexts = {name: r.context() for name, r in self.results.items() if name != OURS}
        budgets = [name for name in self.ours.context() if name != "n"]
        found = losses(self.ours.context(), contexts, budgets)
        return lost + [(f"context of {name} tokens", *rest) for name, *rest in found]  # type: ignore[misc]

    def as_json(self) -> dict[str, Any]:
        """Everything but the single questions."""
        return {
            "set": self.part.set,
            "part": self.part.name,
            "scored": f"{self.part.how}; fractional; MRR within {self.part.depth}",
            "conversations": len(self.conversations),
            "messages": self.messages,
            "n": self.n,
            "skipped": self.skipped,
            "embedder": self.embedder,
            "systems": {name: self._system(result) for name, result in self.results.items()},
            "absent": dict(self.absent),
            "growth": [each.as_json() for each in self.growth],
            "answers": gain(row for _, row in self.answered) if self.answered else None,
            "loses": [dict(zip(("figure", "to", "ours", "theirs"), row, strict=True)) for row in self.loses()],
        }

    def _system(self, result: Result) -> dict[str, Any]:
        body: dict[str, Any] = {"build_seconds": result.build_seconds}
        for level in self.levels:
            groups = result.by_group(level)
            body[level] = {
                "all": result.total(level),
                "by_category": result.by_category(level),
                f"by_{self.part.spread_over.replace(' ', '_')}": groups,
                "spread": spread(groups.values(), self.names(level)),
            }
        if result.contexts:
            body["context_recall"] = result.context()
        return body


def systems_of(part: Part, embedder: Shared, *, ours: bool = True, peers: bool = True) -> list[System]:
    """What is measured by default."""
    found: list[System] = [Twinmem(embedder)] if ours else []
    found += [PeerSystem(peer(embedder)) for peer in (PEERS if peers else ())]
    found += [RandomOrder()]
    found += [WrongQuery(embedder, part)] if ours and len(part.questions) > 1 else []
    return [*found, NewestFirst()]


def measure(
    part: Part,
    systems: Sequence[System],
    embedders: Sequence[Shared],
    budgets: Sequence[int] = BUDGETS,
    progress: Progress = lambda done: None,
    llm: LLM | None = None,
    judge: Judge | None = None,
) -> PartResult:
    """Build, ask and score; the first of `embedders` is the one that peers have.

    A peer that is not installed, or fails, is reported in `absent` and has no figures. With an `llm`
    it answers every question that has an answer, with twinmem's context and without.
    """
    found = PartResult(part, embedders[0].name if embedders else "")
    running = list(systems)
    events: set[str] = set()
    done = 0
    for sample in part.samples:
        found.conversations.append(sample.name)
        found.skipped += sample.skipped
        found.n += len(sample.questions)
        found.messages += _new(sample, events)
        _warm(sample, embedders, any(system.is_peer for system in running))
        for system in list(running):
            fault = _one(system, sample, part, budgets, found.results)
            if isinstance(system, Twinmem) and system.name == OURS:
                found.growth.append(system.growth())
                found.answered += _answered(system, sample, llm, judge) if llm is not None else []
            done += 1
            progress(done)
            if fault:
                found.absent[system.name] = fault
                running.remove(system)
        for embedder in embedders:
            embedder.forget()
    for system in running:
        system.close()
    for name in found.absent:
        for row in [row for row in found.results if row == name or row.startswith(f"{name} (")]:
            del found.results[row]
    _keep_best_views(found, part, systems)
    return found


def _answered(system: Twinmem, sample: Sample, llm: LLM, judge: Judge | None) -> list[tuple[str, Answered]]:
    return [
        (q.category, answered(q.text, q.answer, system.context(q, ANSWER_TOKENS), llm, judge))
        for q in sample.questions
        if q.answer
    ]


def _new(sample: Sample, events: set[str]) -> int:
    """How many messages a conversation adds: memories that several users' questions may find count once."""
    ids = sample.session_of.keys()
    if sample.kind != Kind.EVENT:
        return len(ids)
    fresh = ids - events
    events |= fresh
    return len(fresh)


def _warm(sample: Sample, embedders: Sequence[Shared], with_peers: bool) -> None:
    """Embed outside of any clock what every system will need."""
    views = VIEWS.values() if with_peers else ()
    for place, embedder in enumerate(embedders):
        questions = sample.questions if place == 0 else ()
        asked = (q.last(view) for q in questions if q.talk for view in views)
        embedder.warm(sample.turns.values(), [*asked, *(q.text for q in questions)])


def _one(system: System, sample: Sample, part: Part, budgets: Sequence[int], results: dict[str, Result]) -> str | None:
    """Measure one system on one conversation; what went wrong, if it is a peer."""
    try:
        started = time.perf_counter()
        system.build(sample)
        seconds = time.perf_counter() - started
        for view in system.views(part):
            name = f"{system.name} ({view})" if view else system.name
            result = results.setdefault(name, Result(system.is_control))
            result.build_seconds += seconds
            _ask(system, sample, view, part, budgets, result)
    except ImportError as error:
        if not system.is_peer:
            raise
        return f"not installed: {error.name or error}"
    except Exception as error:
        if not system.is_peer:
            raise
        return f"failed: {type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}".rstrip(": ")
    return None


def _ask(system: System, sample: Sample, view: str, part: Part, budgets: Sequence[int], result: Result) -> None:
    sessions = sample.session_of if part.with_sessions else {}
    where = sample.group or sample.name
    for question in sample.questions:
        ranking = system.rank(question, view, part.depth)
        if question.evidence:
            _note(result, TURNS, where, question, figures(ranking, question.evidence, part.ks))
        if question.sessions:
            in_order = firsts(ranking, sessions)
            _note(result, SESSIONS, where, question, figures(in_order, question.sessions, SESSION_KS))
        if budgets and question.evidence:
            inside = system.inside(question, view, budgets)
            result.contexts.append((where, question.category, shares(inside, question.evidence)))
    for question in sample.questions[: TIMED if system.searches else 0]:
        started = time.perf_counter()
        system.rank(question, view, part.depth)
        result.milliseconds.append((time.perf_counter() - started) * 1000)


def _note(result: Result, level: str, where: str, question: Question, row: dict[str, float]) -> None:
    result.rows.setdefault(level, []).append((where, question.category, row))


def _keep_best_views(found: PartResult, part: Part, systems: Sequence[System]) -> None:
    """Of a peer that was asked in several views only the best, by the mean of its R@k."""
    ordered: dict[str, Result] = {}
    for system in systems:
        names = [f"{system.name} ({view})" if view else system.name for view in system.views(part)]
        measured = [name for name in names if name in found.results]
        if system.is_peer and len(measured) > 1:
            measured = [max(measured, key=lambda name: _worth(found.results[name].total(), part))]
        ordered.update({name: found.results[name] for name in measured})
    found.results = ordered


def _worth(row: Mapping[str, float], part: Part) -> float:
    return statistics.fmean(row.get(f"R@{k}", 0.0) for k in part.ks)
