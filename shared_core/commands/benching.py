"""`twinmem bench`: how well it recalls on public sets, beside what people use instead."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shared_core.commands.database import UsageFault
from shared_core.commands.evaluating import callable_of
from shared_core.commands.terminal import progress, say, styled, table, write_json
from shared_core.evaluation import page
from shared_core.evaluation.answers import as_judge
from shared_core.evaluation.embedders import load
from shared_core.evaluation.machine import environment
from shared_core.evaluation.reading import read
from shared_core.evaluation.run import PartResult, measure, systems_of
from shared_core.evaluation.tables import Table, figure, losing, tables

DEFAULT_OUT = Path("twinmem-bench")


def bench(
    paths: Sequence[Path], *, set: str, embedder: str, peers: bool, limit: int | None, noise: Sequence[str],
    out: Path | None, as_json: bool, llm: str | None = None, judge: str | None = None,
) -> None:  # fmt: skip
    """Read, measure, print, and write a page; for programs one JSON object a part, and a page only if asked for."""
    paths, amounts = _amounts(paths, noise)
    model, judging = callable_of(llm, "--llm"), callable_of(judge, "--judge")
    with progress("Reading"):
        parts = read(paths, set, noise=amounts, limit=limit)
    shared = load(embedder)
    found: list[PartResult] = []
    for part in parts:
        systems = systems_of(part, shared, peers=peers)
        with progress(part.name, len(part.samples) * len(systems)) as done:
            found.append(
                measure(part, systems, [shared], progress=done, llm=model, judge=as_judge(judging) if judging else None)
            )
        if as_json:
            write_json({**environment(), **found[-1].as_json()})
        else:
            _show(found[-1])
    if out is not None or not as_json:
        command = _command(paths, set, embedder, peers, limit, amounts if noise else (), llm, judge)
        written = page.write(out or DEFAULT_OUT, found, command)
        if not as_json:
            say("", f"The page with tables and plots: {written}")


def _amounts(paths: Sequence[Path], noise: Sequence[str]) -> tuple[list[Path], list[int]]:
    """`--noise 10 20 100`, `--noise 10,20,100` and `--noise 10 --noise 20` alike.

    An option takes one value, so of the first form the other numbers arrive as paths.
    """
    stray = [path for path in paths if noise and str(path).isdecimal() and not path.exists()]
    words = [word for given in noise for word in given.replace(",", " ").split()] + [str(path) for path in stray]
    if not all(word.isdecimal() for word in words):
        raise UsageFault(f"--noise takes whole numbers such as 10 20 100, not {' '.join(noise)!r}")
    rest = [path for path in paths if path not in stray]
    if not rest:
        raise UsageFault("name a file or folder of a public set")
    return rest, [int(word) for word in words if int(word) > 1] if noise else [10, 20, 100]


def _command(
    paths: Sequence[Path], set: str, embedder: str, peers: bool, limit: int | None, noise: Sequence[int],
    llm: str | None, judge: str | None,
) -> str:  # fmt: skip
    words = ["twinmem", "bench", *map(str, paths)]
    words += ["--set", set] if set != "auto" else []
    words += ["--embedder", embedder] if embedder != "default" else []
    words += [] if peers else ["--no-peers"]
    words += ["--limit", str(limit)] if limit is not None else []
    words += ["--noise", ",".join(map(str, noise))] if noise else []
    words += ["--llm", llm] if llm else []
    words += ["--judge", judge] if judge else []
    return shlex.join(words)


def _show(found: PartResult) -> None:
    for each in tables(found):
        say("", styled(each.title, "bold"), _rendered(each))
        say(*(f"{name}: {note}" for name, note in each.notes.items()))
        if each.best:
            say(styled("* the best of its column", "dim"))
    lost = losing(found)
    if lost:
        say("", styled("What loses", "bold"), *(f"  {line}" for line in lost))


def _rendered(each: Table) -> Any:
    tops = each.tops
    rows = []
    for name, row in each.rows:
        cells = []
        for column in each.columns:
            value = row.get(column)
            mark = "*" if value is not None and tops.get(column) == value else " " if each.best else ""
            cells.append(figure(column, value) + mark)
        rows.append([name, *cells])
    heads = [each.first, *(f"{column} " if each.best else column for column in each.columns)]
    return table(heads, rows, right=range(1, len(heads)))
