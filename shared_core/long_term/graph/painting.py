"""A picture as PNG. The only module that imports matplotlib: the extra `draw`.

Names are text, never markup: matplotlib would read "$x$" as mathematics. Chinese needs a font that has
it; the extra brings one, and without it those of the system are looked for.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shared_core.errors import MissingExtra
from shared_core.long_term.graph.drawing import Picture, short
from shared_core.long_term.graph.names import has_unspaced

_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "PingFang SC", "Hiragino Sans GB",
    "Microsoft YaHei", "SimHei", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Noto Sans CJK JP", "Arial Unicode MS",
)  # fmt: skip
_FONT_PACKAGE = "pylopdf_fonts_zh_cn"


def paint(picture: Picture, path: str | os.PathLike[str]) -> None:
    """Write a picture as PNG; raises `MissingExtra` where matplotlib, or a font for Chinese, is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.patheffects import withStroke
    except ImportError as error:
        raise MissingExtra("matplotlib", "draw") from error
    texts = [dot.name for dot in picture.dots] + [line.label for line in picture.lines]
    families = _families(any(has_unspaced(text) for text in texts))
    letters = _letters(tuple(families))

    def label(text: str) -> str:
        # What no font has would be a box with a warning; it is a box without one.
        return "".join(c if ord(c) in letters else "□" for c in short(text))

    size = min(24.0, 8.0 + len(picture.dots) ** 0.5)
    figure = Figure(figsize=(1.4 * size, size), dpi=110)  # not pyplot: no global state, no window
    FigureCanvasAgg(figure)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(-0.12, 1.12)
    axes.set_ylim(1.1, -0.1)
    style: dict[str, Any] = {
        "ha": "center",
        "family": families,
        "parse_math": False,
        "path_effects": [withStroke(linewidth=3, foreground="white")],
    }
    for line in picture.lines:
        start, end = picture.dots[line.start], picture.dots[line.end]
        bend = -0.2 if line.inferred else 0.12
        if line.start == line.end:
            axes.annotate(
                "", (start.x + 0.006, start.y), (start.x - 0.006, start.y),
                arrowprops={"arrowstyle": "-|>", "connectionstyle": "arc3,rad=-5", "color": "#999999"},
            )  # fmt: skip
            axes.text(start.x, start.y - 0.05, label(line.label), fontsize=7, color="#555555", **style)
            continue
        axes.add_patch(
            FancyArrowPatch(
                (start.x, start.y), (end.x, end.y), arrowstyle="-|>", mutation_scale=10, shrinkA=8, shrinkB=10,
                connectionstyle=f"arc3,rad={bend}", color="#999999", linestyle="--" if line.inferred else "-",
            )
        )  # fmt: skip
        x = (start.x + end.x) / 2 + bend / 2 * (end.y - start.y)
        y = (start.y + end.y) / 2 - bend / 2 * (end.x - start.x)
        slant = "italic" if line.inferred and not has_unspaced(line.label) else "normal"
        axes.text(x, y, label(line.label), fontsize=7, color="#555555", style=slant, **style)
    for dot in picture.dots:
        axes.scatter([dot.x], [dot.y], s=120 + 30 * min(dot.degree, 20), c=[dot.colour], zorder=3)
        axes.text(dot.x, dot.y + 0.035, label(dot.name), fontsize=9, zorder=4, **style)
    figure.savefig(os.fspath(path), format="png")


@lru_cache(maxsize=2)
def _families(chinese: bool) -> list[str]:
    """Fonts that have the letters, the first choice first."""
    if not chinese:
        return ["DejaVu Sans"]
    from matplotlib import font_manager

    package = find_spec(_FONT_PACKAGE)
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        file = Path(folder) / "NotoSansSC-Regular.otf"
        if file.exists():
            font_manager.fontManager.addfont(str(file))
            return ["DejaVu Sans", font_manager.FontProperties(fname=str(file)).get_name()]
    known = set(font_manager.get_font_names())
    for name in _FONTS:
        if name in known:
            return ["DejaVu Sans", name]
    raise MissingExtra(_FONT_PACKAGE.replace("_", "-"), "draw")


@lru_cache(maxsize=2)
def _letters(families: tuple[str, ...]) -> frozenset[int]:
    """The characters that these fonts have."""
    from matplotlib import font_manager, ft2font

    found: set[int] = set()
    for family in families:
        found |= set(ft2font.FT2Font(font_manager.findfont(family)).get_charmap())
    return frozenset(found)
