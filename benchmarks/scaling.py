"""Writes docs/scale.md: how the memory grows, on SQLite and PostgreSQL, as ratios to bare engines in the same run.

    python benchmarks/scaling.py [--only sizes scopes threads postgres tables million] [--out docs/scale]

Every part is measured by itself and kept in OUT/figures.json with its date and the load of the machine, so `--only`
with one part repeats that part, and `--only` with nothing after it only writes the page anew from
scale.template.md. On two free cores: sizes 4 minutes, scopes 6, threads 1, postgres 4, tables 1, million 10.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scale
from workload import DIMENSIONS, Workload, generate

HERE = Path(__file__).parent
ROOT = HERE.parent
NOT_RUN = "*Not measured yet.*"
_SEEN = 6  # bytes a record, under which a table is as good as empty: a page or two
MEMORIES, USERS = 100_000_000, 1_000_000  # what the page works out a cost for


# ---------------------------------------------------------------------- one machine


def sizes() -> dict[str, Any]:
    """DESIGN's budgets at 10,000 and 100,000 records."""
    lines = scale.importing()
    for size in (10_000, 100_000):
        lines += scale.measure(size, 3, "float16")
    return {"lines": [{**asdict(line), "verdict": line.verdict} for line in lines]}


def scopes(count: int = 10_000, each: int = 100, limit: int = 256 << 20) -> dict[str, Any]:
    """Many scopes under a memory limit: written once, then asked unevenly, as users come and go."""
    from shared_core import AgentMemory

    load = generate(5_000, 200)
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory(prefix="twinmem-scopes-") as folder:
        path = str(Path(folder) / "ours.db")
        items = [scale.fields(load, n) for n in range(5_000)]
        with AgentMemory.open(path, embedder=load.embedder()) as memory:
            curve, spent = [], 0.0
            for number in range(count):
                first = int(rng.integers(0, 5_000 - each))
                scope = memory.scope(user=f"user-{number}")
                spent += scale.clock(lambda s=scope, f=first: s.add_many(items[f : f + each]))  # type: ignore[misc]
                if (number + 1) % (count // 10) == 0:
                    curve.append({"scopes": number + 1, "rate": each * (count // 10) / spent})
                    spent = 0.0
        before = scale._resident()
        with AgentMemory.open(path, embedder=load.embedder(), settings={"cache": {"bytes": limit}}) as memory:
            cold, warm = [], []
            for number in rng.permutation(count).tolist():
                cold.append(
                    scale.clock(lambda n=number: memory.scope(user=f"user-{n}").search(load.questions[0], k=10))
                )  # type: ignore[misc]
            grown = scale._resident() - before
            popular = np.minimum(rng.zipf(1.3, 2_000) - 1, count - 1)
            for place, number in enumerate(popular.tolist()):
                question = load.questions[place % 200]
                warm.append(scale.clock(lambda n=number, q=question: memory.scope(user=f"user-{n}").search(q, k=10)))  # type: ignore[misc]
            stats = memory.stats()
            grown = max(grown, scale._resident() - before)
        ms = lambda values, share: float(np.percentile(values, share)) * 1000  # noqa: E731
        return {
            "scopes": count, "each": each, "limit": limit, "grown": grown, "held": stats.bytes, "evicted": stats.evicted,
            "file_bytes": os.path.getsize(path), "curve": curve, "cold_p50": ms(cold, 50), "cold_p95": ms(cold, 95),
            "zipf_p50": ms(warm, 50), "zipf_p95": ms(warm, 95),
        }  # fmt: skip


def threads(size: int = 10_000, seconds: float = 4.0) -> dict[str, Any]:
    """Searches a second of one thread and of eight together: in one scope, and in eight."""
    from shared_core import AgentMemory

    load = generate(size, 200)
    found: dict[str, Any] = {"size": size}
    with (
        tempfile.TemporaryDirectory(prefix="twinmem-threads-") as folder,
        AgentMemory.open(str(Path(folder) / "ours.db"), embedder=load.embedder()) as memory,
    ):
        users = [f"user-{n}" for n in range(8)]
        for user in users:
            memory.scope(user=user).add_many([scale.fields(load, n) for n in range(size)])
        for name, who in (("one scope", users[:1] * 8), ("eight scopes", users)):
            rates: dict[int, list[float]] = {1: [], 8: []}
            for _ in range(3):  # in turns, so that other work slows both alike
                for number in rates:
                    rates[number].append(_together(memory, load, who[:number], seconds / 2))
            found[name] = {str(number): float(np.median(values)) for number, values in rates.items()}
    return found


def _together(memory: Any, load: Workload, who: Sequence[str], seconds: float) -> float:
    done = [0] * len(who)
    scopes_ = [memory.scope(user=user) for user in who]
    for scope in scopes_:
        scope.search(load.questions[0], k=10)
    until = time.perf_counter() + seconds

    def ask(place: int) -> None:
        while time.perf_counter() < until:
            scopes_[place].search(load.questions[(done[place] * 7 + place) % 200], k=10)
            done[place] += 1

    workers = [threading.Thread(target=ask, args=(place,)) for place in range(len(who))]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / (time.perf_counter() - started)


def million() -> dict[str, Any]:
    """A million records in one scope, in a process of its own."""
    clock = next(name for name, timer in scale.CLOCKS.items() if timer is scale._now)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "million.json"
        subprocess.run([sys.executable, str(HERE / "million.py"), "--clock", clock, "--json", str(out)], check=True)
        return dict(json.loads(out.read_text(encoding="utf-8")))


# ---------------------------------------------------------------------- a server


@contextmanager
def server() -> Iterator[str]:
    """The address of a server of our own, with its usual durability."""
    sys.path.insert(0, str(ROOT))
    from tests.servers import started

    with (
        tempfile.TemporaryDirectory(prefix="twinmem-pg-", ignore_cleanup_errors=True) as folder,
        started(Path(folder) / "data", durable=True) as running,
    ):
        yield running.uri


def _bare(connection: Any) -> Any:
    connection.execute("CREATE SCHEMA IF NOT EXISTS bare")
    connection.execute(
        "CREATE TABLE bare.record (id TEXT PRIMARY KEY, text TEXT NOT NULL, kind TEXT NOT NULL, metadata TEXT, created_at "
        "BIGINT NOT NULL, updated_at BIGINT NOT NULL, words BYTEA, vector BYTEA, scope BIGINT, source TEXT, importance "
        "FLOAT8, confidence FLOAT8, digest BIGINT, shape BIGINT, revision BIGINT, seq BIGINT)"
    )
    return "INSERT INTO bare.record VALUES (" + ", ".join(["%s"] * 16) + ")"


def postgres(sizes_: Sequence[int] = (10_000, 50_000)) -> dict[str, Any]:
    """Bulk and single adds, first answer and search on a server, against bare statements through the same driver.

    By the wall clock: most of the work is the server's, whose processor time is not this process's.
    """
    scale.choose_clock("wall")
    return {"sizes": [_on_server(size) for size in sizes_]}


def _on_server(size: int) -> dict[str, Any]:
    import psycopg

    from shared_core import AgentMemory

    load = generate(size, 200, 400)
    embedder = load.embedder()
    rows = scale.Bare.__new__(scale.Bare)  # only its rows
    rows._load, rows._dtype = load, np.dtype("float16")
    figures: dict[str, Any] = {"size": size}
    with server() as uri, psycopg.connect(uri, autocommit=True) as connection:
        insert = _bare(connection)
        address = f"{uri}{'&' if '?' in uri else '?'}schema=ours"
        with AgentMemory.open(address, embedder=embedder) as memory:
            scope = memory.scope(user="big")

            def each(items: Sequence[dict[str, Any]]) -> None:
                for item in items:
                    scope.add(**item)

            def each_bare(values: Sequence[tuple[Any, ...]]) -> None:
                for row in values:
                    connection.execute(insert, row)

            both = {
                "bulk": (range(size), 2_500, scope.add_many, lambda values: _inserted(connection, insert, values)),
                "single": (range(size, size + 400), 100, each, each_bare),
            }
            for name, (numbers, block, ours, bare) in both.items():
                rates: dict[str, list[float]] = {"ours": [], "bare": []}
                for first in range(numbers.start, numbers.stop, block):
                    part = range(first, min(first + block, numbers.stop))
                    items, values = [scale.fields(load, n) for n in part], [rows.row(n) for n in part]
                    rates["ours"].append(len(part) / scale.clock(partial(ours, items)))
                    rates["bare"].append(len(part) / scale.clock(partial(bare, values)))
                figures[name] = {who: float(np.median(found)) for who, found in rates.items()}
        read, opened, times = [], [], []
        for question in load.questions[:3]:
            cursor = connection.cursor(binary=True)
            read.append(scale.clock(lambda c=cursor: c.execute("SELECT * FROM bare.record").fetchall()))  # type: ignore[misc]
            with AgentMemory.open(address, embedder=embedder) as memory:
                scope = memory.scope(user="big")
                opened.append(scale.clock(partial(scope.search, question, k=10)))
                if len(opened) == 3:
                    times = [scale.clock(partial(scope.search, asked, k=10)) for asked in load.questions]
        figures["first_answer"], figures["reading"] = float(np.median(opened)), float(np.median(read))
        figures["p50"], figures["p95"] = (float(np.percentile(times, share)) * 1000 for share in (50, 95))
    return figures


def _inserted(connection: Any, insert: str, values: Sequence[tuple[Any, ...]]) -> None:
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(insert, values)


def tables(size: int = 10_000) -> dict[str, Any]:
    """Bytes a record in each table with its indexes, in a file and on a server, and milliseconds a verb."""
    import sqlite3

    import psycopg

    from shared_core import AgentMemory

    scale.choose_clock("wall")  # the server's work is no time of this process
    load = generate(size, 50)
    items = [scale.fields(load, n) for n in range(size)]
    found: dict[str, Any] = {"size": size}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "ours.db")
        with AgentMemory.open(path, embedder=load.embedder()) as memory:
            memory.scope(user="big").add_many(items)
        found["file"] = os.path.getsize(path) / size
        connection = sqlite3.connect(path)
        try:
            rows = connection.execute(
                "SELECT m.tbl_name, sum(d.pgsize) FROM dbstat d JOIN sqlite_master m ON m.name = d.name GROUP BY 1"
            ).fetchall()
            found["sqlite"] = {name: bytes_ / size for name, bytes_ in rows if bytes_ / size >= _SEEN}
        except sqlite3.OperationalError:  # a build without dbstat
            found["sqlite"] = {}
        connection.close()
        with server() as uri:
            address = f"{uri}{'&' if '?' in uri else '?'}schema=ours"
            with AgentMemory.open(address, embedder=load.embedder()) as memory:
                scope = memory.scope(user="big")
                scope.add_many(items)
                verbs: dict[str, Callable[[], Any]] = {
                    "add": lambda: scope.add(f"something new {time.perf_counter_ns()}"),
                    "search, index in memory": lambda: scope.search(load.questions[1], k=10),
                    "get": lambda: scope.get(known.id),
                    "list of 20": lambda: scope.list(limit=20),
                }
                known = scope.add("known")
                scope.search(load.questions[0], k=10)
                found["verbs"] = {}
                for name, verb in verbs.items():
                    found["verbs"][name] = float(np.median([scale.clock(verb) for _ in range(40)])) * 1000
            with psycopg.connect(uri, autocommit=True) as server_:
                server_.execute("VACUUM FULL")
                rows = server_.execute(
                    "SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables WHERE schemaname = 'ours'"
                ).fetchall()
            found["postgres"] = {name: bytes_ / size for name, bytes_ in rows if bytes_ / size >= _SEEN}
    return found


# ---------------------------------------------------------------------- the page


PARTS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "sizes": sizes, "scopes": scopes, "threads": threads, "postgres": postgres, "tables": tables, "million": million,
}  # fmt: skip


def _grid(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def _when(kept: Mapping[str, Any], part: str) -> str:
    about = kept[part]["about"]
    return (
        f"*Measured {about['date']} by the {about['clock']} clock, load {about['load']:.1f} on {about['cores']} cores: "
        f"`python benchmarks/scaling.py --only {part}`, {about['seconds']:.0f} s.*"
    )


def _sizes_text(found: Mapping[str, Any]) -> str:
    rows = [
        ("" if line["size"] is None else f"{line['size']:,}", line["what"], line["ours"], line["bare"],
         f"{line['figure']:.2f}", line["budget"], line["verdict"])
        for line in found["lines"]
    ]  # fmt: skip
    return _grid(("records", "what", "twinmem", "bare", "figure", "budget", ""), rows)


def _scopes_text(found: Mapping[str, Any]) -> str:
    mb = 1 << 20
    return _grid(
        ("what", "figure"),
        [
            (f"{found['scopes']:,} scopes of {found['each']}: the file", f"{found['file_bytes'] / 1e6:,.0f} MB"),
            ("limit set (`cache.bytes`)", f"{found['limit'] / mb:,.0f} MB"),
            ("the process has grown by, once each was asked", f"{found['grown'] / mb:,.0f} MB"),
            ("scopes that made room", f"{found['evicted']:,}"),
            ("first question to a scope, p50 / p95", f"{found['cold_p50']:.1f} / {found['cold_p95']:.1f} ms"),
            ("questions by Zipf's law (1.3), p50 / p95", f"{found['zipf_p50']:.1f} / {found['zipf_p95']:.1f} ms"),
            ("records written a second, first / last tenth", f"{found['curve'][0]['rate']:,.0f} / {found['curve'][-1]['rate']:,.0f}"),
        ],
    )  # fmt: skip


def _threads_text(found: Mapping[str, Any]) -> str:
    rows = [
        (name, f"{found[name]['1']:,.0f}/s", f"{found[name]['8']:,.0f}/s", f"{found[name]['8'] / found[name]['1']:.2f}")
        for name in ("one scope", "eight scopes")
    ]
    return _grid(("threads ask", "1 thread", "8 threads", "ratio (budget ≥ 1)"), rows)


def _postgres_text(found: Mapping[str, Any]) -> str:
    rows = []
    for each in found["sizes"]:
        for name in ("bulk", "single"):
            ours, bare = each[name]["ours"], each[name]["bare"]
            rows.append(
                (
                    f"{each['size']:,}",
                    f"{name} add / bare insert",
                    f"{ours:,.0f}/s",
                    f"{bare:,.0f}/s",
                    f"{ours / bare:.2f}",
                )
            )
        ratio = each["first_answer"] / each["reading"]
        rows.append(
            (
                f"{each['size']:,}",
                "first answer / reading the rows",
                f"{each['first_answer']:.2f} s",
                f"{each['reading']:.2f} s",
                f"{ratio:.1f}",
            )
        )
        rows.append((f"{each['size']:,}", "search p50, p95", f"{each['p50']:.1f}, {each['p95']:.1f} ms", "", ""))
    return _grid(("records", "what", "twinmem", "bare", "ratio"), rows)


def _tables_text(found: Mapping[str, Any]) -> str:
    names = sorted({*found["sqlite"], *found["postgres"]})
    number = lambda held, name: f"{held[name]:,.0f}" if name in held else ""  # noqa: E731
    rows = [(f"`{name}`", number(found["sqlite"], name), number(found["postgres"], name)) for name in names]
    rows.append(("all", f"{found['file']:,.0f}", f"{sum(found['postgres'].values()):,.0f}"))
    verbs = [(name, f"{value:.2f} ms") for name, value in found["verbs"].items()]
    return (
        _grid(("table with its indexes", "SQLite, bytes a record", "PostgreSQL"), rows)
        + "\n\n"
        + _grid(("verb on a server", "p50"), verbs)
    )


def _million_text(found: Mapping[str, Any]) -> str:
    vectors = found["records"] * found["dimensions"] * 4
    rows = [
        ("file", f"{found['file_bytes'] / 1e9:.2f} GB"),
        ("records written a second, first / last step", f"{found['steps'][0]['rate']:,.0f} / {found['steps'][-1]['rate']:,.0f}"),
        ("durable single adds a second, at the end", f"{found['single_add']:,.0f}"),
        ("first answer / reading the rows", f"{found['first_answer']:.1f} s / {found['reading']:.1f} s = {found['first_answer'] / found['reading']:.1f}"),
        ("memory of the scope / its vectors in float32", f"{found['memory'] / 1e9:.2f} / {vectors / 1e9:.2f} GB = {found['memory'] / vectors:.2f}"),
        ("the whole process at its highest, with the benchmark's own vectors", f"{found['peak'] / 1e9:.1f} GB"),
        ("search p50 / p95", f"{found['p50']:.0f} / {found['p95']:.0f} ms"),
        ("search with a filter that keeps a tenth, p50 (the first one reads the rows' metadata)", f"{found['filtered_p50']:.0f} ms ({found['first_filtered']:.1f} s)"),
        ("bare FAISS flat search p50; ratio", f"{found['bare_p50']:.0f} ms; {found['p50'] / found['bare_p50']:.2f}"),
        ("the nearest vector, and the record asked for, among the first ten", f"{found['nearest_found']:.0%}, {found['target_found']:.0%}"),
    ]  # fmt: skip
    return _grid(("a million records in one scope", "figure"), rows)


def cost(kept: Mapping[str, Any]) -> str:
    """What 100 million memories of a million users take, out of the measured bytes and times."""
    if "tables" not in kept:
        return NOT_RUN
    found = kept["tables"]["figures"]
    each = sum(found["postgres"].values())
    users = MEMORIES // USERS
    active = 0.01  # of the users at once: hot scopes held by application servers
    vectors = users * DIMENSIONS * 4 * 1.4
    rows = [
        ("on disk, tables and indexes", f"{each:,.0f} B x {MEMORIES:,}", f"{each * MEMORIES / 1e9:,.0f} GB"),
        ("the same twice, for a standby", "", f"{2 * each * MEMORIES / 1e9:,.0f} GB"),
        ("of it vectors (`vector`)", f"{found['postgres'].get('vector', 0):,.0f} B each", f"{found['postgres'].get('vector', 0) * MEMORIES / 1e9:,.0f} GB"),
        ("a user's scope in memory", f"{users} x {DIMENSIONS} x 4 B x 1.4", f"{vectors / 1e3:,.0f} KB"),
        ("hot scopes, one user in a hundred", f"{int(USERS * active):,} scopes", f"{vectors * USERS * active / 1e9:,.1f} GB over all application servers"),
        ("writes, ten memories a user and day", f"{found['verbs']['add']:.1f} ms each", f"{USERS * 10 / 86_400:,.0f}/s, {USERS * 10 / 86_400 * found['verbs']['add'] / 1000:.1f} connections busy"),
        ("searches, twenty a user and day", f"{found['verbs']['search, index in memory']:.1f} ms at 10,000 records, less at {users}", f"{USERS * 20 / 86_400:,.0f}/s, at most {USERS * 20 / 86_400 * found['verbs']['search, index in memory'] / 1000:.1f} cores"),
    ]  # fmt: skip
    return _grid(("what", "from", "comes to"), rows)


def plots(kept: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Cost curves as SVG, and the lines that show them; nothing where a part was not measured."""
    try:
        import matplotlib
    except ImportError:
        return {}
    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "twinmem"  # the same picture for the same figures
    curves: dict[str, tuple[str, str, list[tuple[str, list[float], list[float]]]]] = {}
    if "million" in kept:
        steps = kept["million"]["figures"]["steps"]
        curves["writing"] = ("records in the scope", "records written a second", [
            ("one scope", [s["size"] for s in steps], [s["rate"] for s in steps])])  # fmt: skip
    if "scopes" in kept:
        steps = kept["scopes"]["figures"]["curve"]
        curves["many"] = ("scopes of 100 in the file", "records written a second", [
            ("many scopes", [s["scopes"] for s in steps], [s["rate"] for s in steps])])  # fmt: skip
    if "sizes" in kept:
        ours, bare = _search_curve(kept)
        curves["searching"] = (
            "records in the scope",
            "milliseconds a search, p50",
            [("twinmem", *ours), ("bare FAISS, flat", *bare)],
        )
    shown = {}
    for name, (x, y, lines) in curves.items():
        figure, axes = pyplot.subplots(figsize=(6.4, 3.2), layout="constrained")
        for label, across, up in lines:
            axes.plot(across, up, marker="o", label=label)
        axes.set(xlabel=x, ylabel=y)
        if name == "searching":
            axes.set(xscale="log", yscale="log")
        else:
            axes.set(ylim=(0, None))
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        pyplot.close(figure)
        shown[name] = f"![{y} over {x}]({folder.name}/{name}.svg)"
    return shown


def _search_curve(kept: Mapping[str, Any]) -> tuple[tuple[list[float], list[float]], tuple[list[float], list[float]]]:
    points = [
        (line["size"], float(line["ours"].split()[0]), float(line["bare"].split()[0]))
        for line in kept["sizes"]["figures"]["lines"]
        if line["what"].startswith("search p50")
    ]
    if "million" in kept:
        found = kept["million"]["figures"]
        points.append((found["records"], found["p50"], found["bare_p50"]))
    at = [float(point[0]) for point in points]
    return (at, [point[1] for point in points]), (at, [point[2] for point in points])


def write_page(kept: Mapping[str, Any], out: Path) -> None:
    """Fill the template with what was measured, whenever that was."""
    texts = {"sizes": _sizes_text, "scopes": _scopes_text, "threads": _threads_text, "postgres": _postgres_text,
             "tables": _tables_text, "million": _million_text}  # fmt: skip
    values = {
        part: f"{text(kept[part]['figures'])}\n\n{_when(kept, part)}" if part in kept else NOT_RUN
        for part, text in texts.items()
    }
    values |= {f"plot_{name}": "" for name in ("writing", "many", "searching")}
    values |= {f"plot_{name}": line for name, line in plots(kept, out).items()}
    values["cost"] = cost(kept)
    template = (HERE / "scale.template.md").read_text(encoding="utf-8")
    page = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], template)
    out.with_suffix(".md").write_text(page, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", choices=PARTS, help="measure these parts; none: only write the page")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs" / "scale", metavar="PATH", help="PATH.md and folder PATH"
    )
    parser.add_argument("--clock", choices=scale.CLOCKS, default="wall", help="cpu: comparable on a busy machine")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    place = options.out / "figures.json"
    for part in PARTS if options.only is None else options.only:
        scale.choose_clock(options.clock)
        started = time.perf_counter()
        load = os.getloadavg()[0]
        figures = PARTS[part]()
        clock = "wall" if part in ("threads", "postgres", "tables") else options.clock
        about = {"date": time.strftime("%Y-%m-%d"), "seconds": time.perf_counter() - started, "load": load,
                 "cores": os.cpu_count(), "clock": clock}  # fmt: skip
        kept = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
        kept[part] = {"about": about, "figures": figures}
        place.write_text(json.dumps(kept, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        print(f"{part}: {about['seconds']:.0f} s", flush=True)
    write_page(json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}, options.out)


if __name__ == "__main__":
    main()
