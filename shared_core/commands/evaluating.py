"""`twinmem evaluate`: how well a memory answers its user's own questions, and how it grows."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from shared_core.commands.database import Place, UsageFault, opened, scope_of
from shared_core.commands.terminal import number, progress, say, styled, table, write_json
from shared_core.errors import NotFound
from shared_core.evaluation import own
from shared_core.evaluation.answers import as_judge
from shared_core.evaluation.growth import Growth
from shared_core.evaluation.tables import figure

_SHOWN = 10  # questions named in a list


def evaluate(
    db: Place, file: Path, *, user: str | None, agent: str | None, k: int, max_tokens: int, days: int, llm: str | None,
    judge: str | None, embedder: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Measure and print; for programs one JSON object."""
    if not file.is_file():
        raise NotFound(f"no file {file}")
    cases = own.read(file)
    model, judging = callable_of(llm, "--llm"), callable_of(judge, "--judge")
    with opened(db, embedder) as memory, progress("Asking", len(cases)) as done:
        scope = scope_of(memory, db, user, agent)
        found = own.evaluate(
            scope, cases, ks=sorted({*own.KS, k}), llm=model, judge=as_judge(judging) if judging else None,
            max_tokens=max_tokens, days=days, progress=done,
        )  # fmt: skip
    if as_json:
        write_json({"user": scope.user, "agent": scope.agent, "questions": len(cases), **found.as_json()})
        return
    _retrieval(found)
    if found.answers is not None:
        _answers(found.answers)
    elif any(case.answer for case in cases):
        say("", styled("Answers are measured with --llm PACKAGE.MODULE:NAME, a callable from a prompt to text.", "dim"))
    grown(found.growth)


def callable_of(given: str | None, option: str) -> Callable[[str], str] | None:
    """The user's callable that an option names as `package.module:name`; modules of this folder are found."""
    if given is None:
        return None
    module, _, name = given.partition(":")
    if not module or not name:
        raise UsageFault(f"{option} is PACKAGE.MODULE:NAME, such as mymodels:ask, not {given!r}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageFault(f"{option} {given}: {error}") from error
    if not callable(found):
        raise UsageFault(f"{option} {given}: not a callable from a prompt to text")
    return found


def _retrieval(found: own.Evaluation) -> None:
    total = found.retrieval
    if not total["n"]:
        say("No question names the memories it expects; nothing to recall was measured.")
        return
    names = [name for name in total if name != "n"]
    rows: list[list[str | int]] = [["all", int(total["n"]), *(figure(name, total[name]) for name in names)]]
    if len(found.by_category) > 1:
        rows += [[kind, int(row["n"]), *(figure(name, row[name]) for name in names)] for kind, row in found.by_category.items()]  # fmt: skip
    right = range(1, len(names) + 2)
    say(styled("Recall of the expected memories", "bold"), table(["", "questions", *names], rows, right=right))
    _listed("Nothing expected in the first five", found.missed)
    _listed("Expected, and not in this memory", found.unknown)


def _listed(title: str, lines: tuple[str, ...]) -> None:
    if lines:
        more = [f"  and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
        say("", styled(title, "bold"), *(f"  {line}" for line in lines[:_SHOWN]), *more)


def _answers(row: Mapping[str, float]) -> None:
    kinds = [("right" if "exact with" not in row else "F1", ""), ("exact", "exact ")]
    rows = [
        [kind, *(figure(name, row[prefix + name]) for name in ("with", "without", "gain"))]
        for kind, prefix in kinds
        if f"{prefix}with" in row
    ]
    title = f"Answers to {number(int(row['n']), 'question')}"
    say("", styled(title, "bold"), table(["", "with memory", "without", "gain"], rows, right=range(1, 4)))


def grown(found: Growth) -> None:
    """Print how a memory grew."""
    kinds: list[list[str | int]] = [[kind, count] for kind, count in found.by_kind.items()]
    say("", styled("What is remembered", "bold"), table(["kind", "records"], [*kinds, ["all", found.records]]))
    bands: list[list[str | int]] = [[name, count] for name, count in found.by_importance.items()]
    say("", table(["importance", "records"], bands))
    days: list[list[str | int]] = [[day.isoformat(), count] for day, count in found.by_day.items() if count]
    say("", styled(f"Stored in the last {len(found.by_day)} days, {found.a_day:.1f} a day", "bold"))
    say(table(["day", "records"], [*days, ["before", found.before]]))
