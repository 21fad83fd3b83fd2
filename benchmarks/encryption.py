"""What encryption at rest costs: the same verbs on a plain file and on one under a key, in turns.

    python benchmarks/encryption.py [--size 10000] [--rounds 5] [--json OUT]

Milliseconds of the median round. Opening is by a passphrase, which is stretched once, and by a raw key of 32 bytes; the
embedder looks vectors up.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import report
import scale
from rich.table import Table as Shown
from workload import Workload, generate

KEYS: dict[str, Any] = {"plain": None, "raw key": b"k" * 32, "passphrase": "correct horse battery staple"}
_SINGLES = 200


def one_round(folder: Path, key: Any, load: Workload, size: int) -> dict[str, float]:
    """Milliseconds of each verb, on a new file."""
    from shared_core import AgentMemory

    path, embedder = folder / "agent.db", load.embedder()
    AgentMemory.open(path, embedder=embedder, key=key).close()  # a new file's salt and schema are made once
    took: dict[str, float] = {}

    def timed(what: str, work: Callable[[], Any], times: int = 1) -> Any:
        start = time.perf_counter()
        value = work()
        took[what] = 1e3 * (time.perf_counter() - start) / times
        return value

    memory = timed("open", lambda: AgentMemory.open(path, embedder=embedder, key=key))
    with memory:
        scope = memory.scope(user="alice")
        timed("bulk add, a record", lambda: scope.add_many([scale.fields(load, n) for n in range(size)]), size)
        timed("add", lambda: [scope.add(**scale.fields(load, size + n)) for n in range(_SINGLES)], _SINGLES)
    with AgentMemory.open(path, embedder=embedder, key=key) as memory:
        scope = memory.scope(user="alice")
        timed("first answer", lambda: scope.search(load.questions[0]))
        timed("search", lambda: [scope.search(each) for each in load.questions], len(load.questions))
    path.unlink()
    return took


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="write the figures here")
    given = parser.parse_args()
    load = generate(given.size, 50, _SINGLES)
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in KEYS}
    with tempfile.TemporaryDirectory(prefix="twinmem-encryption-") as folder:
        for _ in range(given.rounds):
            for name, key in KEYS.items():
                rounds[name].append(one_round(Path(folder), key, load, given.size))
    found = {
        name: {what: statistics.median(each[what] for each in taken) for what in taken[0]}
        for name, taken in rounds.items()
    }
    table = Shown(title=f"Milliseconds with {given.size:,} records")
    for column in ("what", *KEYS, "raw key / plain"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for what, plain in found["plain"].items():
        table.add_row(what, *(f"{found[name][what]:.3f}" for name in KEYS), f"{found['raw key'][what] / plain:.2f}")
    report.console().print(table)
    report.write_json(given.json, {"size": given.size, "milliseconds": found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
