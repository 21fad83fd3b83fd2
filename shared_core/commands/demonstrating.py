"""`twinmem demo`: a story told through LangChain in one process and recalled by LlamaIndex in another."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shared_core.commands.database import UsageFault
from shared_core.commands.terminal import clipped, columns, joined, number, padded, say, styled, write_json
from shared_core.errors import MissingExtra, TwinmemError

_NEEDED = (("langchain_core", "langchain-core", "langchain"), ("llama_index.core", "llama-index-core", "llamaindex"))
_RECALLED = 3  # memories shown for a question, of those in its prompt


def demo(keep: Path | None, *, as_json: bool) -> bool:
    """Run both processes over one file; whether every expected fact was in its prompt."""
    for module, package, extra in _NEEDED:
        if not _installed(module):
            raise MissingExtra(package, extra)
    if keep is not None and keep.exists():
        raise UsageFault(f"{keep} exists already; the demo writes a file of its own")
    with tempfile.TemporaryDirectory(prefix="twinmem-") as folder:
        return _play(keep or Path(folder, "demo.db"), kept=keep is not None, as_json=as_json)


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package above it is missing
        return False


def _play(db: Path, *, kept: bool, as_json: bool) -> bool:
    began = time.monotonic()
    shown = (lambda *lines: None) if as_json else say
    shown(styled("Told through LangChain", "bold"), "A new process; its chat model is a script.", "")
    chats = []
    for chat in _run("tell", db):
        chats.append(chat)
        shown(columns([_chat(chat)], fixed=3, right=[2]))
    shown("", styled("Asked through LlamaIndex", "bold"))
    shown("Another process, a new conversation for each question; what its model is sent is recorded.")
    asked = []
    for answer in _run("ask", db):
        asked.append(answer)
        shown("", *_answer(answer))
    found = sum(answer["found"] for answer in asked)
    sums = {name: sum(answer[name] for answer in asked) for name in ("prompt_tokens", "history_tokens")}
    if as_json:
        write_json({"sessions": chats, "questions": asked, "found": found, "asked": len(asked), **sums})
    else:
        _summary(found, len(asked), sums, time.monotonic() - began)
        shown(*([f"Go on with: twinmem search --db {db} 'Where does she live?'"] if kept else []))
    return bool(asked) and found == len(asked)


def _run(part: str, db: Path) -> Iterator[dict[str, Any]]:
    """The lines one half of the demo prints, as they come; raises what went wrong in it."""
    with tempfile.TemporaryFile() as faults:
        command = [sys.executable, "-m", f"shared_core.demo.{part}", str(db)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=faults) as process:  # noqa: S603  our own module
            assert process.stdout is not None
            for line in process.stdout:
                yield json.loads(line)
        if process.returncode:
            faults.seek(0)
            lines = faults.read().decode("utf-8", "replace").strip().splitlines() or ["no message"]
            raise TwinmemError(f"the demo's {part} process ended with code {process.returncode}: {lines[-1]}")


# ---------------------------------------------------------------------- for a person


def _chat(chat: dict[str, Any]) -> list[Any]:
    count = f"{chat['messages']} messages"
    return [styled(chat["at"][:10], "dim"), padded(chat["session"], 8), styled(count), clipped(chat["first"])]


def _answer(answer: dict[str, Any]) -> list[Any]:
    mark, style = ("✓", "green") if answer["found"] else ("✗", "red")
    fact = f"{answer['expect']} ({answer['means']})" if answer["means"] else answer["expect"]
    spent, whole = answer["prompt_tokens"], answer["history_tokens"]
    return [
        joined((answer["question"], "bold cyan"), (f"  {answer['note']}", "dim")),
        columns((_hit(hit) for hit in _chosen(answer["recalled"])), fixed=2),
        joined((f"{mark} ", style), f"{'in' if answer['found'] else 'NOT in'} the prompt: ", (fact, style)),
        f"  {spent:,} tokens instead of {whole:,} for the whole history: {_saved(spent, whole)} saved",
    ]


def _chosen(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first hits, and among them the first that holds the answer."""
    answering = next((place for place, hit in enumerate(hits) if hit["answers"]), 0)
    return hits[:_RECALLED] if answering < _RECALLED else [*hits[: _RECALLED - 1], hits[answering]]


def _hit(hit: dict[str, Any]) -> list[Any]:
    mark = styled("→" if hit["answers"] else " ", "green")
    return [mark, styled(f"{hit['score']:.2f}", "green"), clipped(hit["text"], "\n" + hit["reason"])]


def _saved(spent: int, whole: int) -> str:
    return f"{1 - spent / whole:.0%}"


def _summary(found: int, asked: int, sums: dict[str, int], seconds: float) -> None:
    spent, whole = sums["prompt_tokens"], sums["history_tokens"]
    style = "bold green" if found == asked else "bold red"
    say(
        "",
        styled(f"{found} of {number(asked, 'fact')} reached the prompt.", style),
        f"{spent:,} tokens instead of {whole:,}: {_saved(spent, whole)} saved. {seconds:.1f} s, no model, no network.",
    )
