"""The page: what a reader sees is what was measured, with plots or without."""

from __future__ import annotations

import builtins
import re
from pathlib import Path
from typing import Any

import pytest

from shared_core.evaluation import page
from shared_core.evaluation.embedders import load
from shared_core.evaluation.reading import read
from shared_core.evaluation.run import PartResult, measure, systems_of
from shared_core.evaluation.tables import Table


@pytest.fixture
def found(locomo_file: Path) -> PartResult:
    embedder = load("hashing")
    part = read([locomo_file])[0]
    return measure(part, systems_of(part, embedder, peers=False), [embedder])


def test_a_table_in_markdown_marks_the_best_and_keeps_its_shape() -> None:
    rows = [("us|them", {"R@1": 0.5, "ms/query": 2.0}), ("<b>", {"R@1": 0.25, "ms/query": 1.0})]
    table = Table("Title", ("R@1", "ms/query"), rows, best=True, notes={"gone": "not installed: x"})
    assert page.markdown(table).splitlines() == [
        "**Title**",
        "",
        "| system | R@1 | ms/query |",
        "| --- | ---: | ---: |",
        "| us\\|them | **.500** | 2.00 |",
        "| &lt;b> | .250 | **1.00** |",
        "| gone | not installed: x | |",
    ]


def test_the_page_has_tables_and_plots_for_light_and_dark(found: PartResult, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = page.write(tmp_path / "docs" / "recall", [found], "twinmem bench x.json")
    text = written.read_text(encoding="utf-8")
    assert written == tmp_path / "docs" / "recall.md"
    assert "twinmem bench x.json" in text
    assert "Measured on 20" in text
    plots = re.findall(r'(?:srcset|src)="([^"]+)"', text)
    assert len(plots) == 6  # recall, context and kinds, each for light and dark
    for name in plots:
        assert (written.parent / name).read_bytes().startswith(b"\x89PNG")
    assert {Path(name).name for name in plots} == {file.name for file in (tmp_path / "docs" / "recall").iterdir()}


def test_without_matplotlib_the_tables_stand_and_the_page_says_what_to_install(
    found: PartResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def missing(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", missing)
    text = page.write(tmp_path / "x", [found]).read_text(encoding="utf-8")
    assert "| twinmem |" in text
    assert "twinmem[bench]" in text
    assert "<picture>" not in text


def test_rankings_that_are_the_same_share_a_line(found: PartResult) -> None:
    found.results["twin"] = found.results["twinmem"]
    names = [name for name, _ in page._ordered(found, "turns")]
    assert names[0] == "twinmem,\ntwin"
    assert all("control" in part for name in names[1:] for part in name.split(",\n"))
