"""Both languages say everything: a text that has no Chinese would stand in English on a Chinese page."""

from __future__ import annotations

import re

import pytest

from shared_core.ui.asking import ORDERS, language
from shared_core.ui.rendering import TEMPLATES
from shared_core.ui.words import CHINESE, translator
from shared_core.values import Kind, Status

_CALL = re.compile(r"""\bt\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*[,)]""")
_PLACE = re.compile(r"\{\w+\}")


def said() -> set[str]:
    texts = [file.read_text(encoding="utf-8") for file in TEMPLATES.glob("*.html")]
    found = {a or b for text in texts for a, b in _CALL.findall(text)}
    tabs = {"Memories", "Graph", "Timeline", "Conversations", "Profile", "Procedures", "Context", "Figures", "All data"}
    tiles = {name for text in texts for name in re.findall(r'\("([A-Z][\w -]+)", (?:stats|graph|archives)', text)}
    assert tiles
    return found | tabs | tiles | {*map(str, Kind), *map(str, Status)} | {f"order {order}" for order in ORDERS}


def test_e3_every_text_of_the_page_has_its_chinese_with_the_same_places() -> None:
    missing = said() - CHINESE.keys()
    assert not missing
    for english, chinese in CHINESE.items():
        assert sorted(_PLACE.findall(english)) == sorted(_PLACE.findall(chinese)), english


def test_a_text_in_no_catalogue_is_said_as_it_is_braces_and_all() -> None:
    assert translator("zh")("{user}") == "{user}"
    assert translator("en")("order -seen") == "Told most often"


@pytest.mark.parametrize(
    ("cookie", "accepted", "expected"),
    [("", "", "en"), ("", "zh-TW,en;q=0.5", "zh"), ("", "de, en;q=0.4, zh;q=0.6", "zh"), ("zh", "en", "zh"),
     ("xx", "zh", "zh"), ("", "zh;q=x", "en"), ("en", "zh", "en")],
)  # fmt: skip
def test_e3_the_language_is_the_chosen_one_else_the_browsers(cookie: str, accepted: str, expected: str) -> None:
    assert language(cookie, accepted) == expected
