"""What is known: the graph, the profile, the procedures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.long_term.graph import drawing
from shared_core.ui.answers import Answer, Ask, Page, Redirect
from shared_core.ui.showing import brief

WIDTH, HEIGHT, _MARGIN = 1000, 640, 70
_LISTED = 300  # relations beside the drawing


@dataclass(frozen=True)
class Node:
    """An entity in the drawing."""

    name: str
    label: str
    x: float
    y: float
    radius: int
    note: str
    colour: int
    centre: bool


@dataclass(frozen=True)
class Arrow:
    """The relations from one entity to another, as a curve from rim to rim."""

    path: str
    label: str
    x: float
    y: float
    inferred: bool
    note: str


def graph(ask: Ask) -> Answer:
    """The graph, or the surroundings of one entity, drawn and listed."""
    scope = ask.scope
    known = scope.graph
    name = ask.query.text("name").strip()
    depth = ask.query.whole("depth", 1, 1, 4)
    most = scope._live().settings.graph.drawn
    part = known.subgraph(name, depth) if name else None
    values: dict[str, Any] = {"name": name, "depth": depth, "missing": bool(name) and part is None, "answers": None}
    if part is not None:
        entities, relations, centre = list(part.entities), list(part.relations), part.center
        values["about"] = known.text(centre, max_relations=0).splitlines()[:1]
    else:
        entities, relations, centre = known.entities(), known.relations(), ""
    picture = drawing.picture(entities, relations, most)
    listed = [neighbour.relation for neighbour in known.neighbours(centre)] if centre else relations
    question = ask.query.text("ask").strip()
    if question:
        values["answers"] = known.ask(question)
    values |= {
        "ask_text": question, "centre": centre, "width": WIDTH, "height": HEIGHT, "left_out": picture.left_out,
        "nodes": _nodes(picture, centre), "arrows": _arrows(picture), "relations": listed[:_LISTED],
        "more": max(0, len(listed) - _LISTED), "names": sorted(entity.name for entity in known.entities())[:2_000],
        "stats": known.stats(),
    }  # fmt: skip
    return Page("graph.html", values)


def _spot(dot: drawing.Dot) -> tuple[float, float]:
    return _MARGIN + dot.x * (WIDTH - 2 * _MARGIN), _MARGIN + dot.y * (HEIGHT - 2 * _MARGIN)


def _radius(dot: drawing.Dot) -> int:
    return 8 + min(14, int(3 * math.sqrt(dot.degree)))


def _nodes(picture: drawing.Picture, centre: str) -> list[Node]:
    colours = {colour: place for place, colour in enumerate(dict.fromkeys(dot.colour for dot in picture.dots))}
    return [
        Node(
            dot.name, brief(dot.name, 24), round(_spot(dot)[0], 1), round(_spot(dot)[1], 1), _radius(dot), dot.note,
            colours[dot.colour] % 8, dot.name == centre,
        )
        for dot in picture.dots
    ]  # fmt: skip


def _arrows(picture: drawing.Picture) -> list[Arrow]:
    found = []
    for line in picture.lines:
        start, end = picture.dots[line.start], picture.dots[line.end]
        (x1, y1), (x2, y2) = _spot(start), _spot(end)
        away = math.hypot(x2 - x1, y2 - y1)
        if line.start == line.end or away < 1:
            r = _radius(start)
            path, x, y = f"M{x1 - 4:.1f},{y1 - r:.1f} c-24,-34 32,-34 8,0", x1, y1 - r - 24
        else:
            ux, uy = (x2 - x1) / away, (y2 - y1) / away
            x1, y1 = x1 + ux * _radius(start), y1 + uy * _radius(start)
            x2, y2 = x2 - ux * (_radius(end) + 6), y2 - uy * (_radius(end) + 6)
            bend = min(30.0, away / 10)  # there and back are two curves
            x, y = (x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend
            path = f"M{x1:.1f},{y1:.1f} Q{x:.1f},{y:.1f} {x2:.1f},{y2:.1f}"
        found.append(Arrow(path, brief(line.label, 24), round(x, 1), round(y - 3, 1), line.inferred, line.note))
    return found


# ---------------------------------------------------------------------- profile


def profile(ask: Ask) -> Answer:
    """What is known of the user, line by line."""
    scope = ask.scope
    entries = scope.profile.entries(language=ask.language)
    removed = [record.id.rsplit("/", 1)[-1] for record in scope.list(kinds=["item"], where={"type": "profile"})]
    records = {id: scope.get(id) for entry in entries for id in entry.records}
    return Page("profile.html", {"entries": entries, "removed": removed, "records": records})


def change_profile(ask: Ask) -> Answer:
    """Write a line, take it out, or let it say again what the facts say."""
    lines, key, do = ask.scope.profile, ask.form.text("key"), ask.form.text("do")
    if do == "set":
        lines.set(key, ask.form.text("text").strip())
    elif do == "remove":
        lines.remove(key)
    elif do == "reset":
        lines.reset(key)
    else:
        raise InvalidInput(f"a line of the profile is set, removed or reset, not {do!r}")
    return Redirect(ask.link("/profile"))


# ---------------------------------------------------------------------- procedures


def procedures(ask: Ask) -> Answer:
    """What worked, and what did not; the ones that fit a situation where one is given."""
    situation = ask.query.text("q").strip()
    with ask.looking() as scope:
        found = (
            scope.procedures.match(situation, k=20, min_likeness=0.0, min_success=0.0)
            if situation
            else scope.procedures.list()
        )
        held = ask.desk.held(scope)
    return Page("procedures.html", {"procedures": found, "situation": situation, "held": held})


def outcome(ask: Ask) -> Answer:
    """Say how a procedure went."""
    ask.scope.procedures.outcome(ask.form.text("id"), ask.form.text("success") == "1")
    return Redirect(ask.link("/procedures"))
