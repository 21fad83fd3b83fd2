"""A page in Markdown with the tables and plots of a run.

Each plot stands there twice, and the reader's browser shows the one that fits a light or a dark page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from shared_core.errors import MissingExtra
from shared_core.evaluation import plots
from shared_core.evaluation.machine import in_words
from shared_core.evaluation.plots import Series
from shared_core.evaluation.run import PartResult, Result
from shared_core.evaluation.systems import OURS
from shared_core.evaluation.tables import Table, figure, losing, sorted_categories, tables

_INTRO = """\
Recall is fractional: the share of a question's evidence in the first k, averaged over questions. MRR is the mean of
1 / rank of the first evidence. Ties break by id, so a figure is the same each run. Controls know nothing of the
question; what they reach is the share that chance or a habit explains.
"""


_SPREAD = 3  # groups from which dots show a spread


def markdown(table: Table, heading: str = "") -> str:
    """A table in Markdown, under its title; the best of each column in bold."""
    tops = table.tops
    lines = [f"{heading}**{_safe(table.title)}**", "", f"| {table.first} | " + " | ".join(table.columns) + " |"]
    lines.append("| --- |" + " ---: |" * len(table.columns))
    for name, row in table.rows:
        cells = []
        for column in table.columns:
            value = row.get(column)
            text = figure(column, value)
            cells.append(f"**{text}**" if value is not None and tops.get(column) == value else text)
        lines.append(f"| {_safe(name)} | " + " | ".join(cells) + " |")
    for name, note in table.notes.items():
        lines.append(f"| {_safe(name)} | {_safe(note)} |" + " |" * (len(table.columns) - 1))
    return "\n".join(lines)


def _safe(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def picture(paths: Sequence[Path], page: Path, about: str) -> str:
    """A plot for light and dark, by addresses relative to the page."""
    light, dark = (path.relative_to(page.parent).as_posix() for path in paths)
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img alt="{_safe(about)}" src="{light}"></picture>'
    )


def places(out: Path) -> tuple[Path, Path]:
    """The page and the folder of its plots for `--out docs/recall` (or `docs/recall.md`).

    >>> [path.as_posix() for path in places(Path("docs/recall"))]
    ['docs/recall.md', 'docs/recall']
    """
    folder = out.with_suffix("") if out.suffix == ".md" else out
    return folder.with_name(folder.name + ".md"), folder


def section(found: PartResult, page: Path, folder: Path) -> str:
    """Everything about one part: what was measured, tables, plots, and what loses."""
    title = found.part.name
    blocks = [f"Scored: {found.part.how}.", *(markdown(table) for table in tables(found))]
    blocks += drawn(found, page, folder)
    lost = losing(found)
    if lost:
        blocks.append("What loses:\n\n" + "\n".join(f"- {_safe(line)}" for line in lost))
    return f"## {title}\n\n" + "\n\n".join(blocks)


def drawn(found: PartResult, page: Path, folder: Path) -> list[str]:
    """The plots of one part as Markdown; a line that says what to install where matplotlib is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return [picture(paths, page, about) for about, paths in _plots(found, folder)]
    except MissingExtra as error:
        return [f"No plots: {error}"]


def _plots(found: PartResult, folder: Path) -> Iterable[tuple[str, list[Path]]]:
    stem, name = slug(found.part.name), found.part.name
    for level in found.levels:
        ks = [figure for figure in found.names(level) if figure.startswith("R@")]
        end = "" if level == found.levels[0] else f"-{level}"
        lines = [
            _series(system, result, {k: result.total(level)[k] for k in ks})
            for system, result in _ordered(found, level)
        ]
        if lines:
            about = f"{name}: recall of {level}"
            yield about, plots.curves(folder, f"{stem}-recall{end}", about, lines, "k", "share of the evidence")
    contexts = [
        _series(system, result, {b: v for b, v in result.context().items() if b != "n"})
        for system, result in _ordered(found, found.levels[0])
        if result.contexts
    ]
    if contexts:
        about = f"{name}: evidence inside a prompt"
        yield about, plots.curves(folder, f"{stem}-context", about, contexts, "tokens", "share of the evidence")
    ours = found.ours
    if ours is None:
        return
    level = found.levels[0]
    kinds = sorted_categories(ours, level)
    shown = [k for k in found.names(level) if k in ("R@1", "R@5", "R@10")]
    if len(kinds) > 1:
        about = f"{name}: {OURS} by kind of question"
        bars = [Series(k, {f"{kind} ({int(row['n'])})": row[k] for kind, row in kinds.items()}) for k in shown]
        yield about, plots.bars(folder, f"{stem}-kinds", about, bars, "share of the evidence")
    groups = ours.by_group(level)
    if len(groups) >= _SPREAD:
        about = f"{name}: {OURS}, each {found.part.spread_over}"
        dots = {k: [row[k] for row in groups.values()] for k in found.names(level)}
        yield about, plots.dots(folder, f"{stem}-spread", about, dots, "value, and the mean")


def _ordered(found: PartResult, level: str) -> list[tuple[str, Result]]:
    """twinmem first, since the first is drawn in front; rankings that are the same only once, under all their names."""
    named: dict[tuple[float | bool, ...], list[str]] = {}
    results: dict[tuple[float | bool, ...], Result] = {}
    for name, result in found.results.items():
        if not result.rows.get(level):
            continue
        figures = (round(value, 6) for k, value in result.total(level).items() if not k.startswith("ms"))
        key = (result.is_control, *figures)
        named.setdefault(key, []).append(name)
        results.setdefault(key, result)
    pairs = [(",\n".join(names), results[key]) for key, names in named.items()]
    return sorted(pairs, key=lambda pair: not pair[0].startswith(OURS))


def _series(name: str, result: Result, values: dict[str, float]) -> Series:
    return Series(name, values, quiet=result.is_control)


def slug(text: str) -> str:
    """A name as part of a file's name.

    >>> slug("MADial-Bench zh, all users"), slug("MemDaily, ×10 with noise")
    ('madial-bench-zh-all-users', 'memdaily-x10-with-noise')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("×", "x")).strip("-")


def write(out: Path, found: Sequence[PartResult], command: str = "") -> Path:
    """Write the page of a run, with its plots, and give its path."""
    page, folder = places(out)
    page.parent.mkdir(parents=True, exist_ok=True)
    blocks = ["# Recall on public sets", in_words(), _INTRO.strip()]
    if command:
        blocks.append(f"To repeat it:\n\n```bash\n{command}\n```")
    blocks += [section(each, page, folder) for each in found]
    page.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return page
