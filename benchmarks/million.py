"""One scope of a million records, prepared vectors: each step of its growth, its first answer, its searches, its memory.

    python benchmarks/million.py [--records 1000000] [--step 100000] [--json OUT]

Texts are those of `workload.py` with a number behind each, by which the embedder finds the vector. Everything
past `recall.exact_limit` goes through the inverted file (IVF). About ten minutes and 9 GB on two free cores.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import report
import scale
from workload import DIMENSIONS, clustered, generate

QUESTIONS = 200
SINGLES = 500
KINDS = 100_000  # different texts before the numbers


class Numbered:
    """An embedder that reads the number behind a text, and gives that row."""

    name, dimensions = "numbered", DIMENSIONS

    def __init__(self, vectors: np.ndarray, questions: np.ndarray) -> None:
        self._vectors, self._questions = vectors, questions

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """Rows, in the order of the texts."""
        return self._vectors[[int(text.rpartition("#")[2]) for text in texts]]

    def embed_query(self, text: str) -> Any:
        """A question's own vector; it is asked by its place."""
        return self._questions[int(re.findall(r"\d+", text)[-1])]


def run(records: int, step: int) -> dict[str, Any]:
    """All figures of one run; prints each step as it is done."""
    from shared_core import AgentMemory

    began = time.perf_counter()
    rng = np.random.default_rng(11)
    load = generate(min(KINDS, records), 1)
    total = records + SINGLES
    vectors = clustered(rng, total)
    targets = rng.integers(0, records, QUESTIONS)
    noise = rng.standard_normal((QUESTIONS, DIMENSIONS), dtype=np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    near = vectors[targets] + 0.7 * noise
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    texts = load.texts
    asked = [" ".join(texts[t % len(texts)].split()[:5]) + f" ?{i}" for i, t in enumerate(targets.tolist())]
    embedder = Numbered(vectors, near)

    def items(numbers: range) -> list[dict[str, Any]]:
        return [{"text": f"{texts[n % len(texts)]} #{n}", "metadata": {"topic": f"topic-{n % 10}"}} for n in numbers]

    found: dict[str, Any] = {"records": records, "dimensions": DIMENSIONS, "steps": []}
    with tempfile.TemporaryDirectory(prefix="twinmem-million-") as folder:
        path = str(Path(folder) / "ours.db")
        with AgentMemory.open(path, embedder=embedder) as memory:
            scope = memory.scope(user="big")
            for start in range(0, records, step):
                spent = wall = 0.0
                for first in range(start, min(start + step, records), 5_000):
                    batch = items(range(first, min(first + 5_000, records)))
                    cpu, clock = time.process_time(), time.perf_counter()
                    scope.add_many(batch)
                    spent, wall = spent + time.process_time() - cpu, wall + time.perf_counter() - clock
                rate = min(step, records - start) / spent
                found["steps"].append({"size": start + step, "rate": rate, "wall": min(step, records - start) / wall})
                print(f"{start + step:,}: {rate:,.0f} records a second of processor time", flush=True)
        gc.collect()
        found["file_bytes"] = os.path.getsize(path)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA query_only=ON")
        found["reading"] = scale.clock(lambda: _read(connection))
        connection.close()
        before = scale._resident()
        with AgentMemory.open(path, embedder=embedder, settings={"cache": {"bytes": 16 << 30}}) as memory:
            scope = memory.scope(user="big")
            found["first_answer"] = scale.clock(lambda: scope.search(asked[0], k=10))
            gc.collect()
            found["memory"] = scale._resident() - before
            print(f"first answer {found['first_answer']:.1f} s, memory {found['memory'] / 1e9:.2f} GB", flush=True)
            found |= _searches(scope, asked, near, vectors[:records], texts, targets)
            extra = items(range(records, total))
            spent = scale.clock(lambda: [scope.add(**item) for item in extra])
            found["single_add"] = SINGLES / spent
            found["single_add_after_search"] = scale.clock(lambda: scope.search(asked[1], k=10))
    found["peak"] = scale._peak()
    found["seconds"] = time.perf_counter() - began
    return found


def _read(connection: sqlite3.Connection) -> int:
    count = 0
    for _ in connection.execute("SELECT r.*, v.pieces FROM record r JOIN vector v ON v.id = (r.seq << 8 | 1)"):
        count += 1
    return count


def _searches(
    scope: Any, asked: Sequence[str], near: np.ndarray, vectors: np.ndarray, texts: Sequence[str], targets: np.ndarray
) -> dict[str, Any]:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(DIMENSIONS)
    index.add(np.ascontiguousarray(vectors))
    plain, filtered, bare, hits, nearest = [], [], [], 0, 0
    for place, question in enumerate(asked):
        answers: list[Any] = []
        plain.append(scale.clock(lambda q=question, a=answers: a.extend(scope.search(q, k=10))))
        where = {"topic": f"topic-{int(targets[place]) % 10}"}
        filtered.append(scale.clock(lambda q=question, w=where: scope.search(q, k=10, where=w)))
        if place < 50:
            best: list[Any] = []
            query = near[place : place + 1]
            bare.append(scale.clock(lambda v=query, b=best: b.extend(index.search(v, 10)[1][0])))
            numbers = {int(hit.record.text.rpartition("#")[2]) for hit in answers}
            nearest += int(best[0]) in numbers
            hits += int(targets[place]) in numbers
    ms = lambda values, share: float(np.percentile(values, share)) * 1000  # noqa: E731
    return {
        "p50": ms(plain, 50), "p95": ms(plain, 95), "filtered_p50": ms(filtered[1:], 50), "bare_p50": ms(bare, 50),
        "first_filtered": filtered[0], "nearest_found": nearest / min(50, len(asked)), "target_found": hits / min(50, len(asked)),
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--step", type=int, default=100_000)
    parser.add_argument("--clock", choices=scale.CLOCKS, default="wall", help="cpu: comparable on a busy machine")
    parser.add_argument("--json", type=Path, metavar="OUT")
    options = parser.parse_args(arguments)
    scale.choose_clock(options.clock)
    found = {"clock": options.clock, "load_average": os.getloadavg(), **run(options.records, options.step)}
    print(json.dumps({name: value for name, value in found.items() if name != "steps"}, indent=2))
    report.write_json(options.json, found)


if __name__ == "__main__":
    main()
