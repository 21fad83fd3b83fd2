"""What one message costs with everything on (facts, conflicts, graph, provenance), embedding apart, as a scope grows.

    python benchmarks/messages.py [--sizes 100 1000 10000 100000] [--messages 200]

Each message is written to a scope that holds that many records (one in five a fact with a triple). The embedder looks
vectors up, and its time is taken off. Beside it: the same messages with extraction off.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shared_core import AgentMemory

_DIMENSIONS = 512
_PLACES = "Lyon Rome Oslo Bari 杭州 上海 成都".split()


class Table:
    """An embedder that gives any text one of a few thousand vectors, and knows how long it took."""

    name, dimensions = "table", _DIMENSIONS

    def __init__(self) -> None:
        self.seconds = 0.0
        self._vectors = np.random.default_rng(7).standard_normal((4_096, _DIMENSIONS)).astype(np.float32)

    def embed_documents(self, texts: Sequence[str]) -> Any:
        start = time.perf_counter()
        found = self._vectors[[hash(text) % len(self._vectors) for text in texts]]
        self.seconds += time.perf_counter() - start
        return found

    def embed_query(self, text: str) -> Any:
        return self.embed_documents([text])[0]


def message(number: int, rng: random.Random) -> str:
    place = rng.choice(_PLACES)
    return rng.choice(
        [
            f"I moved to {place} and I like dish {number}", f"I no longer like dish {number - 1}",
            f"我搬到{place}了，我喜欢菜{number}", f"My sister Anna lives in {place}", "Thanks, that is great!",
            f"Remember that code {number} opens the gate",
        ]
    )  # fmt: skip


def fill(scope: Any, have: int, size: int, rng: random.Random) -> None:
    for start in range(have, size, 5_000):
        numbers = range(start, min(size, start + 5_000))
        scope.add_many(
            [
                {"text": f"Person {n} likes thing {n}", "triple": (f"Person {n}", "likes", f"thing {n}")}
                if n % 5 == 0
                else " ".join(f"word{rng.randrange(5_000)}" for _ in range(12))
                for n in numbers
            ]
        )


def measure(sizes: Sequence[int], messages: int, extract: bool) -> None:
    rng, embedder = random.Random(7), Table()
    with tempfile.TemporaryDirectory() as folder:
        settings = {"facts": {"extract": extract}}
        with AgentMemory.open(Path(folder) / "agent.db", embedder=embedder, settings=settings) as memory:
            scope = memory.scope(user="alice")
            chat, have, number = scope.session("monday"), 0, 0
            for size in sizes:
                fill(scope, have, size, rng)
                have, taken = size, []
                for _ in range(messages):
                    number += 1
                    given = [{"role": "user", "content": message(number, rng)}]
                    embedder.seconds, start = 0.0, time.perf_counter()
                    chat.add_messages(given)
                    taken.append(1e3 * (time.perf_counter() - start - embedder.seconds))
                ordered = sorted(taken)
                print(f"facts {'on' if extract else 'off':3}  {size:>9,} records   p50 {statistics.median(taken):6.2f} ms"
                      f"   p95 {ordered[int(0.95 * len(ordered))]:6.2f} ms")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 1_000, 10_000, 100_000])
    parser.add_argument("--messages", type=int, default=200)
    chosen = parser.parse_args()
    for extract in (True, False):
        measure(chosen.sizes, chosen.messages, extract)


if __name__ == "__main__":
    main()
