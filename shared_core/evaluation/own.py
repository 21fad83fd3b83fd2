"""The user's own questions put to the user's own memory (C7).

A file of JSON lines: `{"question": ..., "expected": ...}`, where `expected` is an id or a text, or a list
of them, and any of a memory's text may be given. `answer` is what a model should say, `category` groups
the figures, and `messages` in place of `question` is a conversation that asks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.evaluation.answers import LLM, Answered, Judge, answered, gain
from shared_core.evaluation.growth import DAYS, Growth, growth
from shared_core.evaluation.retrieval import HIT, HIT_K, aggregate, group
from shared_core.recall.text import normal
from shared_core.scope import Scope
from shared_core.store.rows import instant
from shared_core.values import Hit, Message, as_message

KS = (1, 5, 10)
_SESSION = "twinmem evaluate"  # never written to


@dataclass(frozen=True)
class Case:
    """One question: what is asked, which memories answer it (ids, or texts they hold), and the right answer."""

    question: str
    expected: tuple[str, ...] = ()
    answer: str = ""
    category: str = ""
    talk: tuple[Message, ...] = ()

    @property
    def query(self) -> str | list[Message]:
        """What `search` is given."""
        return list(self.talk) if self.talk else self.question


@dataclass(frozen=True)
class Evaluation:
    """What was measured; `missed` are the questions none of whose memories came among the first five."""

    retrieval: dict[str, float]
    by_category: dict[str, dict[str, float]]
    missed: tuple[str, ...]
    unknown: tuple[str, ...]
    """What is expected and not in the memory at all."""
    answers: dict[str, float] | None
    answered: tuple[Answered, ...]
    growth: Growth
    ks: tuple[int, ...] = field(default=KS)

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        return {
            "retrieval": self.retrieval,
            "by_category": self.by_category,
            "missed": list(self.missed),
            "unknown": list(self.unknown),
            "answers": self.answers,
            "answered": [vars(row) for row in self.answered],
            "growth": self.growth.as_json(),
        }


def read(path: Path) -> list[Case]:
    """The questions of a file. Raises `InvalidInput`, naming the line, for one that asks or expects nothing."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(_case(json.loads(line)))
        except (ValueError, TypeError) as error:
            raise InvalidInput(
                f"{path}:{number}: {error}; a line is like "
                '{"question": "Where do I live?", "expected": ["I live in Lyon"], "answer": "Lyon"}'
            ) from error
    if not found:
        raise InvalidInput(f"{path} holds no questions")
    return found


def _case(raw: Any) -> Case:
    if not isinstance(raw, Mapping):
        raise InvalidInput("a line is a JSON object")
    unknown = sorted(raw.keys() - {"question", "messages", "expected", "answer", "category"})
    if unknown:
        raise InvalidInput(f"unknown key {unknown[0]!r}")
    talk = tuple(as_message(message) for message in raw.get("messages") or ())
    question = raw.get("question") or (talk[-1].text if talk else "")
    expected = raw.get("expected") or ()
    expected = [expected] if isinstance(expected, str) else list(expected)
    answer = raw.get("answer")
    answer = str(answer) if isinstance(answer, int | float) else answer or ""
    if not isinstance(question, str) or not question.strip():
        raise InvalidInput("no question")
    if not all(isinstance(each, str) and each.strip() for each in expected):
        raise InvalidInput("expected is an id or a text, or a list of them")
    if not expected and not answer:
        raise InvalidInput("neither expected nor answer")
    return Case(question, tuple(dict.fromkeys(expected)), str(answer), str(raw.get("category") or ""), talk)


def evaluate(
    scope: Scope,
    cases: Sequence[Case],
    *,
    ks: Sequence[int] = KS,
    llm: LLM | None = None,
    judge: Judge | None = None,
    max_tokens: int = 2000,
    days: int = DAYS,
    progress: Callable[[int], None] = lambda done: None,
) -> Evaluation:
    """Measure a scope: hit rate (any expected memory in the first 5), recall@k, answers, and growth.

    Answers are measured for the cases that have one, if there is an `llm`; its context is
    `session.context(question, max_tokens=...)` of a new conversation. What is asked here does not count
    as an access. Raises `InvalidInput` for a `k` below 1, and what the model raises.

    >>> from shared_core import AgentMemory
    >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
    >>> _ = scope.add("I live in Lyon")
    >>> found = evaluate(scope, [Case("Where do I live?", ("live in Lyon",))])
    >>> found.retrieval["hit@5"], found.growth.by_kind
    (1.0, {'fact': 1})
    """
    if not ks or min(ks) < 1:
        raise InvalidInput("k is a whole number from 1")
    records = scope.list(where={"status": {"$exists": True}})
    texts = [(record.id, record.message_id, normal(record.text)) for record in records]
    rows, said, missed, unknown = [], [], [], []
    with scope._live().uncounted():
        for done, case in enumerate(cases, 1):
            wanted = [ids for each in case.expected if (ids := _meant(each, texts))]
            unknown += [each for each in case.expected if not _meant(each, texts)]
            if case.expected:
                row = _asked(scope, case, wanted, ks)
                rows.append((case.category or "none", row))
                missed += [case.question] if not row[HIT] else []
            if llm is not None and case.answer:
                context = scope.session(_SESSION).context(case.query, max_tokens=max_tokens)
                said.append(answered(case.question, case.answer, context.text, llm, judge))
            progress(done)
    now = instant(scope._live().now())
    active = [record for record in records if record.status == "active"]
    return Evaluation(
        aggregate(row for _, row in rows), group(rows), tuple(missed), tuple(dict.fromkeys(unknown)),
        gain(said) if said else None, tuple(said), growth(active, now, days), tuple(ks),
    )  # fmt: skip


def _meant(expected: str, texts: Sequence[tuple[str, str | None, str]]) -> frozenset[str]:
    """The ids of the records that an expectation may mean: that have the id, or else hold the text."""
    by_id = frozenset(id for id, message, _ in texts if expected in (id, message))
    if by_id:
        return by_id
    wanted = normal(expected).strip()
    return frozenset(id for id, _, text in texts if wanted in text)


def _asked(scope: Scope, case: Case, wanted: Sequence[Collection[str]], ks: Sequence[int]) -> dict[str, float]:
    """The figures of one question; what is expected and not remembered counts as missed."""
    hits: list[Hit] = scope.search(case.query, k=max(*ks, HIT_K))
    places = [next((n for n, hit in enumerate(hits) if hit.record.id in ids), None) for ids in wanted]
    found = [place for place in places if place is not None]
    row = {f"R@{k}": sum(place < k for place in found) / len(case.expected) for k in ks}
    return row | {HIT: float(any(place < HIT_K for place in found)), "MRR": 1 / (min(found) + 1) if found else 0.0}
