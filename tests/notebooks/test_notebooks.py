"""Notebooks that a reader opens: every cell runs, what they show is committed, and running a cell again doubles nothing."""

from __future__ import annotations

import ast
import asyncio
import gc
import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from shared_core import AgentMemory
from tests.notebooks.execute import IMAGES, drawings

# LlamaIndex's own `Memory` opens an aiosqlite connection that it never closes.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
EXPECTED = {
    "01_quick_start", "02_langchain_agent", "03_llamaindex_engine", "04_inside_recall", "05_knowledge_graph",
    "06_facts_that_change", "07_chinese", "08_own_embedder_and_llm", "09_migrating",
}  # fmt: skip


def cells(name: str) -> list[Any]:
    return [cell for cell in nbformat.read(FOLDER / f"{name}.ipynb", as_version=4).cells if cell.cell_type == "code"]


def run(source: str, names: dict[str, Any]) -> Any:
    """Run one cell as IPython does: `await` is allowed, and the value of the last line is shown."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    for part in (tree, None if last is None else ast.Expression(last.value)):
        if part is None:
            continue
        mode = "exec" if isinstance(part, ast.Module) else "eval"
        code = compile(part, "<cell>", mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(code, names)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
    if last is not None and hasattr(value, "_repr_html_"):
        value._repr_html_()
    return value if last is not None else None


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A folder of its own, pictures into nowhere, and other packages' warnings left to them."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
        gc.collect()  # what a notebook leaves open is this test's, not the next one's


def kept(names: dict[str, Any]) -> dict[tuple[str, str], int]:
    """How many records each user of each open memory has."""
    found = {}
    for name, value in names.items():
        if isinstance(value, AgentMemory) and not value._closed:
            for user in value.users():
                found[name, user] = value.scope(user=user).count()
    return found


def story(name: str, times: int) -> tuple[list[dict[tuple[str, str], int]], dict[str, Any]]:
    """Run all cells in order, each of them so many times; what is kept after each."""
    names: dict[str, Any] = {"__name__": "__main__"}
    seen = []
    for cell in cells(name):
        closing = ".close()" in cell.source
        for _ in range(1 if closing else times):
            run(cell.source, names)
        seen.append(kept(names))
    return seen, names


def test_f4_all_notebooks_are_here() -> None:
    assert {*NOTEBOOKS} == EXPECTED


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_f4_every_cell_runs_and_a_second_run_of_it_doubles_nothing(name: str) -> None:
    once, _ = story(name, 1)
    twice, _ = story(name, 2)
    asking = {"02_langchain_agent", "03_llamaindex_engine"}  # a question asked twice was asked twice
    if name not in asking:
        assert twice == once


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_f4_what_a_notebook_shows_is_committed_and_says_no_error(name: str) -> None:
    shown = 0
    for number, cell in enumerate(cells(name), 1):
        assert cell.execution_count == number, "run the whole notebook again: make notebooks"
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.get("text")
            shown += 1
    assert shown >= 3


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_f4_the_docs_show_the_drawings_that_the_notebooks_show(name: str) -> None:
    for number, picture in enumerate(drawings(nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)), 1):
        shown = IMAGES / f"notebook-{name[:2]}-{number}.png"
        assert shown.read_bytes() == picture, "make notebooks writes both"
        assert f"images/{shown.name}" in (IMAGES.parent / "notebooks.md").read_text(encoding="utf-8")
