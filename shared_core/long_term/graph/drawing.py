"""A graph as a picture: laid out once, then written as HTML of its own or, by `painting`, as PNG.

The HTML is one file: an SVG and forty lines of script, nothing from a network, no library. (pyvis
was looked at: it inlines vis-network, 600 KB a file, pulls in IPython, and puts names into a script
unescaped, so that a name could end it.)
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared_core.errors import InvalidInput
from shared_core.long_term.graph.names import has_unspaced
from shared_core.long_term.graph.values import Entity, Relation, sentence

_STEPS = 200
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#ff9da6")
_LONGEST_LABEL = 28


@dataclass(frozen=True, slots=True)
class Dot:
    """An entity in a picture: where it stands (0 to 1 both ways), how large, in which colour."""

    name: str
    x: float
    y: float
    degree: int
    colour: str
    note: str


@dataclass(frozen=True, slots=True)
class Line:
    """All relations from one entity to another, as one arrow; inferred ones apart."""

    start: int
    end: int
    label: str
    inferred: bool
    note: str


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn. `left_out` counts the entities there was no room for."""

    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    left_out: int = 0


def ending(path: str | os.PathLike[str]) -> str:
    """The format of a path; raises for one that can't be written, before anything is computed."""
    found = Path(path).suffix.lower()
    if found not in (".png", ".html", ".htm"):
        raise InvalidInput(f"a drawing is a .png or an .html file, not {os.fspath(path)!r}")
    return found


def write(picture: Picture, path: str | os.PathLike[str], form: str) -> str:
    """Write a picture in a format `ending` gave; the path."""
    if form == ".png":
        from shared_core.long_term.graph.painting import paint

        paint(picture, path)
    else:
        Path(path).write_text(page(picture), encoding="utf-8")
    return os.fspath(path)


# ---------------------------------------------------------------------- what is drawn, and where


def picture(entities: Sequence[Entity], relations: Sequence[Relation], most: int) -> Picture:
    """The best-connected entities and the relations between them, laid out; always the same for the same graph."""
    degree = Counter(name for each in relations for name in (each.subject, each.object))
    chosen = sorted(entities, key=lambda each: (-degree[each.name], each.name))[:most]
    place = {each.name: number for number, each in enumerate(chosen)}
    grouped: dict[tuple[int, int, bool], list[Relation]] = {}
    for each in relations:
        if each.subject in place and each.object in place:
            grouped.setdefault((place[each.subject], place[each.object], each.inferred), []).append(each)
    lines = tuple(
        Line(start, end, ", ".join(dict.fromkeys(_verb(each) for each in found)), inferred, _note(found))
        for (start, end, inferred), found in grouped.items()
    )
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(each.type or "" for each in chosen))}
    spots = layout(len(chosen), [(line.start, line.end) for line in lines])
    dots = tuple(
        Dot(each.name, float(x), float(y), degree[each.name], _COLOURS[kinds[each.type or ""] % len(_COLOURS)], _about(each))
        for each, (x, y) in zip(chosen, spots, strict=True)
    )  # fmt: skip
    return Picture(dots, lines, len(entities) - len(chosen))


def layout(count: int, pairs: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """Places in the unit square by attraction along lines and repulsion between dots.

    Fruchterman and Reingold, "Graph Drawing by Force-directed Placement", 1991. Here rather than
    networkx' own, which asks for scipy from 500 nodes on; it starts from a circle, so it has no chance in it.
    """
    if count < 2:
        return np.full((count, 2), 0.5)
    angle = 2 * math.pi * np.arange(count) / count
    spots = np.stack([np.cos(angle), np.sin(angle)], axis=1) * (1 + 0.1 * (np.arange(count) % 3))[:, None]
    ties = np.zeros((count, count))
    for start, end in pairs:
        if start != end:
            ties[start, end] = ties[end, start] = 1.0
    near = 2.0 / math.sqrt(count)
    for step in range(_STEPS):
        apart = spots[:, None, :] - spots[None, :, :]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-3)
        force = near**2 / distance**2 - ties * distance / near
        move = (apart * force[:, :, None]).sum(axis=1) - 0.6 * spots
        length = np.maximum(np.sqrt((move**2).sum(axis=1)), 1e-9)
        spots = spots + move / length[:, None] * np.minimum(length, 0.2 * (1 - step / _STEPS))[:, None]
    low, high = spots.min(axis=0), spots.max(axis=0)
    placed: NDArray[np.float64] = (spots - low) / np.maximum(high - low, 1e-9)
    return placed


def short(text: str) -> str:
    """A label that fits."""
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _verb(relation: Relation) -> str:
    return relation.predicate.replace("_", " ")


def _note(relations: Sequence[Relation]) -> str:
    notes = []
    for each in relations:
        text = sentence(each.subject, each.predicate, each.object)
        if each.confidence < 1:
            text += f" ({each.confidence:.2g})"
        if each.inferred:
            text += " ⇐ " + " & ".join(sentence(*premise) for premise in each.premises)
        notes.append(text)
    return "\n".join(notes)


def _about(entity: Entity) -> str:
    lines = [entity.name if entity.type is None else f"{entity.name}: {entity.type}"]
    lines += ["= " + alias for alias in entity.aliases]
    lines += [f"{key}: {value}" for key, value in entity.attributes.items()]
    return "\n".join(lines)


# ---------------------------------------------------------------------- HTML


def page(drawn: Picture) -> str:
    """A picture as one HTML file. Names appear as text only: escaped in HTML, and "<" never inside the script."""
    width, height, margin = 1200, 800, 80
    where = [(margin + dot.x * (width - 2 * margin), margin + dot.y * (height - 2 * margin)) for dot in drawn.dots]
    data = {
        "dots": [{"x": round(x, 1), "y": round(y, 1), "r": _radius(dot)} for dot, (x, y) in zip(drawn.dots, where, strict=True)],
        "lines": [[line.start, line.end, int(line.inferred)] for line in drawn.lines],
    }  # fmt: skip
    lines = "\n".join(
        f'<g class="line{" inferred" if line.inferred else ""}"><title>{escape(line.note)}</title>'
        f'<path d="" /><text>{escape(short(line.label))}</text></g>'
        for line in drawn.lines
    )
    dots = "\n".join(
        f'<g class="dot"><title>{escape(dot.note)}</title><circle r="{_radius(dot)}" fill="{dot.colour}" />'
        f'<text y="{_radius(dot) + 14}">{escape(short(dot.name))}</text></g>'
        for dot in drawn.dots
    )
    chinese = any(has_unspaced(dot.name) for dot in drawn.dots)
    more = ""
    if drawn.left_out:
        more = f"另有 {drawn.left_out} 个" if chinese else f"{drawn.left_out} more are not drawn"
    frame = files("shared_core.long_term.graph").joinpath("drawing.html").read_text(encoding="utf-8")
    parts = {
        "lang": "zh" if chinese else "en", "title": "知识图谱" if chinese else "Knowledge graph", "more": more,
        "width": str(width), "height": str(height), "lines": lines, "dots": dots,
        "data": json.dumps(data).replace("<", "\\u003c"),
    }  # fmt: skip
    pieces = frame.split("@@")  # one pass: what a name holds is never read as a place for another part
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def _radius(dot: Dot) -> int:
    return 8 + min(16, int(3 * math.sqrt(dot.degree)))
