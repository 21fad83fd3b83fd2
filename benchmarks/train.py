"""Fit the ranker's weights: `python benchmarks/train.py LOCOMO [MADIAL]`. Numpy only, a minute or two.

For every turn that holds evidence, the loss is log(1 + sum over the other turns of exp(theirs - its)),
weighted by one over the root of the question's number of such turns, so that questions with many don't
rule. Weights are pulled to zero (L2, on standardised numbers). Leave-one-conversation-out figures are
what the weights are worth; the weights printed at the end are fitted on all of them.

The shipped weights are fitted on whole turns. `--views turns sentences` adds a second view of the same
talk, each sentence a message of its own, against leaning on what only tidy turns have; it costs whole
turns .03 of R@1 and .014 of R@10, left out, and is not used.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from shared_core import AgentMemory
from shared_core.evaluation.embedders import load
from shared_core.evaluation.reading import read
from shared_core.evaluation.sets import Sample
from shared_core.recall.question import question as asked
from shared_core.recall.rank import WEIGHTS, features
from shared_core.steps import run

FIXED = {"same words", "about"}  # set by hand: LoCoMo has neither
NAMES = [name for name in WEIGHTS if name not in FIXED]
KS = (1, 5, 10, 50)
L2 = 10.0


@dataclass
class Case:
    """One question: the numbers of each turn, and which turns hold its evidence."""

    group: str
    category: str
    numbers: np.ndarray
    evidence: np.ndarray


def cases(sample: Sample, embedder: object) -> list[Case]:
    """The numbers of every turn for every question of a conversation, out of the product's own code."""
    found = []
    # Turns are ranked alike with and without what is read from them, and only turns are ranked here.
    with AgentMemory.open(embedder=embedder, settings={"facts": {"extract": False}}) as memory:
        scope = memory.scope(user="u")
        for name, messages in sample.sessions.items():
            scope.session(name).add_messages(messages)
        engine = scope._engine
        with engine.store.look() as tx:
            number = scope._find(tx)
        assert number is not None
        for question in sample.questions:
            with engine.recalling(number) as (tx, index):
                names = index.names
            made = asked(question.text, engine.settings, question.asked_at or datetime.now(UTC), names)
            if made is None:
                continue
            made.embedded([run(engine.model.query(view.text)) for view in made.views])
            with engine.recalling(number) as (tx, index):
                parts = features(index, made, None, 50)
                zeros = np.zeros(index.size, np.float32)
                numbers = np.stack([parts.get(name, zeros) for name in NAMES], 1)
                ids = {scope.get(id).message_id: slot for slot, id in enumerate(index.ids)}  # type: ignore[union-attr]
            evidence = np.array([ids[turn] for turn in question.evidence if turn in ids], np.int64)
            if len(evidence):
                found.append(Case(sample.group or sample.name, question.category, numbers, evidence))
    return found


def sentences(sample: Sample) -> Sample:
    """The same talk with each sentence a message of its own; evidence is then any piece of its turn."""
    cut = {}
    pieces: dict[str, list[str]] = {}
    for name, messages in sample.sessions.items():
        cut[name] = []
        for message in messages:
            parts = [p for p in re.split(r"(?<=[.!?。！？])\s+", message.text) if p.strip()] or [message.text]
            for place, part in enumerate(parts):
                id = f"{message.id}/{place}"
                pieces.setdefault(str(message.id), []).append(id)
                cut[name].append(message.model_copy(update={"id": id, "content": part}))
    questions = tuple(
        replace(q, evidence=tuple(piece for turn in q.evidence for piece in pieces.get(turn, ())))
        for q in sample.questions
    )
    return replace(sample, sessions={name: tuple(m) for name, m in cut.items()}, questions=questions)


