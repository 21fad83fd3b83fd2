"""README.md and README.zh.md say the same: the same sections, code, links and figures."""

from __future__ import annotations

import json
import re

import pytest

from tests.docs.reading import ROOT, blocks

ENGLISH = ROOT / "README.md"
CHINESE = ROOT / "README.zh.md"


def _prose(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def test_each_leads_to_the_other() -> None:
    assert "README.zh.md" in ENGLISH.read_text("utf-8")
    assert "README.md" in CHINESE.read_text("utf-8")


def test_they_have_the_same_sections() -> None:
    levels = [re.findall(r"^(#+) ", _prose(page.read_text("utf-8")), re.MULTILINE) for page in (ENGLISH, CHINESE)]
    assert levels[0] == levels[1]
    assert len(levels[0]) > 5


def test_they_have_the_same_code() -> None:
    def code(page: object) -> list[list[str]]:
        return [
            [line.split("  #")[0].rstrip() for line in block.body.splitlines() if not line.strip().startswith("#")]
            for block in blocks(page)  # type: ignore[arg-type]
            if block.language in ("python", "bash")
        ]

    assert code(ENGLISH) == code(CHINESE)


def test_they_have_the_same_figures_in_the_same_order_of_tables() -> None:
    def tables(text: str) -> list[list[str]]:
        rows = [line for line in _prose(text).splitlines() if line.startswith("|")]
        return [re.findall(r"(?<![A-Za-z0-9_.])\.?\d+(?:[.,]\d+)*", line) for line in rows]

    assert tables(ENGLISH.read_text("utf-8")) == tables(CHINESE.read_text("utf-8"))


def test_they_have_the_same_numbers_in_prose() -> None:
    def numbers(text: str) -> list[str]:
        text = re.sub(r"\(https?://[^)]*\)|\([\w/.#-]+\)|`[^`]*`", "", _prose(text))
        return sorted(re.findall(r"(?<![A-Za-z0-9_.])\.?\d+(?:[.,]\d+)*", text))

    assert numbers(ENGLISH.read_text("utf-8")) == numbers(CHINESE.read_text("utf-8"))


def test_what_they_link_to_is_there() -> None:
    for page in (ENGLISH, CHINESE):
        text = page.read_text("utf-8")
        links = re.findall(r"\]\(([^)#]+)[^)]*\)|(?:src|srcset)=\"([^\"]+)\"", text)
        paths = {one or other for one, other in links if not (one or other).startswith("http")}
        assert len(paths) > 5
        assert [path for path in paths if not (ROOT / path).exists()] == []


KEYS = ("R@1", "R@5", "R@10", "R@50", "MRR")


def _row(page: str, name: str) -> list[float]:
    [line] = [line for line in page.splitlines() if line.startswith("|") and name in line]
    return [float(cell) for cell in re.findall(r"\| \**(\.\d+)\**(?= )", line)]


@pytest.mark.parametrize("page", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_the_tables_say_what_was_measured(page: object) -> None:
    """In two digits; a new run that moves a figure by more than one in the second has to be told here as well."""
    text = page.read_text("utf-8")  # type: ignore[attr-defined]
    measured = json.loads((ROOT / "docs/recall/figures.json").read_text())["blocks"]
    systems = measured["locomo"]["figures"][0]["systems"]
    for row, name in (
        ("**twinmem** | **.49**", "twinmem"),
        ("LlamaIndex BM25Retriever", "LlamaIndex BM25Retriever"),
        ("LangChain BM25Retriever", "LangChain BM25Retriever"),
        ("LangChain EnsembleRetriever", "LangChain EnsembleRetriever"),
        ("LlamaIndex vector block", "LangChain FAISS retriever"),
    ):
        found = systems[name]
        want = [*(found["turns"]["all"][key] for key in KEYS), found["context_recall"]["2000"]]
        assert _row(text, row) == pytest.approx(want, abs=0.01), name

    parts = {each["part"]: each["systems"] for each in measured["madial"]["figures"]}
    chinese, english = parts["MADial-Bench zh, all users"], parts["MADial-Bench en, all users"]
    for row, name in (("**twinmem** | **.63**", "twinmem"), ("LangChain FAISS", "LangChain FAISS retriever")):
        want = []
        for systems in (chinese, english):
            [found] = [systems[each] for each in systems if each == name or each.startswith(name + " (last 2")] or [
                systems[each] for each in systems if each.startswith(name + " (")
            ]
            want += [found["turns"]["all"][key] for key in ("R@5", "R@10")]
        rows = [line for line in text.splitlines() if line.startswith("|") and row in line]
        assert _row(rows[-1], row) == pytest.approx(want, abs=0.01), name
