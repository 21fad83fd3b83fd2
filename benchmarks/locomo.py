"""Evidence recall on LoCoMo, turn by turn: twinmem, its peers, and controls, in one run.

    python benchmarks/locomo.py PATH [--json OUT] [--no-peers] [--limit-conversations N] [--embedder e5]

Candidates are the turns of the question's own conversation; all five categories count; questions without
evidence are skipped. R@k is the share of a question's evidence turns in the first k, averaged over questions.
Every system is asked once for the first 50 turns, so MRR is that of the first evidence turn within 50.
Milliseconds are for a second pass over each conversation's questions, whose embedding is then cached for all.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import embedders
import report
from peers import PEERS, Peer, quiet
from scoring import aggregate, figures, group, losses, parse_evidence, spread, turn_order

from shared_core import formats
from shared_core.values import Message

KS = (1, 5, 10, 25, 50)
DEPTH = max(KS)
SCORES = (*(f"R@{k}" for k in KS), "MRR")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
SEED = 20240229
TIMED = 60  # questions a conversation in the timed pass: enough for a mean, and the slowest peers stay bearable


@dataclass(frozen=True)
class Question:
    """A question, the turns that answer it (at least one), and its category."""

    text: str
    evidence: tuple[str, ...]
    category: int


@dataclass(frozen=True)
class Sample:
    """A conversation: its sessions in order, each with its messages, and its questions."""

    name: str
    sessions: Mapping[str, tuple[Message, ...]]
    questions: tuple[Question, ...]
    skipped: int = 0

    @property
    def turns(self) -> dict[str, str]:
        """Each turn's id and its text as "speaker: text", which is what a peer's user would store."""
        return {str(m.id): f"{m.name}: {m.text}" for messages in self.sessions.values() for m in messages}


def read(path: str | Path) -> list[Sample]:
    """The conversations of a LoCoMo file with their questions.

    The turns come from twinmem's own reader, the questions from the file. Raises `ValueError` if the file isn't one.
    """
    sessions: dict[str, dict[str, tuple[Message, ...]]] = {}
    for part in formats.read(path, format="locomo"):
        sessions.setdefault(str(part.user), {})[part.session] = tuple(part.messages)
    samples = []
    for item in json.loads(Path(path).read_text(encoding="utf-8")):
        if "qa" not in item or item.get("sample_id") not in sessions:
            raise ValueError(f"{path}: a sample needs `sample_id` and `qa` to be scored; has {sorted(item)}")
        samples.append(_sample(item["sample_id"], sessions[item["sample_id"]], item["qa"]))
    return samples


def _sample(name: str, sessions: Mapping[str, tuple[Message, ...]], entries: Sequence[Mapping[str, Any]]) -> Sample:
    known = {str(message.id) for messages in sessions.values() for message in messages}
    questions, skipped = [], 0
    for entry in entries:
        evidence = parse_evidence(entry.get("evidence"), known)
        if evidence:
            questions.append(Question(entry["question"], tuple(evidence), int(entry["category"])))
        else:
            skipped += 1
    return Sample(name, sessions, tuple(questions), skipped)


class System(Protocol):
    """What is measured: built on one conversation after another, then asked that conversation's questions."""

    name: str

    def build(self, sample: Sample) -> None:
        """Take in a conversation in place of the one before."""

    def rank(self, sample: Sample, question: Question) -> list[str]:
        """The first turns for a question, best first."""


