"""What a notebook shows: everything readable, nothing that runs, on a light page and on a dark one."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from shared_core import Scope
from shared_core.notebook import Shown, listed, shown

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(1)> & "quoted" \'; {{7*7}} \u202egnp.exe\u202c \x1b[31m 茶'


class Tags(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


ALLOWED = {"table", "thead", "tbody", "tr", "th", "td", "div", "span", "b", "details", "summary"}


@pytest.fixture
def told(scope: Scope) -> Scope:
    scope.add(HOSTILE, metadata={HOSTILE: HOSTILE}, type="<i>")
    scope.session(HOSTILE).add_messages([{"role": "user", "content": HOSTILE, "name": "<b>Eve</b>"}])
    scope.graph.add(HOSTILE, "<u>knows</u>", "Ben")
    return scope


def test_f4_hostile_text_is_shown_and_does_nothing(told: Scope) -> None:
    hits = told.search("alert quoted 茶", explain=True)
    chat = told.session(HOSTILE)
    values = [hits, hits[0], hits[0].record, told.list(), chat.context("茶"), told.graph, told.delete_all()]
    for value in values:
        page = value._repr_html_()
        found = Tags(page)
        assert found.names <= ALLOWED, type(value)
        assert found.attributes <= {"style", "scope", "open"}
        assert "\u202e" not in page
        assert "\x1b" not in page
    assert "&lt;script&gt;" in hits._repr_html_()
    assert "茶" in hits._repr_html_()


def test_f4_no_colour_is_fixed_so_both_themes_are_readable(told: Scope) -> None:
    page = told.search("茶", explain=True)._repr_html_() + told.session(HOSTILE).context("茶")._repr_html_()
    assert not re.findall(r"#[0-9a-fA-F]{3,6}\b|(?:color|background):(?:white|black)", re.sub(r">[^<]*<", "><", page))


def test_f4_long_lists_and_texts_are_cut_and_say_so(scope: Scope) -> None:
    scope.add_many([f"fact {n} " + "x" * 1000 for n in range(80)])
    page = scope.list()._repr_html_()
    assert "… and 30 more" in page
    assert len(page) < 100_000
    assert "nothing" in scope.search("")._repr_html_()


def test_f4_what_is_shown_is_a_list_like_any_other(scope: Scope) -> None:
    scope.add("tea")
    hits = scope.search("tea")
    assert isinstance(hits, list)
    assert hits == [*hits]
    assert Shown() == []
    assert listed(scope.session("s").messages()) == listed([])


def test_f4_a_score_is_drawn_as_long_as_it_is(scope: Scope) -> None:
    scope.add("green tea")
    [hit] = scope.search("green tea")
    assert "100%" in shown(hit)
    assert "1.000" in shown(hit)
