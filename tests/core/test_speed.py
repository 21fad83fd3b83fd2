"""Work that must not grow with what is remembered (R78). The exact budgets are measured by `benchmarks/`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shared_core import AgentMemory
from shared_core.testing import FixedEmbedder, RecordingEmbedder


def quick(work: Callable[[int], object], count: int) -> float:
    """The time of a tenth of the work: one of the quicker tenths, so that a busy machine shows less."""
    laps = []
    for lap in range(10):
        begin = time.perf_counter()
        for n in range(lap * count // 10, (lap + 1) * count // 10):
            work(n)
        laps.append(time.perf_counter() - begin)
    return sorted(laps)[3]


def bytes_written() -> int:
    """What this process has written so far; 0 where the system does not tell."""
    told = Path("/proc/self/io")
    return int(told.read_text().split("wchar: ")[1].split()[0]) if told.exists() else 0


@pytest.mark.timing
@pytest.mark.timing
def test_r78_single_writes_and_deletions_stay_flat_and_a_batch_is_one_call(path: Path) -> None:
    embedder = RecordingEmbedder(FixedEmbedder(dimensions=64))
    with AgentMemory.open(path, embedder=embedder) as memory:
        scope = memory.scope(user="alice")
        scope.search("x")
        adding, written = [], []
        for third in range(3):
            before = bytes_written()
            adding.append(quick(lambda n, third=third: scope.add(f"note {third} {n}", id=f"{third * 600 + n}"), 600))
            written.append(bytes_written() - before)
        assert adding[2] < 3 * adding[0], adding
        assert written[2] < 2 * written[0] + 1_000_000, written  # not the whole index each time
        calls = len(embedder.batches)
        begin = time.perf_counter()
        scope.add_many([{"text": f"batch note number {n}", "id": f"b{n}"} for n in range(1_800)])
        batch = time.perf_counter() - begin
        assert len(embedder.batches) - calls == -(-1_800 // 256)
        assert batch < sum(adding) * 10
        deleting = [quick(lambda n, third=third: scope.delete(f"{third * 600 + n}"), 600) for third in range(3)]
        assert deleting[2] < 3 * deleting[0], deleting
        assert scope.count() == 1_800


def test_r78_a_search_after_each_write_stays_flat(path: Path) -> None:
    with AgentMemory.open(path, embedder=FixedEmbedder(dimensions=64)) as memory:
        scope = memory.scope(user="alice")
        scope.add_many([f"note number {n}" for n in range(300)])

        def work(n: int) -> None:
            scope.update(scope.add(f"fresh note {n % 50}").id, f"changed {n}")
            scope.search("fresh", k=3)

        times = [quick(work, 100) for _ in range(3)]
        assert times[2] < 3 * times[0], times
