"""Results as tables of figures, for whoever prints them: the terminal, a page, a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shared_core.evaluation.answers import gain
from shared_core.evaluation.growth import BANDS
from shared_core.evaluation.retrieval import group, spread
from shared_core.evaluation.run import PartResult, Result
from shared_core.evaluation.sets import TURNS
from shared_core.evaluation.systems import OURS

Figures = Mapping[str, float | None]
MEASURES = ("mean", "min", "max", "sd")
_MANY = 12  # groups named one by one; of more only the spread is shown


@dataclass(frozen=True)
class Table:
    """Named rows of named figures; `best` marks the best of each column, `notes` are rows of plain text."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, Figures]]
    first: str = "system"
    best: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def tops(self) -> dict[str, float]:
        """The best value of each column, the lowest for times."""
        found: dict[str, float] = {}
        for column in self.columns if self.best else ():
            values = [value for _, row in self.rows if (value := row.get(column)) is not None]
            if values and column != "n":
                found[column] = min(values) if column.startswith("ms") else max(values)
        return found


def figure(name: str, value: float | None) -> str:
    """A figure as it is printed: .767 for a share, two decimals for milliseconds, a dash for nothing.

    >>> figure("R@10", 0.7671), figure("ms", 3.14159), figure("n", 12), figure("R@1", None), figure("MRR", 1.0)
    ('.767', '3.14', '12', '-', '1.000')
    """
    if value is None:
        return "-"
    if name == "n":
        return str(int(value))
    if name == "records":
        return f"{value:,.1f}"
    if name.startswith("ms"):
        return f"{value:.2f}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def size(found: PartResult) -> str:
    """How much was measured, in words."""
    skipped = f" ({found.skipped} without evidence skipped)" if found.skipped else ""
    noun = "user" if found.part.spread_over == "user" else "conversation"
    counts = ((len(found.conversations), noun), (found.messages, "message"), (found.n, "question"))
    return ", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts) + skipped


def tables(found: PartResult) -> list[Table]:
    """All tables of a part: systems, context recall, and twinmem by category and with its spread."""
    part, ours = found.part, found.ours
    made = []
    for level in found.levels:
        what = "" if level == TURNS else f", by {level}"
        title = f"{part.name}{what}: {size(found)}; embedder {found.embedder}"
        columns = (*found.names(level), *(("ms/query",) if level == TURNS else ()))
        rows = [(name, result.total(level)) for name, result in found.results.items()]
        made.append(Table(title, columns, rows, best=True, notes=found.absent if level == found.levels[0] else {}))
    context = _context(found)
    if context is not None:
        made.append(context)
    if ours is None:
        return made
    for level in found.levels:
        what = "" if level == TURNS else f", by {level}"
        columns = (*found.names(level), "n")
        if len(ours.by_category(level)) > 1 and ours.by_category(level) != ours.by_group(level):
            rows = list(sorted_categories(ours, level).items())
            made.append(Table(f"{part.name}{what}: {OURS} by kind of question", columns, rows, first="kind"))
        groups = ours.by_group(level)
        if len(groups) > 1:
            made.append(_spread(f"{part.name}{what}", part.spread_over, groups, found.names(level)))
    made += [_answers(found)] if found.answered else []
    made += [_growth(found)] if found.growth else []
    return made


def _answers(found: PartResult) -> Table:
    kinds = group((kind, row.figures) for kind, row in found.answered)
    rows = [(kind, row | {"gain": row["with"] - row["without"]}) for kind, row in kinds.items()]
    rows = [("all", gain(row for _, row in found.answered)), *(rows if len(rows) > 1 else ())]
    exact = ("exact with", "exact without", "exact gain") if "exact with" in rows[0][1] else ()
    title = f"{found.part.name}: answers with {OURS}'s context and without"
    return Table(title, ("with", "without", "gain", *exact, "n"), rows, first="kind")


def _growth(found: PartResult) -> Table:
    """What the conversations left in the memory, as means of a conversation; a day is one of the last 30."""
    count = len(found.growth)
    kinds = sorted({kind for each in found.growth for kind in each.by_kind})
    rows: list[tuple[str, Figures]] = []
    for kind in kinds:
        rows.append((kind, {"records": sum(each.by_kind.get(kind, 0) for each in found.growth) / count}))
    for name in BANDS:
        rows.append((f"importance {name}", {"records": sum(each.by_importance[name] for each in found.growth) / count}))
    rows.append(("all", {"records": sum(each.records for each in found.growth) / count}))
    rows.append(("on each of the last 30 days", {"records": sum(each.a_day for each in found.growth) / count}))
    return Table(f"{found.part.name}: what one {found.part.spread_over} leaves in {OURS}", ("records",), rows, "what")


def _context(found: PartResult) -> Table | None:
    rows = [(name, result.context()) for name, result in found.results.items() if result.contexts]
    if not rows:
        return None
    budgets = tuple(name for name in rows[0][1] if name != "n")
    title = f"{found.part.name}: share of the evidence inside a prompt of so many tokens"
    return Table(title, budgets, rows, best=True)


def _spread(name: str, over: str, groups: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> Table:
    found = spread(groups.values(), names)
    measures: list[tuple[str, Figures]] = [(m, {name: found[name][m] for name in names}) for m in MEASURES]
    rows: list[tuple[str, Figures]] = [*groups.items()] if len(groups) <= _MANY else []
    plural = over.replace("kind of", "kinds of") + ("" if over.startswith("kind") else "s")
    return Table(f"{name}: {OURS} by {over}, and the spread over {plural}", (*names, "n"), [*rows, *measures], over)


_ORDER = ("multi-hop", "temporal", "open-domain", "commonsense", "single-hop", "adversarial")


def sorted_categories(result: Result, level: str = TURNS) -> dict[str, dict[str, float]]:
    """Categories in LoCoMo's order where they are its own, else by name."""
    found = result.by_category(level)
    place = {name: number for number, name in enumerate(_ORDER)}
    return dict(sorted(found.items(), key=lambda item: (place.get(item[0], len(place)), item[0])))


def losing(found: PartResult) -> list[str]:
    """What loses, as lines; that nothing was compared is no win."""
    rivals = [name for name in found.results if name != OURS]
    if found.ours is None:
        return []
    if not rivals:
        return ["not known: nothing else was measured"]
    lost = found.loses()
    if not lost:
        return [f"nothing, against {len(rivals)} peers and controls"]
    lines: dict[str, str] = {}
    for name, other, own, theirs in lost:
        against = f"{figure(name, theirs)} of {other}"
        lines[name] = f"{lines[name]}, {against}" if name in lines else f"{name}: {figure(name, own)} against {against}"
    return list(lines.values())
