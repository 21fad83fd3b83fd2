"""What one message and one context cost with everything on, embedding apart, as a scope grows.

    python benchmarks/messages.py [--sizes 1000 10000] [--messages 200] [--clock wall|cpu] [--json OUT] [--check]

A message is written to a scope that holds that many records (one in five a fact with a triple, one in fifty an event,
some procedures), with facts, conflicts, events, graph, provenance, summary and consolidation on; beside it the same
with extraction off. `context` has all sections: talk, profile, task, rules, memories, events, summary, knowledge. The
embedder looks vectors up, and its time is taken off. A search (k=5) stands beside them, in turn with the contexts, and
nothing may grow faster than it does. `--clock cpu` leaves waiting out, for a machine that others use. With `--check` a
figure over its budget (10 ms a message, 15 ms a context, at 10,000) or growth over that of a search ends with 1.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import report
from rich.table import Table as Shown

from shared_core import AgentMemory

_DIMENSIONS = 512
_PLACES = "Lyon Rome Oslo Bari 杭州 上海 成都".split()
_QUESTIONS = [
    "Where does Person {} live, and what does Initech use?", "How did the deploy of service {} go?",
    "What do I like, dish {}?", "我住在哪里，菜{}呢？", "How do we deploy service {} to staging?",
]  # fmt: skip
BUDGETS = {"add_messages": 10.0, "context": 15.0}  # ms at the largest size up to BUDGET_SIZE
BUDGET_SIZE = 10_000
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}


class Table:
    """An embedder that gives any text one of a few thousand vectors, and knows how long it took."""

    name, dimensions = "table", _DIMENSIONS

    def __init__(self, clock: Callable[[], float]) -> None:
        self.seconds, self.clock = 0.0, clock
        self._vectors = np.random.default_rng(7).standard_normal((4_096, _DIMENSIONS)).astype(np.float32)

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """A vector a text; its time is counted."""
        start = self.clock()
        found = self._vectors[[hash(text) % len(self._vectors) for text in texts]]
        self.seconds += self.clock() - start
        return found

    def embed_query(self, text: str) -> Any:
        """The vector of a question."""
        return self.embed_documents([text])[0]


@dataclass(frozen=True)
class Line:
    """Milliseconds of a verb at a size."""

    what: str
    records: int
    p50: float
    p95: float


def message(number: int, rng: random.Random) -> str:
    """Something a user says; half of it holds facts."""
    place = rng.choice(_PLACES)
    return rng.choice(
        [
            f"I moved to {place} and I like dish {number}", f"I no longer like dish {number - 1}",
            f"我搬到{place}了，我喜欢菜{number}", "My sister Anna lives in " + place, "Thanks, that is great!",
            f"Remember that code {number} opens the gate", f"We decided to deploy service {number} on Friday",
        ]
    )  # fmt: skip


def fill(scope: Any, have: int, size: int, rng: random.Random) -> None:
    """Records up to a size: texts, facts with triples, events, and a few procedures."""
    for start in range(have, size, 5_000):
        scope.add_many([_record(n, rng) for n in range(start, min(size, start + 5_000))])
    if not have:
        scope.graph.add("Initech", "uses", "RabbitMQ")
        for n in range(8):
            scope.procedures.add(f"deploying service {n} to staging", ["run the tests", "build it", "push it"])


def _record(n: int, rng: random.Random) -> Any:
    if n % 5 == 0:
        return {"text": f"Person {n} likes thing {n}", "triple": (f"Person {n}", "likes", f"thing {n}")}
    words = " ".join(f"word{rng.randrange(5_000)}" for _ in range(12))
    return {"text": f"The deploy of {words}", "kind": "event", "type": "decision"} if n % 50 == 1 else words


def measure(sizes: Sequence[int], messages: int, extract: bool, clock: Callable[[], float]) -> list[Line]:
    """Messages, searches and contexts at each size, in one growing file."""
    rng, embedder, lines = random.Random(7), Table(clock), []
    with tempfile.TemporaryDirectory() as folder:
        settings = {"facts": {"extract": extract}}
        with AgentMemory.open(Path(folder) / "agent.db", embedder=embedder, settings=settings) as memory:
            scope = memory.scope(user="alice")
            have, number = 0, 0
            for size in sizes:
                fill(scope, have, size, rng)
                have, chat = size, scope.session(f"at {size}")
                chat.working.start("t", "Deploy the service", plan=["test", "build", "push"])
                taken: dict[str, list[float]] = {"add_messages": [], "search": [], "context": []}

                def timed(what: str, work: Callable[[], Any], taken: Any = taken) -> None:
                    embedder.seconds, start = 0.0, clock()
                    work()
                    taken[what].append(1e3 * (clock() - start - embedder.seconds))

                gc.collect()
                for _ in range(messages):
                    number += 1
                    given = [{"role": "user", "content": message(number, rng)}]
                    timed("add_messages", lambda given=given, chat=chat: chat.add_messages(given))
                if extract:
                    for turn in range(messages):
                        question = _QUESTIONS[turn % len(_QUESTIONS)].format(turn)
                        timed("search", lambda question=question: scope.search(question))
                        timed("context", lambda question=question, chat=chat: chat.context(question))
                for what, times in taken.items():
                    if times:
                        named = what if extract or what != "add_messages" else "add_messages, nothing extracted"
                        p95 = sorted(times)[int(0.95 * len(times))]
                        lines.append(Line(named, size, statistics.median(times), p95))
    return lines


def growth(lines: Sequence[Line], what: str) -> float:
    """How much longer it takes at the largest size than at the smallest."""
    times = [line.p50 for line in lines if line.what == what]
    return times[-1] / times[0]


def faults(lines: Sequence[Line]) -> list[str]:
    """What is over its budget, or grows faster than a search."""
    found = [
        f"{line.what} takes {line.p50:.1f} ms at {line.records:,}; the budget is {BUDGETS[line.what]:g}"
        for line in lines
        if line.records <= BUDGET_SIZE and line.p50 > BUDGETS.get(line.what, float("inf"))
    ]
    allowed = max(1.0, growth(lines, "search"))
    return found + [
        f"{what} grows {growth(lines, what):.1f} times, a search {allowed:.1f} times"
        for what in BUDGETS
        if growth(lines, what) > 1.1 * allowed
    ]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000])
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="what is measured: time, or processor time")
    parser.add_argument("--json", help="write the figures here")
    parser.add_argument("--check", action="store_true", help="end with 1 if a figure is over its budget")
    given = parser.parse_args()
    lines = [line for on in (True, False) for line in measure(given.sizes, given.messages, on, CLOCKS[given.clock])]
    table = Shown(title=f"Milliseconds by the {given.clock} clock, embedding apart")
    for column in ("what", "records", "p50", "p95", "growth"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for line in sorted(lines, key=lambda line: (line.what, line.records)):
        last = f"{growth(lines, line.what):.2f}" if line.records == given.sizes[-1] else ""
        table.add_row(line.what, f"{line.records:,}", f"{line.p50:.2f}", f"{line.p95:.2f}", last)
    report.console().print(table)
    wrong = faults(lines)
    for fault in wrong:
        report.console().print(fault)
    report.write_json(given.json, {"clock": given.clock, "lines": [asdict(line) for line in lines], "faults": wrong})
    return 1 if given.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