def fit(data: list[Case], rounds: int = 250, l2: float = L2) -> np.ndarray:
    """The weights of least loss, by gradient descent with momentum on standardised numbers."""
    everything = np.concatenate([case.numbers for case in data])
    scale = everything.std(0)
    scale[scale < 1e-6] = 1.0
    scaled = [(case.numbers / scale).astype(np.float32) for case in data]
    weights, step = np.array([WEIGHTS[name] for name in NAMES]) * scale, np.zeros(len(NAMES))
    squares = np.zeros(len(NAMES))
    for turn in range(1, rounds + 1):
        gradient = l2 * weights
        for case, numbers in zip(data, scaled, strict=True):
            gradient += _gradient(numbers, case.evidence, weights)
        # Adam, with a rate that falls to a tenth.
        step = 0.9 * step + 0.1 * gradient
        squares = 0.98 * squares + 0.02 * gradient**2
        rate = 0.05 * (1 - 0.9 * turn / rounds)
        weights -= rate * (step / (1 - 0.9**turn)) / (np.sqrt(squares / (1 - 0.98**turn)) + 1e-9)
    return weights / scale


def _gradient(numbers: np.ndarray, evidence: np.ndarray, weights: np.ndarray) -> np.ndarray:
    values = numbers @ weights.astype(np.float32)
    values -= values.max()
    force = np.exp(values)
    others = force.copy()
    others[evidence] = 0.0
    total = float(others.sum())
    mean = others @ numbers
    share = 1 / np.sqrt(len(evidence))
    found = np.zeros(len(weights))
    for turn in evidence:
        below = total / (total + float(force[turn]))
        found += share * below * (mean / max(total, 1e-30) - numbers[turn])
    return found


def figures(data: list[Case], weights: np.ndarray) -> np.ndarray:
    """R@1, R@5, R@10, R@50 and MRR, averaged over questions."""
    rows = []
    for case in data:
        order = np.argsort(-(case.numbers @ weights), kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        at = place[case.evidence]
        rows.append([*((at < k).mean() for k in KS), 1 / (at.min() + 1)])
    return np.mean(rows, 0)


def main() -> None:
    """Fit, print leave-one-conversation-out figures and the weights of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--views", nargs="+", choices=("turns", "sentences"), default=["turns"])
    parser.add_argument("--l2", type=float, default=L2)
    parser.add_argument("--embedder", default="default")
    options = parser.parse_args()
    console, embedder = Console(), load(options.embedder)
    samples = [sample for part in read([options.locomo]) for sample in part.samples]
    views = {"turns": samples, "sentences": [sentences(sample) for sample in samples]}
    data = {
        view: [case for sample in track(views[view], view, console=console) for case in cases(sample, embedder)]
        for view in dict.fromkeys(["turns", *options.views])
    }
    groups = sorted({case.group for case in data["turns"]})
    left_out, worth = [], []
    for group in groups:
        weights = fit([case for view in options.views for case in data[view] if case.group != group], l2=options.l2)
        mine = [case for case in data["turns"] if case.group == group]
        left_out.append((len(mine), figures(mine, weights)))
        multi = [case for case in mine if case.category == "multi-hop"]
        worth.append((len(multi), figures(multi, weights)))
        console.print(group, np.round(left_out[-1][1], 3))
    console.print(
        "left out   R@1 R@5 R@10 R@50 MRR", np.round(_mean(left_out), 3), "multi-hop", np.round(_mean(worth), 3)
    )
    console.print(
        "as shipped                      ", np.round(figures(data["turns"], np.array([WEIGHTS[n] for n in NAMES])), 3)
    )
    weights = fit([case for view in options.views for case in data[view]], l2=options.l2)
    console.print({name: round(float(weight), 2) for name, weight in zip(NAMES, weights, strict=True)})


def _mean(parts: list[tuple[int, np.ndarray]]) -> np.ndarray:
    total = sum(count for count, _ in parts)
    return np.sum([count * values for count, values in parts], 0) / total


if __name__ == "__main__":
    main()
