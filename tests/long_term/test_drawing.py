"""Drawings for people: whole without a network, readable in Chinese, and inert whatever the names are."""

from __future__ import annotations

import builtins
import re
import struct
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared_core import Scope
from shared_core.errors import InvalidInput, MissingExtra, NotFound
from shared_core.long_term.graph.drawing import layout, picture
from shared_core.long_term.graph.values import Entity, Relation
from tests.conftest import Python

HOSTILE = [
    "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</title><b>", "@@data@@", "&lt;b&gt;",
    "$\\frac{1}{0}$", "$x$", "{{7*7}}", "<!--", "]]>", "\u202egnp", "javascript:alert(1)", "'; drop table entity; --",
]  # fmt: skip


class _Page(HTMLParser):
    """The tags of a page, the text outside scripts, and the scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        (self.scripts if self._inside == "script" else self.words).append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def drawn(scope: Scope, path: Path) -> tuple[str, _Page]:
    assert scope.graph.draw(path) == str(path)
    text = path.read_text(encoding="utf-8")
    return text, _Page(text)


def test_b4_html_is_one_file_that_shows_every_entity_and_relation(scope: Scope, tmp_path: Path) -> None:
    scope.graph.add_many(
        [("张伟", "就职于", "ACME"), ("Alpha", "uses", "Kafka"), ("Kafka", "is a", "queue"), ("A", "p", "A")]
    )
    scope.graph.alias("张伟", "老张")
    text, page = drawn(scope, tmp_path / "graph.html")
    shown = {word.strip() for word in page.words}
    assert {"张伟", "ACME", "就职于", "Alpha", "Kafka", "queue", "uses", "is a", "A", "p"} <= shown
    assert "张伟\n= 老张" in shown
    assert "Alpha uses queue ⇐ Alpha uses Kafka & Kafka is a queue" in shown
    assert [tag for tag, _ in page.tags].count("circle") == 6
    assert text.count('class="line inferred"') == 1
    assert not re.search(r"(?:src|href)\s*=|url\((?!#)|https?:|@import|fetch\(|XMLHttp", text)
    assert ("html", {"lang": "zh"}) in page.tags


def test_b4_hostile_names_are_inert_in_html(scope: Scope, tmp_path: Path) -> None:
    scope.graph.add("plain", "likes", "tea")
    _, plain = drawn(scope, tmp_path / "plain.html")
    for place, name in enumerate(HOSTILE):
        scope.graph.add(name, HOSTILE[place - 1], HOSTILE[place - 2])
        scope.graph.describe(name, type=name, attributes={name: name})
    text, page = drawn(scope, tmp_path / "hostile.html")
    assert len(page.scripts) == len(plain.scripts) == 1
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in plain.tags}
    assert not any(key.startswith("on") for _, attrs in page.tags for key in attrs)
    assert "alert" not in page.scripts[0]
    assert "</script><script>alert(1)</…" in page.words
    assert "@@data@@" in page.words
    assert text.count("</script>") == 1


def test_b4_png_draws_chinese_and_hostile_names_without_a_warning(scope: Scope, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    scope.graph.add_many(
        [("张伟", "就职于", "腾讯"), ("🎉", "likes", "Ann"), ("Ann", "knows", "Ann"), ("𠮷野家", "是", "餐厅")]
    )
    scope.graph.add_many([("Alpha", "uses", "Kafka"), ("Kafka", "is a", "queue")])
    scope.graph.add_many([(name, "x $y$ _z^", "Ann") for name in HOSTILE])
    path = tmp_path / "graph.png"
    scope.graph.draw(path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert min(width, height) > 500


def test_b4_png_is_not_an_empty_sheet_and_differs_by_what_is_drawn(scope: Scope, tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")

    def ink() -> int:
        scope.graph.draw(tmp_path / "graph.png")
        pixels = np.asarray(image.imread(tmp_path / "graph.png"))[..., :3]
        return int((pixels < 0.9).any(axis=2).sum())

    scope.graph.add("张伟", "喜欢", "茶")
    few = ink()
    scope.graph.add_many([(f"某人{number}", "喜欢", "茶") for number in range(8)])
    assert 0 < few < ink()


def test_b4_without_matplotlib_png_names_the_extra_and_html_still_works(
    scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope.graph.add("Ann", "likes", "tea")
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtra, match=r"twinmem\[draw\]"):
        scope.graph.draw(tmp_path / "graph.png")
    assert not (tmp_path / "graph.png").exists()
    scope.graph.draw(tmp_path / "graph.html")


@pytest.mark.parametrize("name", ["graph", "graph.svg", "graph.html.exe", ""])
def test_b4_another_ending_is_refused(scope: Scope, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"\.png or an \.html"):
        scope.graph.draw(tmp_path / name)


def test_b4_an_empty_graph_and_one_entity_s_surroundings_are_drawn(scope: Scope, tmp_path: Path) -> None:
    _, page = drawn(scope, tmp_path / "empty.html")
    assert "circle" not in [tag for tag, _ in page.tags]
    scope.graph.add_many([("a", "p", "b"), ("b", "p", "c"), ("c", "p", "d"), ("x", "p", "y")])
    scope.graph.draw(tmp_path / "near.HTML", name="a", depth=2)
    page = _Page((tmp_path / "near.HTML").read_text(encoding="utf-8"))
    assert {"a", "b", "c"} <= set(page.words)
    assert not {"d", "x", "y"} & set(page.words)
    with pytest.raises(NotFound):
        scope.graph.draw(tmp_path / "none.html", name="nobody")


def test_b4_of_a_large_graph_the_best_connected_are_drawn_and_it_says_so() -> None:
    people = [Entity(name=f"leaf {number:04}") for number in range(1_000)] + [Entity(name="hub")]
    relations = [Relation(subject="hub", predicate="p", object=each.name) for each in people[:-1]]
    found = picture(people, relations, 150)
    assert (len(found.dots), len(found.lines), found.left_out) == (150, 149, 851)
    assert found.dots[0].name == "hub"


def test_b4_the_layout_keeps_dots_apart_and_is_the_same_every_time() -> None:
    pairs = [(0, number) for number in range(1, 30)]
    spots = layout(30, pairs)
    assert (spots == layout(30, pairs)).all()
    assert spots.min() >= 0
    assert spots.max() <= 1
    apart = np.sqrt(((spots[:, None] - spots[None]) ** 2).sum(axis=2)) + np.eye(30)
    assert apart.min() > 0.03
    assert layout(0, []).shape == (0, 2)
    assert layout(2, [(0, 1)]).shape == (2, 2)


def test_b4_importing_and_telling_loads_no_drawing_library_and_no_networkx(python: Python) -> None:
    loaded = python(
        """
import sys

from shared_core import AgentMemory
graph = AgentMemory.open(embedder="hashing").scope(user="alice").graph
graph.add("Ann", "likes", "tea")
print([name for name in ("matplotlib", "networkx") if name in sys.modules])
graph.neighbours("Ann")
print([name for name in ("matplotlib", "networkx") if name in sys.modules])
"""
    )
    assert loaded.split("\n")[:2] == ["[]", "['networkx']"]