class Twinmem:
    """twinmem as a user would run it: a new memory, the sessions as messages, then `search`."""

    name = "twinmem"

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self._memory: Any = None

    def build(self, sample: Sample) -> None:
        from shared_core import AgentMemory

        self.close()
        self._memory = AgentMemory.open(embedder=self._embedder)
        self._scope = self._memory.scope(user=sample.name)
        for name, messages in sample.sessions.items():
            self._scope.session(name).add_messages(messages)

    def rank(self, sample: Sample, question: Question) -> list[str]:
        return self.ask(question.text)

    def ask(self, text: str) -> list[str]:
        """The ids of the first turns for a text."""
        return [hit.record.message_id for hit in self._scope.search(text, k=DEPTH, kinds=["turn"])]

    def close(self) -> None:
        """Release the memory."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None


class WrongQuery(Twinmem):
    """Control: twinmem is asked a question that belongs to another conversation. What remains is prior, not recall."""

    name = "control: a wrong query"

    def __init__(self, embedder: Any, samples: Sequence[Sample]) -> None:
        super().__init__(embedder)
        self._samples = samples

    def rank(self, sample: Sample, question: Question) -> list[str]:
        others = [q.text for other in self._samples if other.name != sample.name for q in other.questions]
        return self.ask(random.Random(f"{SEED} {sample.name} {question.text}").choice(others))


class RandomOrder:
    """Control: the turns shuffled, anew for each question, the same in each run."""

    name = "control: random order"

    def build(self, sample: Sample) -> None:
        self._turns = sorted(sample.turns, key=turn_order)

    def rank(self, sample: Sample, question: Question) -> list[str]:
        turns = list(self._turns)
        random.Random(f"{SEED} {sample.name} {question.text}").shuffle(turns)
        return turns[:DEPTH]


class NewestFirst:
    """Control: the last turns, whatever was asked."""

    name = "control: newest first"

    def build(self, sample: Sample) -> None:
        self._turns = sorted(sample.turns, key=turn_order, reverse=True)[:DEPTH]

    def rank(self, sample: Sample, question: Question) -> list[str]:
        return self._turns


class PeerSystem:
    """A peer, given each turn as "speaker: text"."""

    def __init__(self, peer: Peer) -> None:
        self.name = peer.name
        self._peer = peer

    def build(self, sample: Sample) -> None:
        turns = sample.turns
        with quiet():
            self._peer.build(list(turns.values()), list(turns))

    def rank(self, sample: Sample, question: Question) -> list[str]:
        return self._peer.rank(question.text, DEPTH)


@dataclass
class Result:
    """A system's figures for every question, and its times."""

    rows: list[tuple[str, int, dict[str, float]]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    build_seconds: float = 0.0

    @property
    def total(self) -> dict[str, float]:
        """Over all questions of all categories, with the mean time of a question."""
        timed = {"ms/query": statistics.fmean(self.milliseconds)} if self.milliseconds else {}
        return aggregate(row for _, _, row in self.rows) | timed

    @property
    def by_category(self) -> dict[int, dict[str, float]]:
        """For each category, in the order of their numbers."""
        return dict(sorted(group((category, row) for _, category, row in self.rows).items()))

    @property
    def by_conversation(self) -> dict[str, dict[str, float]]:
        """For each conversation."""
        return group((name, row) for name, _, row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Everything but the single questions."""
        return {
            "all": self.total,
            "by_category": {CATEGORIES.get(key, str(key)): value for key, value in self.by_category.items()},
            "by_conversation": self.by_conversation,
            "spread_over_conversations": spread(self.by_conversation.values(), SCORES),
            "build_seconds": self.build_seconds,
        }


def measure(system: System, samples: Sequence[Sample]) -> Result:
    """Build the system on each conversation, score every question, then time a part of them again."""
    result = Result()
    for sample in samples:
        started = time.perf_counter()
        system.build(sample)
        result.build_seconds += time.perf_counter() - started
        for question in sample.questions:
            ranking = system.rank(sample, question)
            result.rows.append((sample.name, question.category, figures(ranking, question.evidence, KS)))
        for question in sample.questions[:TIMED]:
            started = time.perf_counter()
            system.rank(sample, question)
            result.milliseconds.append((time.perf_counter() - started) * 1000)
    return result


def run(
    path: str | Path,
    embedder_name: str = "default",
    peers: bool = True,
    limit: int | None = None,
    ours: bool = True,
) -> dict[str, Any]:
    """Measure everything on a LoCoMo file; prints the tables and returns what `--json` writes."""
    out = report.console()
    everything = read(path)
    samples = everything[:limit]
    embedder = embedders.load(embedder_name)
    embedder.warm(
        (text for sample in samples for text in sample.turns.values()),
        (question.text for sample in everything for question in sample.questions),
    )
    systems: list[System] = [Twinmem(embedder)] if ours else []
    systems += [PeerSystem(peer(embedder)) for peer in (PEERS if peers else ())]
    controls: list[System] = [RandomOrder(), NewestFirst()]
    if ours and len(everything) > 1:
        controls.insert(1, WrongQuery(embedder, everything))
    results: dict[str, Result] = {}
    absent: dict[str, str] = {}
    for system in [*systems, *controls]:
        try:
            results[system.name] = measure(system, samples)
        except ImportError as error:
            if not isinstance(system, PeerSystem):
                raise
            absent[system.name] = f"not installed: {error.name or error}"
        out.print(f"[dim]{system.name}: {absent.get(system.name, 'measured')}[/dim]")
    skipped = sum(sample.skipped for sample in samples)
    return _report(out, path, samples, skipped, embedder.name, results, absent)


def _report(
    out: Any,
    path: str | Path,
    samples: Sequence[Sample],
    skipped: int,
    embedder: str,
    results: Mapping[str, Result],
    absent: Mapping[str, str],
) -> dict[str, Any]:
    totals = {name: result.total for name, result in results.items()}
    n, turns = sum(len(sample.questions) for sample in samples), sum(len(sample.turns) for sample in samples)
    title = (
        f"LoCoMo, turns, fractional recall; {len(samples)} conversations, {turns} turns, {n} questions of all"
        f" categories ({skipped} without evidence skipped); embedder {embedder}"
    )
    out.print(report.table(title, (*SCORES, "ms/query"), totals.items(), best=True, notes=absent))
    own = results.get(Twinmem.name)
    lost: list[tuple[str, str, float, float]] = []
    if own is not None:
        rows = [(CATEGORIES.get(key, str(key)), row) for key, row in own.by_category.items()]
        out.print(report.table("twinmem by category", (*SCORES, "n"), rows, first="category"))
        spreads = spread(own.by_conversation.values(), SCORES)
        measures = [(m, {name: spreads[name][m] for name in SCORES}) for m in ("mean", "min", "max", "sd")]
        conversations = [*own.by_conversation.items(), *measures]
        out.print(report.table("twinmem by conversation, and the spread over them", (*SCORES, "n"), conversations))
        others = {name: dict(row) for name, row in totals.items() if name != Twinmem.name}
        for name, row in others.items():
            if name.startswith("control"):
                del row["ms/query"]  # a control doesn't search
        lost = losses(totals[Twinmem.name], others, (*SCORES, "ms/query"), ("ms/query",))
        out.print(report.losing(lost, others))
    return {
        "benchmark": "locomo",
        "file": Path(path).name,
        "scored": "turn-level, fractional, all categories, candidates of the same conversation, MRR within 50",
        "conversations": [sample.name for sample in samples],
        "n": n,
        "skipped": skipped,
        "embedder": embedder,
        "systems": {name: result.as_json() for name, result in results.items()},
        "absent": dict(absent),
        "loses": [dict(zip(("figure", "to", "ours", "theirs"), row, strict=True)) for row in lost],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path, help="a LoCoMo file, such as locomo10.json")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to this file as well")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="measure peers too")
    parser.add_argument("--ours", action=argparse.BooleanOptionalAction, default=True, help="measure twinmem")
    parser.add_argument("--limit-conversations", type=int, metavar="N", help="only the first N conversations")
    parser.add_argument("--embedder", choices=embedders.NAMES, default="default", help="for all systems alike")
    options = parser.parse_args(arguments)
    body = run(options.path, options.embedder, options.peers, options.limit_conversations, options.ours)
    report.write_json(options.json, body)


if __name__ == "__main__":
    main()
