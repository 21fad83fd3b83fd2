"""What README and docs show runs as it stands there, and prints what they say it prints.

The Python blocks of a page run in order, in one namespace and an empty folder. A block below
`<!-- needs: model -->` finds a scripted `model` (LangChain) and `llm` (LlamaIndex), and `tools`; one below
`<!-- aside: why -->` runs beside the others, which don't see what it makes; one below `<!-- not run: why -->` is only
compiled. Of command lines, the commands, options, extras and targets have to exist.
"""

from __future__ import annotations

import doctest
import gc
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from shared_core import AgentMemory
from shared_core.cli import app
from tests.docs.reading import ROOT, Block, blocks, pages

WITH_PYTHON = [page for page in pages() if any(block.language == "python" for block in blocks(page))]
WITH_COMMANDS = [page for page in pages() if any(block.language == "bash" for block in blocks(page))]
MOST_NOT_RUN = 1


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def scripted() -> dict[str, Any]:
    """What a reader has at hand: models, here ones that answer from a script."""
    from langchain_core.language_models import FakeListChatModel
    from llama_index.core.llms import MockLLM

    return {"model": FakeListChatModel(responses=["Noted."]), "llm": MockLLM(max_tokens=1), "tools": []}


@pytest.mark.parametrize("page", WITH_PYTHON, ids=named)
def test_the_python_of_a_page_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none: nothing is sent")
    namespace: dict[str, Any] = {"__name__": "page"}
    same = doctest.OutputChecker().check_output
    try:
        for block in (block for block in blocks(page) if block.language == "python"):
            code = compile("\n" * (block.line - 1) + block.body, str(page), "exec", dont_inherit=True)
            if block.note.startswith("not run:"):
                continue
            if block.note == "needs: model":
                namespace |= scripted()
            exec(code, dict(namespace) if block.note.startswith("aside:") else namespace)
            printed = capsys.readouterr().out
            if block.prints is not None:
                where = f"{named(page)}, line {block.line}, printed:\n{printed}"
                assert same(block.prints, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), where
    finally:
        for value in namespace.values():
            if isinstance(value, AgentMemory):
                value.close()
        namespace.clear()
        gc.collect()  # what was left open warns here, not in another test


def test_nearly_everything_shown_is_run() -> None:
    shown = [block for page in pages() for block in blocks(page) if block.language == "python"]
    notes = [block.note for block in shown if block.note.startswith("not run:")]
    assert len(shown) >= 50
    assert len(notes) <= MOST_NOT_RUN, notes


def commands(block: Block) -> list[list[str]]:
    text = block.body.replace("\\\n", " ")
    return [words for line in text.splitlines() if (words := shlex.split(line, comments=True))]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=named)
def test_the_commands_of_a_page_exist_with_their_options(page: Path) -> None:
    command = typer.main.get_command(app)
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    for block in (block for block in blocks(page) if block.language == "bash"):
        for words in commands(block):
            while "=" in words[0] and not words[0].startswith("-"):
                words = words[1:]  # a variable set for this command
            if words[0] == "twinmem" and len(words) > 1 and not words[1].startswith("-"):
                verb = command.commands.get(words[1])  # type: ignore[attr-defined]
                assert verb is not None, words
                known = {"--help", *(name for each in verb.params for name in (*each.opts, *each.secondary_opts))}
                given = {word.split("=")[0] for word in words[2:] if word.startswith("-")}
                assert given <= known, (words, given - known)
            elif words[0] == "make":
                assert {word for word in words[1:] if "=" not in word} <= targets, words
            elif words[:2] == ["pip", "install"]:
                wanted = re.findall(r"(?:twinmem|\.)\[([\w,]+)\]", " ".join(words))
                assert {name for each in wanted for name in each.split(",")} <= extras, words


def test_a_wrong_option_would_be_seen() -> None:
    """The check above reads typer's own tables: here is what they say of one command."""
    command = typer.main.get_command(app)
    known = {name for each in command.commands["search"].params for name in each.opts}  # type: ignore[attr-defined]
    assert "--user" in known
    assert "--no-such-option" not in known
