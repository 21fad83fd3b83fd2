"""The plots of a page, each once for a light and once for a dark background; the only module with matplotlib."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared_core.errors import MissingExtra

# Okabe and Ito: told apart by colour-blind readers as well, and against white and near-black alike.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#A6761D")
_MARKERS = "osD^vPX*"
_QUIET = "#8b949e"
_THEMES = {"": ("#ffffff", "#24292f", "#d0d7de"), "-dark": ("#0d1117", "#e6edf3", "#30363d")}


@dataclass(frozen=True)
class Series:
    """A line, or the bars of one system: values by the name of their place; `quiet` ones are drawn thin."""

    name: str
    values: Mapping[str, float]
    quiet: bool = False


@contextmanager
def _figure(path: Path, title: str, theme: str) -> Iterator[Any]:
    try:
        import matplotlib
        from matplotlib.figure import Figure  # not pyplot, which keeps state and may open windows
    except ImportError as error:
        raise MissingExtra("matplotlib", "bench") from error
    back, ink, line = _THEMES[theme]
    style: Any = {
        "figure.facecolor": back, "axes.facecolor": back, "savefig.facecolor": back, "text.color": ink,
        "axes.labelcolor": ink, "axes.edgecolor": line, "xtick.color": ink, "ytick.color": ink,
        "grid.color": line, "legend.facecolor": back, "legend.edgecolor": line, "font.size": 10,
        "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "twinmem",
    }  # fmt: skip
    with warnings.catch_warnings(), matplotlib.rc_context(style):
        warnings.simplefilter("ignore")  # a glyph that the font lacks is a box, and no reason to stop
        figure = Figure(figsize=(8.4, 4.4), layout="constrained")
        axes = figure.subplots()
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
        axes.grid(axis="y", linewidth=0.8)
        axes.set_axisbelow(True)
        yield axes
        figure.savefig(path, dpi=96, metadata={"Software": None}, pil_kwargs={"optimize": True})


def curves(folder: Path, name: str, title: str, series: Sequence[Series], across: str, up: str) -> list[Path]:
    """Lines over evenly spaced places (k, or a budget): equal steps, since the places grow like powers."""
    made = []
    for theme in _THEMES:
        path = folder / f"{name}{theme}.png"
        with _figure(path, title, theme) as axes:
            for place, each in enumerate(series):
                axes.plot(
                    range(len(each.values)), list(each.values.values()), label=each.name,
                    color=_QUIET if each.quiet else _COLOURS[place % len(_COLOURS)], marker=_MARKERS[place % len(_MARKERS)],
                    markersize=4 if place else 6, linewidth=2.6 if place == 0 else 1.3,
                    linestyle=":" if each.quiet else "-",
                )  # fmt: skip
            places = list(series[0].values) if series else []
            axes.set_xticks(range(len(places)), places)
            axes.set_ylim(0, 1)
            axes.set_xlabel(across)
            axes.set_ylabel(up)
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
        made.append(path)
    return made


def bars(folder: Path, name: str, title: str, series: Sequence[Series], up: str) -> list[Path]:
    """Groups of bars: one group a place, one bar a series."""
    made = []
    for theme in _THEMES:
        path = folder / f"{name}{theme}.png"
        with _figure(path, title, theme) as axes:
            places = list(dict.fromkeys(place for each in series for place in each.values))
            width = 0.8 / max(1, len(series))
            for number, each in enumerate(series):
                at = [place + (number - (len(series) - 1) / 2) * width for place in range(len(places))]
                heights = [each.values.get(place, 0.0) for place in places]
                axes.bar(at, heights, width * 0.92, label=each.name, color=_COLOURS[number % len(_COLOURS)])
            turned = 30 if sum(len(place) for place in places) > 90 else 0
            axes.set_xticks(range(len(places)), places, rotation=turned, ha="right" if turned else "center")
            axes.set_ylim(0, 1)
            axes.set_ylabel(up)
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
        made.append(path)
    return made


def dots(folder: Path, name: str, title: str, groups: Mapping[str, Sequence[float]], up: str) -> list[Path]:
    """For each place a dot a group (conversation, user), and a bar at their mean."""
    made = []
    for theme in _THEMES:
        path = folder / f"{name}{theme}.png"
        with _figure(path, title, theme) as axes:
            for place, (_, values) in enumerate(groups.items()):
                step = 0.24 / max(1, len(values) - 1)
                at = [place - 0.12 + number * step if len(values) > 1 else place for number in range(len(values))]
                axes.plot(at, values, "o", color=_COLOURS[0], markersize=5, alpha=0.75)
                axes.hlines(sum(values) / len(values), place - 0.25, place + 0.25, color=_COLOURS[1], linewidth=2)
            axes.set_xticks(range(len(groups)), list(groups))
            axes.set_ylim(0, 1)
            axes.set_ylabel(up)
        made.append(path)
    return made
